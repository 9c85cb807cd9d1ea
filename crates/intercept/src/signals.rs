//! Signals. The program's actions for crash signals and for the checker's signals are ignored. A
//! crash signal that the program sends to itself is a crash. Sending any other signal is refused,
//! except signal 0, which sends nothing.

use crate::gate::{close, code, is_inside};
use crate::system_state;
use libc::{c_int, pid_t, pthread_t, sighandler_t, sigset_t};
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

/// Checks a signal that the program sends to itself. Returns whether to deliver it.
fn sends(signal: c_int, code: usize) -> bool {
    if signal != 0 && !CRASHES.contains(&signal) {
        native::refuse(code, format!("the program sends itself signal {signal}"));
    }
    signal != 0
}

export! {
    placed fn raise(signal: c_int) -> c_int {
        if is_inside() {
            let (code, _closed) = (code(), close());
            if !sends(signal, code) {
                return 0;
            }
        }
        real!(raise(signal): fn(c_int) -> c_int)
    }

    placed fn kill(process: pid_t, signal: c_int) -> c_int {
        if is_inside() {
            let (code, _closed) = (code(), close());
            // SAFETY: the call has no conditions.
            if process != unsafe { libc::getpid() } {
                native::refuse(code, "the program sends a signal to another process (kill)".to_owned());
            }
            if !sends(signal, code) {
                return 0;
            }
        }
        real!(kill(process, signal): fn(pid_t, c_int) -> c_int)
    }

    placed fn pthread_kill(thread: pthread_t, signal: c_int) -> c_int {
        if !is_inside() {
            return real!(pthread_kill(thread, signal): fn(pthread_t, c_int) -> c_int);
        }
        let (code, _closed) = (code(), close());
        if signal != 0 {
            native::refuse(code, "the program sends a signal to a thread (pthread_kill)".to_owned());
        }
        match crate::threads::index_of(thread) {
            Some(_) => 0,
            None => libc::ESRCH,
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
