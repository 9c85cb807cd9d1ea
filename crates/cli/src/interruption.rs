//! SIGINT and SIGTERM end a search like a time limit; a second signal ends the process. If another
//! process has started this one for a comparison, the end of standard input also ends the search.

use crate::UNFINISHED;
use crate::refusal::Refusal;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

/// Returns a flag that the signals set. A second signal ends the process.
pub fn flag() -> Result<Arc<AtomicBool>, Refusal> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The order matters: the first signal must find the flag unset.
        let shutdown = UNFINISHED.into();
        let registered =
            flag::register_conditional_shutdown(signal, shutdown, Arc::clone(&interrupted));
        watch(registered.and_then(|_| flag::register(signal, Arc::clone(&interrupted))))?;
    }
    Ok(interrupted)
}

/// Also sets the flag when standard input ends: at the latest when the process with the other end
/// of the pipe ends, for any reason.
pub fn at_end_of_input(interrupted: &Arc<AtomicBool>) {
    let interrupted = Arc::clone(interrupted);
    thread::spawn(move || {
        // An input that cannot be read has ended.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        interrupted.store(true, Relaxed);
    });
}

/// Returns a flag that the signals only set, for commands that poll it and therefore end soon.
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

/// Returns a flag that SIGTERM sets. SIGINT is for the debugger, which shares the terminal.
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
