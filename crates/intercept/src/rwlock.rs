//! Reader-writer locks of POSIX.

use crate::clock;
use crate::early_locks;
use crate::gate::{self, Own, close, code, is_inside};
use crate::lifetime::RWLOCK;
use crate::tries::{code_of, tries_to_lock, wait_for_lock};
use libc::{c_int, c_void, clockid_t, pthread_rwlock_t, timespec};
use report::FailureKind;
use runtime::native::{self, Frame};
use runtime::{Place, RwLock};

/// A read lock or write lock that a thread holds.
#[derive(Clone)]
pub(crate) struct Held {
    address: usize,
    thread: usize,
    /// The lock at the address when the thread took it.
    lock: RwLock,
    /// The read lock or write lock that the thread was granted.
    place: Place,
}

static HELD: Own<Vec<Held>> = Own::new(Vec::new());

/// Begins an execution, in which no lock is held yet.
pub(crate) fn begin() {
    HELD.get().clear();
}

/// A copy of the locks that are held.
pub(crate) type Saved = Vec<Held>;

/// Copies the locks that are held.
pub(crate) fn save_to(copy: &mut Saved) {
    copy.clone_from(HELD.get());
}

/// Restores the locks that are held from a copy.
pub(crate) fn restore_from(copy: &Saved) {
    HELD.get().clone_from(copy);
}

/// Records that the running thread has taken the reader-writer lock at an address. `place` is the
/// granted place, a reader's or a writer's.
fn hold(address: usize, lock: RwLock, place: Place) -> c_int {
    let held = Held {
        address,
        thread: runtime::current().index(),
        lock,
        place,
    };
    clock::acquire(address);
    if held.place.is_writer() {
        clock::acquire(readers(address));
    }
    native::privately(|| HELD.get().push(held));
    0
}

/// Returns the address for the clock of a lock's readers, which are unordered among themselves.
fn readers(lock: usize) -> usize {
    lock + 1
}

/// Index of the word in which the C library keeps the kind of a lock.
const KIND: usize = 12;

/// `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`; locks of all other kinds prefer readers.
const PREFERS_WRITERS: u32 = 2;

/// Returns the lock that the program uses, after a check that it exists.
fn rwlock_of(lock: *mut pthread_rwlock_t, code: usize) -> RwLock {
    RWLOCK.check(lock.expose_provenance(), code);
    // SAFETY: the program passed the lock.
    let kind = unsafe { *lock.cast::<u32>().add(KIND) };
    native::rwlock_at(lock.addr(), kind != PREFERS_WRITERS, code)
}

