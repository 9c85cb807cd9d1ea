//! Like `std::sync::Barrier`.

use super::constructor::{constructor, named};
use runtime::{Born, Placed};
use std::fmt;

/// Like `std::sync::Barrier`: n threads wait for each other, in any number of rounds.
pub struct Barrier(Placed<Born<runtime::Barrier>>);

/// Like `std::sync::BarrierWaitResult`.
pub struct BarrierWaitResult(runtime::Arrival);

impl Barrier {
    constructor! {
        /// Creates a barrier for this number of threads. With 0 or 1, no thread waits.
        pub fn new(threads: usize) -> Barrier {
            Barrier(Placed::new(Born::new(if threads == 0 { 1 } else { threads })))
        }
    }

    #[inline(always)]
    #[track_caller]
    fn own(&self) -> &Born<runtime::Barrier> {
        self.0.get()
    }

    named!(|inner| inner);

    /// Waits for the other threads.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        BarrierWaitResult(self.own().wait())
    }
}

impl BarrierWaitResult {
    /// Checks whether this thread is the leader of its round: the last thread to arrive.
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
