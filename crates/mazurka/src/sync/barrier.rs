//! As `std::sync::Barrier`.

use std::fmt;

/// As `std::sync::Barrier`: n threads wait for each other, again and again.
pub struct Barrier(runtime::Barrier);

/// As `std::sync::BarrierWaitResult`.
pub struct BarrierWaitResult(runtime::Arrival);

impl Barrier {
    /// A barrier for this many threads; 0 and 1 let each thread pass.
    #[track_caller]
    pub fn new(threads: usize) -> Barrier {
        Barrier(runtime::Barrier::new(threads.max(1)))
    }

    /// The same with a name for traces, in the place of where it was made. Costs nothing in executions that are not
    /// shown.
    pub fn named(self, name: &str) -> Self {
        self.0.call(name);
        self
    }

    /// Waits for the others.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        BarrierWaitResult(self.0.wait())
    }
}

impl BarrierWaitResult {
    /// Whether this is the one thread of its round that is told apart: the last to arrive.
    pub fn is_leader(&self) -> bool {
        self.0.is_leader()
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").finish_non_exhaustive()
    }
}
