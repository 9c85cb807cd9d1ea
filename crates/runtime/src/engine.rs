//! The state of an execution, shared by the model, which is the scheduler, and the threads' code.
//!
//! The threads are coroutines of one thread of the operating system. So the engine always has
//! exactly one user, and each function that may switch to another coroutine first ends all
//! references to the engine.

mod birth;
pub(crate) mod control_words;
pub(crate) mod coroutine;
pub(crate) mod current;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) mod endless_loop;
pub(crate) mod final_state;
pub(crate) mod granularity;
pub(crate) mod life;
pub(crate) mod model;
pub(crate) mod names;
pub(crate) mod own_stack;
pub(crate) mod panic_count;
pub(crate) mod panic_hook;
pub(crate) mod perform;
pub(crate) mod pool;
pub(crate) mod pools;
pub(crate) mod repetition;
pub(crate) mod root;
pub(crate) mod stack;
pub(crate) mod step;
pub(crate) mod tear_down;
mod thread;
pub(crate) mod token;
pub(crate) mod trap;
pub(crate) mod waiting;
pub(crate) mod watchdog;

pub use birth::ACCESSES;
pub(crate) use thread::{Job, Thread, ThreadLife};

use crate::engine::control_words::ControlWords;
use crate::engine::coroutine::Suspender;
use crate::engine::granularity::StepGranularity;
use crate::engine::life::{Life, life};
use crate::engine::model::Config;
use crate::engine::names::Names;
use crate::engine::pool::Pool;
use crate::engine::pools::Objects;
use crate::engine::step::DependsOn;
use crate::memory::arena::Heap;
use crate::memory::reclaim;
use crate::memory::residents::Residents;
use crate::native::{self, Savepoints};
use crate::rust::end_of_statics::Ending;
use crate::rust::exploration::Exploration;
use crate::rust::lazy::Static;
use crate::rust::owner::Owned;
use crate::rust::plain::State as PlainState;
use crate::rust::thread::forget_panic;
use crate::trace::failure::Failures;
use crate::trace::recorder::Recorder;
use crate::trace::sampling::Sampled;
use crate::watch::happens_before::HappensBefore;
use crate::watch::heap_changes::HeapSegment;
use crate::watch::hidden::Hidden;
use crate::watch::snapshot::Snapshots;
use crate::watch::undone::History;
use explore::{EventId, Execution, ObjectId, Op, Pending, ThreadId, ValueId};
use objects::Coarsening;
use report::{Goal, LeftOut, Restart, Shortcut};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ptr;

