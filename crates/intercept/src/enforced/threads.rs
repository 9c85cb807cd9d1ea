//! Real threads. The parent passes each new thread its identity in the safe trace (`Child`).

use super::refuse;
use crate::threads::is_detached;
use enforce::Child;
use explore::OpKind;
use libc::{c_int, c_uint, c_void, clockid_t, pthread_attr_t, pthread_t, timespec};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

type Destructor = unsafe extern "C-unwind" fn(*mut c_void);
type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// Whether the program's code may run after the function of a thread has returned.
static HAS_DESTRUCTORS: AtomicBool = AtomicBool::new(false);

/// Key whose destructor reports the end of a thread if the return of its function does not.
static KEY: OnceLock<c_uint> = OnceLock::new();

/// The round of destructors, of at most four, in which a thread reports its end. The program's
/// destructors run before, in the first two rounds.
const ROUNDS: usize = 3;

unsafe extern "C-unwind" fn leaving(round: *mut c_void) {
    match round.addr() {
        round @ 1..ROUNDS => keep(round + 1),
        _ => enforce::end_thread(),
    }
}

/// Sets the value of the key in the running thread, so that its destructor runs in this round.
fn keep(round: usize) {
    let key = *KEY.get().expect("the key is made at the start");
    let value = ptr::without_provenance::<c_void>(round);
    original!(pthread_setspecific(key, value): fn(c_uint, *const c_void) -> c_int);
}

/// Prepares for the program's threads before `main`: creates the key, and ends enforcement in
/// forked processes.
pub(super) fn prepare() {
    let mut key = 0;
    original!(pthread_key_create(&raw mut key, leaving): fn(*mut c_uint, Destructor) -> c_int);
    KEY.get_or_init(|| key);
    // Rust's standard library may create a key at this call. That key must not count as a key of
    // the program.
    enforce::internally(|| drop(std::thread::current()));
    unsafe extern "C" fn leave_parent() {
        enforce::off();
    }
    // SAFETY: the function may be called at any time.
    unsafe { libc::pthread_atfork(None, None, Some(leave_parent)) };
}

/// Records that the program may run code at the ends of threads, if it has registered a destructor.
fn has(destructor: Option<Destructor>) {
    if destructor.is_some() && !enforce::is_internal() {
        HAS_DESTRUCTORS.store(true, Relaxed);
    }
}

/// Prepares for an end of the main thread before the end of the program.
pub(super) fn keep_main() {
    keep(1);
}

unsafe extern "C-unwind" fn begin(child: *mut c_void) -> *mut c_void {
    // SAFETY: `create` has passed the child to this thread.
    let child = unsafe { Child::from_raw(child) };
    let [start, argument] = child.carried();
    enforce::adopt(&child);
    // SAFETY: `create` has stored the function and its argument, which come from the program.
    let result = unsafe {
        let start: Start = std::mem::transmute(start);
        start(ptr::with_exposed_provenance_mut(argument))
    };
    if HAS_DESTRUCTORS.load(Relaxed) {
        keep(1);
    } else {
        enforce::end_thread();
    }
    result
}

/// Starts a thread by a function of the C library. Returns the result of this function.
fn create(
    thread: *const pthread_t,
    is_detached: bool,
    (start, argument): (Start, *mut c_void),
    how: impl FnOnce(Start, *mut c_void) -> c_int,
) -> c_int {
    let child = (!enforce::is_internal()).then(enforce::upcoming).flatten();
    let Some(child) = child else {
        return how(start, argument);
    };
    enforce::publish();
    child.carry([start as usize, argument.expose_provenance()]);
    let result = how(begin, child.as_raw());
    if result != 0 {
        child.fails();
    } else if !is_detached {
        // SAFETY: the C library has written the handle. (That of a detached thread may be gone.)
        record(unsafe { *thread }, child);
    }
    result
}

/// Threads that may be polled (see [`polls`]), with their handles.
static CHILDREN: Mutex<Vec<(pthread_t, Child)>> = Mutex::new(Vec::new());

fn with_children<R>(does: impl FnOnce(&mut Vec<(pthread_t, Child)>) -> R) -> R {
    enforce::internally(|| does(&mut CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)))
}

