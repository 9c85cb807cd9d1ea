//! Waits for descriptors: `poll`, `select`, `epoll_wait` and similar functions.
//!
//! All threads of the program run on one thread of the system, which must not block. So the system
//! is queried only for descriptors that are ready now. If none is ready, a wait with a time limit
//! expires, provided that all other threads have ended or that the wait is for no descriptor. Any
//! other wait that would block is refused.

use crate::clock::{SECOND, nanoseconds, sleep_for};
use crate::gate::{close, code, frame, is_inside};
use crate::hooks::Call;
use crate::library_calls;
use libc::{c_int, epoll_event, fd_set, nfds_t, pollfd, rlimit, sigset_t, timespec, timeval};
use runtime::native::{self, Frame};

/// The time limit of a wait.
#[derive(Clone, Copy)]
enum Patience {
    Nanoseconds(u64),
    Unlimited,
}

impl Patience {
    fn of_milliseconds(time: c_int) -> Patience {
        match u64::try_from(time) {
            Ok(time) => Patience::Nanoseconds(time * 1_000_000),
            Err(_) => Patience::Unlimited,
        }
    }

    fn of_timespec(time: *const timespec) -> Patience {
        // SAFETY: the program supplied the pointer.
        let time = unsafe { time.as_ref() };
        time.map_or(Patience::Unlimited, |time| {
            Patience::Nanoseconds(nanoseconds(time))
        })
    }

    fn of_timeval(time: *const timeval) -> Patience {
        // SAFETY: the program supplied the pointer.
        let time = unsafe { time.as_ref() };
        time.map_or(Patience::Unlimited, |time| {
            Patience::Nanoseconds(time.tv_sec as u64 * SECOND + time.tv_usec as u64 * 1_000)
        })
    }
}

/// Returns the result of a wait, given the system's answer for a wait of zero duration.
fn waits(ready: c_int, has_descriptors: bool, patience: Patience, frame: *const Frame) -> c_int {
    if ready != 0 {
        return ready;
    }
    let refuse = |what: &str| native::refuse(code(), format!("the program {what}"));
    match patience {
        Patience::Nanoseconds(0) => {}
        Patience::Unlimited if !has_descriptors => refuse("waits for a signal"),
        Patience::Nanoseconds(time) if !has_descriptors || native::is_alone() => {
            sleep_for(time, frame);
        }
        Patience::Nanoseconds(_) | Patience::Unlimited => {
            refuse("waits in the operating system until a descriptor is ready")
        }
    }
    0
}

/// Reports the question whether these descriptors are ready, because its answer depends on what
/// other threads do with their files.
fn asks(name: &str, descriptors: impl FnOnce() -> Vec<c_int>) {
    if is_inside() || enforce::is_thread_enforced() {
        library_calls::ask(name, descriptors);
    }
}

/// Reports a write of a result, unless its address is null.
fn writes<T>(place: *const T, count: usize) {
    if !place.is_null() {
        // SAFETY: the program supplied the memory to a function that has recorded the frame.
        unsafe { Call::here().writes(place.cast(), count * size_of::<T>()) };
    }
}

/// Returns the number of elements that the system reads from the array of a `poll`. It is 0 if the
/// array has more elements than the process may have descriptors. The system uses only the low 32
/// bits of the count.
fn read_count(count: nfds_t) -> usize {
    let count = count as u32;
    let mut limit = rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the system stores the limit in the local variable.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    if u64::from(count) <= limit.rlim_cur {
        count as usize
    } else {
        0
    }
}

fn of_array(descriptors: *const pollfd, count: nfds_t) -> Vec<c_int> {
    let asked = (0..read_count(count)).map(|number| {
        // SAFETY: the program supplied an array of this length.
        unsafe { (*descriptors.add(number)).fd }
    });
    asked.collect()
}

fn of_sets(sets: [*mut fd_set; 3], count: c_int) -> Vec<c_int> {
    let is_in = |descriptor: c_int, set: *mut fd_set| {
        // SAFETY: the program supplied the sets.
        !set.is_null() && unsafe { libc::FD_ISSET(descriptor, set) }
    };
    let asked = 0..count.min(libc::FD_SETSIZE as c_int);
    asked
        .filter(|&descriptor| sets.iter().any(|&set| is_in(descriptor, set)))
        .collect()
}

