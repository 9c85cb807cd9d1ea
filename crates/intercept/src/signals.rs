//! Signals. The program's actions for crash signals and for the checker's signals are ignored. A
//! crash signal that the program sends to itself is a crash, and `SIGKILL` ends the process, which
//! is a failure. Sending any other signal is refused, except signal 0, which sends nothing.

use crate::attributes::index_of_number;
use crate::gate::{close, code, is_inside};
use crate::system_state;
use libc::{c_int, c_long, pid_t, pthread_t, sighandler_t, sigset_t};
use runtime::native;

/// Signals that a program may send to itself in order to crash.
const CRASHES: [c_int; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGABRT,
    libc::SIGTRAP,
];

/// Signals that the checker uses.
const OWN: [c_int; 6] = [
    libc::SIGVTALRM,
    libc::SIGALRM,
    libc::SIGURG,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGXCPU,
];

fn is_ours(signal: c_int) -> bool {
    CRASHES.contains(&signal) || OWN.contains(&signal)
}

/// What happens to a signal that the program sends.
enum Sent {
    Nothing,
    /// The signal is delivered to the running thread.
    ToItself(c_int),
    /// The signal goes to a thread that does not belong to the program.
    Elsewhere,
}

/// Checks a signal that the program sends to itself.
fn to_itself(signal: c_int, code: usize) -> Sent {
    match signal {
        0 => Sent::Nothing,
        libc::SIGKILL => Sent::ToItself(signal),
        _ if CRASHES.contains(&signal) => Sent::ToItself(signal),
        _ => native::refuse(code, format!("the program sends itself signal {signal}")),
    }
}

/// Checks a signal that the program sends to a process by this function.
fn to_process(process: pid_t, signal: c_int, by: &str, code: usize) -> Sent {
    // SAFETY: the call has no conditions.
    if process != unsafe { libc::getpid() } {
        let what = format!("the program sends a signal to another process ({by})");
        native::refuse(code, what);
    }
    to_itself(signal, code)
}

/// Checks a signal that the program sends to the thread with this number for `gettid`.
fn to_number(number: pid_t, signal: c_int, by: &str, code: usize) -> Sent {
    match index_of_number(number) {
        Some(index) => to_thread(index, signal, by, code),
        None => Sent::Elsewhere,
    }
}

/// Checks a signal that the program sends to a thread of the program.
fn to_thread(index: usize, signal: c_int, by: &str, code: usize) -> Sent {
    if index == runtime::current().index() {
        return to_itself(signal, code);
    }
    if signal != 0 {
        let what = format!("the program sends a signal to a thread ({by})");
        native::refuse(code, what);
    }
    Sent::Nothing
}

/// Handles a signal that the program sends. Returns `None` if the system has to deliver it.
fn send(check: impl FnOnce(usize) -> Sent) -> Option<c_int> {
    let sent = {
        let (code, _closed) = (code(), close());
        check(code)
    };
    match sent {
        Sent::Nothing => Some(0),
        Sent::ToItself(signal) => Some(real!(raise(signal): fn(c_int) -> c_int)),
        Sent::Elsewhere => None,
    }
}

/// Handles a system call by which the program sends a signal. Returns `None` if the call sends no
/// signal or the system has to deliver it.
pub(crate) fn send_by_number(number: c_long, words: [c_long; 6]) -> Option<c_int> {
    let [first, second, third] = [words[0], words[1], words[2]].map(|word| word as c_int);
    match number {
        libc::SYS_kill => send(|code| to_process(first, second, "SYS_kill", code)),
        libc::SYS_tkill => send(|code| to_number(first, second, "SYS_tkill", code)),
        libc::SYS_tgkill => send(|code| {
            to_process(first, 0, "SYS_tgkill", code);
            to_number(second, third, "SYS_tgkill", code)
        }),
        _ => None,
    }
}

