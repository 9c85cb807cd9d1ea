//! As `std::sync::Barrier`.

use super::constructor::{constructor, named};
use runtime::{Born, Placed};
use std::fmt;

/// As `std::sync::Barrier`: n threads wait for each other, again and again.
pub struct Barrier(Placed<Born<runtime::Barrier>>);

/// As `std::sync::BarrierWaitResult`.
pub struct BarrierWaitResult(runtime::Arrival);

impl Barrier {
    constructor! {
        /// A barrier for this many threads; 0 and 1 let each thread pass.
        pub fn new(threads: usize) -> Barrier {
            Barrier(Placed::new(Born::new(if threads == 0 { 1 } else { threads })))
        }
    }

    #[inline(always)]
    #[track_caller]
    fn own(&self) -> &Born<runtime::Barrier> {
        self.0.get()
    }

    named!(|own| own);

    /// Waits for the others.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        BarrierWaitResult(self.own().wait())
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
