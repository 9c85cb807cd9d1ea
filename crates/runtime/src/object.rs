//! Concurrent objects: what a task does between two release points is one event.
//!
//! The state of an object is with the front-end; here is only when its tasks may touch it. A segment that
//! touches several objects accesses them as one from then on: they are merged for good, and the
//! exploration starts again.

use crate::engine::Engine;
use crate::perform::{self, silently, visible};
use explore::{Access, Halt, ObjectId, Op, OpKind, Request, ThreadId};
use std::hash::Hash;
use std::panic::Location;
use std::sync::atomic::Ordering;

/// An object whose tasks touch it in turn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Object {
    object: ObjectId,
}

/// A condition that did not hold where a thread awaited it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    /// What it is about.
    pub(crate) object: ObjectId,
    /// Whether it holds by now.
    pub(crate) holds: bool,
}

impl Object {
    /// A new object of the execution; `kind` gives the name of its type, for people.
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

    /// `tell` gives the state of the object: see [`crate::tell_state_of`].
    pub fn tell_state<S: Eq + Hash + 'static>(self, tell: impl Fn() -> S + 'static) {
        crate::tell_state_of(self.object, tell);
    }

    /// The thread at hand awaited a condition of the object, which does not hold: it stops for good.
    ///
    /// Nothing is lost: in other executions its segment comes when the condition holds. The
    /// execution is a deadlock only if no awaited condition [`holds`](Object::now_holds) at its end.
    #[cold]
    pub fn halt_at_condition(self) {
        let condition = Condition {
            object: self.object,
            holds: false,
        };
        silently(|engine| {
            if !engine.is_tearing_down {
                engine.thread().condition = Some(condition);
                engine.record_result("waits");
            }
        });
        perform::halt(Halt::Await);
    }

    /// Whether the condition for which a thread stopped holds after the segment at hand.
    pub fn now_holds(thread: ThreadId, holds: bool) {
        silently(|engine| {
            if let Some(condition) = &mut engine.threads[thread.index()].condition {
                condition.holds = holds;
            }
        });
    }
}

/// A task goes on, up to its next operation, with these objects for itself. `name` is what a trace
/// calls it.
///
/// # Panics
///
/// If there is no object.
#[track_caller]
pub fn segment(objects: &[Object], access: Access, name: &'static str) {
    segment_at(Location::caller(), objects, access, name);
}

/// The same for a caller that knows where the program does it.
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
    /// What stands for all the objects.
    fn merged(&mut self, objects: &[Object], first: ObjectId) -> ObjectId {
        for other in &objects[1..] {
            self.is_coarsened |= self.names.merge(first, other.object);
        }
        self.names.representative(first)
    }

    /// A segment happens after those before it that wrote. (The reads before a write are no edges: who
    /// only reads an object publishes nothing by it.)
    fn order_segment(&mut self, access: Access) {
        let (thread, object) = (self.running, self.op.object);
        self.happens_before.load(thread, object, Ordering::Acquire);
        if access == Access::Write {
            self.happens_before
                .publish(thread, object, Ordering::Release);
        }
    }

    fn record_segment(&mut self, object: ObjectId, name: &str) {
        if self.watch.records {
            let object = self.recorder.object_name(object, OpKind::Segment);
            self.record(|_| format!("{object}.{name}"));
        }
    }
}
