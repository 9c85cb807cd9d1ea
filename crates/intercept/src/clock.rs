//! Time. Each thread has a clock, which begins with the execution. The clock advances by a tick at
//! each reading, and by the time that the thread sleeps. After an acquire, the clock of the
//! acquiring thread is at least as late as the clock of the releasing thread at the release. For
//! this, objects, signals and atomic variables store the clock of their last release. If reads may
//! return old values, each write of an atomic variable stores its own clock.

use crate::gate::{Own, close, frame, is_inside};
use crate::{cancel, threads};
use explore::{EventId, ReadsFrom};
use libc::{c_int, c_long, c_uint, c_void, clockid_t, time_t, timespec, timeval};
use runtime::native::{self, Frame};
use rustc_hash::FxHashMap;

/// Nanoseconds since 1970 at which every execution begins.
const BEGINNING: u64 = 1_700_000_000_000_000_000;

/// Nanoseconds by which a reading advances the clock.
const TICK: u64 = 1_000;

/// Upper limit of a clock when it is read, because times are signed numbers of nanoseconds
/// elsewhere.
const LAST: u64 = i64::MAX as u64 - BEGINNING;

/// Stores the clock of a releasing thread for the threads that acquire.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Carrier {
    /// The object at this address.
    Object(usize),
    /// The atomic variable at this address.
    Variable(usize),
    /// A write of an atomic variable, whose old values may be read, or a signal.
    Event(EventId),
}

/// The latest time of a release, for each carrier.
pub(crate) type Carried = FxHashMap<Carrier, u64>;

static CARRIED: Own<Option<Carried>> = Own::new(None);

/// Whether any clock has moved in any execution.
static HAS_MOVED: Own<bool> = Own::new(false);

/// Begins an execution: forgets the clocks that objects store.
pub(crate) fn begin() {
    CARRIED.get().get_or_insert_default().clear();
}

/// Copies the clocks of objects.
pub(crate) fn save_to(copy: &mut Carried) {
    copy.clone_from(CARRIED.get().get_or_insert_default());
}

/// Restores the clocks of objects from a copy.
pub(crate) fn restore_from(copy: &Carried) {
    CARRIED.get().get_or_insert_default().clone_from(copy);
}

/// Stores the clock of the running thread in the object at the address, for threads that acquire
/// the object later.
#[inline(always)]
pub(crate) fn release(address: usize) {
    if *HAS_MOVED.get() {
        release_in(Carrier::Object(address));
    }
}

/// Advances the clock of the running thread to that of the object at the address.
#[inline(always)]
pub(crate) fn acquire(address: usize) {
    if *HAS_MOVED.get() {
        acquire_from(Carrier::Object(address));
    }
}

/// Stores the clock of the running thread in a signal that it has sent.
#[inline(always)]
pub(crate) fn release_signal(signal: EventId) {
    if *HAS_MOVED.get() {
        release_in(Carrier::Event(signal));
    }
}

/// Advances the clock of the running thread to that of the signal that woke it.
#[inline(always)]
pub(crate) fn acquire_signal(signal: EventId) {
    if *HAS_MOVED.get() {
        acquire_from(Carrier::Event(signal));
    }
}

/// Stores the clock of the running thread in the atomic variable at the address, which the thread
/// has just written.
#[inline(always)]
pub(crate) fn release_write(address: usize) {
    if *HAS_MOVED.get() {
        let (write, source) = native::last_access();
        release_in(match source {
            ReadsFrom::LAST => Carrier::Variable(address),
            _ => Carrier::Event(write),
        });
    }
}

/// Advances the clock of the running thread, which has just read the atomic variable at the
/// address, to that of the write that it has read from.
#[inline(always)]
pub(crate) fn acquire_read(address: usize) {
    if *HAS_MOVED.get() {
        let (_, source) = native::last_access();
        match source.event() {
            Some(write) => acquire_from(Carrier::Event(write)),
            None if source == ReadsFrom::LAST => acquire_from(Carrier::Variable(address)),
            None => {}
        }
    }
}

