//! Threads of POSIX and of C11.

mod table;

pub(crate) use table::{
    CANCEL_DISABLE, CANCEL_ENABLE, NAME, Saved, add_handler, append_state, at, at_exit,
    can_be_cancelled, count, hold_robust, is_ending, is_local_of_ended, lists_at, lists_of, own,
    own_index, own_number, own_pointer, own_random, own_time, pointers, read_clock, release_robust,
    restore_from, save_to, set_cancel_state, set_result, take_handler, unwind, youngest_robust,
};

use crate::gate::{self, close, code, is_inside};
use crate::hooks::Call;
use crate::library_calls::{self, last_call};
use crate::tries::{code_of, tries};
use crate::{blocks, cancel, clock, ending, keys, robust, start, worker};
use libc::{c_int, c_void, clockid_t, pthread_attr_t, pthread_t, timespec};
use report::FailureKind;
use runtime::native::{self, Frame};
use std::ptr;
pub(crate) use table::pointer_of;
use table::prepare;

/// The function of a thread.
type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
pub(crate) type Destructor = unsafe extern "C-unwind" fn(*mut c_void);

/// Factor between the number of a thread and the handle that the program gets.
const HANDLE: u64 = 0x1000;

fn handle(index: usize) -> pthread_t {
    HANDLE * (index as u64 + 1)
}

/// Returns the number of the thread with this handle, or `None` if no execution so far has had such
/// a thread.
pub(crate) fn index_of(handle: pthread_t) -> Option<usize> {
    let index = (handle / HANDLE).checked_sub(1)? as usize;
    (handle.is_multiple_of(HANDLE) && index < count()).then_some(index)
}

/// Like [`index_of`], but also records that the program uses the identity of the thread.
pub(crate) fn identified(handle: pthread_t) -> Option<usize> {
    let index = index_of(handle)?;
    native::tell_apart(index);
    Some(index)
}

/// Begins an execution, with the main thread.
pub(crate) fn begin() {
    prepare(0, None, ptr::null_mut(), false);
    keys::begin();
    last_call::forget();
}

/// Starts a thread. Returns its handle, and first writes it to `place`, as glibc does.
///
/// # Safety
///
/// The program must have passed `place`.
unsafe fn create(
    start: Option<Start>,
    argument: *mut c_void,
    returns_int: bool,
    (place, stack): (*mut pthread_t, usize),
    code: usize,
) -> pthread_t {
    let child = runtime::upcoming_child(0);
    let blocked = own().blocked;
    native::privately(|| prepare(child.index(), start, argument, returns_int));
    at(child.index()).blocked = blocked;
    at(child.index()).name = own().name;
    at(child.index()).clock = own().clock;
    let inherited = &lists_at(own_index()).processors;
    if !inherited.is_empty() {
        native::privately(|| lists_of(child.index()).processors.clone_from(inherited));
    }
    if stack > 0 {
        runtime::ask_for_stack(stack);
    }
    let name = own().name;
    let part = |from: usize| {
        let bytes = name[from..].iter().take(8);
        bytes.fold(0, |word, &byte| word << 8 | byte as u64)
    };
    let (argument, clock) = (argument.addr() as u64, own().clock);
    let given = [argument, stack as u64, blocked, clock, part(0), part(8)];
    native::will_run(start.map_or(0, |start| start as usize), &given);
    let handle = handle(child.index());
    // SAFETY: as promised by the caller.
    unsafe { give_reported(place, handle) };
    native::spawn(code, run, child.index());
    native::clean_stack();
    handle
}

/// Refuses threads that start before `main`, because they would run during every execution.
fn refuse_before_main(function: &str) {
    if start::is_before_main() {
        worker::refuse(&format!(
            "the program starts a thread before `main` ({function}): that cannot be checked"
        ));
    }
}