/// Returns an epoll instance and the descriptors that it watches, as the system shows them, such as
/// `tfd:        5 events:        1 data: ...`. In an enforced program only the number of events
/// matters.
fn of_epoll(epoll: c_int) -> Vec<c_int> {
    let mut asked = vec![epoll];
    if !enforce::is_thread_enforced() {
        let file = format!("/proc/self/fdinfo/{epoll}");
        let shown = std::fs::read_to_string(file).unwrap_or_default();
        let watched = shown.lines().filter_map(|line| line.strip_prefix("tfd:"));
        asked.extend(
            watched.filter_map(|line| line.split_whitespace().next()?.parse::<c_int>().ok()),
        );
    }
    asked
}

/// Calls `asks`, which stores events and returns their number, and reports these writes. If plain
/// accesses are events, instead reports before the call the largest write that is possible.
fn finds(events: *const epoll_event, most: c_int, asks: impl FnOnce() -> c_int) -> c_int {
    let are_events = library_calls::are_plain_accesses_events();
    if are_events {
        writes(events, most.max(0) as usize);
    }
    let ready = asks();
    if !are_events {
        writes(events, ready.max(0) as usize);
    }
    ready
}

/// Reports the accesses of `poll` to its array.
fn accesses(descriptors: *const pollfd, count: nfds_t) {
    for number in 0..read_count(count) {
        // SAFETY: the program supplied an array of this length to a function that has recorded the
        // frame.
        unsafe {
            let asked = descriptors.add(number);
            let (call, answer) = (Call::here(), &raw const (*asked).revents);
            call.reads(asked.cast(), std::mem::offset_of!(pollfd, revents));
            call.writes(answer.cast(), size_of_val(&*answer));
        }
    }
}

/// A time of zero.
static NOW: timespec = timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

