//! Mutexes of POSIX and of C11.
//!
//! The owner and the count of a mutex are in the program's object, at the places where the C
//! library keeps them.

use crate::clock;
use crate::early_locks;
use crate::ending::{THRD_BUSY, THRD_ERROR, THRD_TIMEDOUT};
use crate::gate::{self, close, code, is_inside};
use crate::heap;
use crate::lifetime::MUTEX;
use crate::robust::{self, ROBUST};
use crate::threads::{self, own_number};
use crate::tries::{code_of, tries_to_lock, wait_for_lock};
use libc::{c_int, c_uint, clockid_t, pthread_mutex_t, pthread_mutexattr_t, timespec};
use report::FailureKind;
use runtime::native::{self, Frame, at};

/// The C library's layout of a mutex.
#[repr(C)]
struct MutexLayout {
    lock: c_int,
    count: c_uint,
    owner: c_int,
    users: c_uint,
    kind: c_int,
}

impl MutexLayout {
    /// Checks whether an operation that needs the owner returns an error in any other thread.
    fn checks_owner(&self) -> bool {
        matches!(self.kind & KINDS, RECURSIVE | ERROR_CHECKING) || self.kind & ROBUST != 0
    }
}

const RECURSIVE: c_int = 1;
const ERROR_CHECKING: c_int = 2;
/// The kind that the C library sets when a mutex is destroyed.
const DESTROYED: c_int = -1;
/// The kind of a mutex in heap memory that was never written.
const UNWRITTEN: c_int = heap::UNWRITTEN as c_int;
/// Mask of the bits that distinguish the kinds.
const KINDS: c_int = 3;

/// The way to take a mutex.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Wait,
    Try,
    Timed(*const timespec),
    InvalidTime,
}

/// Takes a mutex. Returns 0 or the POSIX error.
///
/// # Safety
///
/// The program must have passed the mutex.
unsafe fn lock(mutex: *mut pthread_mutex_t, how: How, frame: *const Frame) -> c_int {
    let code = code_of(frame);
    heap::check_object(mutex.addr(), code);
    // SAFETY: the program's mutex has this layout.
    let layout = unsafe { &mut *mutex.cast::<MutexLayout>() };
    if layout.kind == UNWRITTEN {
        check(layout.kind, code);
    }
    let running = own_number();
    let kind = layout.kind & KINDS;
    if layout.owner == running && kind == RECURSIVE {
        layout.count += 1;
        return 0;
    }
    if layout.owner == running && kind == ERROR_CHECKING {
        return if how == How::Try {
            libc::EBUSY
        } else {
            libc::EDEADLK
        };
    }
    let lock = native::mutex_at(mutex.addr(), code);
    let is_granted = match how {
        How::Wait => {
            native::waits_for_lock();
            wait_for_lock(frame, || lock.lock());
            true
        }
        How::Try | How::InvalidTime => {
            tries_to_lock(frame, || lock.try_lock().then_some(())).is_some()
        }
        How::Timed(_) => tries_to_lock(frame, || lock.lock_timed().then_some(())).is_some(),
    };
    if is_granted {
        clock::acquire(mutex.addr());
    }
    // The kind is checked after the event, because another thread may have destroyed the mutex
    // before the event.
    check(layout.kind, code);
    if let (false, How::Timed(until)) = (is_granted, how) {
        // SAFETY: the program passed the time.
        unsafe { clock::reach(until) };
    }
    let failed = match how {
        _ if is_granted => None,
        How::Try => Some(libc::EBUSY),
        How::InvalidTime => Some(libc::EINVAL),
        How::Wait | How::Timed(_) => Some(libc::ETIMEDOUT),
    };
    // SAFETY: as promised by the caller.
    unsafe {
        if layout.kind & ROBUST != 0 {
            return robust::taken(mutex, lock, failed, code);
        }
        if is_granted {
            hold(mutex, running, 1);
        }
    }
    failed.unwrap_or(0)
}

/// Sets the owner of a mutex and its count.
///
/// # Safety
///
/// The conditions are those of [`lock`].
pub(crate) unsafe fn hold(mutex: *mut pthread_mutex_t, owner: c_int, count: c_uint) {
    // SAFETY: the program's mutex has this layout.
    unsafe {
        native::changes(mutex.addr(), size_of::<MutexLayout>());
        let layout = &mut *mutex.cast::<MutexLayout>();
        layout.owner = owner;
        layout.count = count;
        native::has_changed_lock(mutex.addr(), size_of::<MutexLayout>());
    }
}

