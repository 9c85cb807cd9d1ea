//! Threads: POSIX's and C11's.

use crate::gate::{self, Own, close, code, is_inside};
use crate::tries::{code_of, tries};
use crate::{blocks, cancel, ending, keys};
use libc::{c_int, c_void, clockid_t, pthread_attr_t, pthread_t, timespec};
use report::FailureKind;
use runtime::native::{self, Frame};
use std::ptr;

/// What a thread runs.
type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
pub(crate) type Destructor = unsafe extern "C-unwind" fn(*mut c_void);

/// What POSIX knows of a thread of the program.
#[derive(Clone)]
pub(crate) struct Thread {
    start: Option<Start>,
    argument: *mut c_void,
    result: *mut c_void,
    /// `start` returns an `int`, as threads of C11 do.
    returns_int: bool,
    is_detached: bool,
    is_joined: bool,
    /// By key.
    pub(crate) values: Vec<*mut c_void>,
    /// Destructors of `thread_local` objects, with their arguments.
    at_exit: Vec<(Destructor, *mut c_void)>,
    /// Its clock, in nanoseconds.
    clock: u64,
    /// The state of its random numbers.
    random: u64,
    /// Where its handlers for its end begin (`pthread_cleanup_push`).
    handlers: Vec<*mut c_void>,
    cancel_state: c_int,
    /// What the program calls it, a string of C.
    pub(crate) name: [u8; NAME],
    /// Its thread pointer, from one execution to the next.
    pointer: usize,
}

/// Bytes of the name of a thread, with the last one.
pub(crate) const NAME: usize = 16;

/// Indexed by thread.
static THREADS: Own<Vec<Thread>> = Own::new(Vec::new());

/// A copy of the threads.
#[derive(Default)]
pub(crate) struct Saved(Vec<Thread>);

/// Copies the threads.
pub(crate) fn save_to(copy: &mut Saved) {
    copy.0.clone_from(THREADS.get());
}

/// Puts back what was copied. Threads that were not there keep their thread pointers.
pub(crate) fn restore_from(copy: &Saved) {
    for (thread, copied) in THREADS.get().iter_mut().zip(&copy.0) {
        let pointer = thread.pointer;
        thread.clone_from(copied);
        thread.pointer = pointer;
    }
}

/// How many threads have been in any execution.
pub(crate) fn count() -> usize {
    THREADS.get().len()
}

impl Saved {
    /// Thread pointers, of threads that have one of their own.
    pub(crate) fn pointers(&self) -> impl Iterator<Item = usize> {
        let pointers = self.0.iter().map(|thread| thread.pointer);
        pointers.filter(|&pointer| pointer != gate::checker())
    }
}

/// The state of a thread that can be cancelled.
pub(crate) const CANCEL_ENABLE: c_int = 0;
/// That of one that cannot.
pub(crate) const CANCEL_DISABLE: c_int = 1;

/// Numbers of threads as the program sees them.
const HANDLE: u64 = 0x1000;

fn handle(index: usize) -> pthread_t {
    HANDLE * (index as u64 + 1)
}

/// The thread with this number.
pub(crate) fn at(index: usize) -> &'static mut Thread {
    &mut THREADS.get()[index]
}

/// The thread of a handle, unless there is none.
pub(crate) fn index_of(handle: pthread_t) -> Option<usize> {
    let index = (handle / HANDLE).checked_sub(1)? as usize;
    (handle.is_multiple_of(HANDLE) && index < THREADS.get().len()).then_some(index)
}

