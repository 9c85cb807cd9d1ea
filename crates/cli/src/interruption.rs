//! SIGINT and SIGTERM end a search as a time limit does; a second one ends the process. So does, for a process that
//! another one has started for a comparison, the end of its standard input.

use crate::UNFINISHED;
use crate::native_check::Event;
use crate::refusal::Refusal;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::Sender;
use std::thread;

/// A flag that the signals set.
pub fn flag() -> Result<Arc<AtomicBool>, Refusal> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset.
        flag::register_conditional_shutdown(signal, UNFINISHED.into(), Arc::clone(&interrupted))
            .and_then(|_| flag::register(signal, Arc::clone(&interrupted)))
            .map_err(|error| Refusal::System {
                what: "watch for signals",
                error,
            })?;
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

/// Tells of each SIGINT and SIGTERM, and of the end of the standard input if this process is leashed by it.
pub fn tell(listener: Sender<Event>, is_leashed: bool) -> Result<(), Refusal> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(|error| Refusal::System {
        what: "watch for signals",
        error,
    })?;
    if is_leashed {
        let listener = listener.clone();
        thread::spawn(move || {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            listener.send(Event::Interruption)
        });
    }
    thread::spawn(move || {
        let told = signals
            .forever()
            .map(|_| listener.send(Event::Interruption));
        told.into_iter().find(Result::is_err)
    });
    Ok(())
}