/// Runs a thread of the program from its start to its end.
fn run(index: usize) {
    let (thread, pointer) = (*at(index), pointer_of(index));
    let start = thread
        .start
        .expect("a thread that was created has a function");
    let leaving = leaving(index);
    match pointer == gate::checker() {
        // This thread has no thread-local memory of its own. The `errno` of other threads is kept
        // while they wait. SAFETY: every thread has an errno.
        true => unsafe { *libc::__errno_location() = 0 },
        false => blocks::begin(pointer),
    }
    thread.words.set();
    native::clean_stack();
    let argument = thread.argument.expose_provenance();
    // SAFETY: the program passed the function and its argument.
    let result = unsafe { gate::run(pointer, start as usize, [argument, 0, 0]) };
    at(index).result = match thread.returns_int {
        // Only the lower half of the register is the result.
        true => ptr::without_provenance_mut(result & 0xffff_ffff),
        false => ptr::with_exposed_provenance_mut(result),
    };
    drop(leaving);
}

/// Returns a guard for a thread that begins. Dropping the guard ends the thread.
pub(crate) fn leaving(index: usize) -> Leaving {
    Leaving(index)
}

/// Runs the destructors of a thread at its end, by return or unwinding.
pub(crate) struct Leaving(usize);

impl Drop for Leaving {
    fn drop(&mut self) {
        let lists = lists_at(self.0);
        if !lists.at_exit.is_empty() || !lists.values.is_empty() {
            leave(self.0);
        }
        if !lists_at(self.0).robust.is_empty() {
            robust::abandon_all();
        }
        native::end_stack();
        let pointer = pointer_of(self.0);
        if pointer != gate::checker() {
            at(self.0).has_ended = true;
            let code = at(self.0).start.map_or(0, |start| start as usize + 1);
            blocks::end(pointer, code);
        }
    }
}

/// Runs the destructors of the running thread: first those of its `thread_local` objects, then
/// those of its keys.
fn leave(index: usize) {
    destroy_objects(index);
    keys::destroy_values();
}

/// Destroys the `thread_local` objects of the running thread in reverse order of their
/// construction.
pub(crate) fn destroy_objects(index: usize) {
    while !lists_at(index).at_exit.is_empty()
        && let Some((destructor, object)) = lists_of(index).at_exit.pop()
    {
        // SAFETY: the program registered the pair.
        unsafe { call(destructor, object) };
    }
}

/// Calls a function that the program has registered, in the running thread.
///
/// # Safety
///
/// The program must have registered the function with this argument.
pub(crate) unsafe fn call(function: Destructor, argument: *mut c_void) {
    let words = [argument.expose_provenance(), 0, 0];
    // SAFETY: as promised by the caller.
    unsafe { gate::run(own_pointer(), function as usize, words) };
}

/// Waits for a thread. Returns its result, or the POSIX error.
fn join(thread: pthread_t, code: usize) -> Result<*mut c_void, c_int> {
    let index = joinable(thread, code)?;
    // From here on no other thread may begin to join this thread.
    at(index).is_joined = true;
    let thread = runtime::ThreadId::from_index(index);
    if !native::join_ended(thread, code) {
        runtime::join(thread).unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
    let joined = at(index);
    let (clock, result) = (joined.clock, joined.result);
    native::read_result(thread, (result.addr() as u64).wrapping_add(clock << 1));
    let joiner = own();
    joiner.clock = joiner.clock.max(clock);
    Ok(result)
}

/// Returns the number of the thread to join, or the POSIX error. Fails if the thread was joined or
/// detached before.
#[inline]
fn joinable(thread: pthread_t, code: usize) -> Result<usize, c_int> {
    let index = index_of(thread).ok_or(libc::ESRCH)?;
    if index == runtime::current().index() {
        native::tell_apart(index);
        return Err(libc::EDEADLK);
    }
    let joined = at(index);
    if joined.is_detached || joined.is_joined {
        refuse(joined.is_joined, "joined", code);
    }
    Ok(index)
}

#[cold]
fn refuse(is_joined: bool, how: &str, code: usize) -> ! {
    let what = if is_joined { "joined" } else { "detached" };
    let message = match how == what {
        true => format!("a thread is {how} twice"),
        false => format!("a thread is {how} after it was {what}"),
    };
    native::fail(code, FailureKind::Misuse, message)
}

/// Joins a thread if it has ended. Returns its result or the POSIX error, which is `EBUSY` if the
/// thread has not ended.
fn try_join(thread: pthread_t, frame: *const Frame) -> Result<*mut c_void, c_int> {
    let code = code_of(frame);
    let index = joinable(thread, code)?;
    if !tries(frame, || {
        runtime::is_finished(runtime::ThreadId::from_index(index))
    }) {
        return Err(libc::EBUSY);
    }
    join(thread, code)
}

/// Joins a thread if it has ended. Otherwise the time of the call expires.
///
/// # Safety
///
/// The program must have passed the time.
unsafe fn join_timed(
    thread: pthread_t,
    until: *const timespec,
    frame: *const Frame,
) -> Result<*mut c_void, c_int> {
    let joined = try_join(thread, frame);
    if joined == Err(libc::EBUSY) {
        runtime::expire();
        // SAFETY: as promised by the caller.
        unsafe { clock::reach(until) };
        return Err(libc::ETIMEDOUT);
    }
    joined
}

/// Joins a thread with `joins`, which runs with a closed gate. Returns 0 or the error, and writes
/// the result to `place`, unless it is null.
///
/// # Safety
///
/// The caller must be an exported function that has recorded the frame. The program must have
/// passed `place` for this result.
unsafe fn joined<T>(place: *mut T, joins: impl FnOnce(*const Frame) -> Result<T, c_int>) -> c_int {
    let call = Call::here();
    let closed = close();
    let joined = joins(gate::frame());
    drop(closed);
    call.restore_frame();
    match joined {
        Ok(value) => {
            if !place.is_null() {
                // SAFETY: as promised by the caller.
                unsafe {
                    // In an enforced program, this write is not an event.
                    match library_calls::are_plain_accesses_events() {
                        true => {
                            let _closed = close();
                            native::changes(place.addr(), size_of::<T>());
                        }
                        false => call.writes(place.cast(), size_of::<T>()),
                    }
                    place.write(value);
                }
            }
            0
        }
        Err(error) => error,
    }
}

/// Writes a result, whose write is already reported, to the address that the program has passed,
/// unless the address is null.
///
/// # Safety
///
/// The program must have passed the address for this result, or null.
unsafe fn give_reported<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: as promised by the caller.
        unsafe {
            native::changes(place.addr(), size_of::<T>());
            place.write(value);
        }
    }
}

