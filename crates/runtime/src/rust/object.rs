//! Concurrent objects. A task of an object runs in *segments*, from one *release point* to the
//! next. At a release point, any other task may continue. Each segment is one event.
//!
//! The front-end holds the state of an object. This module only controls when its tasks may access
//! it. The first segment that touches several objects merges them permanently: they are accessed as
//! one object from then on, and the exploration starts again.

use crate::engine::Engine;
use crate::engine::perform::{self, silently, visible};
use explore::{Access, Halt, ObjectId, Op, OpKind, Request, ThreadId};
use report::Restart;
use std::hash::Hash;
use std::panic::Location;
use std::sync::atomic::Ordering;

/// An object that is accessed by one task at a time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Object {
    object: ObjectId,
}

/// A condition that did not hold when a thread waited for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    /// The object of the condition.
    pub(crate) object: ObjectId,
    /// Whether the condition has come to hold since.
    pub(crate) holds: bool,
}

impl Object {
    /// Creates an object of the execution. `kind` returns the name of its type for users.
    #[track_caller]
    pub fn new(kind: impl FnOnce() -> String) -> Object {
        let location = Location::caller();
        silently(|engine| {
            engine.forgo_comparing();
            let object = engine.create(1);
            if engine.watch.records {
                engine.name_object(object, &kind(), location);
            }
            Object { object }
        })
    }

    /// Registers `state`, which returns the state of the object: see [`crate::report_state_of`].
    pub fn report_state<S: Eq + Hash + 'static>(self, state: impl Fn() -> S + 'static) {
        crate::report_state_of(self.object, state);
    }

    /// Stops the current thread permanently, because an awaited condition of the object does not
    /// hold.
    ///
    /// No behaviour is missed, because in other executions the thread's segment runs when the
    /// condition holds. The execution is a deadlock only if no awaited condition
    /// [`holds`](Object::now_holds) at its end.
    #[cold]
    pub fn halt_at_condition(self) {
        let condition = Condition {
            object: self.object,
            holds: false,
        };
        silently(|engine| {
            if !engine.is_tearing_down {
                engine.thread().life.guests.condition = Some(condition);
                engine.record_result("waits");
            }
        });
        perform::halt(Halt::Await);
    }

    /// Records whether the condition for which a thread stopped holds after the current segment.
    pub fn now_holds(thread: ThreadId, holds: bool) {
        silently(|engine| {
            if let Some(condition) = &mut engine.threads[thread.index()].life.guests.condition {
                condition.holds = holds;
            }
        });
    }
}

/// Continues a task, with exclusive use of these objects, up to its next operation. `name` is the
/// task's name in traces.
///
/// # Panics
///
/// Panics if there is no object.
#[track_caller]
pub fn segment(objects: &[Object], access: Access, name: &'static str) {
    segment_at(Location::caller(), objects, access, name);
}

/// Continues a task at the given place of the program; see [`segment`].
pub fn segment_at(
    location: &'static Location<'static>,
    objects: &[Object],
    access: Access,
    name: &'static str,
) {
    let first = objects.first().expect("a segment touches an object").object;
    let announce = |engine: &mut Engine| {
        let op = Op {
            kind: OpKind::Segment,
            access,
            object: engine.merged(objects, first),
        };
        engine.announce(Request::plain(op), location);
    };
    visible(announce, |engine| {
        if engine.watch.races {
            engine.order_segment(access);
        }
        engine.record_segment(first, name);
    });
}

impl Engine {
    /// Merges the objects. Returns the object that represents them. A new merge starts the
    /// exploration again.
    fn merged(&mut self, objects: &[Object], first: ObjectId) -> ObjectId {
        for other in &objects[1..] {
            if self.names.merge(first, other.object) {
                self.coarsen(Restart::MergedObjects);
            }
        }
        self.names.representative(first)
    }

    /// Orders a segment after all earlier segments that wrote the object, and later segments after
    /// this one if it writes. (Reads create no edges to later writes, because a thread that only
    /// reads an object publishes nothing.)
    fn order_segment(&mut self, access: Access) {
        let (thread, object) = (self.running, self.op.object);
        self.guests
            .happens_before
            .load(thread, object, Ordering::Acquire);
        if access == Access::Write {
            self.guests
                .happens_before
                .publish(thread, object, Ordering::Release);
        }
    }

    fn record_segment(&mut self, object: ObjectId, name: &str) {
        if self.watch.records {
            let object = self.guests.recorder.object_name(object, OpKind::Segment);
            self.record(|_| format!("{object}.{name}"));
        }
    }
}
