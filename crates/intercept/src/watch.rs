//! Detects threads that never return to the checker: they run forever, or wait in the system.

use crate::source_map;
use crate::worker::refuse_now;
use crate::{gate, input, own_failure, pages, system_calls};
use libc::c_int;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};

/// A timer of the system, and its period in microseconds.
struct Timer {
    kind: c_int,
    signal: c_int,
    period: i64,
}

/// A timer of CPU time. A thread that makes no call to this library between two signals counts as
/// running forever.
const RUNNING: Timer = Timer {
    kind: 1,
    signal: libc::SIGVTALRM,
    period: 250_000,
};

/// A timer of wall-clock time. If, for several signals in a row, a thread makes no call to this
/// library and the process uses hardly any CPU time, the thread counts as waiting forever.
const WAITING: Timer = Timer {
    kind: 0,
    signal: libc::SIGALRM,
    period: 2_000_000,
};

/// Number of signals in a row after which a thread counts as waiting forever. One signal is not
/// enough, because a stopped process gets one when it continues.
const SIGNALS: u64 = 2;

/// Starts reporting crashes, and threads that never return, as failures. In a debugger, which stops
/// time, only crashes are reported.
pub(crate) fn begin(is_debugged: bool) {
    RUNNER.store(own_number(), Relaxed);
    own_failure::begin();
    runtime::native::catch_crashes(on_signal, gate::cancel_interrupt);
    if is_debugged {
        runtime::native::call_debugger_at_failures();
        return;
    }
    let handler: extern "C" fn(c_int) = on_wait;
    // SAFETY: all arguments are valid.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigaction(WAITING.signal, &raw const action, std::ptr::null_mut());
    }
    RUNNING.start();
    WAITING.start();
}

impl Timer {
    fn start(&self) {
        let period = libc::timeval {
            tv_sec: self.period / 1_000_000,
            tv_usec: self.period % 1_000_000,
        };
        let timer = libc::itimerval {
            it_interval: period,
            it_value: period,
        };
        unsafe extern "C" {
            fn setitimer(
                which: c_int,
                new: *const libc::itimerval,
                old: *mut libc::itimerval,
            ) -> c_int;
        }
        // SAFETY: a valid timer; its signal has a handler.
        unsafe { setitimer(self.kind, &raw const timer, std::ptr::null_mut()) };
    }
}

/// Number of the thread of the operating system that runs the program.
static RUNNER: AtomicI32 = AtomicI32::new(0);

/// Returns the system's number of the calling thread.
fn own_number() -> i32 {
    // SAFETY: the call has no conditions.
    unsafe { system_calls::call(libc::SYS_gettid, [0; 6]) as i32 }
}

/// Checks whether the caller runs the program. If not, forwards the signal to the thread that does,
/// because the system sends the signal of a timer to any thread.
fn is_runner(signal: c_int) -> bool {
    let runner = RUNNER.load(Relaxed);
    let is_runner = own_number() == runner;
    if !is_runner {
        let process = std::process::id() as usize;
        let arguments = [process, runner as usize, signal as usize, 0, 0, 0];
        // SAFETY: the signal has a handler, and the thread lives as long as the process.
        unsafe { system_calls::call(libc::SYS_tgkill, arguments) };
    }
    is_runner
}

/// Handles a signal. Returns true if the interrupted code must not continue: the running thread
/// ends, and the checker's code runs next.
fn on_signal(signal: i32, address: usize) -> bool {
    if signal == libc::SIGSEGV && pages::admit(address) {
        return false;
    }
    static SEEN: AtomicU64 = AtomicU64::new(0);
    if signal == RUNNING.signal {
        if !is_runner(signal) {
            return false;
        }
        let beat = gate::beat();
        let stands_still = SEEN.swap(beat, Relaxed) == beat;
        return stands_still && gate::interrupt();
    }
    // Other threads of the process belong to the checker.
    let is_runner = own_number() == RUNNER.load(Relaxed);
    if signal == libc::SIGABRT {
        let is_thrown = gate::IS_THROWN.swap(false, Relaxed);
        if !is_runner || !gate::is_inside() && !is_thrown {
            own_failure::aborted(is_runner);
        }
    }
    if is_runner {
        gate::interrupt();
    }
    true
}

/// Maximum of the CPU time, in microseconds, that the process uses between two signals if its
/// thread waits.
const LITTLE: u64 = 10_000;

/// Returns the CPU time of the whole process in microseconds.
fn used() -> u64 {
    // SAFETY: zero is valid for this plain structure, which the call fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let microseconds = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
}

extern "C" fn on_wait(signal: c_int) {
    if !is_runner(signal) {
        return;
    }
    static SEEN: AtomicU64 = AtomicU64::new(0);
    static TIMES: AtomicU64 = AtomicU64::new(0);
    static USED: AtomicU64 = AtomicU64::new(0);
    let (beat, used) = (gate::beat(), used());
    let has_run = used > USED.swap(used, Relaxed) + LITTLE;
    if SEEN.swap(beat, Relaxed) != beat || has_run {
        TIMES.store(0, Relaxed);
        return;
    }
    // The checker itself may wait for the command's next errand, a part of the search. In that case
    // no frame of the program exists.
    if !gate::is_inside() {
        return;
    }
    let code = gate::code();
    if TIMES.fetch_add(1, Relaxed) + 1 >= SIGNALS && gate::interrupt() {
        input::refuse_readers();
        let place = source_map::place(code);
        let place = place.map_or_else(String::new, |place| format!(", after {place}"));
        refuse_now(&format!(
            "a thread waits in the operating system{place}; all threads of a check run on one system thread, so no \
             other thread can end the wait: this cannot be checked"
        ));
    }
}
