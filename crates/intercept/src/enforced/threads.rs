//! Threads: those of the system, which know by which path they were started.

use super::refuse;
use enforce::Child;
use explore::OpKind;
use libc::{c_int, c_uint, c_void, clockid_t, pthread_attr_t, pthread_t, timespec};
use std::ptr;
use std::sync::OnceLock;
use std::sync::{Mutex, PoisonError};

type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// What a thread begins with.
struct Begin {
    start: Start,
    argument: *mut c_void,
    child: Child,
}

/// The key whose destructor tells that a thread ends, by whatever way.
static KEY: OnceLock<c_uint> = OnceLock::new();

/// In the third of four rounds: destructors of the program have run in the first two.
const ROUNDS: usize = 3;

unsafe extern "C-unwind" fn leaving(round: *mut c_void) {
    match round.addr() {
        round @ 1..ROUNDS => keep(round + 1),
        _ => enforce::end_thread(),
    }
}

fn keep(round: usize) {
    let key = *KEY.get().expect("the key is made at the start");
    let value = ptr::without_provenance::<c_void>(round);
    original!(pthread_setspecific(key, value): fn(c_uint, *const c_void) -> c_int);
}

/// Before the program begins.
pub(super) fn prepare() {
    type Destructor = unsafe extern "C-unwind" fn(*mut c_void);
    let mut key = 0;
    original!(pthread_key_create(&raw mut key, leaving): fn(*mut c_uint, Destructor) -> c_int);
    KEY.get_or_init(|| key);
    unsafe extern "C" fn leave_parent() {
        enforce::off();
    }
    // SAFETY: the function can be called at any moment.
    unsafe { libc::pthread_atfork(None, None, Some(leave_parent)) };
}

/// The main thread may end before the program.
pub(super) fn keep_main() {
    keep(1);
}

unsafe extern "C-unwind" fn begin(begin: *mut c_void) -> *mut c_void {
    // SAFETY: `create` gave this one its box.
    let Begin {
        start,
        argument,
        child,
    } = *unsafe { Box::from_raw(begin.cast::<Begin>()) };
    keep(1);
    enforce::adopt(child);
    // SAFETY: the program gave the function and its argument.
    unsafe { start(argument) }
}

/// Starts a thread by a function of the C library; its result.
fn create(
    thread: *const pthread_t,
    start: Start,
    argument: *mut c_void,
    how: impl FnOnce(Start, *mut c_void) -> c_int,
) -> c_int {
    let child = (!enforce::is_internal()).then(enforce::upcoming).flatten();
    let Some(child) = child else {
        return how(start, argument);
    };
    enforce::publish();
    let own = Box::into_raw(Box::new(Begin {
        start,
        argument,
        child,
    }));
    let result = how(begin, own.cast());
    if result != 0 {
        // SAFETY: nobody else got the box.
        drop(unsafe { Box::from_raw(own) });
        child.fails();
    } else {
        // SAFETY: the C library wrote the handle.
        note(unsafe { *thread }, child);
    }
    result
}

/// Children that may be polled, by their handles.
static CHILDREN: Mutex<Vec<(pthread_t, Child)>> = Mutex::new(Vec::new());

fn joins(thread: pthread_t, result: *mut *mut c_void) -> c_int {
    enforce::publish();
    original!(pthread_join(thread, result): fn(pthread_t, *mut *mut c_void) -> c_int)
}

/// Polls a thread: an event. One that has performed its last event is joined, though the system may not have seen its
/// end yet.
fn polls(thread: pthread_t, result: *mut *mut c_void, tries: impl FnOnce() -> c_int) -> c_int {
    enforce::publish();
    enforce::begin(OpKind::IsFinished);
    let children = enforce::internally(|| {
        CHILDREN
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    });
    let child = children.iter().rev().find(|(handle, _)| *handle == thread);
    let status = match child {
        Some((_, child)) if child.has_ended() => {
            original!(pthread_join(thread, result): fn(pthread_t, *mut *mut c_void) -> c_int)
        }
        _ => tries(),
    };
    enforce::end();
    status
}

fn note(thread: pthread_t, child: Child) {
    enforce::internally(|| {
        let mut children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
        children.retain(|(other, _)| *other != thread);
        children.push((thread, child));
    });
}

enforced! {
    fn pthread_create(
        thread: *mut pthread_t, attributes: *const pthread_attr_t, start: Start, argument: *mut c_void,
    ) -> c_int {
        create(thread, start, argument, |start, argument| {
            original!(pthread_create(thread, attributes, start, argument):
                fn(*mut pthread_t, *const pthread_attr_t, Start, *mut c_void) -> c_int)
        })
    }

    fn thrd_create(thread: *mut pthread_t, start: Start, argument: *mut c_void) -> c_int {
        create(thread, start, argument, |start, argument| {
            original!(thrd_create(thread, start, argument): fn(*mut pthread_t, Start, *mut c_void) -> c_int)
        })
    }

    fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int {
        joins(thread, result)
    }

    fn thrd_join(thread: pthread_t, result: *mut c_int) -> c_int {
        enforce::publish();
        original!(thrd_join(thread, result): fn(pthread_t, *mut c_int) -> c_int)
    }

    fn pthread_tryjoin_np(thread: pthread_t, result: *mut *mut c_void) -> c_int {
        polls(thread, result, || {
            original!(pthread_tryjoin_np(thread, result): fn(pthread_t, *mut *mut c_void) -> c_int)
        })
    }

    fn pthread_timedjoin_np(thread: pthread_t, result: *mut *mut c_void, until: *const timespec) -> c_int {
        polls(thread, result, || {
            original!(pthread_timedjoin_np(thread, result, until):
                fn(pthread_t, *mut *mut c_void, *const timespec) -> c_int)
        })
    }

    fn pthread_clockjoin_np(
        thread: pthread_t, result: *mut *mut c_void, clock: clockid_t, until: *const timespec,
    ) -> c_int {
        polls(thread, result, || {
            original!(pthread_clockjoin_np(thread, result, clock, until):
                fn(pthread_t, *mut *mut c_void, clockid_t, *const timespec) -> c_int)
        })
    }

    fn pthread_exit(result: *mut c_void) {
        enforce::publish();
        original!(pthread_exit(result): fn(*mut c_void))
    }

    fn pthread_cancel(_thread: pthread_t) -> c_int {
        refuse("cancels a thread (pthread_cancel)")
    }
}
