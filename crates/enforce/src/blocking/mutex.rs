//! Mutexes in the memory of `pthread_mutex_t`.

use super::Deadline;
use super::turnstile::Turnstile;
use crate::own::own;
use crate::{begin, end};
use explore::OpKind;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::Relaxed};

/// A mutex. A mutex whose bytes except the kind are all zero is free.
#[repr(C)]
pub struct Mutex {
    /// The next place of the turnstile.
    next: AtomicU32,
    /// The recursion count of a recursive mutex.
    count: AtomicU32,
    /// The kernel's thread ID (TID) of the thread that holds the mutex, or 0.
    owner: AtomicU32,
    unused: u32,
    /// The kind, at the place where the C library stores it.
    kind: AtomicI32,
    unused_too: u32,
    /// The state of the turnstile.
    state: AtomicU64,
}

/// The reason why a mutex was not taken or not released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Another thread holds the mutex.
    Busy,
    /// The calling thread already holds the mutex.
    Deadlock,
    /// The deadline passed.
    TimedOut,
    /// The calling thread does not hold the mutex.
    NotOwner,
    /// Mutexes of this kind cannot be enforced: robust, or shared with other processes.
    Kind,
}

const RECURSIVE: i32 = 1;
const ERROR_CHECKING: i32 = 2;
const KINDS: i32 = 3;
const ROBUST: i32 = 16;
const SHARED: i32 = 128;

impl Mutex {
    /// Returns the mutex in this memory.
    ///
    /// # Safety
    ///
    /// The memory holds a mutex of the C library that is used through this type only.
    pub unsafe fn at<'o, T>(object: *mut T) -> &'o Mutex {
        // SAFETY: as promised by the caller. `pthread_mutex_t` is at least as large as this type.
        unsafe { &*object.cast() }
    }

    /// Returns a free mutex.
    pub const fn new() -> Mutex {
        Mutex {
            next: AtomicU32::new(0),
            count: AtomicU32::new(0),
            owner: AtomicU32::new(0),
            unused: 0,
            kind: AtomicI32::new(0),
            unused_too: 0,
            state: AtomicU64::new(0),
        }
    }

    #[inline(always)]
    fn turnstile(&self) -> Turnstile<'_> {
        Turnstile {
            next: &self.next,
            state: &self.state,
            initial: 1,
        }
    }

    /// Waits for the mutex and takes it.
    ///
    /// # Errors
    /// Returns an error if the mutex is error-checking and the calling thread holds it, or if a
    /// mutex of this kind cannot be enforced.
    #[inline]
    pub fn lock(&self) -> Result<(), Refused> {
        let thread = own().system();
        if self.kind.load(Relaxed) != 0 && self.relocks(thread)? {
            return Ok(());
        }
        self.request();
        self.owner.store(thread, Relaxed);
        self.count.store(1, Relaxed);
        Ok(())
    }

    /// Takes a recursive mutex again, if the calling thread holds it. Returns whether the mutex was
    /// taken. The errors are those of [`lock`](Mutex::lock).
    fn relocks(&self, thread: u32) -> Result<bool, Refused> {
        let kind = self.kind.load(Relaxed);
        if kind & (ROBUST | SHARED) != 0 {
            return Err(Refused::Kind);
        }
        if self.owner.load(Relaxed) != thread {
            return Ok(false);
        }
        match kind & KINDS {
            RECURSIVE => {
                self.count.store(self.count.load(Relaxed) + 1, Relaxed);
                Ok(true)
            }
            ERROR_CHECKING => Err(Refused::Deadlock),
            _ => Ok(false),
        }
    }

    /// Waits for the mutex, which must be neither recursive nor error-checking, and takes it.
    #[inline]
    pub fn lock_anew(&self) {
        self.request();
        self.owner.store(own().system(), Relaxed);
        self.count.store(1, Relaxed);
    }

    #[inline]
    pub(crate) fn request(&self) {
        begin(OpKind::MutexRequest);
        let place = self.turnstile().take();
        end();
        self.turnstile().wait(place);
    }

    /// Takes the mutex if it is free or, with a deadline, if it becomes free in time.
    ///
    /// # Errors
    /// Returns an error if the mutex does not become free, if it is error-checking and the calling
    /// thread holds it, or if a mutex of this kind cannot be enforced.
    pub fn try_lock(&self, deadline: Option<Deadline>) -> Result<(), Refused> {
        let thread = own().system();
        match self.relocks(thread) {
            Ok(true) => return Ok(()),
            Err(Refused::Deadlock) if deadline.is_none() => return Err(Refused::Busy),
            Err(refused) => return Err(refused),
            Ok(false) => {}
        }
        if !self.tries(deadline) {
            return Err(match deadline {
                Some(_) => Refused::TimedOut,
                None => Refused::Busy,
            });
        }
        self.owner.store(thread, Relaxed);
        self.count.store(1, Relaxed);
        Ok(())
    }

    pub(crate) fn tries(&self, deadline: Option<Deadline>) -> bool {
        begin(OpKind::MutexTryPlace);
        let place = self.turnstile().take_leavable();
        end();
        let place = self.turnstile().waits_in_time(place, deadline);
        begin(OpKind::MutexTryResult);
        let is_granted = place.is_some_and(|place| self.turnstile().resolve(place));
        end();
        is_granted
    }

    /// Checks whether a wait on a condition variable with this mutex must fail: the calling thread
    /// does not hold the mutex, and the mutex is of a kind that checks this.
    pub fn refuses_wait(&self) -> bool {
        let kind = self.kind.load(Relaxed) & KINDS;
        let reports = kind == RECURSIVE || kind == ERROR_CHECKING;
        reports && self.owner.load(Relaxed) != own().system()
    }

    /// Passes the mutex to the next thread.
    ///
    /// # Errors
    /// Returns an error if the calling thread does not hold the mutex and the kind of the mutex
    /// reports this.
    #[inline]
    pub fn unlock(&self) -> Result<(), Refused> {
        let kind = self.kind.load(Relaxed) & KINDS;
        if kind == RECURSIVE || kind == ERROR_CHECKING {
            if self.owner.load(Relaxed) != own().system() {
                return Err(Refused::NotOwner);
            }
            let count = self.count.load(Relaxed) - 1;
            self.count.store(count, Relaxed);
            if count > 0 {
                return Ok(());
            }
        }
        self.release();
        Ok(())
    }

    /// Passes a mutex that is neither recursive nor error-checking to the next thread.
    #[inline]
    pub fn release(&self) {
        begin(OpKind::MutexUnlock);
        self.owner.store(0, Relaxed);
        self.turnstile().grant();
        end();
    }

    /// Returns the recursion count, before a wait for a condition variable releases the mutex.
    /// [`take_back`](Mutex::take_back) restores this count.
    pub(crate) fn lend(&self) -> u32 {
        self.count.load(Relaxed)
    }

    pub(crate) fn take_back(&self, count: u32) {
        self.owner.store(own().system(), Relaxed);
        self.count.store(count, Relaxed);
    }

    /// Destroys a mutex, with the same events as in a model: a try and an unlock. Returns whether
    /// the mutex was free.
    pub fn destroy(&self) -> bool {
        let is_free = self.tries(None);
        if is_free {
            self.release();
        }
        is_free
    }

    /// Resets the mutex, except for its kind.
    pub fn clear(&self) {
        self.turnstile().clear(0);
        self.owner.store(0, Relaxed);
        self.count.store(0, Relaxed);
    }
}

