//! Starts threads, and gives them stacks.

use crate::config::ACCESSES;
use crate::engine::coroutine::Fibre;
use crate::engine::granularity::StepGranularity;
use crate::engine::guest::Guest;
use crate::engine::life::Life;
use crate::engine::place::Place;
use crate::engine::root;
use crate::engine::stack::SPARE_STACK;
use crate::engine::{Engine, Job, Thread};
use crate::guests::Guests;
use explore::{EventId, Pending, ThreadId};
use objects::Object;
use std::panic::Location;
use std::ptr::NonNull;

impl Engine {
    /// Restarts the coroutine of a thread that never continues where it is suspended.
    #[cold]
    pub(crate) fn begin_again(&mut self, id: ThreadId) {
        let engine = NonNull::from(&mut *self);
        Guests::abandon(&mut self.threads[id.index()]);
        self.threads[id.index()].fibre.begin_again(root::of(engine));
    }

    /// Starts the main thread.
    pub(crate) fn begin(&mut self) {
        Guests::begin(self);
        let main = Job::Main(&raw const *self.body);
        self.start_thread(ThreadId::MAIN, main, None, Location::caller());
    }

    /// Returns the limit on plain accesses of a thread that are not events. Accesses to private
    /// stacks are not included: they count as operations.
    fn most_accesses(&self) -> u32 {
        self.config.conditions.max_events.saturating_mul(ACCESSES)
    }

    /// Returns how many plain accesses all threads have performed in this execution that were not
    /// events. Accesses to private stacks are not included.
    pub(crate) fn accesses(&self) -> usize {
        let most = self.most_accesses();
        let left = |id: &ThreadId| self.threads[id.index()].life.accesses_left;
        let all = self
            .life
            .started
            .iter()
            .map(|id| (most - left(id)) as usize);
        all.sum()
    }

    /// Starts a thread. Unless threads begin as late as possible, it runs to its first operation
    /// before the step is over.
    fn start_thread(&mut self, id: ThreadId, job: Job, name: Option<String>, location: Place) {
        if self.threads.len() <= id.index() {
            self.make_room(id);
        }
        let accesses = self.most_accesses();
        let thread = &mut self.threads[id.index()];
        thread.life.begin();
        thread.life.accesses_left = accesses;
        thread.life.location = location;
        thread.life.name = name;
        thread.job = Some(job);
        thread.caught_panic = None;
        self.life.objects.parks[id.index()].clear(());
        self.life.objects.ends[id.index()].clear();
        self.order_after_spawn(id);
        let parent = (id != ThreadId::MAIN).then_some(self.running);
        Guests::start(self, id, parent);
        self.life.started.push(id);
        self.life.live += 1;
        match &mut self.late {
            Some(late) if id != ThreadId::MAIN => late.push(id),
            _ => self.life.ready.push_back(id),
        }
        if self.granularity == StepGranularity::Operations {
            self.life.woken.push_back(id);
        }
    }

    /// Orders the first event of the thread after its spawn.
    fn order_after_spawn(&mut self, id: ThreadId) {
        self.threads[id.index()].life.edges.clear();
        if id == ThreadId::MAIN {
            return;
        }
        if self.granularity == StepGranularity::Operations {
            return self.order_after(id, EventId(self.life.events));
        }
        let parent = self.running.index();
        if let Some(last) = self.threads[parent].life.last {
            self.order_after(id, last);
        }
        for index in 0..self.threads[parent].life.edges.len() {
            self.order_after(id, self.threads[parent].life.edges[index]);
        }
    }

    #[cold]
    fn make_room(&mut self, id: ThreadId) {
        while self.threads.len() <= id.index() {
            let id = ThreadId::from_index(self.threads.len());
            let fibre = self.new_fibre(id, self.config.stack_size);
            self.threads.push(Thread::new(id, fibre));
            self.life.pending.push(Pending::NotStarted);
            Guests::add_thread(self);
            self.life.objects.parks.push(objects::Park::default());
            self.life.objects.ends.push(objects::Thread::default());
        }
    }

    /// Starts a child of the running thread. During a tear-down, the child runs no code and counts
    /// as ended.
    #[inline]
    pub(crate) fn spawn(
        &mut self,
        location: Place,
        name: Option<String>,
        job: impl FnOnce(ThreadId) -> Job,
    ) -> ThreadId {
        let parent = &mut self.threads[self.running.index()];
        let number = parent.life.children;
        parent.life.children += 1;
        let stack = std::mem::take(&mut parent.life.stack_of_child);
        let child = self.names.child(self.running, number);
        if self.life.started.len() >= self.config.max_threads {
            Guests::misuse(
                self,
                "the program starts more threads than the limit `max_threads` allows: raise it",
            );
        }
        if self.is_tearing_down {
            self.make_room(child);
            self.life.objects.ends[child.index()].finish(EventId(self.life.events));
            // Destructors would run code of the program, which must not run during a tear-down.
            std::mem::forget(job);
            return child;
        }
        if self.config.native.is_some() {
            self.fit_stack(child, stack);
        } else if stack > 0 {
            self.widen_stack(child, stack);
        }
        self.start_thread(child, job(child), name, location);
        if self.config.symmetry {
            self.find_twin(child, stack);
        }
        child
    }

    /// Makes the stack of a thread at least `bytes` bytes large, before the thread starts.
    #[cold]
    fn widen_stack(&mut self, id: ThreadId, bytes: usize) {
        self.make_room(id);
        if self.threads[id.index()].fibre.room() < bytes {
            self.threads[id.index()].fibre.end();
            *self.threads[id.index()].fibre = self.new_fibre(id, bytes);
        }
    }

    /// Creates a coroutine for this thread with a stack of `bytes` bytes.
    fn new_fibre(&mut self, id: ThreadId, bytes: usize) -> Fibre {
        let place = self.place_of_stack(id);
        let fibre = Fibre::new(root::of(NonNull::from(&mut *self)), bytes, place);
        Guests::add_stack(self, fibre.limit(), fibre.base());
        fibre
    }

    /// Returns the thread at whose fixed place the stack of this thread lies, which is the thread
    /// itself. Returns `None` for models in Rust, which have no fixed places, because several may
    /// run in parallel.
    fn place_of_stack(&self, id: ThreadId) -> Option<ThreadId> {
        self.config.native.map(|_| id)
    }

    /// Gives a thread of a native program the stack size that the program asked for, before the
    /// thread starts. 0 stands for the usual size.
    #[inline]
    fn fit_stack(&mut self, id: ThreadId, asked: usize) {
        let bytes = match asked {
            0 => self.config.stack_size,
            asked => asked.next_multiple_of(4096).saturating_add(SPARE_STACK),
        };
        let room = |thread: &Thread| thread.fibre.room();
        if self.threads.get(id.index()).map(room) != Some(bytes) {
            self.widen_stack(id, bytes);
            self.threads[id.index()].fibre.narrow(bytes);
        }
    }

    /// Returns the child that the running thread will start after `others` other children.
    pub(crate) fn upcoming_child(&mut self, others: u32) -> ThreadId {
        let first = self.thread().life.children;
        (first..=first + others)
            .map(|number| self.names.child(self.running, number))
            .last()
            .expect("there is a next child")
    }
}
