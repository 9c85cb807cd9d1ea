//! Threads: POSIX's and C11's, with their keys.

use crate::gate::{self, Own, close, code, is_inside};
use crate::{blocks, cancel, ending};
use libc::{c_int, c_uint, c_void, pthread_attr_t, pthread_t};
use report::FailureKind;
use runtime::native;
use std::ptr;

/// What a thread runs.
type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
pub(crate) type Destructor = unsafe extern "C-unwind" fn(*mut c_void);

/// What POSIX knows of a thread of the program.
struct Thread {
    start: Option<Start>,
    argument: *mut c_void,
    result: *mut c_void,
    /// `start` returns an `int`, as threads of C11 do.
    returns_int: bool,
    is_detached: bool,
    is_joined: bool,
    /// By key.
    values: Vec<*mut c_void>,
    /// Destructors of `thread_local` objects, with their arguments.
    at_exit: Vec<(Destructor, *mut c_void)>,
    /// Its clock, in nanoseconds.
    clock: u64,
    /// The state of its random numbers.
    random: u64,
    /// Where its handlers for its end begin (`pthread_cleanup_push`).
    handlers: Vec<*mut c_void>,
    cancel_state: c_int,
    /// Its thread pointer, from one execution to the next.
    pointer: usize,
}

/// Indexed by thread.
static THREADS: Own<Vec<Thread>> = Own::new(Vec::new());

/// The keys of the execution, with their destructors.
static KEYS: Own<Vec<Option<Option<Destructor>>>> = Own::new(Vec::new());

/// The state of a thread that can be cancelled.
const CANCEL_ENABLE: c_int = 0;

/// Numbers of threads as the program sees them.
const HANDLE: u64 = 0x1000;

/// How often destructors of keys are run that set values again.
const ROUNDS: usize = 4;

fn handle(index: usize) -> pthread_t {
    HANDLE * (index as u64 + 1)
}

/// The thread of a handle, unless there is none.
pub(crate) fn index_of(handle: pthread_t) -> Option<usize> {
    let index = (handle / HANDLE).checked_sub(1)? as usize;
    (handle.is_multiple_of(HANDLE) && index < THREADS.get().len()).then_some(index)
}

/// The thread that runs.
fn own() -> &'static mut Thread {
    let index = runtime::current().index();
    &mut THREADS.get()[index]
}

/// What the thread that runs has of a clock and of random numbers.
pub(crate) fn own_time() -> &'static mut u64 {
    &mut own().clock
}

/// The state of the random numbers of the thread that runs.
pub(crate) fn own_random() -> &'static mut u64 {
    &mut own().random
}

/// What the thread that runs gives to whoever joins it.
pub(crate) fn set_result(result: *mut c_void) {
    own().result = result;
}

/// Whether the thread that runs acts on requests to end.
pub(crate) fn can_be_cancelled() -> bool {
    own().cancel_state == CANCEL_ENABLE
}

/// Gives the state before.
pub(crate) fn set_cancel_state(state: c_int) -> c_int {
    std::mem::replace(&mut own().cancel_state, state)
}

/// The thread that runs registers a handler for its end.
pub(crate) fn add_handler(place: *mut c_void) {
    let thread = own();
    native::privately(|| thread.handlers.push(place));
}

/// The youngest handler of the thread that runs, no longer registered.
pub(crate) fn take_handler() -> Option<*mut c_void> {
    own().handlers.pop()
}

/// The thread pointer of the thread that runs.
pub(crate) fn own_pointer() -> usize {
    own().pointer
}

/// An execution begins: there is the main thread.
pub(crate) fn begin() {
    KEYS.get().clear();
    prepare(0, None, ptr::null_mut(), false);
}

/// A thread is about to be started.
fn prepare(index: usize, start: Option<Start>, argument: *mut c_void, returns_int: bool) {
    let threads = THREADS.get();
    while threads.len() <= index {
        threads.push(Thread {
            start: None,
            argument: ptr::null_mut(),
            result: ptr::null_mut(),
            returns_int: false,
            is_detached: false,
            is_joined: false,
            values: Vec::new(),
            at_exit: Vec::new(),
            clock: 0,
            random: 0,
            handlers: Vec::new(),
            cancel_state: CANCEL_ENABLE,
            pointer: gate::checker(),
        });
    }
    let thread = &mut threads[index];
    if index > 0 && thread.pointer == gate::checker() && blocks::are_there() {
        thread.pointer = blocks::park();
    }
    thread.start = start;
    thread.argument = argument;
    thread.result = ptr::null_mut();
    thread.returns_int = returns_int;
    thread.is_detached = false;
    thread.is_joined = false;
    thread.values.clear();
    thread.at_exit.clear();
    thread.handlers.clear();
    thread.cancel_state = CANCEL_ENABLE;
    cancel::begin(index);
    thread.clock = 0;
    thread.random = index as u64 + 1;
}

/// Starts a thread; its handle.
fn create(
    start: Option<Start>,
    argument: *mut c_void,
    returns_int: bool,
    code: usize,
) -> pthread_t {
    let child = runtime::upcoming_child(0);
    native::privately(|| prepare(child.index(), start, argument, returns_int));
    native::spawn(code, run, child.index());
    handle(child.index())
}