/// Releases a mutex. Returns 0 or the POSIX error.
///
/// # Safety
///
/// The conditions are those of [`lock`].
unsafe fn unlock(mutex: *mut pthread_mutex_t, code: usize) -> c_int {
    heap::check_object(mutex.addr(), code);
    // SAFETY: the program's mutex has this layout.
    let layout = unsafe { &mut *mutex.cast::<MutexLayout>() };
    if layout.kind == UNWRITTEN {
        check(layout.kind, code);
    }
    let is_own = layout.owner == own_number();
    if !is_own && layout.checks_owner() {
        return libc::EPERM;
    }
    if !is_own {
        let message = "a mutex is unlocked by a thread that does not hold it".to_owned();
        native::fail(code, FailureKind::Misuse, message);
    }
    layout.count = layout.count.saturating_sub(1);
    if layout.count > 0 {
        return 0;
    }
    if layout.kind & ROBUST != 0 {
        threads::release_robust(mutex.addr());
    }
    // SAFETY: as promised by the caller.
    unsafe { hold(mutex, 0, 0) };
    clock::release(mutex.addr());
    let lock = native::mutex_at(mutex.addr(), code);
    native::unlock_at(code, || lock.unlock());
    0
}

/// Destroys a mutex, which no thread may hold. This is an event, so that every order with other
/// uses of the mutex is explored.
fn destroy(mutex: *mut pthread_mutex_t, code: usize) {
    heap::check_object(mutex.addr(), code);
    let lock = native::mutex_at(mutex.addr(), code);
    if !at(code, || lock.try_lock()) {
        let message = "a mutex is destroyed while a thread holds it".to_owned();
        native::fail(code, FailureKind::Misuse, message);
    }
    // SAFETY: the program's mutex has this layout.
    unsafe {
        native::changes(mutex.addr(), size_of::<MutexLayout>());
        let layout = &mut *mutex.cast::<MutexLayout>();
        check(layout.kind, code);
        layout.kind = DESTROYED;
    }
    at(code, || lock.unlock());
    native::destroy(mutex.addr(), code);
}

/// Fails if this is the kind of a destroyed or uninitialized mutex.
fn check(kind: c_int, code: usize) {
    let what = match kind {
        DESTROYED => "destroyed",
        UNWRITTEN => "never initialized",
        _ => return,
    };
    let message = format!("use of a mutex that was {what}");
    native::fail(code, FailureKind::Misuse, message);
}

/// Clears the owner of a mutex. The owner is the running thread, which is about to wait on a
/// condition variable.
///
/// # Errors
///
/// Returns the POSIX error if the thread does not hold a mutex of a kind that checks this.
///
/// # Safety
///
/// The conditions are those of [`lock`].
pub(crate) unsafe fn lend(mutex: *mut pthread_mutex_t, code: usize) -> Result<(), c_int> {
    heap::check_object(mutex.addr(), code);
    // SAFETY: the program's mutex has this layout.
    let layout = unsafe { &mut *mutex.cast::<MutexLayout>() };
    check(layout.kind, code);
    let misuse = |message: &str| native::fail(code, FailureKind::Misuse, message.to_owned());
    if layout.owner != own_number() {
        if layout.checks_owner() {
            return Err(libc::EPERM);
        }
        misuse("a thread waits for a condition with a mutex that it does not hold");
    }
    if layout.count > 1 {
        misuse(
            "a thread waits for a condition with a mutex that it has locked more than once: the wait unlocks it only once",
        );
    }
    if layout.kind & ROBUST != 0 {
        threads::release_robust(mutex.addr());
    }
    // SAFETY: as promised by the caller.
    unsafe { hold(mutex, 0, 0) };
    clock::release(mutex.addr());
    Ok(())
}

/// Restores the owner of the mutex that the thread has taken again after its wait.
/// Returns 0, or the error for a mutex whose owner has ended.
///
/// # Safety
///
/// The conditions are those of [`lock`].
pub(crate) unsafe fn take_back(mutex: *mut pthread_mutex_t, code: usize) -> c_int {
    clock::acquire(mutex.addr());
    // SAFETY: as promised by the caller; the program's mutex has this layout.
    unsafe {
        let kind = (*mutex.cast::<MutexLayout>()).kind;
        if kind & ROBUST != 0 {
            return robust::taken(mutex, native::mutex_at(mutex.addr(), code), None, code);
        }
        hold(mutex, own_number(), 1);
    }
    0
}

/// Locks a mutex, and waits for it at most until a time. An invalid time is an error only if the
/// thread would have to wait.
///
/// # Safety
///
/// The program must have passed the mutex and the time.
unsafe fn lock_until(
    mutex: *mut pthread_mutex_t,
    until: *const timespec,
    frame: *const Frame,
) -> c_int {
    // SAFETY: as promised by the caller.
    unsafe {
        let how = match clock::is_valid(until) {
            true => How::Timed(until),
            false => How::InvalidTime,
        };
        lock(mutex, how, frame)
    }
}

