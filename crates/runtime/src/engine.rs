//! The state of an execution. The model, which is the scheduler, and the code of the threads share
//! it.
//!
//! The threads are coroutines of one thread of the operating system, so only one of them uses the
//! engine at a time. A function that may switch to another coroutine first ends all references to
//! the engine.

mod advance;
mod birth;
pub(crate) mod clean;
pub(crate) mod control_words;
pub(crate) mod coroutine;
pub(crate) mod current;
pub(crate) mod dependence;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) mod endless_loop;
pub(crate) mod granularity;
pub(crate) mod guest;
pub(crate) mod kin;
pub(crate) mod life;
pub(crate) mod model;
pub(crate) mod names;
pub(crate) mod own_stack;
pub(crate) mod panic_count;
pub(crate) mod panic_hook;
pub(crate) mod perform;
pub(crate) mod place;
pub(crate) mod pool;
mod renewal;
pub(crate) mod repetition;
pub(crate) mod root;
pub(crate) mod stack;
pub(crate) mod step;
pub(crate) mod tear_down;
#[cfg(test)]
mod tests;
mod thread;
pub(crate) mod trap;
mod twins;
pub(crate) mod waits;
pub(crate) mod watch;
pub(crate) mod watchdog;

pub use thread::Panic;
pub(crate) use thread::{CaughtPanic, Job, Thread, ThreadLife, forget_panic};

use crate::config::Config;
use crate::engine::control_words::ControlWords;
use crate::engine::coroutine::Suspender;
use crate::engine::dependence::DependsOn;
use crate::engine::granularity::StepGranularity;
use crate::engine::life::life;
use crate::engine::names::Names;
use crate::engine::watch::Watch;
use crate::guests::{Guests, Objects};
use explore::{EventId, Execution, ObjectId, Op, Pending, ReadsFrom, ThreadId, ValueId};
use objects::Coarsening;
use report::Restart;
use std::collections::VecDeque;

/// The current execution, and the data kept from one execution to the next.
pub(crate) struct Engine {
    pub(crate) life: ExecutionLife,
    pub(crate) threads: Vec<Thread>,
    /// The thread whose code runs.
    pub(crate) running: ThreadId,
    /// The number of times that a thread was run, in all executions.
    pub(crate) resumes: u64,
    /// The handle by which the running coroutine suspends itself.
    pub(crate) suspender: *const Suspender,
    /// The checker's floating-point control words. `None` if the program has the same words, as in
    /// Rust.
    pub(crate) control_words: Option<ControlWords>,
    /// The chosen alternative of the current operation.
    pub(crate) choice: u32,
    /// The current operation, with the access that it turns out to have.
    pub(crate) op: Op,
    /// The write that the current operation reads from. If the operation is a write, its place in
    /// coherence order (the order of the writes of its object).
    pub(crate) reads_from: ReadsFrom,
    /// The id of the object's value before the current event.
    pub(crate) before: ValueId,
    /// The id of the object's value after the current event.
    pub(crate) after: ValueId,
    /// The events from which synchronization edges lead to the current event.
    pub(crate) edges: Vec<EventId>,
    /// A buffer for the synchronization edges of a wait that ends.
    pub(crate) granting: Vec<EventId>,
    /// If threads begin as late as possible: started threads that have not begun. Otherwise `None`.
    pub(crate) late: Option<Vec<ThreadId>>,
    /// Whether a new thread runs to its first operation before its parent continues.
    pub(crate) children_go_first: bool,
    /// The operations that count as a step.
    pub(crate) granularity: StepGranularity,
    /// Whether executions may show new loops, in which the await rule then stops threads.
    pub(crate) finds_loops: bool,
    /// The execution that is being repeated, or null.
    pub(crate) script: *const Execution,
    /// The number of events of `script` to repeat.
    pub(crate) script_end: usize,
    pub(crate) watch: Watch,
    /// Whether the threads are being unwound after the end of the execution.
    pub(crate) is_tearing_down: bool,
    /// Whether the execution is over, and its remaining threads continue towards their ends
    /// (`Model::run_out`).
    pub(crate) is_run_out: bool,
    /// The number of accesses to plain memory in all executions. It shows progress.
    pub(crate) touches: u64,
    pub(crate) names: Names,
    pub(crate) guests: Guests,
    pub(crate) config: Config,
    /// The code of the main thread.
    body: Box<dyn Fn()>,
}

