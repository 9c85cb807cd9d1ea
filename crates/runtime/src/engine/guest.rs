//! The interface through which the engine calls its *guests*.
//!
//! The engine runs threads one step at a time, and knows neither objects nor memory nor reports.
//! This is left to the guests: the front-ends for Rust and for programs in machine code, and the
//! watchers, which look for data races, spin loops and failures. The engine calls guests only
//! through this trait. Most functions get the whole engine, because guests also read its threads.

use crate::config::Config;
use crate::engine::dependence::DependsOn;
use crate::engine::names::Names;
use crate::engine::trap::Trap;
use crate::engine::watch::Watch;
use crate::engine::{Engine, Panic, Thread};
use crate::guests::Wait;
use explore::{EventId, Execution, Fingerprint, Footprint, Outcome, Pending, Step, ThreadId};
use std::ptr::NonNull;

/// A point at which memory is compared with its earlier content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    /// The thread is about to run.
    BeforeRun(ThreadId),
    /// The thread has run, so all differences are its writes.
    AfterRun(ThreadId),
    /// The running thread is about to perform an operation without a switch.
    BeforeEffect,
}

/// The guests of an engine.
pub(crate) trait Guest: Sized {
    /// What a guest keeps on the stack of a suspended thread.
    type Suspended: Copy;

    // Executions

    /// Returns the guests before the first execution, and what they watch in that execution.
    fn new(config: &Config, names: &mut Names) -> (Self, Watch);

    /// Forgets data that refers to the threads of an execution that is over. Called before the
    /// threads are forgotten.
    fn forget_execution(engine: &mut Engine);

    /// Forgets a thread of an execution that is over. Returns the number of bytes that the
    /// execution left in use on the thread's heap.
    fn forget_thread(thread: &mut Thread) -> usize;

    /// Forgets all other data of an execution that is over. Its threads left `left` bytes in use.
    fn clear(engine: &mut Engine, left: usize);

    /// Checks whether the execution has changed state of the system that outlives it.
    fn has_changed_system(engine: &Engine) -> bool;

    /// Prepares for an execution that begins, either at its start or at a savepoint.
    fn prepare(engine: &mut Engine);

    /// Records that the main thread is about to start.
    fn begin(engine: &mut Engine);

    /// Finds a savepoint (a copy of the state of an earlier execution) from which `execution` can
    /// be repeated. Returns whether there is one.
    fn find_savepoint(engine: &mut Engine, execution: &Execution) -> bool;

    /// Restores the savepoint that [`find_savepoint`](Guest::find_savepoint) has found.
    fn restore(engine: &mut Engine);

    /// Returns the number of events of the execution after which a further savepoint is useful, if
    /// there is such a number. `returns` is true if more executions will begin with the same
    /// events.
    fn next_savepoint(engine: &Engine, execution: &Execution, returns: bool) -> Option<usize>;

    /// Makes a savepoint of the current state if possible. Returns whether it was made.
    fn save(engine: &mut Engine) -> bool;

    /// Returns the outcome of the execution, in which no thread is enabled.
    fn outcome(engine: &Engine) -> Outcome;

    /// Returns the fingerprint of the state (the whole state as a value that can be compared), if
    /// all parts of the state are known.
    fn fingerprint(engine: &Engine) -> Option<Fingerprint>;

    /// Returns what the thread's next step depends on, if this is known.
    fn footprint(engine: &Engine, thread: ThreadId) -> Option<Footprint>;

    /// Records misuse of the library by the running thread, which is a failure.
    fn misuse(engine: &mut Engine, message: &str);

    // Threads

    /// Records that the engine has data for one more thread.
    fn add_thread(engine: &mut Engine);

    /// Records that stacks may lie between these addresses.
    fn add_stack(engine: &mut Engine, start: usize, end: usize);

    /// Records that a thread has started. `parent` is `None` for the main thread.
    fn start(engine: &mut Engine, thread: ThreadId, parent: Option<ThreadId>);

