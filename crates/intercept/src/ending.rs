//! How programs and their threads end, what they must not do, and what they ask of the world: time and chance.

use crate::gate::{self, Own, close, code, is_inside};
use crate::threads::{self, Destructor};
use libc::{
    c_char, c_int, c_long, c_uint, c_void, clockid_t, size_t, ssize_t, time_t, timespec, timeval,
};
use report::FailureKind;
use runtime::native;
use std::ffi::CStr;

/// Results of functions of C11.
pub(crate) const THRD_BUSY: c_int = 1;
pub(crate) const THRD_ERROR: c_int = 2;
pub(crate) const THRD_TIMEDOUT: c_int = 4;

/// The lock of atomic sections of SV-COMP is at an address that nothing has.
const ATOMIC: usize = 8;

/// What `atexit` registered, in this execution.
static AT_EXIT: Own<Vec<(Destructor, *mut c_void)>> = Own::new(Vec::new());

/// What was registered before `main` began.
static REGISTERED: Own<usize> = Own::new(0);

/// What is registered by now is so in every execution.
pub(crate) fn save() {
    *REGISTERED.get() = AT_EXIT.get().len();
}

/// An execution begins.
pub(crate) fn begin() {
    AT_EXIT.get().truncate(*REGISTERED.get());
}

/// Runs the handlers of the program's end.
pub(crate) fn run_handlers() {
    while let Some((handler, argument)) = AT_EXIT.get().pop() {
        let _open = gate::open(threads::own_pointer());
        // SAFETY: the program registered the pair.
        unsafe { handler(argument) };
    }
}

/// The program ends with this status.
pub(crate) fn finish(status: c_int, code: usize) {
    run_handlers();
    if status != 0 {
        let message = format!("the program ends with status {}", status & 0xff);
        native::fail(code, FailureKind::ExitStatus, message);
    }
}

fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the program passes a string of C.
    unsafe { CStr::from_ptr(pointer) }
        .to_string_lossy()
        .into_owned()
}

export! {
    placed fn __assert_fail(assertion: *const c_char, file: *const c_char, line: c_uint, function: *const c_char) {
        if !is_inside() {
            return real!(__assert_fail(assertion, file, line, function):
                fn(*const c_char, *const c_char, c_uint, *const c_char));
        }
        let (code, _closed) = (code(), close());
        let message = native::privately(|| format!("`{}` in {}()", text(assertion), text(function)));
        native::fail(code, FailureKind::Assertion, message);
    }

    placed fn reach_error() {
        if is_inside() {
            let (code, _closed) = (code(), close());
            native::fail(code, FailureKind::Assertion, "reach_error() is called".to_owned());
        }
        real!(abort(): fn())
    }

    placed fn __VERIFIER_error() {
        if is_inside() {
            let (code, _closed) = (code(), close());
            native::fail(code, FailureKind::Assertion, "__VERIFIER_error() is called".to_owned());
        }
        real!(abort(): fn())
    }

    placed fn abort() {
        if !is_inside() {
            return real!(abort(): fn());
        }
        let (code, _closed) = (code(), close());
        native::fail(code, FailureKind::Abort, "the program aborts".to_owned());
    }

    placed fn exit(status: c_int) {
        if !is_inside() {
            return real!(exit(status): fn(c_int));
        }
        let (code, _closed) = (code(), close());
        finish(status, code);
        native::end_thread();
    }

    placed fn _exit(status: c_int) {
        if !is_inside() {
            return real!(_exit(status): fn(c_int));
        }
        let (code, _closed) = (code(), close());
        if status != 0 {
            native::fail(code, FailureKind::ExitStatus, format!("the program ends with status {}", status & 0xff));
        }
        native::end_thread();
    }

    placed fn atexit(handler: extern "C" fn()) -> c_int {
        // A handler without a parameter can be called with one.
        // SAFETY: in the ABI of x86-64 an argument more does no harm.
        let handler: Destructor = unsafe { std::mem::transmute(handler) };
        register(handler, std::ptr::null_mut(), std::ptr::null_mut())
    }

    placed fn __cxa_atexit(handler: Destructor, argument: *mut c_void, object: *mut c_void) -> c_int {
        register(handler, argument, object)
    }

    placed fn __cxa_thread_atexit(destructor: Destructor, object: *mut c_void, image: *mut c_void) -> c_int {
        if !is_inside() {
            return real!(__cxa_thread_atexit_impl(destructor, object, image): fn(Destructor, *mut c_void, *mut c_void) -> c_int);
        }
        let _closed = close();
        threads::at_exit(destructor, object);
        0
    }

    placed fn __VERIFIER_assume(condition: c_int) {
        if is_inside() && condition == 0 {
            let (code, _closed) = (code(), close());
            native::at(code, || runtime::assume(false));
        }
    }

    placed fn mazurka_assume(condition: c_int) {
        if is_inside() && condition == 0 {
            let (code, _closed) = (code(), close());
            native::at(code, || runtime::assume(false));
        }
    }

    placed fn mazurka_choose(alternatives: c_int) -> c_int {
        if !is_inside() || alternatives < 1 {
            return 0;
        }
        let (code, _closed) = (code(), close());
        native::at(code, || runtime::choose(alternatives as u32)) as c_int
    }

    placed fn __VERIFIER_atomic_begin() {
        if is_inside() {
            let (code, _closed) = (code(), close());
            let lock = native::mutex_at(ATOMIC);
            native::at(code, || lock.lock());
        }
    }

    placed fn __VERIFIER_atomic_end() {
        if is_inside() {
            let (code, _closed) = (code(), close());
            let lock = native::mutex_at(ATOMIC);
            native::at(code, || lock.unlock());
        }
    }

    placed fn __VERIFIER_nondet_int() -> c_int {
        unknown()
    }

    placed fn __VERIFIER_nondet_uint() -> c_uint {
        unknown() as c_uint
    }

    placed fn __VERIFIER_nondet_bool() -> bool {
        if !is_inside() {
            return false;
        }
        let (code, _closed) = (code(), close());
        native::at(code, || runtime::choose(2)) == 1
    }
}