/// The current execution, and the data kept from one execution to the next.
pub(crate) struct Engine {
    pub(crate) life: ExecutionLife,
    pub(crate) threads: Vec<Thread>,
    /// The thread whose code runs.
    pub(crate) running: ThreadId,
    /// The number of times that a thread was run, in all executions.
    pub(crate) resumes: u64,
    pub(crate) suspender: *const Suspender,
    /// The checker's floating-point control words. `None` if the program has the same words, as in
    /// Rust.
    pub(crate) control_words: Option<ControlWords>,
    /// The heap of the running thread.
    pub(crate) heap: *mut Heap,
    pub(crate) heap_segment: HeapSegment,
    pub(crate) hidden: Hidden,
    pub(crate) history: History,
    /// Whether the effect of the current event (or its absence) is already recorded.
    pub(crate) is_effect_noted: bool,
    /// The alternative of the current operation that is performed.
    pub(crate) choice: u32,
    /// The current operation as it is performed.
    pub(crate) op: Op,
    pub(crate) before: ValueId,
    pub(crate) after: ValueId,
    pub(crate) edges: Vec<EventId>,
    /// The synchronization edges of the wait that ends.
    pub(crate) granting: Vec<EventId>,
    /// Started threads that have not begun, if threads begin as late as possible.
    pub(crate) late: Option<Vec<ThreadId>>,
    /// Whether a new thread runs to its first operation before its parent continues.
    pub(crate) children_go_first: bool,
    pub(crate) granularity: StepGranularity,
    /// The execution that is repeated, and the number of its events to repeat.
    pub(crate) script: *const Execution,
    pub(crate) script_end: usize,
    pub(crate) watch: Watch,
    /// Whether the threads are being unwound after the end of the execution.
    pub(crate) is_tearing_down: bool,
    /// Whether the execution is over, and its threads are being run to their ends.
    pub(crate) is_run_out: bool,
    /// The state to restore after the drop of the statics, while they are being dropped.
    pub(crate) ending: Option<Ending>,
    /// Whether a destructor of a static was stopped, so that values that it owned may remain.
    pub(crate) has_lost_statics: bool,
    pub(crate) plain: Pool<PlainState>,
    /// The number of accesses to plain memory.
    pub(crate) touches: u64,
    pub(crate) statics: Vec<Static>,
    /// Memory of forgotten values of statics, with the address of the static.
    pub(crate) spare_statics: Vec<(usize, *mut ())>,
    pub(crate) residents: Residents,
    /// Values that must be dropped or freed before the end.
    pub(crate) owned: Pool<Owned>,
    /// The numbers of the values whose shares raw pointers may represent, by address.
    pub(crate) raw_arcs: BTreeMap<usize, u32>,
    /// The numbers of pieces of allocated memory, by address.
    pub(crate) raw_memory: BTreeMap<usize, u32>,
    pub(crate) failures: Failures,
    pub(crate) exploration: Exploration,
    /// Whether alternatives were left out because of `exploration`, in any execution.
    pub(crate) has_left_out: bool,
    /// Observations in any execution that are not failures.
    pub(crate) warnings: RefCell<BTreeSet<String>>,
    /// Parts of the program's behaviour that any execution is known to have left out.
    pub(crate) left_out: RefCell<BTreeSet<LeftOut>>,
    /// The goals, in the order in which they first occurred in any execution.
    pub(crate) goals: Vec<Goal>,
    pub(crate) names: Names,
    pub(crate) happens_before: HappensBefore,
    pub(crate) recorder: Recorder,
    pub(crate) sampled: Sampled,
    pub(crate) snapshots: Snapshots,
    pub(crate) native: native::State,
    pub(crate) savepoints: Savepoints,
    pub(crate) config: Config,
    body: Box<dyn Fn()>,
}

life! {
    /// The state that lives for one execution and can be copied.
    pub(crate) struct ExecutionLife {
        /// Indexed by thread.
        pub(crate) pending: Vec<Pending>,
        /// Threads that were started in this execution, in that order.
        pub(crate) started: Vec<ThreadId>,
        /// The number of started threads that have not reached the end of their code.
        pub(crate) live: usize,
        /// The number of events so far, which is the number of the current event.
        pub(crate) events: u32,
        /// Synchronization edges to next events of threads that became known in the current step.
        pub(crate) next_edges: Vec<(ThreadId, EventId)>,
        /// Pairs of (thread, object it is waiting for).
        pub(crate) waiting: Vec<(ThreadId, ObjectId)>,
        /// Threads whose pending operation depends on the state of its object, with the kind of
        /// dependence.
        pub(crate) conditional: Vec<(ThreadId, DependsOn)>,
        /// Threads that continue before the step is over, because they were started or their wait
        /// has ended.
        ready: VecDeque<ThreadId>,
        /// The threads that would continue within the step if only accesses were steps, in that
        /// order. Used if every operation is a step.
        pub(crate) woken: VecDeque<ThreadId>,
        /// Whether an event has begun and not ended.
        pub(crate) is_in_event: bool,
        /// Whether objects became coarser in this execution.
        pub(crate) coarsened: Option<Restart>,
        pub(crate) objects: Objects,
        /// Indexed by object: the value that was last written. Known while reads are watched.
        pub(crate) values: Vec<Option<ValueId>>,
    }
}

/// Further data to record for each operation. Usually there is none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Watch {
    /// Whether the execution is recorded for users.
    pub(crate) records: bool,
    /// Whether the places of events are recorded.
    pub(crate) samples: bool,
    /// Whether one of the two fields above is set.
    pub(crate) notes: bool,
    /// Whether the execution is audited.
    pub(crate) audits: bool,
    /// Whether memory is compared, to find synchronization that the model does not see.
    pub(crate) compares: bool,
    /// Whether data races are searched for.
    pub(crate) races: bool,
    /// Whether the await rule is in use.
    pub(crate) reads: bool,
    /// Whether the await rule compares the stacks of threads at hints.
    pub(crate) stacks: bool,
    /// Whether some thread or object reports its state.
    pub(crate) states: bool,
}

