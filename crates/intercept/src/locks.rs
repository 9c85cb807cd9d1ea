//! Locks and other objects that threads wait for: POSIX's and C11's.
//!
//! Who holds a mutex, and how often, is written where the C library writes it, into the program's own object.

use crate::ending::{THRD_BUSY, THRD_ERROR, THRD_TIMEDOUT};
use crate::gate::{self, Closed, Own, close, code, is_inside};
use crate::{image, threads};
use libc::{
    c_int, c_uint, c_void, clockid_t, pthread_barrier_t, pthread_barrierattr_t, pthread_cond_t,
    pthread_mutex_t, pthread_mutexattr_t, pthread_rwlock_t, sem_t, timespec,
};
use report::FailureKind;
use runtime::native::{self, Frame, at};
use runtime::{Entry, Place};
use std::collections::BTreeMap;

/// How the C library lays out a mutex.
#[repr(C)]
struct MutexLayout {
    lock: c_int,
    count: c_uint,
    owner: c_int,
    users: c_uint,
    kind: c_int,
}

const RECURSIVE: c_int = 1;
const ERROR_CHECKING: c_int = 2;
/// The bits of a kind that tell these apart.
const KINDS: c_int = 3;

/// Read locks and write locks that threads hold.
static HELD: Own<Vec<(usize, usize, Place)>> = Own::new(Vec::new());

/// An execution begins: nothing is held.
pub(crate) fn begin() {
    HELD.get().clear();
}

/// The thread that runs, as the owner of a mutex.
fn own_number() -> c_int {
    runtime::current().index() as c_int + 1
}

/// Where the program called.
fn code_of(frame: *const Frame) -> usize {
    // SAFETY: frames are those of calls that have not returned.
    unsafe { (*frame).code() }
}

/// What may fail and change nothing.
fn tries<R>(frame: *const Frame, tries: impl FnOnce() -> R) -> R {
    // SAFETY: frames are those of calls that have not returned.
    unsafe { native::try_at(frame, tries) }
}

/// How a mutex is to be taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Wait,
    Try,
    Timed,
}

/// Takes a mutex; the error of POSIX if it cannot.
///
/// # Safety
///
/// The program gave the mutex.
unsafe fn lock(mutex: *mut pthread_mutex_t, how: How, frame: *const Frame) -> c_int {
    // SAFETY: the program's mutex has this layout.
    let layout = unsafe { &mut *mutex.cast::<MutexLayout>() };
    let own = own_number();
    let kind = layout.kind & KINDS;
    if layout.owner == own && kind == RECURSIVE {
        layout.count += 1;
        return 0;
    }
    if layout.owner == own && kind == ERROR_CHECKING {
        return if how == How::Try {
            libc::EBUSY
        } else {
            libc::EDEADLK
        };
    }
    let lock = native::mutex_at(mutex.addr());
    let is_granted = match how {
        How::Wait => {
            at(code_of(frame), || lock.lock());
            true
        }
        How::Try => tries(frame, || lock.try_lock()),
        How::Timed => tries(frame, || lock.lock_timed()),
    };
    if is_granted {
        layout.owner = own;
        layout.count = 1;
        return 0;
    }
    if how == How::Try {
        libc::EBUSY
    } else {
        libc::ETIMEDOUT
    }
}

/// Gives a mutex back.
///
/// # Safety
///
/// As for [`lock`].
unsafe fn unlock(mutex: *mut pthread_mutex_t, code: usize) -> c_int {
    // SAFETY: the program's mutex has this layout.
    let layout = unsafe { &mut *mutex.cast::<MutexLayout>() };
    let is_own = layout.owner == own_number();
    let kind = layout.kind & KINDS;
    if !is_own && (kind == RECURSIVE || kind == ERROR_CHECKING) {
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
    layout.owner = 0;
    let lock = native::mutex_at(mutex.addr());
    at(code, || lock.unlock());
    0
}

/// Ends a mutex, which nobody may hold: an event, so that every order with other uses of the mutex is tried.
fn destroy(mutex: *mut pthread_mutex_t, code: usize) {
    let lock = native::mutex_at(mutex.addr());
    if !at(code, || lock.try_lock()) {
        let message = "a mutex is destroyed that a thread holds".to_owned();
        native::fail(code, FailureKind::Misuse, message);
    }
    at(code, || lock.unlock());
    native::forget(mutex.addr());
}

/// Waits for a signal; whether it came in time.
///
/// # Safety
///
/// The program gave the condition variable and the mutex.
unsafe fn wait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    is_timed: bool,
    code: usize,
) -> bool {
    // SAFETY: the program's mutex has this layout.
    let layout = unsafe { &mut *mutex.cast::<MutexLayout>() };
    if layout.owner != own_number() {
        let message =
            "a thread waits for a condition with a mutex that it does not hold".to_owned();
        native::fail(code, FailureKind::Misuse, message);
    }
    let count = std::mem::take(&mut layout.count);
    layout.owner = 0;
    let (variable, lock) = (
        native::condvar_at(condition.addr()),
        native::mutex_at(mutex.addr()),
    );
    let is_signalled = match is_timed {
        true => at(code, || variable.wait_timed(&lock)),
        false => {
            at(code, || variable.wait(&lock));
            true
        }
    };
    layout.owner = own_number();
    layout.count = count;
    is_signalled
}

