//! The objects that a segment accesses.

use super::awaiting::{self, Awaiting};
use super::{Future, Object, State, Task, task};
use runtime::Access;
use std::hash::Hash;
use std::panic::Location;

/// The objects that a segment accesses. Its closures get the state of each.
///
/// See [fields](super#fields).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AccessSet<P>(pub P);

impl<P: Parts> AccessSet<P> {
    /// Starts a task that is a state machine and whose segments access all of the objects.
    #[track_caller]
    pub fn start<T: Task<Touches = P>>(&self, task: T) -> Future<T::Output> {
        let method = task.method();
        Future::start(method, task::body(&self.0, task, Location::caller()))
    }

    /// Performs one segment that may change the states.
    #[track_caller]
    pub fn write<R>(&self, segment: impl FnOnce(P::Exclusive<'_>) -> R) -> R {
        write(&self.0, segment)
    }

    /// Performs one segment that only reads the states.
    #[track_caller]
    pub fn read<R>(&self, segment: impl FnOnce(P::Shared<'_>) -> R) -> R {
        read(&self.0, segment)
    }

    /// Awaits the condition and performs a segment that may change the states, in one event.
    #[track_caller]
    pub fn write_when<R>(
        &self,
        condition: impl Fn(P::Shared<'_>) -> bool + Clone + Send + 'static,
        segment: impl FnOnce(P::Exclusive<'_>) -> R,
    ) -> R {
        write_when(&self.0, condition, segment)
    }

    /// Awaits the condition and performs a segment that only reads the states, in one event.
    #[track_caller]
    pub fn read_when<R>(
        &self,
        condition: impl Fn(P::Shared<'_>) -> bool + Clone + Send + 'static,
        segment: impl FnOnce(P::Shared<'_>) -> R,
    ) -> R {
        read_when(&self.0, condition, segment)
    }
}

/// An object, or a tuple of two to four objects.
pub trait Parts: Clone + Eq + Hash + Send + 'static {
    /// The states for a segment that may change them.
    type Exclusive<'a>;
    /// The states for a segment that only reads them.
    type Shared<'a>;

    /// Returns the objects.
    #[doc(hidden)]
    fn objects(&self) -> impl AsRef<[runtime::Object]>;

    /// Passes the states to a segment that may change them.
    #[doc(hidden)]
    fn exclusively<R>(&self, segment: impl FnOnce(Self::Exclusive<'_>) -> R) -> R;

    /// Passes copies of the states to a segment that is declared as a read. Returns the result of
    /// the segment, and whether the segment changed a copy.
    #[doc(hidden)]
    fn on_copies<R>(&self, segment: impl FnOnce(Self::Exclusive<'_>) -> R) -> (R, bool);

    /// Passes the states to a segment that only reads them.
    #[doc(hidden)]
    fn jointly<R>(&self, segment: impl FnOnce(Self::Shared<'_>) -> R) -> R;

    /// Records that the current thread has read the states.
    #[doc(hidden)]
    fn learn(&self);

    /// Passes the tasks that stopped at a condition to `visit`, once for each object.
    #[doc(hidden)]
    fn with_awaiting(&self, visit: &mut dyn FnMut(&mut Vec<Awaiting>));
}

#[track_caller]
pub(super) fn write<P: Parts, R>(parts: &P, segment: impl FnOnce(P::Exclusive<'_>) -> R) -> R {
    runtime::segment(parts.objects().as_ref(), Access::Write, "write()");
    parts.learn();
    change(parts, segment)
}

#[track_caller]
pub(super) fn read<P: Parts, R>(parts: &P, segment: impl FnOnce(P::Shared<'_>) -> R) -> R {
    runtime::segment(parts.objects().as_ref(), Access::Read, "read()");
    parts.learn();
    parts.jointly(segment)
}

#[track_caller]
pub(super) fn write_when<P: Parts, R>(
    parts: &P,
    condition: impl Fn(P::Shared<'_>) -> bool + Clone + Send + 'static,
    segment: impl FnOnce(P::Exclusive<'_>) -> R,
) -> R {
    runtime::segment(parts.objects().as_ref(), Access::Write, "write_when()");
    parts.learn();
    if !parts.jointly(&condition) {
        awaiting::block_for_ever(parts, condition);
    }
    change(parts, segment)
}

#[track_caller]
pub(super) fn read_when<P: Parts, R>(
    parts: &P,
    condition: impl Fn(P::Shared<'_>) -> bool + Clone + Send + 'static,
    segment: impl FnOnce(P::Shared<'_>) -> R,
) -> R {
    runtime::segment(parts.objects().as_ref(), Access::Read, "read_when()");
    parts.learn();
    if !parts.jointly(&condition) {
        awaiting::block_for_ever(parts, condition);
    }
    parts.jointly(segment)
}

/// Runs the part of a segment that changes the states, and then evaluates the conditions of stopped
/// tasks again.
pub(super) fn change<P: Parts, R>(parts: &P, segment: impl FnOnce(P::Exclusive<'_>) -> R) -> R {
    let result = parts.exclusively(segment);
    awaiting::ask_again(parts);
    result
}

impl<S: State> Parts for Object<S> {
    type Exclusive<'a> = &'a mut S;
    type Shared<'a> = &'a S;

    fn objects(&self) -> impl AsRef<[runtime::Object]> {
        [self.shared.object]
    }

    fn exclusively<R>(&self, segment: impl FnOnce(&mut S) -> R) -> R {
        segment(&mut self.state())
    }

    fn on_copies<R>(&self, segment: impl FnOnce(&mut S) -> R) -> (R, bool) {
        let mut copy = self.state().clone();
        let result = segment(&mut copy);
        (result, copy != *self.state())
    }

    fn jointly<R>(&self, segment: impl FnOnce(&S) -> R) -> R {
        segment(&self.state())
    }

    fn learn(&self) {
        runtime::learn(&*self.state());
    }

    fn with_awaiting(&self, visit: &mut dyn FnMut(&mut Vec<Awaiting>)) {
        visit(&mut self.awaiting());
    }
}

macro_rules! tuples {
    ($($($object:ident $state:ident),*;)*) => {
        $(impl<$($state: State),*> Parts for ($(Object<$state>,)*) {
            type Exclusive<'a> = ($(&'a mut $state,)*);
            type Shared<'a> = ($(&'a $state,)*);

            fn objects(&self) -> impl AsRef<[runtime::Object]> {
                let ($($object,)*) = self;
                [$($object.shared.object),*]
            }

            fn exclusively<R>(&self, segment: impl FnOnce(Self::Exclusive<'_>) -> R) -> R {
                let ($($object,)*) = self;
                segment(($(&mut *$object.state(),)*))
            }

            fn on_copies<R>(&self, segment: impl FnOnce(Self::Exclusive<'_>) -> R) -> (R, bool) {
                let ($($object,)*) = self;
                let mut copies = ($($object.state().clone(),)*);
                let result = {
                    let ($($object,)*) = &mut copies;
                    segment(($($object,)*))
                };
                let is_same = copies == ($($object.state().clone(),)*);
                (result, !is_same)
            }

            fn jointly<R>(&self, segment: impl FnOnce(Self::Shared<'_>) -> R) -> R {
                let ($($object,)*) = self;
                segment(($(&*$object.state(),)*))
            }

            fn learn(&self) {
                let ($($object,)*) = self;
                $($object.learn();)*
            }

            fn with_awaiting(&self, visit: &mut dyn FnMut(&mut Vec<Awaiting>)) {
                let ($($object,)*) = self;
                $(visit(&mut $object.awaiting());)*
            }
        })*
    };
}

tuples! {
    first A, second B;
    first A, second B, third C;
    first A, second B, third C, fourth D;
}
