//! The locks of lock_api on top of a raw lock with two states.

use lock_api::{GetThreadId, GuardSend, Mutex, MutexGuard, RawMutex, ReentrantMutex};
use mazurka::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use mazurka::thread;
use std::num::NonZeroUsize;
use std::sync::Arc;

struct Lock(AtomicBool);

unsafe impl RawMutex for Lock {
    #[allow(clippy::declare_interior_mutable_const, reason = "as lock_api asks")]
    const INIT: Lock = Lock(AtomicBool::new(false));
    type GuardMarker = GuardSend;

    fn lock(&self) {
        while !self.try_lock() {
            thread::yield_now();
        }
    }

    fn try_lock(&self) -> bool {
        !self.0.swap(true, SeqCst)
    }

    unsafe fn unlock(&self) {
        self.0.store(false, SeqCst);
    }
}

mazurka::thread_local! {
    static NUMBER: u8 = const { 0 };
}

struct Address;

unsafe impl GetThreadId for Address {
    const INIT: Address = Address;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        NUMBER.with(|number| NonZeroUsize::new((&raw const *number).addr()).unwrap())
    }
}

fn add(count: &AtomicU32) {
    count.store(count.load(SeqCst) + 1, SeqCst);
}

#[mazurka::test]
fn a_mutex_excludes() {
    let count = Arc::new(Mutex::<Lock, _>::new(AtomicU32::new(0)));
    let other = thread::spawn({
        let count = Arc::clone(&count);
        move || add(&count.lock())
    });
    if let Some(count) = count.try_lock() {
        add(&count);
    } else {
        add(&count.lock());
    }
    other.join().unwrap();
    assert_eq!(count.lock().load(SeqCst), 2);
}

#[mazurka::test]
fn a_guard_is_locked_again_after_it_was_unlocked() {
    let count = Arc::new(Mutex::<Lock, _>::new(AtomicU32::new(0)));
    let other = thread::spawn({
        let count = Arc::clone(&count);
        move || add(&count.lock())
    });
    let mut guard = count.lock();
    MutexGuard::unlocked(&mut guard, || ());
    add(&guard);
    drop(guard);
    other.join().unwrap();
    assert_eq!(count.lock().load(SeqCst), 2);
}

#[mazurka::test]
fn only_the_owner_locks_a_reentrant_mutex_again() {
    let count = Arc::new(ReentrantMutex::<Lock, Address, _>::new(AtomicU32::new(0)));
    let other = thread::spawn({
        let count = Arc::clone(&count);
        move || add(&count.lock())
    });
    let outer = count.lock();
    add(&count.lock());
    drop(outer);
    other.join().unwrap();
    assert_eq!(count.lock().load(SeqCst), 2);
}
