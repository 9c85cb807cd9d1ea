//! SIGINT and SIGTERM end a search as a time limit does. A second signal ends the process. A
//! process that was started for a comparison also ends its search when its standard input ends.

use crate::UNFINISHED;
use crate::refusal::Refusal;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::thread;

/// Whether a signal has asked a command that watches for signals to end.
static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Checks whether a signal has asked the command to end.
pub fn is_requested() -> bool {
    REQUESTED.load(Relaxed)
}

/// Returns a flag that the signals set. A second signal ends the process.
pub fn flag() -> Result<Arc<AtomicBool>, Refusal> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The order matters: when the first signal arrives, the shutdown must find the flag unset.
        let shutdown = UNFINISHED.into();
        let registered =
            flag::register_conditional_shutdown(signal, shutdown, Arc::clone(&interrupted));
        watch(registered.and_then(|_| set_at(signal, &interrupted)))?;
    }
    Ok(interrupted)
}

/// Also sets the flag when standard input ends. This happens at the latest when the process at the
/// other end of the pipe ends, for any reason.
pub fn at_end_of_input(interrupted: &Arc<AtomicBool>) {
    let interrupted = Arc::clone(interrupted);
    thread::spawn(move || {
        // An input that cannot be read has ended.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        interrupted.store(true, Relaxed);
    });
}

/// Returns a flag that the signals set. A second signal does not end the process, because commands
/// with this flag poll it and end soon. If `is_leashed` is true, the end of standard input also
/// sets the flag.
pub fn gentle_flag(is_leashed: bool) -> Result<Arc<AtomicBool>, Refusal> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        watch(set_at(signal, &interrupted))?;
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

/// Makes the signal set the flag.
fn set_at(signal: i32, interrupted: &Arc<AtomicBool>) -> io::Result<()> {
    flag::register(signal, Arc::clone(&REQUESTED))?;
    flag::register(signal, Arc::clone(interrupted))?;
    Ok(())
}

fn watch<T>(registered: io::Result<T>) -> Result<T, Refusal> {
    registered.map_err(|error| Refusal::System {
        what: "watch for signals",
        error,
    })
}