fn detach(thread: pthread_t, code: usize) -> c_int {
    match index_of(thread) {
        Some(index) => {
            let detached = at(index);
            if detached.is_joined {
                refuse(true, "detached", code);
            }
            native::take_effect();
            match std::mem::replace(&mut detached.is_detached, true) {
                false => 0,
                true => libc::EINVAL,
            }
        }
        None => libc::ESRCH,
    }
}

/// # Safety
///
/// The attributes must be those that the program passed.
pub(crate) unsafe fn is_detached(attributes: *const pthread_attr_t) -> bool {
    let mut state = libc::PTHREAD_CREATE_JOINABLE;
    if !attributes.is_null() {
        real!(pthread_attr_getdetachstate(attributes, &raw mut state): fn(*const pthread_attr_t, *mut c_int) -> c_int);
    }
    state == libc::PTHREAD_CREATE_DETACHED
}

/// Returns the stack size in bytes that attributes specify, or 0 without attributes. Refuses a
/// stack that the program supplies, because it would be restored with the program's memory while
/// the thread is suspended on it.
///
/// # Safety
///
/// The conditions are those of [`is_detached`].
unsafe fn stack_size(attributes: *const pthread_attr_t, code: usize) -> usize {
    let mut size = 0;
    if !attributes.is_null() {
        let mut start = ptr::null_mut::<c_void>();
        real!(pthread_attr_getstack(attributes, &raw mut start, &raw mut size):
            fn(*const pthread_attr_t, *mut *mut c_void, *mut usize) -> c_int);
        // If no stack is set, the C library computes the start from a null pointer.
        if start.addr().wrapping_add(size) != 0 {
            native::refuse(
                code,
                "the program gives a thread a stack of its own (pthread_attr_setstack)".to_owned(),
            );
        }
        real!(pthread_attr_getstacksize(attributes, &raw mut size): fn(*const pthread_attr_t, *mut usize) -> c_int);
    }
    size
}

