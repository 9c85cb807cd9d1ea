//! SIGINT and SIGTERM end a search as a time limit does; a second one ends the process. So does, for a process that
//! another one has started for a comparison, the end of its standard input.

use crate::UNFINISHED;
use crate::refusal::Refusal;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

/// A flag that the signals set.
pub fn flag() -> Result<Arc<AtomicBool>, Refusal> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset.
        let shutdown = UNFINISHED.into();
        let registered =
            flag::register_conditional_shutdown(signal, shutdown, Arc::clone(&interrupted));
        watch(registered.and_then(|_| flag::register(signal, Arc::clone(&interrupted))))?;
    }
    Ok(interrupted)
}

/// Sets the flag, too, when the standard input ends: at the latest with the process that holds the other end of the
/// pipe, however that one ends.
pub fn at_end_of_input(interrupted: &Arc<AtomicBool>) {
    let interrupted = Arc::clone(interrupted);
    thread::spawn(move || {
        // An input that cannot be read has ended.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        interrupted.store(true, Relaxed);
    });
}

/// A flag that the signals only set: for a command that keeps an eye on what it waits for, and so ends soon.
pub fn gentle_flag(is_leashed: bool) -> Result<Arc<AtomicBool>, Refusal> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        watch(flag::register(signal, Arc::clone(&interrupted)))?;
    }
    if is_leashed {
        at_end_of_input(&interrupted);
    }
    Ok(interrupted)
}

/// A flag that SIGTERM sets, while SIGINT is for a debugger, which has the terminal, too.
pub fn end_of_debugging() -> Result<Arc<AtomicBool>, Refusal> {
    let ended = Arc::new(AtomicBool::new(false));
    watch(flag::register(SIGTERM, Arc::clone(&ended)))?;
    watch(flag::register(SIGINT, Arc::default()))?;
    Ok(ended)
}

fn watch<T>(registered: io::Result<T>) -> Result<T, Refusal> {
    registered.map_err(|error| Refusal::System {
        what: "watch for signals",
        error,
    })
}