impl Default for Mutex {
    fn default() -> Mutex {
        Mutex::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    struct Shared(Mutex, Cell<u64>);
    // SAFETY: only the thread that holds the mutex uses the cell.
    unsafe impl Sync for Shared {}

    #[test]
    fn one_thread_at_a_time_holds_a_mutex() {
        let shared = &Shared(Mutex::new(), Cell::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    for _ in 0..2_000 {
                        shared.0.lock().unwrap();
                        shared.1.set(shared.1.get() + 1);
                        shared.0.unlock().unwrap();
                    }
                });
            }
        });
        assert_eq!(shared.1.get(), 8_000);
    }

    #[test]
    fn tries_that_fail_lose_no_grant() {
        let shared = &Shared(Mutex::new(), Cell::new(0));
        let counted = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|number| {
                    scope.spawn(move || {
                        let mut counted = 0;
                        for _ in 0..2_000 {
                            let is_held = match number {
                                0 => shared.0.lock().is_ok(),
                                _ => shared.0.try_lock(None).is_ok(),
                            };
                            if is_held {
                                shared.1.set(shared.1.get() + 1);
                                shared.0.unlock().unwrap();
                                counted += 1;
                            }
                        }
                        counted
                    })
                })
                .collect();
            let counts = threads.into_iter().map(|thread| thread.join().unwrap());
            counts.sum::<u64>()
        });
        assert_eq!(shared.1.get(), counted);
        assert_eq!(shared.0.try_lock(None), Ok(()), "no thread holds it");
    }

    #[test]
    fn a_try_keeps_its_place_until_its_result() {
        let mutex = Mutex::new();
        mutex.lock().unwrap();
        let turnstile = mutex.turnstile();
        let (first, second) = (turnstile.take_leavable().unwrap(), turnstile.take());
        assert!(!turnstile.is_granted(first));
        mutex.unlock().unwrap();
        assert!(turnstile.is_granted(first) && !turnstile.is_granted(second));
        assert!(turnstile.resolve(first));
        mutex.unlock().unwrap();
        assert!(turnstile.is_granted(second));
    }

    #[test]
    fn a_place_that_is_given_up_is_passed_over() {
        let mutex = Mutex::new();
        mutex.lock().unwrap();
        let turnstile = mutex.turnstile();
        let (first, second) = (turnstile.take_leavable().unwrap(), turnstile.take());
        assert!(!turnstile.resolve(first));
        mutex.unlock().unwrap();
        assert!(turnstile.is_granted(second));
    }

    #[test]
    fn a_recursive_mutex_is_free_after_as_many_unlocks() {
        let mutex = Mutex::new();
        mutex.kind.store(RECURSIVE, Relaxed);
        mutex.lock().unwrap();
        mutex.lock().unwrap();
        mutex.unlock().unwrap();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| mutex.try_lock(None));
            assert_eq!(other.join().unwrap(), Err(Refused::Busy));
        });
        mutex.unlock().unwrap();
        assert_eq!(mutex.unlock(), Err(Refused::NotOwner));
    }

    #[test]
    fn a_timed_lock_ends_when_its_time_is_over() {
        let mutex = Mutex::new();
        mutex.lock().unwrap();
        let past = Deadline {
            is_monotonic: true,
            seconds: 0,
            nanoseconds: 0,
        };
        assert_eq!(mutex.try_lock(Some(past)), Err(Refused::TimedOut));
        mutex.unlock().unwrap();
        assert_eq!(mutex.try_lock(Some(past)), Ok(()));
    }
}