export! {
    placed fn pthread_create(
        thread: *mut pthread_t, attributes: *const pthread_attr_t, start: Start, argument: *mut c_void,
    ) -> c_int {
        refuse_before_main("pthread_create");
        if !is_inside() {
            return real!(pthread_create(thread, attributes, start, argument):
                fn(*mut pthread_t, *const pthread_attr_t, Start, *mut c_void) -> c_int);
        }
        let (code, _closed) = (code(), close());
        // SAFETY: the program passed the attributes and the pointer.
        unsafe {
            let stack = stack_size(attributes, code);
            let created = create(Some(start), argument, false, (thread, stack), code);
            if is_detached(attributes) {
                detach(created, code);
            }
        }
        0
    }

    compared fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int {
        if !is_inside() {
            return real!(pthread_join(thread, result): fn(pthread_t, *mut *mut c_void) -> c_int);
        }
        let code = code();
        // SAFETY: the program passed the pointer.
        unsafe { joined(result, |frame| cancel::wait(frame, || join(thread, code))) }
    }

    compared fn pthread_tryjoin_np(thread: pthread_t, result: *mut *mut c_void) -> c_int {
        if !is_inside() {
            return real!(pthread_tryjoin_np(thread, result): fn(pthread_t, *mut *mut c_void) -> c_int);
        }
        // A thread has not ended while it calls this, so the error is not EDEADLK.
        let fails = |error| if error == libc::EDEADLK { libc::EBUSY } else { error };
        // SAFETY: the program passed the pointer.
        unsafe { joined(result, |frame| try_join(thread, frame).map_err(fails)) }
    }

    compared fn pthread_timedjoin_np(thread: pthread_t, result: *mut *mut c_void, until: *const timespec) -> c_int {
        if !is_inside() {
            return real!(pthread_timedjoin_np(thread, result, until):
                fn(pthread_t, *mut *mut c_void, *const timespec) -> c_int);
        }
        // SAFETY: the program passed the pointers.
        unsafe { joined(result, |frame| cancel::wait(frame, || join_timed(thread, until, frame))) }
    }

    compared fn pthread_clockjoin_np(
        thread: pthread_t, result: *mut *mut c_void, clock: clockid_t, until: *const timespec,
    ) -> c_int {
        if !is_inside() {
            return real!(pthread_clockjoin_np(thread, result, clock, until):
                fn(pthread_t, *mut *mut c_void, clockid_t, *const timespec) -> c_int);
        }
        // SAFETY: the program passed the pointers.
        unsafe { joined(result, |frame| cancel::wait(frame, || join_timed(thread, until, frame))) }
    }

    placed fn pthread_detach(thread: pthread_t) -> c_int {
        if !is_inside() {
            return real!(pthread_detach(thread): fn(pthread_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        detach(thread, code)
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
        native::tell_apart(own_index());
        handle(own_index())
    }

    placed fn thrd_create(thread: *mut pthread_t, start: Start, argument: *mut c_void) -> c_int {
        refuse_before_main("thrd_create");
        if !is_inside() {
            return real!(thrd_create(thread, start, argument): fn(*mut pthread_t, Start, *mut c_void) -> c_int);
        }
        // SAFETY: the program passed the pointer.
        unsafe {
            let (code, _closed) = (code(), close());
            create(Some(start), argument, true, (thread, 0), code);
        }
        0
    }

    placed fn thrd_join(thread: pthread_t, result: *mut c_int) -> c_int {
        if !is_inside() {
            return real!(thrd_join(thread, result): fn(pthread_t, *mut c_int) -> c_int);
        }
        let code = code();
        let joins = |_| join(thread, code).map(|value| value.addr() as c_int);
        // SAFETY: the program passed the pointer.
        match unsafe { joined(result, joins) } {
            0 => 0,
            _ => ending::THRD_ERROR,
        }
    }

    placed fn thrd_detach(thread: pthread_t) -> c_int {
        if !is_inside() {
            return real!(thrd_detach(thread): fn(pthread_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        match detach(thread, code) {
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
        cancel::end_thread();
    }

    placed fn thrd_current() -> pthread_t {
        if !is_inside() {
            return real!(thrd_current(): fn() -> pthread_t);
        }
        let _closed = close();
        handle(runtime::current().index())
    }

    placed fn sched_yield() -> c_int {
        if !is_inside() {
            return real!(sched_yield(): fn() -> c_int);
        }
        let _closed = close();
        runtime::yields();
        0
    }

    placed fn thrd_yield() {
        if !is_inside() {
            return real!(thrd_yield(): fn());
        }
        let _closed = close();
        runtime::yields();
    }
}
