//! How threads come into an execution.

use super::{Engine, Job, Thread};
use crate::coroutine::Fibre;
use crate::exploration::Exploration;
use crate::grain::Grain;
use crate::native::SPARE_STACK;
use crate::source::Place;
use explore::{EventId, Pending, ThreadId};
use std::panic::Location;
use std::ptr::NonNull;

/// Plain accesses that are no events allowed per thread, as a multiple of the operation limit: a loop over a plain flag that
/// never changes stops, too.
pub const ACCESSES: u32 = 1000;

impl Engine {
    /// The coroutine of a thread that never goes on begins at its root again.
    #[cold]
    pub(crate) fn begin_again(&mut self, id: ThreadId) {
        let engine = NonNull::from(&mut *self);
        self.threads[id.index()].run = 0;
        self.threads[id.index()].fibre.begin_again(engine);
    }

    /// Starts the main thread.
    pub(crate) fn begin(&mut self) {
        self.exploration = match self.config.explores {
            true => Exploration::On,
            false => Exploration::Off,
        };
        let main = Job::Main(&raw const *self.body);
        self.bear(ThreadId::MAIN, main, None, Location::caller());
    }

    /// Starts a thread: it will run to its first operation before the step is over.
    fn bear(&mut self, id: ThreadId, job: Job, name: Option<String>, location: Place) {
        if self.threads.len() <= id.index() {
            self.make_room(id);
        }
        let has_private_stack = self.begins_with_private_stack(id);
        let accesses = self.config.max_events.saturating_mul(ACCESSES);
        let thread = &mut self.threads[id.index()];
        thread.job = Some(job);
        thread.has_private_stack = has_private_stack;
        thread.last = None;
        thread.operations = 0;
        thread.has_yielded = false;
        thread.accesses_left = accesses;
        thread.wait = None;
        thread.expiries = 0;
        thread.spurious = 0;
        thread.reused = 0;
        thread.children = 0;
        thread.stack_of_child = 0;
        thread.created = 0;
        thread.location = location;
        thread.name = name;
        thread.noticed = None;
        thread.panics = 0;
        thread.condition = None;
        thread.torn = 0;
        thread.round.clear();
        thread.serves = false;
        thread.place = None;
        thread.code = 0;
        thread.laps.begin();
        thread.frame = 0;
        thread.locals.forget();
        thread.making = None;
        self.objects.parks[id.index()].clear();
        self.objects.ends[id.index()].clear();
        self.order_after_spawn(id);
        let parent = (id != ThreadId::MAIN).then_some(self.running);
        if self.watch.compares {
            self.hidden.born(id, parent);
        }
        if self.watch.races {
            self.happens_before.born(id, parent);
            if self.watch.audits {
                self.native.audit.born(id, parent);
            }
        }
        self.born.push(id);
        self.live += 1;
        match &mut self.late {
            Some(late) if id != ThreadId::MAIN => late.push(id),
            _ => self.ready.push_back(id),
        }
        if self.grain == Grain::Operations {
            self.woken.push_back(id);
        }
    }

    /// The first event of the thread comes after its spawn.
    fn order_after_spawn(&mut self, id: ThreadId) {
        self.threads[id.index()].edges.clear();
        if id == ThreadId::MAIN {
            return;
        }
        if self.grain == Grain::Operations {
            return self.order_after(id, EventId(self.events));
        }
        let parent = self.running.index();
        if let Some(last) = self.threads[parent].last {
            self.order_after(id, last);
        }
        for index in 0..self.threads[parent].edges.len() {
            self.order_after(id, self.threads[parent].edges[index]);
        }
    }

    #[cold]
    fn make_room(&mut self, id: ThreadId) {
        while self.threads.len() <= id.index() {
            let engine = NonNull::from(&mut *self);
            let id = ThreadId::from_index(self.threads.len());
            let fibre = Fibre::new(engine, self.config.stack_size, self.place_of_stack(id));
            self.threads.push(Thread::new(id, fibre));
            self.pending.push(Pending::Unborn);
            self.residents.add_thread();
            self.objects.parks.push(objects::Park::default());
            self.objects.ends.push(objects::Thread::default());
        }
    }

    /// Starts a child of the thread that runs.
    #[inline]
    pub(crate) fn spawn(
        &mut self,
        location: Place,
        name: Option<String>,
        job: impl FnOnce(ThreadId) -> Job,
    ) -> ThreadId {
        let parent = &mut self.threads[self.running.index()];
        let number = parent.children;
        parent.children += 1;
        let stack = std::mem::take(&mut parent.stack_of_child);
        let child = self.names.child(self.running, number);
        if self.born.len() >= self.config.max_threads {
            self.misuse(
                "a thread is started that is one too many for the limit `max_threads`: raise it",
            );
        }
        if self.is_tearing_down {
            self.make_room(child);
            self.objects.ends[child.index()].finish(EventId(self.events));
            // Its destructors would run code of the program, for which this is not the moment.
            std::mem::forget(job);
            return child;
        }
        if self.config.native.is_some() {
            self.fit_stack(child, stack);
        } else if stack > 0 {
            self.widen_stack(child, stack);
        }
        self.bear(child, job(child), name, location);
        child
    }

    /// The thread, which is to be born, has a stack of at least so many bytes.
    #[cold]
    fn widen_stack(&mut self, id: ThreadId, bytes: usize) {
        self.make_room(id);
        if self.threads[id.index()].fibre.room() < bytes {
            let engine = NonNull::from(&mut *self);
            let place = self.place_of_stack(id);
            let fibre = &mut self.threads[id.index()].fibre;
            fibre.end();
            **fibre = Fibre::new(engine, bytes, place);
        }
    }

    /// Models in Rust may run side by side.
    fn place_of_stack(&self, id: ThreadId) -> Option<ThreadId> {
        self.config.native.map(|_| id)
    }

    /// The thread of a native program, which is to be born, has a stack of this size, or of the usual one for 0.
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

    /// The child that the thread that runs starts next, after as many others.
    pub(crate) fn upcoming_child(&mut self, others: u32) -> ThreadId {
        let first = self.thread().children;
        (first..=first + others)
            .map(|number| self.names.child(self.running, number))
            .last()
            .expect("there is a next child")
    }
}