macro_rules! rwlocks {
    ($($(#[$meta:meta])* $kind:ident $name:ident($($argument:ident: $type:ty),*) if $is_valid:expr, $failed:expr, |$lock:ident, $frame:ident| $take:expr;)*) => {
        export! {
            $(
                $kind fn $name(lock: *mut pthread_rwlock_t $(, $argument: $type)*) -> c_int {
                    if !is_inside() {
                        return early_locks::took(real!($name(lock $(, $argument)*): fn(*mut pthread_rwlock_t $(, $type)*) -> c_int));
                    }
                    let ($frame, _closed) = (gate::frame(), close());
                    // SAFETY: the program passed the time, if there is one.
                    #[allow(unused_unsafe, reason = "some functions have no time")]
                    if !unsafe { $is_valid } {
                        return libc::EINVAL;
                    }
                    if $failed != libc::EBUSY && is_written_by_own_thread(lock.addr()) {
                        return libc::EDEADLK;
                    }
                    let $lock = rwlock_of(lock, code_of($frame));
                    match $take {
                        Some(place) => hold(lock.addr(), $lock, place),
                        None => $failed,
                    }
                }
            )*
        }
    };
}

/// Checks whether the running thread has the write lock, so that a wait is an error (`EDEADLK`).
fn is_written_by_own_thread(address: usize) -> bool {
    let thread = runtime::current().index();
    let mut all = HELD.get().iter();
    all.any(|held| held.address == address && held.thread == thread && held.place.is_writer())
}

/// Waits for a lock.
fn waits(frame: *const Frame, wait: impl FnOnce() -> Place) -> Place {
    native::waits_for_lock();
    wait_for_lock(frame, wait)
}

/// Ends a timed attempt. If the attempt has failed, its time has expired.
fn timed(place: Option<Place>, until: *const timespec) -> Option<Place> {
    if place.is_none() {
        runtime::expire();
        // SAFETY: the program passed the time.
        unsafe { clock::reach(until) };
    }
    place
}

rwlocks! {
    compared pthread_rwlock_rdlock() if true, 0, |lock, frame| Some(waits(frame, || lock.read()));
    compared pthread_rwlock_wrlock() if true, 0, |lock, frame| Some(waits(frame, || lock.write()));
    compared pthread_rwlock_tryrdlock() if true, libc::EBUSY, |lock, frame| tries_to_lock(frame, || lock.try_read());
    compared pthread_rwlock_trywrlock() if true, libc::EBUSY, |lock, frame| tries_to_lock(frame, || lock.try_write());
    compared pthread_rwlock_timedrdlock(until: *const timespec) if clock::is_valid(until), libc::ETIMEDOUT,
        |lock, frame| timed(tries_to_lock(frame, || lock.try_read()), until);
    compared pthread_rwlock_timedwrlock(until: *const timespec) if clock::is_valid(until), libc::ETIMEDOUT,
        |lock, frame| timed(tries_to_lock(frame, || lock.try_write()), until);
    compared pthread_rwlock_clockrdlock(clock: clockid_t, until: *const timespec)
        if clock::is_valid_by(clock, until), libc::ETIMEDOUT,
        |lock, frame| timed(tries_to_lock(frame, || lock.try_read()), until);
    compared pthread_rwlock_clockwrlock(clock: clockid_t, until: *const timespec)
        if clock::is_valid_by(clock, until), libc::ETIMEDOUT,
        |lock, frame| timed(tries_to_lock(frame, || lock.try_write()), until);
}

export! {
    placed fn pthread_rwlock_init(lock: *mut pthread_rwlock_t, attributes: *const c_void) -> c_int {
        if is_inside() {
            let (code, _closed) = (code(), close());
            RWLOCK.begins(lock.expose_provenance(), code);
            // The lock is new now, and no thread holds it.
            native::privately(|| HELD.get().retain(|held| held.address != lock.addr()));
        }
        let result = real!(pthread_rwlock_init(lock, attributes): fn(*mut pthread_rwlock_t, *const c_void) -> c_int);
        if result == 0 {
            RWLOCK.has_begun(lock.expose_provenance());
        }
        result
    }

    placed fn pthread_rwlock_destroy(lock: *mut pthread_rwlock_t) -> c_int {
        if !is_inside() {
            return real!(pthread_rwlock_destroy(lock): fn(*mut pthread_rwlock_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        RWLOCK.ends(lock.expose_provenance(), code);
        if HELD.get().iter().any(|held| held.address == lock.addr()) {
            let message = "a reader-writer lock is destroyed while a thread holds it".to_owned();
            native::fail(code, FailureKind::Misuse, message);
        }
        0
    }

    placed fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int {
        if !is_inside() {
            return early_locks::released(real!(pthread_rwlock_unlock(lock): fn(*mut pthread_rwlock_t) -> c_int));
        }
        let (code, _closed) = (code(), close());
        let thread = runtime::current().index();
        let position = HELD.get().iter().rposition(|held| held.address == lock.addr() && held.thread == thread);
        let Some(position) = position else {
            let message = "a reader-writer lock is unlocked by a thread that does not hold it".to_owned();
            native::fail(code, FailureKind::Misuse, message);
        };
        let held = HELD.get().swap_remove(position);
        rwlock_of(lock, code);
        native::unlock_at(code, || held.lock.release(&held.place));
        clock::release(if held.place.is_writer() { lock.addr() } else { readers(lock.addr()) });
        0
    }
}
