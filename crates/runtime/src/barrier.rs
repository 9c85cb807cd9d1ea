//! Barriers.

/// A barrier for n threads, again and again.
#[derive(Debug)]
pub struct Barrier {}

/// What a thread gets that passed a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {}

impl Barrier {
    /// A barrier for this many threads.
    #[track_caller]
    pub fn new(_places: usize) -> Barrier {
        todo!()
    }

    /// Waits until as many threads as the barrier has places have arrived.
    #[track_caller]
    pub fn wait(&self) -> Arrival {
        todo!()
    }
}

impl Arrival {
    /// Whether it was the last to arrive. That somebody asks makes the arrivals of the barrier ordered.
    pub fn is_leader(&self) -> bool {
        todo!()
    }
}