/// A value that the program does not know: some that tell much.
fn unknown() -> c_int {
    const TRIED: [c_int; 3] = [0, 1, -1];
    if !is_inside() {
        return 0;
    }
    let (code, _closed) = (code(), close());
    native::warn("of the values of __VERIFIER_nondet_int and its like only 0, 1 and -1 are tried");
    TRIED[native::at(code, || runtime::choose(TRIED.len() as u32)) as usize]
}

/// Notes what is to be done at the end of the program.
fn register(handler: Destructor, argument: *mut c_void, object: *mut c_void) -> c_int {
    if is_inside() {
        let _closed = close();
        native::privately(|| AT_EXIT.get().push((handler, argument)));
        return 0;
    }
    if crate::heap::is_constructing() {
        AT_EXIT.get().push((handler, argument));
        return 0;
    }
    real!(__cxa_atexit(handler, argument, object): fn(Destructor, *mut c_void, *mut c_void) -> c_int)
}

macro_rules! refused {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?, $what:literal;)*) => {
        export! {
            $(
                placed fn $name($($argument: $type),*) $(-> $result)? {
                    if is_inside() {
                        let (code, _closed) = (code(), close());
                        native::refuse(code, concat!("the program ", $what, " (", stringify!($name), ")").to_owned());
                    }
                    real!($name($($argument),*): fn($($type),*) $(-> $result)?)
                }
            )*
        }
    };
}

refused! {
    fork() -> c_int, "starts another process";
    vfork() -> c_int, "starts another process";
    system(command: *const c_char) -> c_int, "starts another process";
    popen(command: *const c_char, mode: *const c_char) -> *mut c_void, "starts another process";
    execve(path: *const c_char, arguments: *const c_void, environment: *const c_void) -> c_int, "becomes another program";
    execv(path: *const c_char, arguments: *const c_void) -> c_int, "becomes another program";
    execvp(path: *const c_char, arguments: *const c_void) -> c_int, "becomes another program";
    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int, "opens a socket";
    socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int, "opens a socket";
    pthread_kill(thread: libc::pthread_t, signal: c_int) -> c_int, "sends a signal to a thread";
}

/// Nanoseconds since 1970 at which every execution begins.
const BEGINNING: u64 = 1_700_000_000_000_000_000;