/// A thread of the program, from its start to its end.
fn run(index: usize) {
    let Thread {
        start,
        argument,
        returns_int,
        ..
    } = THREADS.get()[index];
    let start = start.expect("a thread that was created has a function");
    let leaving = Leaving;
    blocks::begin(own_pointer());
    {
        let _open = gate::open(own_pointer());
        // SAFETY: the program gave the function and its argument.
        let result = unsafe { start(argument) };
        THREADS.get()[index].result = match returns_int {
            // Only the lower half of the register is the result.
            true => ptr::without_provenance_mut(result.addr() & 0xffff_ffff),
            false => result,
        };
    }
    drop(leaving);
}

/// Runs what a thread leaves to be done at its end, by return or unwinding.
struct Leaving;

impl Drop for Leaving {
    fn drop(&mut self) {
        leave();
    }
}

/// Destructors of the thread that runs: of its objects, then of its keys.
fn leave() {
    let index = runtime::current().index();
    while let Some((destructor, object)) = THREADS.get()[index].at_exit.pop() {
        let _open = gate::open(own_pointer());
        // SAFETY: the program registered the pair.
        unsafe { destructor(object) };
    }
    for _ in 0..ROUNDS {
        let mut is_done = true;
        for key in 0..THREADS.get()[index].values.len() {
            let value = std::mem::replace(&mut THREADS.get()[index].values[key], ptr::null_mut());
            let destructor = KEYS.get().get(key).copied().flatten().flatten();
            if let (false, Some(destructor)) = (value.is_null(), destructor) {
                is_done = false;
                let _open = gate::open(own_pointer());
                // SAFETY: the program registered the destructor for values of this key.
                unsafe { destructor(value) };
            }
        }
        if is_done {
            return;
        }
    }
}

/// Waits for a thread; its result, or the error of POSIX.
fn join(thread: pthread_t, code: usize) -> Result<*mut c_void, c_int> {
    let index = index_of(thread).ok_or(libc::ESRCH)?;
    if index == runtime::current().index() {
        return Err(libc::EDEADLK);
    }
    let joined = &mut THREADS.get()[index];
    if joined.is_detached || joined.is_joined {
        let what = if joined.is_joined {
            "joined already"
        } else {
            "detached"
        };
        let message = format!("a thread is joined that was {what}");
        native::fail(code, FailureKind::Misuse, message);
    }
    joined.is_joined = true;
    native::at(code, || runtime::join(runtime::ThreadId::from_index(index)))
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(THREADS.get()[index].result)
}

fn detach(thread: pthread_t) -> c_int {
    match index_of(thread) {
        Some(index) => {
            THREADS.get()[index].is_detached = true;
            0
        }
        None => libc::ESRCH,
    }
}

/// Notes what the thread that runs leaves to be done.
pub(crate) fn at_exit(destructor: Destructor, object: *mut c_void) {
    let thread = own();
    native::privately(|| thread.at_exit.push((destructor, object)));
}

/// # Safety
///
/// The attributes are those that the program gave.
unsafe fn is_detached(attributes: *const pthread_attr_t) -> bool {
    let mut state = libc::PTHREAD_CREATE_JOINABLE;
    if !attributes.is_null() {
        real!(pthread_attr_getdetachstate(attributes, &raw mut state): fn(*const pthread_attr_t, *mut c_int) -> c_int);
    }
    state == libc::PTHREAD_CREATE_DETACHED
}