#[cold]
fn release_in(carrier: Carrier) {
    let clock = *threads::own_time();
    native::privately(|| {
        let carried = CARRIED.get().get_or_insert_default().entry(carrier);
        let carried = carried.or_default();
        *carried = clock.max(*carried);
    });
}

#[cold]
fn acquire_from(carrier: Carrier) {
    let carried = CARRIED.get().get_or_insert_default().get(&carrier);
    let clock = threads::own_time();
    *clock = carried.copied().unwrap_or_default().max(*clock);
}

/// Returns the clock of the running thread, which is about to advance.
fn moved() -> &'static mut u64 {
    *HAS_MOVED.get() = true;
    threads::own_time()
}

pub(crate) const SECOND: u64 = 1_000_000_000;

/// Reads the clock of the running thread.
fn now() -> u64 {
    let clock = moved();
    *clock = clock.saturating_add(TICK).min(LAST);
    BEGINNING + threads::read_clock()
}

/// Makes the running thread sleep, which is a cancellation point.
pub(crate) fn sleep_for(nanoseconds: u64, frame: *const Frame) {
    let clock = moved();
    *clock = clock.saturating_add(nanoseconds);
    runtime::yields();
    cancel::point(frame);
}

pub(crate) fn nanoseconds(time: &timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds
        .saturating_mul(SECOND)
        .saturating_add(time.tv_nsec as u64)
}

/// Checks whether the nanoseconds of a time are in the permitted range.
///
/// # Safety
///
/// The program must have passed the time.
pub(crate) unsafe fn is_valid(time: *const timespec) -> bool {
    // SAFETY: as promised by the caller.
    (0..SECOND as c_long).contains(unsafe { &(*time).tv_nsec })
}

/// Checks whether a thread can wait until this time: the time must be valid, and the clock must be
/// `CLOCK_REALTIME` or `CLOCK_MONOTONIC`.
///
/// # Safety
///
/// The conditions are those of [`is_valid`].
pub(crate) unsafe fn is_valid_by(clock: clockid_t, time: *const timespec) -> bool {
    // SAFETY: as promised by the caller.
    can_wait_by(clock) && unsafe { is_valid(time) }
}

/// Checks whether threads can wait by a clock.
pub(crate) fn can_wait_by(clock: clockid_t) -> bool {
    matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC)
}

/// Checks whether the system has a clock.
fn exists(clock: clockid_t) -> bool {
    // SAFETY: the null pointer says that the result is not needed.
    let exists = || unsafe { libc::clock_getres(clock, std::ptr::null_mut()) } == 0;
    can_wait_by(clock) || exists()
}

/// Checks whether a thread can sleep for a time: the time must be valid and not negative.
///
/// # Safety
///
/// The conditions are those of [`is_valid`].
unsafe fn can_pass(time: *const timespec) -> bool {
    // SAFETY: as promised by the caller.
    unsafe { is_valid(time) && (*time).tv_sec >= 0 }
}

/// Result of `thrd_sleep` for invalid times. It must be less than -1, because -1 means that a
/// signal has interrupted the sleep.
const INVALID_SLEEP: c_int = -2;

/// Advances the clock of the running thread to a time until which it has waited. All clocks of the
/// system show the same time.
///
/// # Safety
///
/// The conditions are those of [`is_valid`].
pub(crate) unsafe fn reach(until: *const timespec) {
    // SAFETY: as promised by the caller.
    let until = nanoseconds(unsafe { &*until }).saturating_sub(BEGINNING);
    let clock = moved();
    *clock = until.max(*clock);
}

/// Advances the clock of the running thread by a time for which it has waited.
///
/// # Safety
///
/// The conditions are those of [`is_valid`].
pub(crate) unsafe fn pass(time: *const timespec) {
    // SAFETY: as promised by the caller.
    let time = nanoseconds(unsafe { &*time });
    let clock = moved();
    *clock = clock.saturating_add(time);
}

