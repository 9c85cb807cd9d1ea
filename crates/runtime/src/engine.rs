//! The state of an execution, shared by the model, which schedules, and the code of its threads.
//!
//! The threads are coroutines of one thread of the operating system: there is always one who uses the
//! engine, and each function that may switch to another ends all references to it first.

use crate::arena::Arena;
use crate::await_rule::Round;
use crate::coroutine::{Fibre, Suspender};
use crate::failure::{Failures, Noticed};
use crate::happens_before::HappensBefore;
use crate::model::Config;
use crate::mutex::State as MutexState;
use crate::names::Names;
use crate::once::State as OnceState;
use crate::plain::State as PlainState;
use crate::pool::Pool;
use crate::recorder::Recorder;
use crate::thread::Panic;
use crate::waiting::Wait;
use explore::{
    Access, Bound, EventId, Halt, ObjectId, Op, OpKind, Pending, Request, ThreadId, Token,
};
use objects::Coarsening;
use std::panic::Location;
use std::ptr;
use std::rc::Rc;

/// A place in the source of the program under test.
pub(crate) type Place = &'static Location<'static>;

/// The execution at hand, and what is kept from one execution to the next.
pub(crate) struct Engine {
    /// Indexed by thread.
    pub(crate) pending: Vec<Pending>,
    pub(crate) threads: Vec<Thread>,
    /// Threads that were started in this execution, in that order.
    born: Vec<ThreadId>,
    /// Born threads that have not come to the end of their code.
    live: usize,
    /// Whose code runs.
    pub(crate) running: ThreadId,
    pub(crate) suspender: *const Suspender,
    /// The heap of the thread that runs.
    pub(crate) arena: *mut Arena,
    /// Which alternative of the operation at hand is performed.
    pub(crate) choice: u32,
    /// Number of events so far: the event at hand has this number.
    events: u32,
    /// The operation at hand as it is performed.
    pub(crate) op: Op,
    pub(crate) before: Token,
    pub(crate) after: Token,
    pub(crate) edges: Vec<EventId>,
    /// The thread that the event at hand starts.
    pub(crate) spawns: Option<ThreadId>,
    /// Who waits for what object.
    waiting: Vec<(ThreadId, ObjectId)>,
    /// Threads whose pending operation depends on the state of its object.
    conditional: Vec<ThreadId>,
    /// The thread that was started and has not run yet.
    newborn: Option<ThreadId>,
    pub(crate) watch: Watch,
    /// Whether the threads are being unwound after the end of the execution.
    pub(crate) is_tearing_down: bool,
    /// Whether objects became coarser in this execution.
    pub(crate) is_coarsened: bool,
    pub(crate) objects: Objects,
    pub(crate) plain: Pool<PlainState>,
    pub(crate) failures: Failures,
    pub(crate) names: Names,
    pub(crate) happens_before: HappensBefore,
    pub(crate) recorder: Recorder,
    /// Indexed by object: the value that was last written. Known while reads are watched.
    pub(crate) values: Vec<Option<Token>>,
    pub(crate) config: Config,
    body: Rc<dyn Fn()>,
}

/// What else has to be told of each operation; rarely anything.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Watch {
    /// The execution is recorded for people.
    pub(crate) records: bool,
    /// Data races are looked for.
    pub(crate) races: bool,
    /// Somebody goes by the await rule.
    pub(crate) reads: bool,
}

impl Watch {
    /// Whether anything has to be told.
    #[inline(always)]
    pub(crate) fn is_on(self) -> bool {
        self.records | self.races | self.reads
    }
}

/// The synchronisation objects of the execution.
#[derive(Default)]
pub(crate) struct Objects {
    pub(crate) mutexes: Pool<MutexState>,
    pub(crate) rwlocks: Pool<objects::RwLock>,
    pub(crate) condvars: Pool<objects::Condvar>,
    pub(crate) semaphores: Pool<objects::Semaphore>,
    pub(crate) barriers: Pool<objects::Barrier>,
    pub(crate) onces: Pool<OnceState>,
    pub(crate) channels: Pool<objects::Channel>,
    /// Indexed by thread.
    pub(crate) parks: Vec<objects::Park>,
    /// Indexed by thread.
    pub(crate) ends: Vec<objects::Thread>,
}