export! {
    placed fn pthread_create(
        thread: *mut pthread_t, attributes: *const pthread_attr_t, start: Start, argument: *mut c_void,
    ) -> c_int {
        if !is_inside() {
            return real!(pthread_create(thread, attributes, start, argument):
                fn(*mut pthread_t, *const pthread_attr_t, Start, *mut c_void) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let created = create(Some(start), argument, false, code);
        // SAFETY: the program gave the pointers.
        unsafe {
            if is_detached(attributes) {
                detach(created);
            }
            *thread = created;
        }
        0
    }

    placed fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int {
        if !is_inside() {
            return real!(pthread_join(thread, result): fn(pthread_t, *mut *mut c_void) -> c_int);
        }
        let (code, _closed) = (code(), close());
        match join(thread, code) {
            Ok(value) => {
                if !result.is_null() {
                    // SAFETY: the program gave the pointer.
                    unsafe { *result = value };
                }
                0
            }
            Err(error) => error,
        }
    }

    placed fn pthread_detach(thread: pthread_t) -> c_int {
        if !is_inside() {
            return real!(pthread_detach(thread): fn(pthread_t) -> c_int);
        }
        let _closed = close();
        detach(thread)
    }

    placed fn pthread_exit(result: *mut c_void) {
        if !is_inside() {
            return real!(pthread_exit(result): fn(*mut c_void));
        }
        let _closed = close();
        own().result = result;
        cancel::end_thread();
    }

    placed fn pthread_self() -> pthread_t {
        if !is_inside() {
            return real!(pthread_self(): fn() -> pthread_t);
        }
        let _closed = close();
        handle(runtime::current().index())
    }

    placed fn thrd_create(thread: *mut pthread_t, start: Start, argument: *mut c_void) -> c_int {
        if !is_inside() {
            return real!(thrd_create(thread, start, argument): fn(*mut pthread_t, Start, *mut c_void) -> c_int);
        }
        let (code, _closed) = (code(), close());
        // SAFETY: the program gave the pointer.
        unsafe { *thread = create(Some(start), argument, true, code) };
        0
    }

    placed fn thrd_join(thread: pthread_t, result: *mut c_int) -> c_int {
        if !is_inside() {
            return real!(thrd_join(thread, result): fn(pthread_t, *mut c_int) -> c_int);
        }
        let (code, _closed) = (code(), close());
        match join(thread, code) {
            Ok(value) => {
                if !result.is_null() {
                    // SAFETY: the program gave the pointer.
                    unsafe { *result = value.addr() as c_int };
                }
                0
            }
            Err(_) => ending::THRD_ERROR,
        }
    }

    placed fn thrd_detach(thread: pthread_t) -> c_int {
        if !is_inside() {
            return real!(thrd_detach(thread): fn(pthread_t) -> c_int);
        }
        let _closed = close();
        match detach(thread) {
            0 => 0,
            _ => ending::THRD_ERROR,
        }
    }

    placed fn thrd_exit(result: c_int) {
        if !is_inside() {
            return real!(thrd_exit(result): fn(c_int));
        }
        let _closed = close();
        own().result = ptr::without_provenance_mut(result as u32 as usize);
        native::return_from_thread();
    }

    placed fn thrd_current() -> pthread_t {
        if !is_inside() {
            return real!(thrd_current(): fn() -> pthread_t);
        }
        let _closed = close();
        handle(runtime::current().index())
    }

    placed fn pthread_key_create(key: *mut c_uint, destructor: Option<Destructor>) -> c_int {
        if !is_inside() {
            return real!(pthread_key_create(key, destructor): fn(*mut c_uint, Option<Destructor>) -> c_int);
        }
        let _closed = close();
        let number = native::privately(|| {
            KEYS.get().push(Some(destructor));
            KEYS.get().len() - 1
        });
        // SAFETY: the program gave the pointer.
        unsafe { *key = number as c_uint };
        0
    }

    placed fn pthread_key_delete(key: c_uint) -> c_int {
        if !is_inside() {
            return real!(pthread_key_delete(key): fn(c_uint) -> c_int);
        }
        let _closed = close();
        match KEYS.get().get_mut(key as usize) {
            Some(known) => {
                *known = None;
                0
            }
            None => libc::EINVAL,
        }
    }

    placed fn pthread_setspecific(key: c_uint, value: *mut c_void) -> c_int {
        if !is_inside() {
            return real!(pthread_setspecific(key, value): fn(c_uint, *mut c_void) -> c_int);
        }
        let _closed = close();
        if KEYS.get().get(key as usize).copied().flatten().is_none() {
            return libc::EINVAL;
        }
        let thread = own();
        native::privately(|| {
            if thread.values.len() <= key as usize {
                thread.values.resize(key as usize + 1, ptr::null_mut());
            }
            thread.values[key as usize] = value;
        });
        0
    }

    placed fn pthread_getspecific(key: c_uint) -> *mut c_void {
        if !is_inside() {
            return real!(pthread_getspecific(key): fn(c_uint) -> *mut c_void);
        }
        let _closed = close();
        own().values.get(key as usize).copied().unwrap_or(ptr::null_mut())
    }

    placed fn tss_create(key: *mut c_uint, destructor: Option<Destructor>) -> c_int {
        if !is_inside() {
            return real!(tss_create(key, destructor): fn(*mut c_uint, Option<Destructor>) -> c_int);
        }
        let _closed = close();
        let number = native::privately(|| {
            KEYS.get().push(Some(destructor));
            KEYS.get().len() - 1
        });
        // SAFETY: the program gave the pointer.
        unsafe { *key = number as c_uint };
        0
    }

    placed fn tss_set(key: c_uint, value: *mut c_void) -> c_int {
        if !is_inside() {
            return real!(tss_set(key, value): fn(c_uint, *mut c_void) -> c_int);
        }
        let _closed = close();
        let thread = own();
        native::privately(|| {
            if thread.values.len() <= key as usize {
                thread.values.resize(key as usize + 1, ptr::null_mut());
            }
            thread.values[key as usize] = value;
        });
        0
    }

    placed fn tss_get(key: c_uint) -> *mut c_void {
        if !is_inside() {
            return real!(tss_get(key): fn(c_uint) -> *mut c_void);
        }
        let _closed = close();
        own().values.get(key as usize).copied().unwrap_or(ptr::null_mut())
    }

    placed fn sched_yield() -> c_int {
        match is_inside() {
            true => 0,
            false => real!(sched_yield(): fn() -> c_int),
        }
    }

    placed fn thrd_yield() {
        if !is_inside() {
            real!(thrd_yield(): fn());
        }
    }
}
