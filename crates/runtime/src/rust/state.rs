//! Parts of the state of processes and tables that other processes read and write. Each part is one
//! object.

use crate::engine::perform::{perform, silently};
use crate::rust::thread::place;
use crate::watch::seen::Seen;
use explore::{Access, ObjectId, Op, OpKind, ValueId};
use objects::Coarsening;
use std::panic::Location;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, PoisonError};

/// A value that is an object of the exploration: each read and each change of the value is one
/// event.
///
/// The closures that access the value must not run code of the program under test.
pub struct State<T> {
    object: ObjectId,
    /// The value, and the number of times that it was written.
    value: Mutex<(T, u64)>,
}

impl<T> State<T> {
    /// Creates a state with this value, which traces call `kind`.
    #[track_caller]
    pub fn new(kind: &str, value: T) -> State<T> {
        let location = Location::caller();
        let object = silently(|engine| {
            let object = engine.create(1);
            engine.name_object(object, kind, location);
            object
        });
        State {
            object,
            value: Mutex::new((value, 0)),
        }
    }

    /// Returns the id of the object, which is the same in all executions.
    pub fn object(&self) -> ObjectId {
        self.object
    }

    /// Creates a part of the object `whole`. `key` names it in all executions. Parts with the same
    /// key share one object. This is sound, but more accesses conflict.
    pub fn part_of<U>(whole: &State<U>, key: u64, value: T) -> State<T> {
        State {
            object: silently(|engine| engine.names.part(whole.object, key)),
            value: Mutex::new((value, 0)),
        }
    }

    /// Reads the value in one event. `text` describes the result for users.
    #[track_caller]
    pub fn read<R>(&self, inspect: impl FnOnce(&T) -> R, text: impl FnOnce(&R) -> String) -> R {
        let location = place(Location::caller());
        perform(self.op(Access::Read), location, |engine| {
            let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
            let result = inspect(&value.0);
            let token = ValueId(value.1);
            engine.record_value_ids(token, token);
            engine.see(Seen::Value(self.object, token));
            if engine.watch.races {
                let thread = engine.running;
                engine
                    .guests
                    .happens_before
                    .load(thread, self.object, SeqCst);
            }
            engine.record(|_| text(&result));
            result
        })
    }

    /// Changes the value in one event. `text` describes the change for users.
    #[track_caller]
    pub fn write<R>(&self, change: impl FnOnce(&mut T) -> R, text: impl FnOnce(&R) -> String) -> R {
        let location = place(Location::caller());
        perform(self.op(Access::Write), location, |engine| {
            let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
            let result = change(&mut value.0);
            value.1 += 1;
            engine.record_value_ids(ValueId(value.1 - 1), ValueId(value.1));
            if engine.watch.races {
                let thread = engine.running;
                engine
                    .guests
                    .happens_before
                    .load(thread, self.object, SeqCst);
                engine
                    .guests
                    .happens_before
                    .publish(thread, self.object, SeqCst);
            }
            engine.record(|_| text(&result));
            result
        })
    }

    fn op(&self, access: Access) -> Op {
        let kind = match access {
            Access::Write => OpKind::StateWrite,
            Access::Read | Access::None => OpKind::StateRead,
        };
        Op {
            kind,
            access,
            object: self.object,
        }
    }

    /// Uses the value without an event. This is for uses whose order no schedule can change.
    pub fn silently<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        act(&mut value.0)
    }

    /// Checks whether this coarsening of the state, by which more of its operations conflict, is
    /// known to be needed. If `learn` is true, the coarsening is needed from now on, and the
    /// exploration starts again if this was unknown.
    pub fn is_coarse(&self, coarsening: Coarsening, learn: bool) -> bool {
        silently(|engine| {
            let is_known = engine.names.is_coarse(self.object, coarsening);
            if learn {
                engine.coarsen_object(self.object, coarsening);
            }
            is_known || learn
        })
    }
}