export! {
    compared fn poll(descriptors: *mut pollfd, count: nfds_t, time: c_int) -> c_int {
        asks("poll", || of_array(descriptors, count));
        accesses(descriptors, count);
        if !is_inside() {
            return real!(poll(descriptors, count, time): fn(*mut pollfd, nfds_t, c_int) -> c_int);
        }
        let (frame, mut closed) = (frame(), close());
        let ready = closed.keep_error(real!(poll(descriptors, count, 0): fn(*mut pollfd, nfds_t, c_int) -> c_int));
        waits(ready, count > 0, Patience::of_milliseconds(time), frame)
    }

    compared fn ppoll(descriptors: *mut pollfd, count: nfds_t, time: *const timespec, mask: *const sigset_t) -> c_int {
        asks("ppoll", || of_array(descriptors, count));
        accesses(descriptors, count);
        if !is_inside() {
            return real!(ppoll(descriptors, count, time, mask):
                fn(*mut pollfd, nfds_t, *const timespec, *const sigset_t) -> c_int);
        }
        let (frame, mut closed) = (frame(), close());
        let ready = closed.keep_error(real!(ppoll(descriptors, count, &raw const NOW, mask):
            fn(*mut pollfd, nfds_t, *const timespec, *const sigset_t) -> c_int));
        waits(ready, count > 0, Patience::of_timespec(time), frame)
    }

    // The fortified versions of the two functions above.
    compared fn __poll_chk(descriptors: *mut pollfd, count: nfds_t, time: c_int, size: usize) -> c_int {
        asks("poll", || of_array(descriptors, count));
        accesses(descriptors, count);
        if !is_inside() {
            return real!(__poll_chk(descriptors, count, time, size): fn(*mut pollfd, nfds_t, c_int, usize) -> c_int);
        }
        let (frame, mut closed) = (frame(), close());
        let ready = closed.keep_error(real!(__poll_chk(descriptors, count, 0, size): fn(*mut pollfd, nfds_t, c_int, usize) -> c_int));
        waits(ready, count > 0, Patience::of_milliseconds(time), frame)
    }

    compared fn __ppoll_chk(descriptors: *mut pollfd, count: nfds_t, time: *const timespec, mask: *const sigset_t, size: usize) -> c_int {
        asks("ppoll", || of_array(descriptors, count));
        accesses(descriptors, count);
        if !is_inside() {
            return real!(__ppoll_chk(descriptors, count, time, mask, size):
                fn(*mut pollfd, nfds_t, *const timespec, *const sigset_t, usize) -> c_int);
        }
        let (frame, mut closed) = (frame(), close());
        let ready = closed.keep_error(real!(__ppoll_chk(descriptors, count, &raw const NOW, mask, size):
            fn(*mut pollfd, nfds_t, *const timespec, *const sigset_t, usize) -> c_int));
        waits(ready, count > 0, Patience::of_timespec(time), frame)
    }

    compared fn select(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, time: *mut timeval) -> c_int {
        asks("select", || of_sets([read, write, except], count));
        let words = (count.max(0) as usize).div_ceil(64);
        [read, write, except].iter().for_each(|set| writes(set.cast::<u64>(), words));
        writes(time, 1);
        if !is_inside() {
            return real!(select(count, read, write, except, time):
                fn(c_int, *mut fd_set, *mut fd_set, *mut fd_set, *mut timeval) -> c_int);
        }
        let (frame, mut closed) = (frame(), close());
        let mut now = timeval { tv_sec: 0, tv_usec: 0 };
        let ready = closed.keep_error(real!(select(count, read, write, except, &raw mut now):
            fn(c_int, *mut fd_set, *mut fd_set, *mut fd_set, *mut timeval) -> c_int));
        let result = waits(ready, count > 0, Patience::of_timeval(time), frame);
        // The system stores the remaining time in `time`. It is zero if the time is up.
        if result == 0 && !time.is_null() {
            // SAFETY: the program supplied the pointer.
            unsafe { *time = now };
        }
        result
    }

    compared fn pselect(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, time: *const timespec, mask: *const sigset_t) -> c_int {
        asks("pselect", || of_sets([read, write, except], count));
        let words = (count.max(0) as usize).div_ceil(64);
        [read, write, except].iter().for_each(|set| writes(set.cast::<u64>(), words));
        if !is_inside() {
            return real!(pselect(count, read, write, except, time, mask):
                fn(c_int, *mut fd_set, *mut fd_set, *mut fd_set, *const timespec, *const sigset_t) -> c_int);
        }
        let (frame, mut closed) = (frame(), close());
        let ready = closed.keep_error(real!(pselect(count, read, write, except, &raw const NOW, mask):
            fn(c_int, *mut fd_set, *mut fd_set, *mut fd_set, *const timespec, *const sigset_t) -> c_int));
        waits(ready, count > 0, Patience::of_timespec(time), frame)
    }

    compared fn epoll_wait(epoll: c_int, events: *mut epoll_event, most: c_int, time: c_int) -> c_int {
        asks("epoll_wait", || of_epoll(epoll));
        if !is_inside() {
            return finds(events, most, || {
                real!(epoll_wait(epoll, events, most, time): fn(c_int, *mut epoll_event, c_int, c_int) -> c_int)
            });
        }
        let ready = finds(events, most, || {
            let mut closed = close();
            closed.keep_error(real!(epoll_wait(epoll, events, most, 0): fn(c_int, *mut epoll_event, c_int, c_int) -> c_int))
        });
        let (frame, _closed) = (frame(), close());
        waits(ready, true, Patience::of_milliseconds(time), frame)
    }

    compared fn epoll_pwait(epoll: c_int, events: *mut epoll_event, most: c_int, time: c_int, mask: *const sigset_t) -> c_int {
        asks("epoll_pwait", || of_epoll(epoll));
        if !is_inside() {
            return finds(events, most, || {
                real!(epoll_pwait(epoll, events, most, time, mask):
                    fn(c_int, *mut epoll_event, c_int, c_int, *const sigset_t) -> c_int)
            });
        }
        let ready = finds(events, most, || {
            let mut closed = close();
            closed.keep_error(real!(epoll_pwait(epoll, events, most, 0, mask):
                fn(c_int, *mut epoll_event, c_int, c_int, *const sigset_t) -> c_int))
        });
        let (frame, _closed) = (frame(), close());
        waits(ready, true, Patience::of_milliseconds(time), frame)
    }

    compared fn epoll_pwait2(epoll: c_int, events: *mut epoll_event, most: c_int, time: *const timespec, mask: *const sigset_t) -> c_int {
        asks("epoll_pwait2", || of_epoll(epoll));
        if !is_inside() {
            return finds(events, most, || {
                real!(epoll_pwait2(epoll, events, most, time, mask):
                    fn(c_int, *mut epoll_event, c_int, *const timespec, *const sigset_t) -> c_int)
            });
        }
        let ready = finds(events, most, || {
            let mut closed = close();
            closed.keep_error(real!(epoll_pwait(epoll, events, most, 0, mask):
                fn(c_int, *mut epoll_event, c_int, c_int, *const sigset_t) -> c_int))
        });
        let (frame, _closed) = (frame(), close());
        waits(ready, true, Patience::of_timespec(time), frame)
    }
}