impl Watch {
    /// Returns whether anything has to be recorded.
    #[inline(always)]
    pub(crate) fn is_on(self) -> bool {
        self.records | self.races | self.reads | self.states
    }

    /// Returns whether the end of an effect has to be recorded.
    #[inline(always)]
    pub(crate) fn looks_at_effects(self) -> bool {
        self.reads | self.compares
    }

    /// Returns whether all accesses are reported, including those that are usually omitted as
    /// harmless.
    #[inline(always)]
    pub(crate) fn sees_all(self) -> bool {
        self.records | self.audits
    }

    /// Begins or ends recording executions.
    pub(crate) fn record(&mut self, records: bool) {
        self.records = records;
        self.notes = records | self.samples;
    }

    /// Begins or ends recording the places of events.
    pub(crate) fn sample(&mut self, samples: bool) {
        self.samples = samples;
        self.notes = samples | self.records;
    }
}

impl Engine {
    pub(crate) fn new(config: Config, mut names: Names, body: Box<dyn Fn()>) -> Engine {
        let mut native = native::State::new(config.native);
        let watches_all = config.without.contains(&Shortcut::Ownership);
        if names.has_plain_memory() {
            native.ownership.give_up();
            native.is_ordering = names.orders_atomics();
        }
        if !native.is_raced || watches_all {
            native.watch_all();
        }
        if native.are_stacks_events(&config) {
            names.wipe_stacks();
        }
        Engine {
            life: ExecutionLife::new(),
            threads: Vec::new(),
            running: ThreadId::MAIN,
            resumes: 0,
            suspender: ptr::null(),
            control_words: config
                .native
                .map(|_| ControlWords::now().without_exceptions()),
            heap: ptr::null_mut(),
            heap_segment: HeapSegment::default(),
            hidden: Hidden::default(),
            history: History::default(),
            is_effect_noted: false,
            choice: 0,
            op: objects::Thread::SPAWN.on(ObjectId::NONE),
            before: ValueId::default(),
            after: ValueId::default(),
            edges: Vec::new(),
            granting: Vec::new(),
            late: None,
            children_go_first: false,
            granularity: StepGranularity::of_search(&config),
            script: ptr::null(),
            script_end: 0,
            watch: Watch {
                records: false,
                samples: false,
                notes: false,
                audits: false,
                compares: false,
                races: names.has_plain_memory() || native.is_raced && watches_all,
                reads: names.has_hints() || names.has_loops(),
                stacks: names.has_hints(),
                states: false,
            },
            is_tearing_down: false,
            is_run_out: false,
            ending: None,
            has_lost_statics: false,
            plain: Pool::default(),
            touches: 0,
            statics: Vec::new(),
            spare_statics: Vec::new(),
            residents: Residents::default(),
            owned: Pool::default(),
            raw_arcs: BTreeMap::new(),
            raw_memory: BTreeMap::new(),
            failures: Failures::default(),
            exploration: Exploration::On,
            has_left_out: false,
            warnings: RefCell::default(),
            left_out: RefCell::default(),
            goals: Vec::new(),
            names,
            happens_before: HappensBefore::default(),
            recorder: Recorder::default(),
            sampled: Sampled::default(),
            snapshots: Snapshots::default(),
            native,
            savepoints: Savepoints::default(),
            config,
            body,
        }
    }