export! {
    placed fn raise(signal: c_int) -> c_int {
        if is_inside() && let Some(result) = send(|code| to_itself(signal, code)) {
            return result;
        }
        real!(raise(signal): fn(c_int) -> c_int)
    }

    placed fn kill(process: pid_t, signal: c_int) -> c_int {
        if is_inside() && let Some(result) = send(|code| to_process(process, signal, "kill", code)) {
            return result;
        }
        real!(kill(process, signal): fn(pid_t, c_int) -> c_int)
    }

    placed fn killpg(group: pid_t, signal: c_int) -> c_int {
        if is_inside() {
            let (code, _closed) = (code(), close());
            native::refuse(code, "the program sends a signal to a group of processes (killpg)".to_owned());
        }
        real!(killpg(group, signal): fn(pid_t, c_int) -> c_int)
    }

    placed fn sigqueue(process: pid_t, signal: c_int, value: usize) -> c_int {
        if is_inside() && let Some(result) = send(|code| to_process(process, signal, "sigqueue", code)) {
            return result;
        }
        real!(sigqueue(process, signal, value): fn(pid_t, c_int, usize) -> c_int)
    }

    placed fn tgkill(process: pid_t, thread: pid_t, signal: c_int) -> c_int {
        let numbers = [process, thread, signal].map(c_long::from);
        let words = [numbers[0], numbers[1], numbers[2], 0, 0, 0];
        if is_inside() && let Some(result) = send_by_number(libc::SYS_tgkill, words) {
            return result;
        }
        real!(tgkill(process, thread, signal): fn(pid_t, pid_t, c_int) -> c_int)
    }

    placed fn pthread_kill(thread: pthread_t, signal: c_int) -> c_int {
        if !is_inside() {
            return real!(pthread_kill(thread, signal): fn(pthread_t, c_int) -> c_int);
        }
        to_handle(thread, signal, "pthread_kill")
    }

    placed fn pthread_sigqueue(thread: pthread_t, signal: c_int, value: usize) -> c_int {
        if !is_inside() {
            return real!(pthread_sigqueue(thread, signal, value): fn(pthread_t, c_int, usize) -> c_int);
        }
        to_handle(thread, signal, "pthread_sigqueue")
    }

    placed fn pthread_sigmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int {
        if !is_inside() {
            return real!(pthread_sigmask(how, new, old): fn(c_int, *const sigset_t, *mut sigset_t) -> c_int);
        }
        let _closed = close();
        // SAFETY: the program passed the pointers.
        match unsafe { change_mask(how, new, old) } {
            true => 0,
            false => libc::EINVAL,
        }
    }

    placed fn sigprocmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int {
        if !is_inside() {
            return real!(sigprocmask(how, new, old): fn(c_int, *const sigset_t, *mut sigset_t) -> c_int);
        }
        let mut closed = close();
        // SAFETY: the program passed the pointers.
        match unsafe { change_mask(how, new, old) } {
            true => 0,
            false => {
                closed.fail(libc::EINVAL);
                -1
            }
        }
    }

    placed fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
        if is_inside() && is_ours(signal) {
            if !old.is_null() {
                // SAFETY: the program passed the pointer; zero is the default action.
                unsafe { old.write_bytes(0, 1) };
            }
            return 0;
        }
        if is_inside() && !new.is_null() {
            let _closed = close();
            native::privately(|| system_state::save_action(signal));
        }
        real!(sigaction(signal, new, old): fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int)
    }

    placed fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
        if is_inside() && is_ours(signal) {
            return libc::SIG_DFL;
        }
        if is_inside() {
            let _closed = close();
            native::privately(|| system_state::save_action(signal));
        }
        real!(signal(signal, handler): fn(c_int, sighandler_t) -> sighandler_t)
    }
}

/// Handles a signal that the program sends to the thread with this handle.
fn to_handle(thread: pthread_t, signal: c_int, by: &str) -> c_int {
    let sent = send(|code| match crate::threads::index_of(thread) {
        Some(index) => to_thread(index, signal, by, code),
        None => Sent::Elsewhere,
    });
    sent.unwrap_or(libc::ESRCH)
}

/// Changes the signals that the running thread blocks. Returns false if `how` is unknown. The
/// system's mask stays unchanged, because no blocked signal can arrive.
///
/// # Safety
///
/// The pointers must be null or point to sets of signals.
unsafe fn change_mask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> bool {
    let blocked = &mut crate::threads::own().blocked;
    let before = *blocked;
    if !new.is_null() {
        // SAFETY: as promised by the caller. The first word of a set contains all signals.
        let new = unsafe { *new.cast::<u64>() };
        *blocked = match how {
            libc::SIG_BLOCK => before | new,
            libc::SIG_UNBLOCK => before & !new,
            libc::SIG_SETMASK => new,
            _ => return false,
        };
    }
    if !old.is_null() {
        // SAFETY: as promised by the caller.
        unsafe {
            libc::sigemptyset(old);
            *old.cast::<u64>() = before;
        }
    }
    true
}