life! {
    /// The state of the current execution.
    pub(crate) struct ExecutionLife {
        /// The state of each thread, indexed by thread.
        pub(crate) pending: Vec<Pending>,
        /// Threads that were started in this execution, in that order.
        pub(crate) started: Vec<ThreadId>,
        /// The number of started threads that have not reached the end of their code.
        pub(crate) live: usize,
        /// The number of events so far, which is the number of the current event.
        pub(crate) events: u32,
        /// Synchronization edges that became known in the current step, as pairs (thread, event):
        /// the thread's next event comes after this event.
        pub(crate) next_edges: Vec<(ThreadId, EventId)>,
        /// Waiting threads, each with the object that it waits for.
        pub(crate) waiting: Vec<(ThreadId, ObjectId)>,
        /// Threads whose pending operation depends on the state of its object, and how it depends.
        pub(crate) conditional: Vec<(ThreadId, DependsOn)>,
        /// Threads that continue before the step is over, for example because they were started or
        /// their wait has ended.
        ready: VecDeque<ThreadId>,
        /// Used if every operation is a step: the threads that would continue within the step if
        /// only accesses were steps, in this order.
        pub(crate) woken: VecDeque<ThreadId>,
        /// Whether an event has begun and not ended.
        pub(crate) is_in_event: bool,
        /// The first reason, if any, why this execution makes the exploration start again.
        pub(crate) coarsened: Option<Restart>,
        /// Whether a step names a source for its read (the write that it reads from), but the
        /// source did not write the object. Then the schedule does not fit the program.
        pub(crate) has_unfit_source: bool,
        pub(crate) objects: Objects,
        /// The last value of each object, indexed by object. After an `ObjectWrite`, it is the
        /// number of that write. Maintained only while the await rule is in use (`Watch::reads`).
        pub(crate) values: Vec<Option<ValueId>>,
    }
}

impl Engine {
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

    /// Records that an assumption of the exploration is wrong, so that the exploration has to start
    /// again without this assumption.
    pub(crate) fn coarsen(&mut self, why: Restart) {
        self.life.coarsened.get_or_insert(why);
    }

    /// Checks whether the current execution makes the exploration start again.
    #[inline(always)]
    pub(crate) fn is_coarsened(&self) -> bool {
        self.life.coarsened.is_some()
    }

    /// Makes an object coarser: from now on, more of its operations count as dependent. If this is
    /// new, the exploration starts again.
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

    /// Records the ids of the object's values before and after the current event.
    #[inline(always)]
    pub(crate) fn record_value_ids(&mut self, before: ValueId, after: ValueId) {
        self.before = before;
        self.after = after;
    }

    /// Returns whether some thread continues before the step is over.
    #[inline(always)]
    pub(crate) fn has_ready(&self) -> bool {
        !self.life.ready.is_empty()
    }

    /// Removes and returns the next thread that continues before the step is over. Returns `None`
    /// if there is no such thread.
    #[inline(always)]
    pub(crate) fn take_ready(&mut self) -> Option<ThreadId> {
        self.life.ready.pop_front()
    }

    /// Marks the thread to continue before the step is over.
    pub(crate) fn is_ready(&mut self, thread: ThreadId) {
        self.life.ready.push_back(thread);
    }

    /// Returns whether every started thread has ended or was abandoned.
    pub(crate) fn is_quiet(&self) -> bool {
        self.life.live == 0
    }

    /// Returns the threads of the execution, in the order in which they were started.
    pub(crate) fn started(&self) -> &[ThreadId] {
        &self.life.started
    }
}
