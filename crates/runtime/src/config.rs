//! The configuration of a model: of the engine and of its guests.

use crate::native::Native;
use report::Shortcut;
use std::time::Duration;

/// The configuration under which a closure is run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// The maximum number of events of a thread, which then stops (`Halt::Bound(Bound::Events)`).
    pub max_events: u32,
    /// The maximum number of expired timed operations of a thread, which stops after this number.
    pub timeouts: u32,
    /// The number of times that operations of a thread may fail, or wake up, spuriously.
    pub spurious: u32,
    /// The maximum number of allocations of a thread that get a freed block of the heap.
    pub reuse: u32,
    /// Whether a panic is a failure even if another thread observes it (by join, or as poison).
    pub panics_fail: bool,
    /// The maximum number of threads, including the main thread. More threads are a failure.
    pub max_threads: usize,
    /// Whether executions that are shown include the places of their operations.
    pub locations: bool,
    /// Whether interleavings are explored from the beginning, and not only once the program
    /// requests it ([`crate::explore`]).
    pub explores: bool,
    /// Whether threads may still wait when the main thread has returned.
    pub waiting_after_main: bool,
    /// Whether counted or tracked values must be dropped.
    pub leaks_fail: bool,
    /// The number of rounds without progress that a spin loop may make in the only remaining
    /// thread, which may read the clock. If this is not 0, runs are not repeatable.
    pub waits_alone: u32,
    /// The number of times that a thread may repeat a spin loop without progress if other threads
    /// observe its effects before they are undone (`Halt::Bound(Bound::Unroll)`). Without a limit,
    /// two threads could do this forever.
    pub noticed_rounds: u32,
    /// Whether the verified schedules are to be enforced outside of the model. If so, the set of
    /// events must not depend on findings of the search (changes of the shares of an `Arc` always
    /// are events), and everything that cannot be enforced is a failure.
    pub is_enforceable: bool,
    /// The number of bytes of a thread's stack.
    pub stack_size: usize,
    /// The time for which the operating-system thread that runs the model may be blocked. A longer
    /// wait is a failure.
    pub patience: Duration,
    /// The directory of the sources of a library on top of this crate, including the last slash.
    /// Places in it are not shown, because they do not belong to the program.
    pub library: Option<&'static str>,
    /// The configuration of programs in machine code, or `None` for Rust programs.
    pub native: Option<Native>,
    /// The shortcuts that the search does not use.
    pub without: Vec<Shortcut>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            max_events: 10_000,
            timeouts: 2,
            spurious: 0,
            reuse: 0,
            panics_fail: false,
            max_threads: usize::MAX,
            locations: true,
            explores: true,
            waiting_after_main: false,
            leaks_fail: true,
            waits_alone: 0,
            noticed_rounds: NOTICED_ROUNDS,
            is_enforceable: false,
            stack_size: 256 * 1024,
            patience: Duration::from_secs(5),
            library: None,
            native: None,
            without: Vec::new(),
        }
    }
}

/// Plain accesses (not events) allowed per thread, as a multiple of the operation limit. With this
/// limit, a loop over a plain flag that never changes stops, too.
pub const ACCESSES: u32 = 1000;

/// Many executions have more of these rounds, but they seldom show anything new.
const NOTICED_ROUNDS: u32 = 1;