/// A thread of the program under test.
pub(crate) struct Thread {
    /// On the heap: it stays where it is while it runs and starts other threads.
    pub(crate) fibre: Option<Box<Fibre>>,
    pub(crate) suspender: *const Suspender,
    /// On the heap: it stays where it is, too.
    pub(crate) arena: Box<Arena>,
    job: Option<Job>,
    /// The last event, before the first one the spawn.
    last: Option<EventId>,
    pub(crate) events: u32,
    pub(crate) expiries: u32,
    children: u32,
    created: u32,
    wait: Option<Wait>,
    /// A pending signal: the number of its condition variable.
    pub(crate) signals: Option<u32>,
    pub(crate) location: Place,
    pub(crate) name: Option<String>,
    pub(crate) panic: Option<Panic>,
    pub(crate) noticed: Option<Noticed>,
    /// Operations since the tear-down began.
    pub(crate) torn: u32,
    pub(crate) round: Round,
}

/// The code of a thread.
pub(crate) enum Job {
    Main(Rc<dyn Fn()>),
    Spawned(Box<dyn FnOnce()>),
}

impl Job {
    /// Runs the code.
    pub(crate) fn run(self) {
        match self {
            Job::Main(body) => body(),
            Job::Spawned(body) => body(),
        }
    }
}

impl Thread {
    fn new(id: ThreadId) -> Thread {
        Thread {
            fibre: None,
            suspender: ptr::null(),
            arena: Box::new(Arena::new(id)),
            job: None,
            last: None,
            events: 0,
            expiries: 0,
            children: 0,
            created: 0,
            wait: None,
            signals: None,
            location: Location::caller(),
            name: None,
            panic: None,
            noticed: None,
            torn: 0,
            round: Round::default(),
        }
    }
}

impl Engine {
    pub(crate) fn new(config: Config, names: Names, body: Rc<dyn Fn()>) -> Engine {
        Engine {
            pending: Vec::new(),
            threads: Vec::new(),
            born: Vec::new(),
            live: 0,
            running: ThreadId::MAIN,
            suspender: ptr::null(),
            arena: ptr::null_mut(),
            choice: 0,
            events: 0,
            op: objects::Thread::SPAWN.on(ObjectId::NONE),
            before: Token::default(),
            after: Token::default(),
            edges: Vec::new(),
            spawns: None,
            waiting: Vec::new(),
            conditional: Vec::new(),
            newborn: None,
            watch: Watch {
                races: names.has_plain_memory(),
                ..Watch::default()
            },
            is_tearing_down: false,
            is_coarsened: false,
            objects: Objects::default(),
            plain: Pool::default(),
            failures: Failures::default(),
            names,
            happens_before: HappensBefore::default(),
            recorder: Recorder::default(),
            values: Vec::new(),
            config,
            body,
        }
    }

    /// Forgets the execution, whose threads have all ended.
    pub(crate) fn clear(&mut self) {
        for thread in self.born.drain(..) {
            self.pending[thread.index()] = Pending::Unborn;
            self.threads[thread.index()].panic = None;
            self.threads[thread.index()].job = None;
            self.threads[thread.index()].arena.reset();
        }
        self.live = 0;
        self.events = 0;
        self.waiting.clear();
        self.conditional.clear();
        self.is_coarsened = false;
        self.objects.clear();
        self.plain.clear();
        self.failures.clear();
        self.values.clear();
        if self.watch.races {
            self.happens_before.clear();
        }
    }

    /// Starts the main thread.
    pub(crate) fn begin(&mut self) {
        let main = Job::Main(Rc::clone(&self.body));
        self.bear(ThreadId::MAIN, main, None, Location::caller());
    }

    /// Starts a thread: it will run to its first operation before the step is over.
    fn bear(&mut self, id: ThreadId, job: Job, name: Option<String>, location: Place) {
        self.make_room(id);
        let thread = &mut self.threads[id.index()];
        thread.job = Some(job);
        thread.last = (id != ThreadId::MAIN).then_some(EventId(self.events));
        thread.events = 0;
        thread.expiries = 0;
        thread.children = 0;
        thread.created = 0;
        thread.location = location;
        thread.name = name;
        thread.noticed = None;
        thread.torn = 0;
        thread.round.clear();
        self.objects.parks[id.index()].clear();
        self.objects.ends[id.index()].clear();
        if self.watch.races {
            self.happens_before
                .born(id, (id != ThreadId::MAIN).then_some(self.running));
        }
        self.born.push(id);
        self.live += 1;
        self.newborn = Some(id);
    }

    fn make_room(&mut self, id: ThreadId) {
        while self.threads.len() <= id.index() {
            self.threads
                .push(Thread::new(ThreadId::from_index(self.threads.len())));
            self.pending.push(Pending::Unborn);
            self.objects.parks.push(objects::Park::default());
            self.objects.ends.push(objects::Thread::default());
        }
    }

    /// Starts a child of the thread that runs.
    pub(crate) fn spawn(&mut self, job: Job, name: Option<String>) -> ThreadId {
        let parent = &mut self.threads[self.running.index()];
        let number = parent.children;
        parent.children += 1;
        let location = parent.location;
        let child = self.names.child(self.running, number);
        self.bear(child, job, name, location);
        self.spawns = Some(child);
        child
    }