    /// Records that the thread is about to run, and selects its heap.
    fn enter(engine: &mut Engine, thread: ThreadId);

    /// Records that the wait of a thread is over, while another thread is the running thread.
    fn wake(engine: &mut Engine, thread: ThreadId, wait: Wait);

    /// Checks whether the running thread has thread-local values.
    fn has_locals(engine: &mut Engine) -> bool;

    /// Drops the thread-local values of the running thread. The destructors are code of the
    /// program.
    fn drop_locals();

    /// Drops the values of statics, if the running thread is the last thread.
    ///
    /// # Safety
    ///
    /// No reference to the engine may be held.
    unsafe fn drop_statics(engine: NonNull<Engine>);

    /// Returns whether statics are being dropped.
    fn is_dropping_statics(engine: &Engine) -> bool;

    /// If statics are being dropped, gives up the running thread, which runs one of their
    /// destructors.
    fn lose_destructor(engine: &mut Engine);

    /// Checks whether this payload ends a thread without a panic.
    fn is_end_of_thread(payload: &Panic) -> bool;

    /// Records that the running thread has ended.
    fn end(engine: &mut Engine);

    /// Records that the hook has observed a panic of the running thread.
    fn panicked(engine: &mut Engine);

    /// Records that the code of a thread ended by a panic. Returns the thread's new state.
    fn unwound(engine: &mut Engine, thread: ThreadId, panic: Panic) -> Pending;

    /// Records that a signal ended the code of a thread.
    fn trapped(engine: &mut Engine, thread: ThreadId, trap: Option<Trap>);

    /// Checks whether the remaining threads may be unwound: the values that they own can be dropped
    /// at any operation.
    fn can_unwind(engine: &Engine) -> bool;

    /// Records that all remaining threads are abandoned.
    fn abandon_all(engine: &mut Engine);

    /// Forgets what an abandoned thread owns.
    fn abandon(thread: &mut Thread);

    // Steps

    /// Checks whether the program excludes other steps in place of this step from the search.
    fn is_fixed(engine: &mut Engine, step: Step) -> bool;

    /// Records that the event of this step begins.
    fn begin_event(engine: &mut Engine, step: Step);

    /// Completes the data about the current event after the program has performed the event's
    /// effect.
    fn complete_event(engine: &mut Engine);

    /// Records that the current event, which this thread performed, ends. Called if
    /// [`Watch::is_on`].
    fn end_event(engine: &mut Engine, thread: ThreadId);

    /// Records that the running thread performs an operation as a part of the current step. `wait`
    /// is set if the operation is the end of a wait.
    fn perform_part(engine: &mut Engine, wait: Option<Wait>);

    /// Records the end of the running thread as an event.
    fn record_end(engine: &mut Engine);

    /// Returns the number of alternatives of an operation that depends on the state of its object.
    fn alternatives(engine: &Engine, on: DependsOn) -> u32;

    /// Compares memory with its earlier content. Called if memory is compared.
    fn compare(engine: &mut Engine, at: Comparison);

    /// Records that an operation has had its effect. Called if effects are watched.
    fn end_effect(engine: &mut Engine);

    /// Records that the running thread is about to be suspended. Called if the await rule is in
    /// use.
    fn suspend(engine: &mut Engine);

    /// Records that the running thread of a native program is about to be suspended.
    fn keep(engine: &mut Engine) -> Self::Suspended;

    /// Restores what [`keep`](Guest::keep) has returned. Called when the suspended thread
    /// continues.
    fn resume(kept: Self::Suspended);

    // Waits

    /// Records that the running thread has announced a wait.
    fn wait(engine: &mut Engine);

    /// Records that the running thread's wait is over. `edges` are the events that ended it.
    fn end_wait(engine: &mut Engine, wait: Wait, edges: &[EventId]);

    /// Records that the running thread has joined this thread.
    fn join(engine: &mut Engine, thread: ThreadId);
}