export! {
    placed fn clock_gettime(clock: clockid_t, result: *mut timespec) -> c_int {
        if !is_inside() {
            return real!(clock_gettime(clock, result): fn(clockid_t, *mut timespec) -> c_int);
        }
        let mut closed = close();
        if !exists(clock) {
            closed.fail(libc::EINVAL);
            return -1;
        }
        let now = now();
        // SAFETY: the program passed the pointer.
        unsafe {
            (*result).tv_sec = (now / SECOND) as time_t;
            (*result).tv_nsec = (now % SECOND) as c_long;
        }
        0
    }

    placed fn timespec_get(result: *mut timespec, base: c_int) -> c_int {
        if !is_inside() {
            return real!(timespec_get(result, base): fn(*mut timespec, c_int) -> c_int);
        }
        let _closed = close();
        let now = now();
        // SAFETY: the program passed the pointer.
        unsafe {
            (*result).tv_sec = (now / SECOND) as time_t;
            (*result).tv_nsec = (now % SECOND) as c_long;
        }
        base
    }

    placed fn gettimeofday(result: *mut timeval, zone: *mut c_void) -> c_int {
        if !is_inside() {
            return real!(gettimeofday(result, zone): fn(*mut timeval, *mut c_void) -> c_int);
        }
        let _closed = close();
        let now = now();
        // SAFETY: the program passed the pointer.
        unsafe {
            (*result).tv_sec = (now / SECOND) as time_t;
            (*result).tv_usec = (now % SECOND / 1_000) as c_long;
        }
        0
    }

    placed fn time(result: *mut time_t) -> time_t {
        if !is_inside() {
            return real!(time(result): fn(*mut time_t) -> time_t);
        }
        let _closed = close();
        let now = (now() / SECOND) as time_t;
        if !result.is_null() {
            // SAFETY: the program passed the pointer.
            unsafe { *result = now };
        }
        now
    }

    compared fn sleep(seconds: c_uint) -> c_uint {
        if !is_inside() {
            return real!(sleep(seconds): fn(c_uint) -> c_uint);
        }
        let (frame, _closed) = (frame(), close());
        sleep_for(u64::from(seconds) * SECOND, frame);
        0
    }

    compared fn usleep(microseconds: c_uint) -> c_int {
        if !is_inside() {
            return real!(usleep(microseconds): fn(c_uint) -> c_int);
        }
        let (frame, _closed) = (frame(), close());
        sleep_for(u64::from(microseconds) * 1_000, frame);
        0
    }

    compared fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int {
        if !is_inside() {
            return real!(nanosleep(time, left): fn(*const timespec, *mut timespec) -> c_int);
        }
        let (frame, mut closed) = (frame(), close());
        // SAFETY: the program passed the pointer.
        if !unsafe { can_pass(time) } {
            closed.fail(libc::EINVAL);
            return -1;
        }
        // SAFETY: the program passed the pointer.
        sleep_for(nanoseconds(unsafe { &*time }), frame);
        0
    }

    compared fn clock_nanosleep(clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int {
        if !is_inside() {
            return real!(clock_nanosleep(clock, flags, time, left):
                fn(clockid_t, c_int, *const timespec, *mut timespec) -> c_int);
        }
        let (frame, _closed) = (frame(), close());
        if matches!(clock, libc::CLOCK_MONOTONIC_RAW | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_MONOTONIC_COARSE) {
            return libc::ENOTSUP;
        }
        // A thread cannot sleep by its own CPU time.
        let can_sleep_by = exists(clock) && clock != libc::CLOCK_THREAD_CPUTIME_ID;
        // SAFETY: the program passed the pointer.
        if !can_sleep_by || !unsafe { can_pass(time) } {
            return libc::EINVAL;
        }
        // SAFETY: the program passed the pointer.
        let time = nanoseconds(unsafe { &*time });
        match flags & libc::TIMER_ABSTIME {
            0 => sleep_for(time, frame),
            _ => sleep_for(time.saturating_sub(now()), frame),
        }
        0
    }

    placed fn thrd_sleep(time: *const timespec, left: *mut timespec) -> c_int {
        if !is_inside() {
            return real!(thrd_sleep(time, left): fn(*const timespec, *mut timespec) -> c_int);
        }
        let _closed = close();
        // SAFETY: the program passed the pointer.
        unsafe {
            if !can_pass(time) {
                return INVALID_SLEEP;
            }
            pass(time);
        }
        runtime::yields();
        0
    }
}