    /// The next child of the thread that runs.
    pub(crate) fn next_child(&mut self) -> ThreadId {
        let number = self.thread().children;
        self.names.child(self.running, number)
    }

    /// From now on data races are looked for. If there may have been some already, the exploration
    /// starts again.
    pub(crate) fn look_for_races(&mut self) {
        if self.watch.races {
            return;
        }
        self.names.meet_plain_memory();
        self.watch.races = true;
        self.happens_before.clear();
        for &thread in &self.born {
            self.happens_before.born(thread, None);
        }
        self.is_coarsened |= self.born.len() > 1;
    }

    /// The next object of the thread that runs.
    pub(crate) fn create(&mut self, parts: u32) -> ObjectId {
        let thread = &mut self.threads[self.running.index()];
        let number = thread.created;
        thread.created += 1;
        self.names.object(self.running, number, parts)
    }

    /// The object is coarser than announced so far: the exploration has to start again.
    pub(crate) fn coarsen(&mut self, object: ObjectId, coarsening: Coarsening) {
        if !self.names.is_coarse(object, coarsening) {
            self.names.coarsen(object, coarsening);
            self.is_coarsened = true;
        }
    }

    /// The event at hand.
    #[inline(always)]
    pub(crate) fn event(&self) -> EventId {
        EventId(self.events)
    }

    /// The thread that runs.
    #[inline(always)]
    pub(crate) fn thread(&mut self) -> &mut Thread {
        &mut self.threads[self.running.index()]
    }

    /// The value of the object before and after the event at hand.
    #[inline(always)]
    pub(crate) fn note(&mut self, before: Token, after: Token) {
        self.before = before;
        self.after = after;
    }

    /// The thread that runs is about to perform this.
    #[inline(always)]
    pub(crate) fn announce(&mut self, request: Request, location: Place) {
        let index = self.running.index();
        self.pending[index] = Pending::Enabled(request);
        self.threads[index].location = location;
    }

    /// The same for an operation that changes with the state of its object.
    pub(crate) fn announce_conditional(&mut self, request: Request, location: Place) {
        self.announce(request, location);
        self.conditional.push(self.running);
    }

    /// The thread that runs is about to wait.
    pub(crate) fn announce_wait(&mut self, op: Op, wait: Wait, location: Place) {
        let index = self.running.index();
        let request = Request::plain(op);
        self.threads[index].location = location;
        self.threads[index].wait = Some(wait);
        self.pending[index] = if self.objects.is_granted(wait) {
            Pending::Enabled(request)
        } else {
            self.waiting.push((self.running, op.object));
            Pending::Waiting(request)
        };
    }

    /// The wait of the thread that runs is performed.
    pub(crate) fn end_wait(&mut self) {
        let wait = self
            .thread()
            .wait
            .take()
            .expect("a thread at a wait knows what for");
        self.objects.edges(wait, &mut self.edges);
        if self.watch.races {
            match wait {
                Wait::Join(thread) => self.happens_before.joined(self.running, thread),
                Wait::Park(thread) => self.happens_before.parked(thread),
                Wait::Send(..) | Wait::Condvar(..) => {}
                _ => self.happens_before.take_up(self.running, &self.edges),
            }
        }
    }

    /// What the thread waits for.
    pub(crate) fn wait_of(&self, thread: ThreadId) -> Option<Wait> {
        self.threads[thread.index()].wait
    }

    /// The thread that runs stops for good.
    pub(crate) fn halt(&mut self, why: Halt) {
        self.pending[self.running.index()] = Pending::Halted(why);
    }

    /// The code of the thread that runs, which starts now.
    pub(crate) fn take_job(&mut self, suspender: &Suspender) -> Job {
        self.suspender = suspender;
        let thread = self.thread();
        thread.suspender = suspender;
        thread.job.take().expect("a thread that starts has code")
    }

    /// The code of the thread that runs has come to its end.
    pub(crate) fn finish(&mut self, panic: Option<Panic>) {
        self.live -= 1;
        let id = self.running;
        let last = self.threads[id.index()].last.unwrap_or(EventId(0));
        self.objects.ends[id.index()].finish(last);
        if self.is_tearing_down {
            self.pending[id.index()] = Pending::Finished;
            return;
        }
        if panic.is_none() {
            self.threads[id.index()].noticed = None;
        }
        self.pending[id.index()] = match panic {
            Some(panic) => self.unwound(id, panic),
            None => Pending::Finished,
        };
        self.poll(|wait, _| matches!(wait, Wait::Join(thread) if thread == id));
    }

    /// The code of a thread was ended from outside.
    pub(crate) fn ends_abruptly(&mut self) {
        self.live -= 1;
    }

