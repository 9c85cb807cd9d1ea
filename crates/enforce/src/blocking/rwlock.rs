//! Reader-writer locks in the memory of `pthread_rwlock_t`. Threads get the lock in the order of
//! their requests. Several readers may hold the lock at the same time.

use super::Deadline;
use super::latch::Latch;
use super::queue::{Queue, Waiter, Woken};
use crate::{begin, end, enforcement};
use explore::OpKind;
use std::cell::Cell;
use std::panic::RefUnwindSafe;

/// A reader-writer lock. All its bytes are zero when the lock is free.
#[repr(C)]
pub struct RwLock {
    latch: Latch,
    /// Readers that hold the lock, including those that are not woken yet.
    readers: Cell<u32>,
    queue: Queue,
    /// 1 if a writer holds the lock, otherwise 0.
    is_written: Cell<u32>,
}

const READER: usize = 0;
const WRITER: usize = 1;

// SAFETY: the fields are used only under the latch, with one exception: a holder of the lock reads
// `is_written`, which no other thread changes meanwhile.
unsafe impl Sync for RwLock {}
// SAFETY: waiting threads borrow the lock, so it does not move while they wait.
unsafe impl Send for RwLock {}

impl RefUnwindSafe for RwLock {}

impl RwLock {
    /// Returns a free lock.
    pub const fn new() -> RwLock {
        RwLock {
            latch: Latch::new(),
            readers: Cell::new(0),
            queue: Queue::new(),
            is_written: Cell::new(0),
        }
    }

    /// Returns the lock in this memory.
    ///
    /// # Safety
    ///
    /// The memory holds a reader-writer lock of the C library that is used through this type only.
    pub unsafe fn at<'o, T>(object: *mut T) -> &'o RwLock {
        // SAFETY: as promised by the caller. `pthread_rwlock_t` is at least as large as this type.
        unsafe { &*object.cast() }
    }

    /// Waits for the lock and takes it for reading.
    pub fn read(&self) {
        self.request(OpKind::ReadRequest, READER);
    }

    /// Waits for the lock and takes it for writing.
    pub fn write(&self) {
        self.request(OpKind::WriteRequest, WRITER);
    }

    fn request(&self, kind: OpKind, who: usize) {
        let waiter = Waiter::new(who);
        begin(kind);
        let is_granted = self.latch.hold(|| {
            let is_granted = self.takes(who);
            if !is_granted {
                // SAFETY: the waiter stays here until it is woken.
                unsafe { self.queue.push(&waiter) };
            }
            is_granted
        });
        end();
        if !is_granted {
            waiter.wait(None);
        }
    }

    /// Takes the lock for reading if no thread writes or waits. Returns whether the lock was taken.
    /// With a deadline, first waits until the lock is free in this sense or the deadline has
    /// passed.
    pub fn try_read(&self, deadline: Option<Deadline>) -> bool {
        self.tries(OpKind::TryRead, READER, deadline)
    }

    /// Takes the lock for writing if no thread holds the lock or waits for it. Returns whether the
    /// lock was taken. With a deadline, first waits until the lock is free in this sense or the
    /// deadline has passed.
    pub fn try_write(&self, deadline: Option<Deadline>) -> bool {
        self.tries(OpKind::TryWrite, WRITER, deadline)
    }

    /// Tries to take the lock. A timed operation is a single try, which is made as soon as it would
    /// succeed, or at the deadline.
    fn tries(&self, kind: OpKind, who: usize, deadline: Option<Deadline>) -> bool {
        if let Some(deadline) = deadline.filter(|_| !enforcement::decides_next()) {
            crate::publish();
            while !self.latch.hold(|| self.is_free_for(who)) && deadline.left().is_some() {
                rustix::thread::sched_yield();
            }
        }
        begin(kind);
        let is_granted = self.latch.hold(|| self.takes(who));
        end();
        is_granted
    }

    fn is_free_for(&self, who: usize) -> bool {
        let is_free = self.queue.is_empty() && self.is_written.get() == 0;
        is_free && (who == READER || self.readers.get() == 0)
    }

    fn takes(&self, who: usize) -> bool {
        let is_granted = self.is_free_for(who);
        if is_granted {
            self.hold(who);
        }
        is_granted
    }

    fn hold(&self, who: usize) {
        match who {
            READER => self.readers.set(self.readers.get() + 1),
            _ => self.is_written.set(1),
        }
    }

    /// Releases the hold of the writer if there is a writer, otherwise the hold of a reader.
    pub fn release(&self) {
        let is_writer = self.is_written.get() > 0;
        begin(match is_writer {
            true => OpKind::WriteRelease,
            false => OpKind::ReadRelease,
        });
        let mut woken = Vec::new();
        self.latch.hold(|| {
            match is_writer {
                true => self.is_written.set(0),
                false => self.readers.set(self.readers.get().saturating_sub(1)),
            }
            while let Some(next) = self.granted() {
                woken.push(next);
            }
        });
        end();
        woken.into_iter().for_each(Woken::wake);
    }

    /// Turns the writer into a reader, with no other writer in between.
    pub fn downgrade(&self) {
        begin(OpKind::WriteRelease);
        let mut woken = Vec::new();
        self.latch.hold(|| {
            self.is_written.set(0);
            self.readers.set(1);
            while let Some(next) = self.granted() {
                woken.push(next);
            }
        });
        end();
        woken.into_iter().for_each(Woken::wake);
    }

    /// Grants the lock to the first waiter and returns this waiter, or returns `None` if this is
    /// not possible.
    fn granted(&self) -> Option<Woken> {
        let who = self.queue.first()?;
        let is_free = self.is_written.get() == 0 && (who == READER || self.readers.get() == 0);
        if !is_free {
            return None;
        }
        self.hold(who);
        self.queue.take(0, |_| true)
    }
}

impl Default for RwLock {
    fn default() -> RwLock {
        RwLock::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI32, Ordering::SeqCst};

    #[test]
    fn a_writer_is_alone_and_readers_are_together() {
        let lock = &RwLock::new();
        let holders = &AtomicI32::new(0);
        std::thread::scope(|scope| {
            for number in 0..4 {
                scope.spawn(move || {
                    for round in 0..1_000 {
                        if (round + number) % 3 == 0 {
                            lock.write();
                            assert_eq!(holders.swap(-1, SeqCst), 0);
                            holders.store(0, SeqCst);
                        } else {
                            lock.read();
                            assert!(holders.fetch_add(1, SeqCst) >= 0);
                            holders.fetch_sub(1, SeqCst);
                        }
                        lock.release();
                    }
                });
            }
        });
    }

    #[test]
    fn tries_succeed_where_nobody_is_in_the_way() {
        let lock = RwLock::new();
        assert!(lock.try_read(None) && lock.try_read(None) && !lock.try_write(None));
        lock.release();
        lock.release();
        assert!(lock.try_write(None) && !lock.try_read(None));
        lock.release();
        assert!(lock.try_write(None));
        lock.downgrade();
        assert!(lock.try_read(None) && !lock.try_write(None));
    }
}
