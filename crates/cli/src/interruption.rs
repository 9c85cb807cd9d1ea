//! SIGINT and SIGTERM end a search as a time limit does; a second one ends the process.

use crate::UNFINISHED;
use crate::refusal::Refusal;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