/// How far a look at the clock puts it forward.
const TICK: u64 = 1_000;

const SECOND: u64 = 1_000_000_000;

/// The time of the thread that runs.
fn now() -> u64 {
    let clock = threads::own_time();
    *clock += TICK;
    BEGINNING + *clock
}

/// The thread that runs sleeps.
fn sleep_for(nanoseconds: u64) {
    *threads::own_time() += nanoseconds;
}

fn nanoseconds(time: &timespec) -> u64 {
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

export! {
    placed fn clock_gettime(clock: clockid_t, result: *mut timespec) -> c_int {
        if !is_inside() {
            return real!(clock_gettime(clock, result): fn(clockid_t, *mut timespec) -> c_int);
        }
        let _closed = close();
        let now = now();
        // SAFETY: the program gave the pointer.
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
        // SAFETY: the program gave the pointer.
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
        // SAFETY: the program gave the pointer.
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
            // SAFETY: the program gave the pointer.
            unsafe { *result = now };
        }
        now
    }

    placed fn sleep(seconds: c_uint) -> c_uint {
        if !is_inside() {
            return real!(sleep(seconds): fn(c_uint) -> c_uint);
        }
        let _closed = close();
        sleep_for(u64::from(seconds) * SECOND);
        0
    }

    placed fn usleep(microseconds: c_uint) -> c_int {
        if !is_inside() {
            return real!(usleep(microseconds): fn(c_uint) -> c_int);
        }
        let _closed = close();
        sleep_for(u64::from(microseconds) * 1_000);
        0
    }

    placed fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int {
        if !is_inside() {
            return real!(nanosleep(time, left): fn(*const timespec, *mut timespec) -> c_int);
        }
        let _closed = close();
        // SAFETY: the program gave the pointer.
        sleep_for(nanoseconds(unsafe { &*time }));
        0
    }

    placed fn clock_nanosleep(clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int {
        if !is_inside() {
            return real!(clock_nanosleep(clock, flags, time, left):
                fn(clockid_t, c_int, *const timespec, *mut timespec) -> c_int);
        }
        let _closed = close();
        // SAFETY: the program gave the pointer.
        let time = nanoseconds(unsafe { &*time });
        match flags & libc::TIMER_ABSTIME {
            0 => sleep_for(time),
            _ => sleep_for(time.saturating_sub(now())),
        }
        0
    }

    placed fn thrd_sleep(time: *const timespec, left: *mut timespec) -> c_int {
        if !is_inside() {
            return real!(thrd_sleep(time, left): fn(*const timespec, *mut timespec) -> c_int);
        }
        let _closed = close();
        // SAFETY: the program gave the pointer.
        sleep_for(nanoseconds(unsafe { &*time }));
        0
    }

    placed fn srand(seed: c_uint) {
        if !is_inside() {
            return real!(srand(seed): fn(c_uint));
        }
        let _closed = close();
        *threads::own_random() = u64::from(seed) + 1;
    }

    placed fn rand() -> c_int {
        if !is_inside() {
            return real!(rand(): fn() -> c_int);
        }
        let _closed = close();
        (next_random() >> 33) as c_int
    }

    placed fn srandom(seed: c_uint) {
        if !is_inside() {
            return real!(srandom(seed): fn(c_uint));
        }
        let _closed = close();
        *threads::own_random() = u64::from(seed) + 1;
    }

    placed fn random() -> c_long {
        if !is_inside() {
            return real!(random(): fn() -> c_long);
        }
        let _closed = close();
        (next_random() >> 33) as c_long
    }

    placed fn getrandom(buffer: *mut u8, length: size_t, flags: c_uint) -> ssize_t {
        if !is_inside() {
            return real!(getrandom(buffer, length, flags): fn(*mut u8, size_t, c_uint) -> ssize_t);
        }
        let _closed = close();
        for index in 0..length {
            // SAFETY: the program gave a buffer of this length.
            unsafe { *buffer.add(index) = (next_random() >> 56) as u8 };
        }
        length as ssize_t
    }
}

/// The next random number of the thread that runs (splitmix64, Steele, Lea and Flood, OOPSLA 2014).
fn next_random() -> u64 {
    let state = threads::own_random();
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