export! {
    placed fn pthread_mutex_init(mutex: *mut pthread_mutex_t, attributes: *const pthread_mutexattr_t) -> c_int {
        if is_inside() {
            let _closed = close();
            native::forget(mutex.addr());
        }
        real!(pthread_mutex_init(mutex, attributes): fn(*mut pthread_mutex_t, *const pthread_mutexattr_t) -> c_int)
    }

    placed fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return real!(pthread_mutex_destroy(mutex): fn(*mut pthread_mutex_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        destroy(mutex, code);
        0
    }

    placed fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return real!(pthread_mutex_lock(mutex): fn(*mut pthread_mutex_t) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program gave the mutex.
        unsafe { lock(mutex, How::Wait, frame) }
    }

    compared fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return real!(pthread_mutex_trylock(mutex): fn(*mut pthread_mutex_t) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program gave the mutex.
        unsafe { lock(mutex, How::Try, frame) }
    }

    compared fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int {
        if !is_inside() {
            return real!(pthread_mutex_timedlock(mutex, until): fn(*mut pthread_mutex_t, *const timespec) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program gave the mutex.
        unsafe { lock(mutex, How::Timed, frame) }
    }

    compared fn pthread_mutex_clocklock(mutex: *mut pthread_mutex_t, clock: clockid_t, until: *const timespec) -> c_int {
        if !is_inside() {
            return real!(pthread_mutex_clocklock(mutex, clock, until):
                fn(*mut pthread_mutex_t, clockid_t, *const timespec) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program gave the mutex.
        unsafe { lock(mutex, How::Timed, frame) }
    }

    placed fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return real!(pthread_mutex_unlock(mutex): fn(*mut pthread_mutex_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        // SAFETY: the program gave the mutex.
        unsafe { unlock(mutex, code) }
    }

    placed fn mtx_init(mutex: *mut pthread_mutex_t, kind: c_int) -> c_int {
        if is_inside() {
            let _closed = close();
            native::forget(mutex.addr());
        }
        real!(mtx_init(mutex, kind): fn(*mut pthread_mutex_t, c_int) -> c_int)
    }

    placed fn mtx_destroy(mutex: *mut pthread_mutex_t) {
        if !is_inside() {
            return real!(mtx_destroy(mutex): fn(*mut pthread_mutex_t));
        }
        let (code, _closed) = (code(), close());
        destroy(mutex, code);
    }

    placed fn mtx_lock(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return real!(mtx_lock(mutex): fn(*mut pthread_mutex_t) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program gave the mutex.
        match unsafe { lock(mutex, How::Wait, frame) } {
            0 => 0,
            _ => THRD_ERROR,
        }
    }

    compared fn mtx_trylock(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return real!(mtx_trylock(mutex): fn(*mut pthread_mutex_t) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program gave the mutex.
        match unsafe { lock(mutex, How::Try, frame) } {
            0 => 0,
            _ => THRD_BUSY,
        }
    }

    compared fn mtx_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int {
        if !is_inside() {
            return real!(mtx_timedlock(mutex, until): fn(*mut pthread_mutex_t, *const timespec) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program gave the mutex.
        match unsafe { lock(mutex, How::Timed, frame) } {
            0 => 0,
            _ => THRD_TIMEDOUT,
        }
    }

    placed fn mtx_unlock(mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return real!(mtx_unlock(mutex): fn(*mut pthread_mutex_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        // SAFETY: the program gave the mutex.
        match unsafe { unlock(mutex, code) } {
            0 => 0,
            _ => THRD_ERROR,
        }
    }

    placed fn pthread_spin_init(lock: *mut c_int, shared: c_int) -> c_int {
        if is_inside() {
            let _closed = close();
            native::forget(lock.addr());
        }
        real!(pthread_spin_init(lock, shared): fn(*mut c_int, c_int) -> c_int)
    }

    placed fn pthread_spin_destroy(lock: *mut c_int) -> c_int {
        if is_inside() {
            let _closed = close();
            native::forget(lock.addr());
        }
        0
    }

    placed fn pthread_spin_lock(lock: *mut c_int) -> c_int {
        if !is_inside() {
            return real!(pthread_spin_lock(lock): fn(*mut c_int) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let lock = native::mutex_at(lock.addr());
        at(code, || lock.lock());
        0
    }

    compared fn pthread_spin_trylock(lock: *mut c_int) -> c_int {
        if !is_inside() {
            return real!(pthread_spin_trylock(lock): fn(*mut c_int) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        let lock = native::mutex_at(lock.addr());
        match tries(frame, || lock.try_lock()) {
            true => 0,
            false => libc::EBUSY,
        }
    }

    placed fn pthread_spin_unlock(lock: *mut c_int) -> c_int {
        if !is_inside() {
            return real!(pthread_spin_unlock(lock): fn(*mut c_int) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let lock = native::mutex_at(lock.addr());
        at(code, || lock.unlock());
        0
    }
}

export! {
    placed fn pthread_cond_init(condition: *mut pthread_cond_t, attributes: *const c_void) -> c_int {
        if is_inside() {
            let _closed = close();
            native::forget(condition.addr());
        }
        real!(pthread_cond_init(condition, attributes): fn(*mut pthread_cond_t, *const c_void) -> c_int)
    }

    placed fn pthread_cond_destroy(condition: *mut pthread_cond_t) -> c_int {
        if !is_inside() {
            return real!(pthread_cond_destroy(condition): fn(*mut pthread_cond_t) -> c_int);
        }
        let _closed = close();
        native::forget(condition.addr());
        0
    }

    placed fn pthread_cond_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return real!(pthread_cond_wait(condition, mutex): fn(*mut pthread_cond_t, *mut pthread_mutex_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        // SAFETY: the program gave the objects.
        unsafe { wait(condition, mutex, false, code) };
        0
    }

    placed fn pthread_cond_timedwait(
        condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec,
    ) -> c_int {
        if !is_inside() {
            return real!(pthread_cond_timedwait(condition, mutex, until):
                fn(*mut pthread_cond_t, *mut pthread_mutex_t, *const timespec) -> c_int);
        }
        let (code, _closed) = (code(), close());
        // SAFETY: the program gave the objects.
        match unsafe { wait(condition, mutex, true, code) } {
            true => 0,
            false => libc::ETIMEDOUT,
        }
    }

    placed fn pthread_cond_clockwait(
        condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: clockid_t, until: *const timespec,
    ) -> c_int {
        if !is_inside() {
            return real!(pthread_cond_clockwait(condition, mutex, clock, until):
                fn(*mut pthread_cond_t, *mut pthread_mutex_t, clockid_t, *const timespec) -> c_int);
        }
        let (code, _closed) = (code(), close());
        // SAFETY: the program gave the objects.
        match unsafe { wait(condition, mutex, true, code) } {
            true => 0,
            false => libc::ETIMEDOUT,
        }
    }

    placed fn pthread_cond_signal(condition: *mut pthread_cond_t) -> c_int {
        if !is_inside() {
            return real!(pthread_cond_signal(condition): fn(*mut pthread_cond_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let variable = native::condvar_at(condition.addr());
        at(code, || variable.signal());
        0
    }

    placed fn pthread_cond_broadcast(condition: *mut pthread_cond_t) -> c_int {
        if !is_inside() {
            return real!(pthread_cond_broadcast(condition): fn(*mut pthread_cond_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let variable = native::condvar_at(condition.addr());
        at(code, || variable.broadcast());
        0
    }

    placed fn cnd_init(condition: *mut pthread_cond_t) -> c_int {
        if is_inside() {
            let _closed = close();
            native::forget(condition.addr());
        }
        real!(cnd_init(condition): fn(*mut pthread_cond_t) -> c_int)
    }

    placed fn cnd_destroy(condition: *mut pthread_cond_t) {
        if !is_inside() {
            return real!(cnd_destroy(condition): fn(*mut pthread_cond_t));
        }
        let _closed = close();
        native::forget(condition.addr());
    }

    placed fn cnd_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return real!(cnd_wait(condition, mutex): fn(*mut pthread_cond_t, *mut pthread_mutex_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        // SAFETY: the program gave the objects.
        unsafe { wait(condition, mutex, false, code) };
        0
    }

    placed fn cnd_timedwait(
        condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec,
    ) -> c_int {
        if !is_inside() {
            return real!(cnd_timedwait(condition, mutex, until):
                fn(*mut pthread_cond_t, *mut pthread_mutex_t, *const timespec) -> c_int);
        }
        let (code, _closed) = (code(), close());
        // SAFETY: the program gave the objects.
        match unsafe { wait(condition, mutex, true, code) } {
            true => 0,
            false => THRD_TIMEDOUT,
        }
    }

    placed fn cnd_signal(condition: *mut pthread_cond_t) -> c_int {
        if !is_inside() {
            return real!(cnd_signal(condition): fn(*mut pthread_cond_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let variable = native::condvar_at(condition.addr());
        at(code, || variable.signal());
        0
    }

    placed fn cnd_broadcast(condition: *mut pthread_cond_t) -> c_int {
        if !is_inside() {
            return real!(cnd_broadcast(condition): fn(*mut pthread_cond_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let variable = native::condvar_at(condition.addr());
        at(code, || variable.broadcast());
        0
    }
}

/// The thread that runs holds a place in a reader-writer lock.
fn hold(lock: usize, place: Place) -> c_int {
    let thread = runtime::current().index();
    native::privately(|| HELD.get().push((lock, thread, place)));
    0
}

macro_rules! rwlocks {
    ($($(#[$meta:meta])* $kind:ident $name:ident($($argument:ident: $type:ty),*) $failed:expr, |$lock:ident, $frame:ident| $take:expr;)*) => {
        export! {
            $(
                $kind fn $name(lock: *mut pthread_rwlock_t $(, $argument: $type)*) -> c_int {
                    if !is_inside() {
                        return real!($name(lock $(, $argument)*): fn(*mut pthread_rwlock_t $(, $type)*) -> c_int);
                    }
                    let ($frame, _closed) = (gate::frame(), close());
                    let $lock = native::rwlock_at(lock.addr());
                    match $take {
                        Some(place) => hold(lock.addr(), place),
                        None => $failed,
                    }
                }
            )*
        }
    };
}

/// A try that may be repeated until its time is over.
fn timed(place: Option<Place>) -> Option<Place> {
    if place.is_none() {
        runtime::expire();
    }
    place
}

rwlocks! {
    placed pthread_rwlock_rdlock() 0, |lock, frame| Some(at(code_of(frame), || lock.read()));
    placed pthread_rwlock_wrlock() 0, |lock, frame| Some(at(code_of(frame), || lock.write()));
    compared pthread_rwlock_tryrdlock() libc::EBUSY, |lock, frame| tries(frame, || lock.try_read());
    compared pthread_rwlock_trywrlock() libc::EBUSY, |lock, frame| tries(frame, || lock.try_write());
    compared pthread_rwlock_timedrdlock(until: *const timespec) libc::ETIMEDOUT,
        |lock, frame| timed(tries(frame, || lock.try_read()));
    compared pthread_rwlock_timedwrlock(until: *const timespec) libc::ETIMEDOUT,
        |lock, frame| timed(tries(frame, || lock.try_write()));
    compared pthread_rwlock_clockrdlock(clock: clockid_t, until: *const timespec) libc::ETIMEDOUT,
        |lock, frame| timed(tries(frame, || lock.try_read()));
    compared pthread_rwlock_clockwrlock(clock: clockid_t, until: *const timespec) libc::ETIMEDOUT,
        |lock, frame| timed(tries(frame, || lock.try_write()));
}

export! {
    placed fn pthread_rwlock_init(lock: *mut pthread_rwlock_t, attributes: *const c_void) -> c_int {
        if is_inside() {
            let _closed = close();
            native::forget(lock.addr());
        }
        real!(pthread_rwlock_init(lock, attributes): fn(*mut pthread_rwlock_t, *const c_void) -> c_int)
    }

    placed fn pthread_rwlock_destroy(lock: *mut pthread_rwlock_t) -> c_int {
        if !is_inside() {
            return real!(pthread_rwlock_destroy(lock): fn(*mut pthread_rwlock_t) -> c_int);
        }
        let _closed = close();
        native::forget(lock.addr());
        0
    }

    placed fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int {
        if !is_inside() {
            return real!(pthread_rwlock_unlock(lock): fn(*mut pthread_rwlock_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let thread = runtime::current().index();
        let position = HELD.get().iter().rposition(|&(address, holder, _)| address == lock.addr() && holder == thread);
        let Some(position) = position else {
            let message = "a reader-writer lock is unlocked by a thread that does not hold it".to_owned();
            native::fail(code, FailureKind::Misuse, message);
        };
        let (.., place) = HELD.get().swap_remove(position);
        let lock = native::rwlock_at(lock.addr());
        at(code, || lock.release(&place));
        0
    }

    placed fn pthread_barrier_init(
        barrier: *mut pthread_barrier_t, attributes: *const pthread_barrierattr_t, places: c_uint,
    ) -> c_int {
        if is_inside() {
            let _closed = close();
            native::forget(barrier.addr());
        }
        real!(pthread_barrier_init(barrier, attributes, places):
            fn(*mut pthread_barrier_t, *const pthread_barrierattr_t, c_uint) -> c_int)
    }

    placed fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int {
        if !is_inside() {
            return real!(pthread_barrier_destroy(barrier): fn(*mut pthread_barrier_t) -> c_int);
        }
        let _closed = close();
        native::forget(barrier.addr());
        0
    }

    placed fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
        if !is_inside() {
            return real!(pthread_barrier_wait(barrier): fn(*mut pthread_barrier_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        // SAFETY: the C library keeps the number of places in the third word.
        let places = unsafe { *barrier.cast::<c_uint>().add(2) };
        let barrier = native::barrier_at(barrier.addr(), places as usize);
        let arrival = at(code, || barrier.wait());
        // Who asks which thread was the last one makes the order of arrivals matter.
        match result_is_used(code) && arrival.is_leader() {
            true => libc::PTHREAD_BARRIER_SERIAL_THREAD,
            false => 0,
        }
    }

    placed fn sem_init(semaphore: *mut sem_t, shared: c_int, permits: c_uint) -> c_int {
        if is_inside() {
            let _closed = close();
            native::forget(semaphore.addr());
        }
        real!(sem_init(semaphore, shared, permits): fn(*mut sem_t, c_int, c_uint) -> c_int)
    }

    placed fn sem_destroy(semaphore: *mut sem_t) -> c_int {
        if !is_inside() {
            return real!(sem_destroy(semaphore): fn(*mut sem_t) -> c_int);
        }
        let _closed = close();
        native::forget(semaphore.addr());
        0
    }

    placed fn sem_wait(semaphore: *mut sem_t) -> c_int {
        if !is_inside() {
            return real!(sem_wait(semaphore): fn(*mut sem_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let semaphore = semaphore_of(semaphore);
        at(code, || semaphore.acquire());
        0
    }

    compared fn sem_trywait(semaphore: *mut sem_t) -> c_int {
        if !is_inside() {
            return real!(sem_trywait(semaphore): fn(*mut sem_t) -> c_int);
        }
        let (frame, mut closed) = (gate::frame(), close());
        let semaphore = semaphore_of(semaphore);
        match tries(frame, || semaphore.try_acquire()) {
            true => 0,
            false => failing(&mut closed, libc::EAGAIN),
        }
    }

    compared fn sem_timedwait(semaphore: *mut sem_t, until: *const timespec) -> c_int {
        if !is_inside() {
            return real!(sem_timedwait(semaphore, until): fn(*mut sem_t, *const timespec) -> c_int);
        }
        let (frame, mut closed) = (gate::frame(), close());
        let semaphore = semaphore_of(semaphore);
        match tries(frame, || semaphore.acquire_timed()) {
            true => 0,
            false => failing(&mut closed, libc::ETIMEDOUT),
        }
    }

    compared fn sem_clockwait(semaphore: *mut sem_t, clock: clockid_t, until: *const timespec) -> c_int {
        if !is_inside() {
            return real!(sem_clockwait(semaphore, clock, until): fn(*mut sem_t, clockid_t, *const timespec) -> c_int);
        }
        let (frame, mut closed) = (gate::frame(), close());
        let semaphore = semaphore_of(semaphore);
        match tries(frame, || semaphore.acquire_timed()) {
            true => 0,
            false => failing(&mut closed, libc::ETIMEDOUT),
        }
    }

    placed fn sem_post(semaphore: *mut sem_t) -> c_int {
        if !is_inside() {
            return real!(sem_post(semaphore): fn(*mut sem_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let semaphore = semaphore_of(semaphore);
        at(code, || semaphore.release());
        0
    }

    placed fn sem_getvalue(semaphore: *mut sem_t, value: *mut c_int) -> c_int {
        if !is_inside() {
            return real!(sem_getvalue(semaphore, value): fn(*mut sem_t, *mut c_int) -> c_int);
        }
        let (code, _closed) = (code(), close());
        native::refuse(code, "the program asks for the value of a semaphore (sem_getvalue)".to_owned());
    }

    placed fn pthread_once(control: *mut c_int, initialise: extern "C-unwind" fn()) -> c_int {
        if !is_inside() {
            return real!(pthread_once(control, initialise): fn(*mut c_int, extern "C-unwind" fn()) -> c_int);
        }
        let (code, _closed) = (code(), close());
        once(control.addr(), code, initialise);
        0
    }

    placed fn call_once(control: *mut c_int, initialise: extern "C-unwind" fn()) {
        if !is_inside() {
            return real!(call_once(control, initialise): fn(*mut c_int, extern "C-unwind" fn()));
        }
        let (code, _closed) = (code(), close());
        once(control.addr(), code, initialise);
    }

    placed fn __cxa_guard_acquire(guard: *mut u8) -> c_int {
        if !is_inside() {
            return real!(__cxa_guard_acquire(guard): fn(*mut u8) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let once = native::once_at(guard.addr());
        match at(code, || once.enter()) {
            Entry::Initialise { .. } => 1,
            Entry::Done => 0,
        }
    }

    placed fn __cxa_guard_release(guard: *mut u8) {
        if !is_inside() {
            return real!(__cxa_guard_release(guard): fn(*mut u8));
        }
        let (code, _closed) = (code(), close());
        // Whoever finds the byte set, by an acquire load of its own, does not come here.
        // SAFETY: the first byte of a guard tells whether it is done.
        unsafe { native::store(guard, 1, std::sync::atomic::Ordering::Release, code) };
        let once = native::once_at(guard.addr());
        at(code, || once.done());
    }

    placed fn __cxa_guard_abort(guard: *mut u8) {
        if !is_inside() {
            return real!(__cxa_guard_abort(guard): fn(*mut u8));
        }
        let (code, _closed) = (code(), close());
        let once = native::once_at(guard.addr());
        at(code, || once.fail());
    }
}

/// Whether the program looks at the result of the call that returns here.
fn result_is_used(code: usize) -> bool {
    static KNOWN: Own<BTreeMap<usize, bool>> = Own::new(BTreeMap::new());
    native::privately(|| {
        *KNOWN.get().entry(code).or_insert_with(|| {
            let part = image::code_around(code);
            part.is_none_or(|(bytes, position)| ::native::reads_result(bytes, position))
        })
    })
}

/// Runs the initialiser, or waits for whoever does.
fn once(control: usize, code: usize, initialise: extern "C-unwind" fn()) {
    let once = native::once_at(control);
    if let Entry::Initialise { .. } = at(code, || once.enter()) {
        {
            let _open = gate::open(threads::own_pointer());
            initialise();
        }
        at(code, || once.done());
    }
}

/// The semaphore at an address, with the permits that the C library's initialisation wrote there.
fn semaphore_of(semaphore: *mut sem_t) -> runtime::Semaphore {
    // SAFETY: the first word of a semaphore is the number of its permits.
    let permits = unsafe { *semaphore.cast::<c_uint>() };
    native::semaphore_at(semaphore.addr(), permits as usize)
}

/// Fails as functions of the C library do.
fn failing(closed: &mut Closed, error: c_int) -> c_int {
    closed.fail(error);
    -1
}