/// The thread that runs.
pub(crate) fn own() -> &'static mut Thread {
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
    keys::begin();
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
            name: [0; NAME],
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
    thread.name = [0; NAME];
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
    let thread = &THREADS.get()[index];
    let (start, argument) = (thread.start, thread.argument);
    let (returns_int, pointer) = (thread.returns_int, thread.pointer);
    let start = start.expect("a thread that was created has a function");
    let leaving = Leaving(index);
    blocks::begin(pointer);
    {
        let _open = gate::open(pointer);
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
struct Leaving(usize);

impl Drop for Leaving {
    fn drop(&mut self) {
        let thread = &THREADS.get()[self.0];
        if !thread.at_exit.is_empty() || !thread.values.is_empty() {
            leave(self.0);
        }
    }
}

/// Destructors of the thread that runs: of its objects, then of its keys.
fn leave(index: usize) {
    while let Some((destructor, object)) = THREADS.get()[index].at_exit.pop() {
        let _open = gate::open(own_pointer());
        // SAFETY: the program registered the pair.
        unsafe { destructor(object) };
    }
    keys::destroy_values();
}

/// Waits for a thread; its result, or the error of POSIX.
fn join(thread: pthread_t, code: usize) -> Result<*mut c_void, c_int> {
    let index = joinable(thread, code)?;
    let thread = runtime::ThreadId::from_index(index);
    if !native::join_ended(thread, code) {
        native::at(code, || runtime::join(thread))
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
    let joined = &mut THREADS.get()[index];
    joined.is_joined = true;
    Ok(joined.result)
}

/// The thread that is to be joined, which must not be joined otherwise.
fn joinable(thread: pthread_t, code: usize) -> Result<usize, c_int> {
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
    Ok(index)
}

/// Joins a thread if it has ended.
///
/// # Safety
///
/// The program gave the pointer, and the frame is that of its call.
unsafe fn try_join(thread: pthread_t, result: *mut *mut c_void, frame: *const Frame) -> c_int {
    let code = code_of(frame);
    let index = match joinable(thread, code) {
        Ok(index) => index,
        Err(error) => return error,
    };
    if !tries(frame, || {
        runtime::is_finished(runtime::ThreadId::from_index(index))
    }) {
        return libc::EBUSY;
    }
    match join(thread, code) {
        Ok(value) if !result.is_null() => {
            // SAFETY: as promised by the caller.
            unsafe { *result = value };
            0
        }
        Ok(_) => 0,
        Err(error) => error,
    }
}

/// The same for some time.
///
/// # Safety
///
/// As for [`try_join`].
unsafe fn join_timed(thread: pthread_t, result: *mut *mut c_void, frame: *const Frame) -> c_int {
    // SAFETY: as promised by the caller.
    match unsafe { try_join(thread, result, frame) } {
        libc::EBUSY => {
            runtime::expire();
            libc::ETIMEDOUT
        }
        other => other,
    }
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

    compared fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int {
        if !is_inside() {
            return real!(pthread_join(thread, result): fn(pthread_t, *mut *mut c_void) -> c_int);
        }
        let (code, frame, _closed) = (code(), gate::frame(), close());
        match cancel::wait(frame, || join(thread, code)) {
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

    compared fn pthread_tryjoin_np(thread: pthread_t, result: *mut *mut c_void) -> c_int {
        if !is_inside() {
            return real!(pthread_tryjoin_np(thread, result): fn(pthread_t, *mut *mut c_void) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program gave the pointer.
        unsafe { try_join(thread, result, frame) }
    }

    compared fn pthread_timedjoin_np(thread: pthread_t, result: *mut *mut c_void, until: *const timespec) -> c_int {
        if !is_inside() {
            return real!(pthread_timedjoin_np(thread, result, until):
                fn(pthread_t, *mut *mut c_void, *const timespec) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program gave the pointer.
        cancel::wait(frame, || unsafe { join_timed(thread, result, frame) })
    }

    compared fn pthread_clockjoin_np(
        thread: pthread_t, result: *mut *mut c_void, clock: clockid_t, until: *const timespec,
    ) -> c_int {
        if !is_inside() {
            return real!(pthread_clockjoin_np(thread, result, clock, until):
                fn(pthread_t, *mut *mut c_void, clockid_t, *const timespec) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program gave the pointer.
        cancel::wait(frame, || unsafe { join_timed(thread, result, frame) })
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
