//! What the program itself has to say in traces: names of its objects and threads, and notes.

use crate::atomic::{Atomic, Value};
use crate::outside::outside;
use crate::perform::{is_recorded, silently};
use crate::{Barrier, Channel, Condvar, Mutex, Notify, Once, Plain, RwLock, Semaphore};
use explore::ThreadId;
use std::panic::Location;

/// Says something in the trace at hand, if the execution is recorded for people. `text` performs no operations.
#[track_caller]
pub fn note(text: impl FnOnce() -> String) {
    if is_recorded() {
        let (location, text) = (Location::caller(), text());
        silently(|engine| engine.record_note(location, text));
    }
}

/// What a thread is called in a trace.
#[track_caller]
pub fn call_thread(thread: ThreadId, name: &str) {
    outside!();
    silently(|engine| {
        if let Some(thread) = engine.threads.get_mut(thread.index()) {
            thread.name = Some(name.to_owned());
        }
    });
}

impl<V: Value> Atomic<V> {
    /// What the variable is called in a trace.
    #[track_caller]
    pub fn call(&self, name: &str) {
        outside!();
        let object = self.here().object();
        silently(|engine| engine.rename(object, name));
    }
}

macro_rules! named {
    ($($Object:ident),*) => {
        $(impl $Object {
            /// What the object is called in a trace.
            #[track_caller]
            pub fn call(&self, name: &str) {
                silently(|engine| engine.rename(self.object, name));
            }
        })*
    };
}

named!(Mutex, RwLock, Condvar, Semaphore, Barrier, Once, Notify);

impl<T> Channel<T> {
    /// What the channel is called in a trace.
    #[track_caller]
    pub fn call(&self, name: &str) {
        outside!();
        silently(|engine| engine.rename(self.object, name));
    }
}

impl Plain {
    /// What the memory is called in a trace.
    #[track_caller]
    pub fn call(&self, name: &str) {
        outside!();
        silently(|engine| engine.rename_memory(self.number, name));
    }
}