fn record(thread: pthread_t, child: Child) {
    with_children(|children| {
        children.retain(|(other, _)| *other != thread);
        children.push((thread, child));
    });
}

/// Removes a thread that is no longer polled, because its handle may be reused. Does nothing in a
/// forked process, where the list may be locked forever.
fn forget(thread: pthread_t) {
    if enforce::is_thread_enforced() {
        with_children(|children| children.retain(|(other, _)| *other != thread));
    }
}

fn joins(thread: pthread_t, result: *mut *mut c_void) -> c_int {
    enforce::publish();
    forget(thread);
    original!(pthread_join(thread, result): fn(pthread_t, *mut *mut c_void) -> c_int)
}

/// Checks whether a thread has ended, and joins the thread in this case (such as
/// `pthread_tryjoin_np`). The check is an event. A thread that has performed its last event is
/// joined, even if it has not yet ended for the system.
fn polls(thread: pthread_t, result: *mut *mut c_void, tries: impl FnOnce() -> c_int) -> c_int {
    if !enforce::is_thread_enforced() {
        return tries();
    }
    enforce::publish();
    enforce::begin(OpKind::IsFinished);
    let has_ended = with_children(|children| {
        let child = children.iter().find(|(handle, _)| *handle == thread);
        child.is_some_and(|(_, child)| child.has_ended())
    });
    let status = if has_ended {
        forget(thread);
        original!(pthread_join(thread, result): fn(pthread_t, *mut *mut c_void) -> c_int)
    } else {
        tries()
    };
    enforce::end();
    status
}

enforced! {
    fn pthread_create(
        thread: *mut pthread_t, attributes: *const pthread_attr_t, start: Start, argument: *mut c_void,
    ) -> c_int {
        // SAFETY: the program passed the attributes.
        let is_detached = unsafe { is_detached(attributes) };
        create(thread, is_detached, (start, argument), |start, argument| {
            original!(pthread_create(thread, attributes, start, argument):
                fn(*mut pthread_t, *const pthread_attr_t, Start, *mut c_void) -> c_int)
        })
    }

    fn thrd_create(thread: *mut pthread_t, start: Start, argument: *mut c_void) -> c_int {
        create(thread, false, (start, argument), |start, argument| {
            original!(thrd_create(thread, start, argument): fn(*mut pthread_t, Start, *mut c_void) -> c_int)
        })
    }

    fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int {
        joins(thread, result)
    }

    fn thrd_join(thread: pthread_t, result: *mut c_int) -> c_int {
        enforce::publish();
        forget(thread);
        original!(thrd_join(thread, result): fn(pthread_t, *mut c_int) -> c_int)
    }

    fn pthread_detach(thread: pthread_t) -> c_int {
        forget(thread);
        original!(pthread_detach(thread): fn(pthread_t) -> c_int)
    }

    fn thrd_detach(thread: pthread_t) -> c_int {
        forget(thread);
        original!(thrd_detach(thread): fn(pthread_t) -> c_int)
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
        keep(1);
        original!(pthread_exit(result): fn(*mut c_void))
    }

    fn thrd_exit(result: c_int) {
        enforce::publish();
        keep(1);
        original!(thrd_exit(result): fn(c_int))
    }

    fn pthread_key_create(key: *mut c_uint, destructor: Option<Destructor>) -> c_int {
        has(destructor);
        original!(pthread_key_create(key, destructor): fn(*mut c_uint, Option<Destructor>) -> c_int)
    }

    fn tss_create(key: *mut c_uint, destructor: Option<Destructor>) -> c_int {
        has(destructor);
        original!(tss_create(key, destructor): fn(*mut c_uint, Option<Destructor>) -> c_int)
    }

    fn __cxa_thread_atexit_impl(destructor: Destructor, object: *mut c_void, image: *mut c_void) -> c_int {
        has(Some(destructor));
        original!(__cxa_thread_atexit_impl(destructor, object, image):
            fn(Destructor, *mut c_void, *mut c_void) -> c_int)
    }

    fn pthread_cancel(_thread: pthread_t) -> c_int {
        refuse("cancels a thread (pthread_cancel)")
    }
}
