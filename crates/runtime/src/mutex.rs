//! Mutexes, without data and without poison.

/// Who holds a mutex is known; what it guards and whether it is poisoned is the mirror's business.
#[derive(Debug)]
pub struct Mutex {}

impl Mutex {
    /// A new mutex of the execution.
    #[track_caller]
    pub fn new() -> Mutex {
        todo!()
    }

    /// Waits for the mutex.
    #[track_caller]
    pub fn lock(&self) {
        todo!()
    }

    /// Takes the mutex if nobody holds it.
    #[track_caller]
    pub fn try_lock(&self) -> bool {
        todo!()
    }

    /// Waits for the mutex for some time; whether it was got.
    #[track_caller]
    pub fn lock_timed(&self) -> bool {
        todo!()
    }

    /// Gives up the mutex, which the thread holds.
    #[track_caller]
    pub fn unlock(&self) {
        todo!()
    }
}
