//! Parts of the state of processes and tables that others read and write, one object each.

use crate::perform::{perform, silently};
use crate::seen::Seen;
use crate::thread::place;
use explore::{Access, ObjectId, Op, OpKind, Token};
use objects::Coarsening;
use std::panic::Location;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, PoisonError};

/// A value that is an object: to read it is one event, to change it another.
///
/// What is done to it runs no code of the program under test.
pub struct State<T> {
    object: ObjectId,
    /// The value, and how often it was written.
    value: Mutex<(T, u64)>,
}

impl<T> State<T> {
    /// A state with this value, called `kind` where it is shown to people.
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

    /// The name of the object, the same in all executions.
    pub fn object(&self) -> ObjectId {
        self.object
    }

    /// A part of the object `whole` that is named by `key`, the same in all executions. Keys with the
    /// same number are one object, which is only coarser.
    pub fn part_of<U>(whole: &State<U>, key: u64, value: T) -> State<T> {
        State {
            object: silently(|engine| engine.names.part(whole.object, key)),
            value: Mutex::new((value, 0)),
        }
    }

    /// Reads the value in one event; `text` says what was seen, for people.
    #[track_caller]
    pub fn read<R>(&self, look: impl FnOnce(&T) -> R, text: impl FnOnce(&R) -> String) -> R {
        let location = place(Location::caller());
        perform(self.op(Access::Read), location, |engine| {
            let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
            let result = look(&value.0);
            let token = Token(value.1);
            engine.note(token, token);
            engine.see(Seen::Value(self.object, token));
            if engine.watch.races {
                let thread = engine.running;
                engine.happens_before.load(thread, self.object, SeqCst);
            }
            engine.record(|_| text(&result));
            result
        })
    }

    /// Changes the value in one event; `text` says what was done, for people.
    #[track_caller]
    pub fn write<R>(&self, change: impl FnOnce(&mut T) -> R, text: impl FnOnce(&R) -> String) -> R {
        let location = place(Location::caller());
        perform(self.op(Access::Write), location, |engine| {
            let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
            let result = change(&mut value.0);
            value.1 += 1;
            engine.note(Token(value.1 - 1), Token(value.1));
            if engine.watch.races {
                let thread = engine.running;
                engine.happens_before.load(thread, self.object, SeqCst);
                engine.happens_before.publish(thread, self.object, SeqCst);
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

    /// Uses the value without an event: only for what no schedule can turn round.
    pub fn silently<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        act(&mut value.0)
    }

    /// Whether it is known that others need this of the state. If `learn`, they do: the exploration
    /// starts again if that was not known.
    pub fn is_coarse(&self, coarsening: Coarsening, learn: bool) -> bool {
        silently(|engine| {
            let is_known = engine.names.is_coarse(self.object, coarsening);
            if learn {
                engine.coarsen(self.object, coarsening);
            }
            is_known || learn
        })
    }
}
