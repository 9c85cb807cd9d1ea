//! Names that the program gives to its objects, for people.

use crate::atomic::{Atomic, Value};
use crate::perform::silently;
use crate::{Barrier, Condvar, Mutex, RwLock, Semaphore};

impl<V: Value> Atomic<V> {
    /// What the variable is called in a trace.
    pub fn call(&self, name: &str) {
        silently(|engine| engine.rename(self.object, name));
    }
}

macro_rules! named {
    ($($Object:ident),*) => {
        $(impl $Object {
            /// What the object is called in a trace.
            pub fn call(&self, name: &str) {
                silently(|engine| engine.rename(self.object, name));
            }
        })*
    };
}

named!(Mutex, RwLock, Condvar, Semaphore, Barrier);
