//! Counting semaphores.

/// A counting semaphore, one permit at a time.
#[derive(Debug)]
pub struct Semaphore {}

impl Semaphore {
    /// A semaphore with this many permits.
    #[track_caller]
    pub fn new(_permits: usize) -> Semaphore {
        todo!()
    }

    /// Waits for a permit.
    #[track_caller]
    pub fn acquire(&self) {
        todo!()
    }

    /// Takes a permit if there is one.
    #[track_caller]
    pub fn try_acquire(&self) -> bool {
        todo!()
    }

    /// Waits for a permit for some time; whether it got one.
    #[track_caller]
    pub fn acquire_timed(&self) -> bool {
        todo!()
    }

    /// Adds a permit.
    #[track_caller]
    pub fn release(&self) {
        todo!()
    }
}
