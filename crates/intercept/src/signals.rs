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
    /// The call fails with this number for `errno`.
    Fails(c_int),
}

/// The greatest number of a signal.
const LAST: c_int = 64;

/// Checks a signal that the program sends to itself.
fn to_itself(signal: c_int, code: usize) -> Sent {
    match signal {
        0 => Sent::Nothing,
        libc::SIGKILL => Sent::ToItself(signal),
        1..=LAST if !CRASHES.contains(&signal) => {
            native::refuse(code, format!("the program sends itself signal {signal}"))
        }
        1..=LAST if crate::threads::own().blocked >> (signal - 1) & 1 == 1 => {
            let what = format!("the program sends itself signal {signal}, which it blocks");
            native::refuse(code, what)
        }
        1..=LAST => Sent::ToItself(signal),
        _ => Sent::Fails(libc::EINVAL),
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

/// Checks a signal that the program sends to the thread with this thread id.
fn to_number(number: pid_t, signal: c_int, by: &str, code: usize) -> Sent {
    let index = index_of_number(number);
    if index == Some(runtime::current().index()) {
        return to_itself(signal, code);
    }
    match (signal, index) {
        // The id of the main thread exists until the process ends.
        (0, Some(0)) => Sent::Nothing,
        (0, Some(_)) => {
            let what = format!("the program asks whether another thread has ended ({by})");
            native::refuse(code, what)
        }
        (_, Some(_)) => to_thread(by, code),
        (_, None) if number <= 0 => Sent::Fails(libc::EINVAL),
        (_, None) => Sent::Fails(libc::ESRCH),
    }
}

/// Refuses a signal that the program sends to another of its threads.
fn to_thread(by: &str, code: usize) -> ! {
    native::refuse(
        code,
        format!("the program sends a signal to a thread ({by})"),
    )
}

/// Handles a signal that the program sends. Returns the error if the call fails.
fn send(check: impl FnOnce(usize) -> Sent) -> Result<c_int, c_int> {
    let sent = {
        let (code, _closed) = (code(), close());
        check(code)
    };
    match sent {
        Sent::Nothing => Ok(0),
        Sent::ToItself(signal) => Ok(real!(raise(signal): fn(c_int) -> c_int)),
        Sent::Fails(error) => Err(error),
    }
}

/// Like [`send`], for functions that return -1 and set `errno` if they fail.
fn send_with_errno(check: impl FnOnce(usize) -> Sent) -> c_int {
    send(check).unwrap_or_else(|error| {
        close().fail(error);
        -1
    })
}

/// Handles a system call by which the program sends a signal. Returns `None` if the call sends no
/// signal.
pub(crate) fn send_by_number(number: c_long, words: [c_long; 6]) -> Option<c_int> {
    let [first, second, third] = [words[0], words[1], words[2]].map(|word| word as c_int);
    Some(match number {
        libc::SYS_kill => send_with_errno(|code| to_process(first, second, "SYS_kill", code)),
        libc::SYS_tkill => send_with_errno(|code| match index_of_number(first) {
            None if first > 0 => {
                let what = "the program sends a signal to another process (SYS_tkill)";
                native::refuse(code, what.to_owned())
            }
            _ => to_number(first, second, "SYS_tkill", code),
        }),
        libc::SYS_tgkill => send_with_errno(|code| {
            to_process(first, 0, "SYS_tgkill", code);
            to_number(second, third, "SYS_tgkill", code)
        }),
        _ => return None,
    })
}

/// Handles a signal that the program sends to the thread with this handle, which exists until the
/// thread is joined.
fn send_to_handle(thread: pthread_t, signal: c_int, by: &str) -> c_int {
    let sent = send(|code| match crate::threads::identified(thread) {
        Some(index) if index == runtime::current().index() => to_itself(signal, code),
        Some(_) if signal != 0 => to_thread(by, code),
        Some(_) => Sent::Nothing,
        None => Sent::Fails(libc::ESRCH),
    });
    sent.unwrap_or_else(|error| error)
}

/// Prepares a change of the action for a signal. Returns whether the action stays as it is, because
/// the checker needs it.
fn keeps_action(signal: c_int) -> bool {
    if is_inside() && !is_ours(signal) {
        let _closed = close();
        native::privately(|| system_state::save_action(signal));
    }
    is_inside() && is_ours(signal)
}

export! {
    placed fn raise(signal: c_int) -> c_int {
        match is_inside() {
            true => send_with_errno(|code| to_itself(signal, code)),
            false => real!(raise(signal): fn(c_int) -> c_int),
        }
    }

    placed fn gsignal(signal: c_int) -> c_int {
        match is_inside() {
            true => send_with_errno(|code| to_itself(signal, code)),
            false => real!(gsignal(signal): fn(c_int) -> c_int),
        }
    }

    placed fn kill(process: pid_t, signal: c_int) -> c_int {
        match is_inside() {
            true => send_with_errno(|code| to_process(process, signal, "kill", code)),
            false => real!(kill(process, signal): fn(pid_t, c_int) -> c_int),
        }
    }

    placed fn sigqueue(process: pid_t, signal: c_int, value: usize) -> c_int {
        match is_inside() {
            true => send_with_errno(|code| to_process(process, signal, "sigqueue", code)),
            false => real!(sigqueue(process, signal, value): fn(pid_t, c_int, usize) -> c_int),
        }
    }

    placed fn tgkill(process: pid_t, thread: pid_t, signal: c_int) -> c_int {
        if !is_inside() {
            return real!(tgkill(process, thread, signal): fn(pid_t, pid_t, c_int) -> c_int);
        }
        send_with_errno(|code| {
            to_process(process, 0, "tgkill", code);
            to_number(thread, signal, "tgkill", code)
        })
    }

    placed fn pthread_kill(thread: pthread_t, signal: c_int) -> c_int {
        match is_inside() {
            true => send_to_handle(thread, signal, "pthread_kill"),
            false => real!(pthread_kill(thread, signal): fn(pthread_t, c_int) -> c_int),
        }
    }

    placed fn pthread_sigqueue(thread: pthread_t, signal: c_int, value: usize) -> c_int {
        match is_inside() {
            true => send_to_handle(thread, signal, "pthread_sigqueue"),
            false => real!(pthread_sigqueue(thread, signal, value): fn(pthread_t, c_int, usize) -> c_int),
        }
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
}

/// Functions that set the action for a signal and return the old one.
macro_rules! set_action {
    ($($name:ident)*) => {
        export! {
            $(placed fn $name(signal: c_int, handler: sighandler_t) -> sighandler_t {
                match keeps_action(signal) {
                    true => libc::SIG_DFL,
                    false => real!($name(signal, handler): fn(c_int, sighandler_t) -> sighandler_t),
                }
            })*
        }
    };
}

set_action! { signal bsd_signal ssignal sysv_signal __sysv_signal sigset }

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