export! {
    placed fn pthread_mutex_init(mutex: *mut pthread_mutex_t, attributes: *const pthread_mutexattr_t) -> c_int {
        if is_inside() {
            let (code, _closed) = (code(), close());
            MUTEX.begins(mutex.expose_provenance(), code);
        }
        let result = real!(pthread_mutex_init(mutex, attributes):
            fn(*mut pthread_mutex_t, *const pthread_mutexattr_t) -> c_int);
        if result == 0 {
            MUTEX.has_begun(mutex.expose_provenance());
        }
        result
    }

    placed fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return real!(pthread_mutex_destroy(mutex): fn(*mut pthread_mutex_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        destroy(mutex, code);
        0
    }

    compared fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return early_locks::took(real!(pthread_mutex_lock(mutex): fn(*mut pthread_mutex_t) -> c_int));
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program passed the mutex.
        unsafe { lock(mutex, How::Wait, frame) }
    }

    compared fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return early_locks::took(real!(pthread_mutex_trylock(mutex): fn(*mut pthread_mutex_t) -> c_int));
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program passed the mutex.
        unsafe { lock(mutex, How::Try, frame) }
    }

    compared fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int {
        if !is_inside() {
            return early_locks::took(real!(pthread_mutex_timedlock(mutex, until): fn(*mut pthread_mutex_t, *const timespec) -> c_int));
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program passed the mutex and the time.
        unsafe { lock_until(mutex, until, frame) }
    }

    compared fn pthread_mutex_clocklock(mutex: *mut pthread_mutex_t, clock: clockid_t, until: *const timespec) -> c_int {
        if !is_inside() {
            return early_locks::took(real!(pthread_mutex_clocklock(mutex, clock, until):
                fn(*mut pthread_mutex_t, clockid_t, *const timespec) -> c_int));
        }
        let (frame, _closed) = (gate::frame(), close());
        if !clock::can_wait_by(clock) {
            return libc::EINVAL;
        }
        // SAFETY: the program passed the mutex and the time.
        unsafe { lock_until(mutex, until, frame) }
    }

    placed fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return early_locks::released(real!(pthread_mutex_unlock(mutex): fn(*mut pthread_mutex_t) -> c_int));
        }
        let (code, _closed) = (code(), close());
        // SAFETY: the program passed the mutex.
        unsafe { unlock(mutex, code) }
    }

    placed fn pthread_mutex_consistent(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return real!(pthread_mutex_consistent(mutex): fn(*mut pthread_mutex_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        // SAFETY: the program's mutex has this layout.
        let layout = unsafe { &*mutex.cast::<MutexLayout>() };
        match layout.kind & ROBUST != 0 && layout.owner == own_number() {
            true => robust::repair(mutex, code),
            false => libc::EINVAL,
        }
    }

    placed fn mtx_init(mutex: *mut pthread_mutex_t, kind: c_int) -> c_int {
        if is_inside() {
            let (code, _closed) = (code(), close());
            MUTEX.begins(mutex.expose_provenance(), code);
        }
        let result = real!(mtx_init(mutex, kind): fn(*mut pthread_mutex_t, c_int) -> c_int);
        MUTEX.has_begun(mutex.expose_provenance());
        result
    }

    placed fn mtx_destroy(mutex: *mut pthread_mutex_t) {
        if !is_inside() {
            return real!(mtx_destroy(mutex): fn(*mut pthread_mutex_t));
        }
        let (code, _closed) = (code(), close());
        destroy(mutex, code);
    }

    compared fn mtx_lock(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return early_locks::took(real!(mtx_lock(mutex): fn(*mut pthread_mutex_t) -> c_int));
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program passed the mutex.
        match unsafe { lock(mutex, How::Wait, frame) } {
            0 => 0,
            _ => THRD_ERROR,
        }
    }

    compared fn mtx_trylock(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return early_locks::took(real!(mtx_trylock(mutex): fn(*mut pthread_mutex_t) -> c_int));
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program passed the mutex.
        match unsafe { lock(mutex, How::Try, frame) } {
            0 => 0,
            _ => THRD_BUSY,
        }
    }

    compared fn mtx_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int {
        if !is_inside() {
            return early_locks::took(real!(mtx_timedlock(mutex, until): fn(*mut pthread_mutex_t, *const timespec) -> c_int));
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program passed the mutex and the time.
        match unsafe { lock_until(mutex, until, frame) } {
            0 => 0,
            libc::ETIMEDOUT => THRD_TIMEDOUT,
            _ => THRD_ERROR,
        }
    }

    placed fn mtx_unlock(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return early_locks::released(real!(mtx_unlock(mutex): fn(*mut pthread_mutex_t) -> c_int));
        }
        let (code, _closed) = (code(), close());
        // SAFETY: the program passed the mutex.
        match unsafe { unlock(mutex, code) } {
            0 => 0,
            _ => THRD_ERROR,
        }
    }
}