    /// Whether the thread that runs is being unwound.
    pub(crate) fn is_unwinding(&mut self) -> bool {
        let thread = self.thread();
        thread.torn > 0 || thread.noticed.is_some()
    }

    /// Begins a step; false if the thread cannot do it.
    #[inline]
    pub(crate) fn begin_step(&mut self, thread: ThreadId, choice: u32) -> bool {
        let Some(Pending::Enabled(request)) = self.pending.get(thread.index()) else {
            return false;
        };
        if choice >= request.alternatives {
            return false;
        }
        let is_conditional = request.expects.is_some() || request.op.kind == OpKind::CondvarSignal;
        self.op = request.op;
        self.choice = choice;
        self.before = Token::default();
        self.after = Token::default();
        self.spawns = None;
        self.edges.clear();
        if self.watch.records {
            self.recorder
                .begin_event(thread, self.threads[thread.index()].location);
        }
        let own = &mut self.threads[thread.index()];
        if own.events == 0 {
            self.edges.extend(own.last);
        }
        own.events += 1;
        own.last = Some(EventId(self.events));
        if is_conditional {
            self.conditional.retain(|&other| other != thread);
        }
        true
    }

    /// Ends a step: what depends on its event is asked again.
    #[inline]
    pub(crate) fn end_step(&mut self, thread: ThreadId) {
        if self.threads[thread.index()].events >= self.config.max_events {
            self.halt_at_bound(thread);
        }
        let object = self.op.object;
        if !self.waiting.is_empty() {
            // The parts of an object have consecutive ids.
            self.poll(|_, about| object.0.wrapping_sub(about.0) < MOST_PARTS);
        }
        if !self.conditional.is_empty() && self.op.access == Access::Write {
            self.refresh(object);
        }
        if self.watch.reads {
            self.watch_effect(thread);
        }
        if self.watch.records {
            self.recorder.end_event(self.op);
        }
        self.events += 1;
    }

    /// Asks again what the threads wait for where the condition concerns it.
    fn poll(&mut self, concerns: impl Fn(Wait, ObjectId) -> bool) {
        let Engine {
            waiting,
            threads,
            pending,
            objects,
            ..
        } = self;
        waiting.retain(|&(thread, about)| {
            let wait = threads[thread.index()]
                .wait
                .expect("a waiting thread knows what for");
            if !concerns(wait, about) || !objects.is_granted(wait) {
                return true;
            }
            if let Pending::Waiting(request) = pending[thread.index()] {
                pending[thread.index()] = Pending::Enabled(request);
            }
            false
        });
    }

    /// The object was written: pending operations that depend on its state may have changed.
    fn refresh(&mut self, object: ObjectId) {
        let Engine {
            conditional,
            threads,
            pending,
            objects,
            after,
            ..
        } = self;
        for thread in conditional.iter().map(|thread| thread.index()) {
            let Pending::Enabled(request) = &mut pending[thread] else {
                continue;
            };
            if request.op.object != object {
                continue;
            }
            if request.expects.is_some() {
                request.op.access = request.access_at(*after);
            } else if let Some(condvar) = threads[thread].signals {
                request.alternatives = objects.condvars.get(condvar).alternatives();
            }
        }
    }

    #[cold]
    fn halt_at_bound(&mut self, thread: ThreadId) {
        if let Pending::Enabled(_) | Pending::Waiting(_) = self.pending[thread.index()] {
            self.pending[thread.index()] = Pending::Halted(Halt::Bound(Bound::Events));
            self.conditional.retain(|&other| other != thread);
            self.waiting.retain(|&(other, _)| other != thread);
        }
    }

    /// A timed operation of the thread that runs expired; whether it was one too many.
    pub(crate) fn expire(&mut self) -> bool {
        let timeouts = self.config.timeouts;
        let thread = self.thread();
        thread.expiries += 1;
        thread.expiries > timeouts
    }

    /// The thread that was started and has not run yet.
    #[inline(always)]
    pub(crate) fn take_newborn(&mut self) -> Option<ThreadId> {
        self.newborn.take()
    }

    /// Whether no thread is left on its stack.
    pub(crate) fn is_quiet(&self) -> bool {
        self.live == 0
    }

    /// The threads of the execution, in the order of their birth.
    pub(crate) fn born(&self) -> &[ThreadId] {
        &self.born
    }
}

/// No object has more parts.
const MOST_PARTS: u32 = 4;

impl Objects {
    fn clear(&mut self) {
        self.mutexes.clear();
        self.rwlocks.clear();
        self.condvars.clear();
        self.semaphores.clear();
        self.barriers.clear();
        self.onces.clear();
        self.channels.clear();
    }
}