    /// Forgets the execution, whose threads have all ended.
    pub(crate) fn clear(&mut self) {
        self.snapshots.clear();
        self.forget_sample();
        let mut left = 0;
        // Remove the youngest thread first: its name may be on the heap of an older thread.
        while let Some(id) = self.life.started.pop() {
            let thread = &mut self.threads[id.index()];
            thread.panic.take().into_iter().for_each(forget_panic);
            thread.life.name = None;
            left += thread.heap.reset();
            if thread.life.is_lost {
                thread.life.is_lost = false;
                self.begin_again(id);
            }
        }
        self.life.begin();
        self.fit_columns();
        self.late.iter_mut().for_each(Vec::clear);
        self.script = ptr::null();
        self.savepoints.begin();
        self.plain.clear();
        self.forget_statics();
        self.has_lost_statics = false;
        self.clear_owned();
        self.failures.clear();
        self.native.clear();
        self.heap_segment.forget();
        if self.watch.compares {
            self.hidden.clear();
        }
        self.history.clear();
        if self.watch.races {
            self.happens_before.clear();
        }
        if reclaim::is_due(left) {
            self.reclaim();
        }
    }

    /// Gives each column that is indexed by thread an entry for every thread.
    pub(crate) fn fit_columns(&mut self) {
        let count = self.threads.len();
        self.life.pending.resize(count, Pending::NotStarted);
        let objects = &mut self.life.objects;
        objects.parks.resize_with(count, objects::Park::default);
        objects.ends.resize_with(count, objects::Thread::default);
    }

    /// Orders the next event of the thread after this event.
    #[inline(always)]
    pub(crate) fn order_after(&mut self, thread: ThreadId, event: EventId) {
        self.threads[thread.index()].life.edges.push(event);
        self.life.next_edges.push((thread, event));
    }

    /// Searches for data races from now on. The exploration restarts if some may have occurred.
    pub(crate) fn look_for_races(&mut self) {
        if self.watch.races {
            return;
        }
        self.names.meet_plain_memory();
        self.watch.races = true;
        self.happens_before.clear();
        for &thread in &self.life.started {
            self.happens_before.started(thread, None);
        }
        if self.life.started.len() > 1 {
            self.coarsen(Restart::PlainMemory);
        }
    }

    /// Returns the next object of the running thread.
    pub(crate) fn create(&mut self, parts: u32) -> ObjectId {
        let thread = &mut self.threads[self.running.index()];
        if let Some(making) = thread.making {
            return self.create_for_making(making, parts);
        }
        let number = thread.life.created;
        thread.life.created += 1;
        self.names.object(self.running, number, parts)
    }

    /// Records that the exploration assumed too little, so that it has to start again.
    pub(crate) fn coarsen(&mut self, why: Restart) {
        self.life.coarsened.get_or_insert(why);
    }

    /// Checks whether the exploration has to start again.
    #[inline(always)]
    pub(crate) fn is_coarsened(&self) -> bool {
        self.life.coarsened.is_some()
    }

    /// Makes the object coarser than announced so far.
    pub(crate) fn coarsen_object(&mut self, object: ObjectId, coarsening: Coarsening) {
        if !self.names.is_coarse(object, coarsening) {
            self.names.coarsen(object, coarsening);
            self.coarsen(Restart::CoarseObject);
        }
    }

    /// Returns the current event.
    #[inline(always)]
    pub(crate) fn event(&self) -> EventId {
        EventId(self.life.events)
    }

    /// Returns the running thread.
    #[inline(always)]
    pub(crate) fn thread(&mut self) -> &mut Thread {
        &mut self.threads[self.running.index()]
    }

    /// Records the values of the object before and after the current event.
    #[inline(always)]
    pub(crate) fn note(&mut self, before: ValueId, after: ValueId) {
        self.before = before;
        self.after = after;
    }

    /// Returns whether a thread continues before the step is over.
    #[inline(always)]
    pub(crate) fn has_ready(&self) -> bool {
        !self.life.ready.is_empty()
    }

    /// Removes and returns a thread that continues before the step is over.
    #[inline(always)]
    pub(crate) fn take_ready(&mut self) -> Option<ThreadId> {
        self.life.ready.pop_front()
    }

    /// Marks the thread to continue before the step is over.
    pub(crate) fn is_ready(&mut self, thread: ThreadId) {
        self.life.ready.push_back(thread);
    }

    /// Returns whether no thread has a stack in use.
    pub(crate) fn is_quiet(&self) -> bool {
        self.life.live == 0
    }

    /// Returns the threads of the execution, in the order in which they were started.
    pub(crate) fn started(&self) -> &[ThreadId] {
        &self.life.started
    }
}
