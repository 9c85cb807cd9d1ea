//! Names of objects and threads, and notes, that the program itself adds to traces.

use crate::engine::perform::{is_recorded, silently};
use crate::rust::atomic::{Atomic, Value};
use crate::rust::outside::outside;
use crate::{Channel, Plain};
use explore::ThreadId;
use std::panic::Location;

/// Adds a note to the current trace, if the execution is recorded. `text` must not perform
/// operations.
#[track_caller]
pub fn note(text: impl FnOnce() -> String) {
    if is_recorded() {
        let (location, text) = (Location::caller(), text());
        silently(|engine| engine.record_note(location, text));
    }
}

/// Sets the name of a thread in traces.
#[track_caller]
pub fn call_thread(thread: ThreadId, name: &str) {
    outside!();
    silently(|engine| {
        if let Some(thread) = engine.threads.get_mut(thread.index()) {
            thread.life.name = Some(name.to_owned());
        }
    });
}

impl<V: Value> Atomic<V> {
    /// Sets the name of the variable in traces.
    #[track_caller]
    pub fn call(&self, name: &str) {
        outside!();
        let object = self.here().object();
        silently(|engine| engine.rename(object, name));
    }
}

impl<T> Channel<T> {
    /// Sets the name of the channel in traces.
    #[track_caller]
    pub fn call(&self, name: &str) {
        outside!();
        silently(|engine| engine.rename(self.object, name));
    }
}

impl Plain {
    /// Sets the name of the memory in traces.
    #[track_caller]
    pub fn call(&self, name: &str) {
        outside!();
        silently(|engine| engine.rename_memory(self.number, name));
    }
}
