//! Code that all mirrors of `std`'s synchronization objects share: their creation, their names, and
//! access to their state in the model.
//!
//! A thread that waits for an object has a *place* in the order of the object. The object *grants*
//! the place when the thread may go on.

use crate::engine::Engine;
use crate::rust::pools::Wait;
use explore::EventId;

/// Implements the creation and the names of a mirror with the fields `object` and `number`: `new`
/// in Rust, `at` in native programs if the size of the native object is given, and
/// [`Inborn`](crate::Inborn) for objects that settle (see `settle.rs`). Each `=>` maps the
/// parameter of the constructor to that of the state machine. The last line computes the fields
/// other than `object` and `number`.
macro_rules! mirror {
    (
        $(#[$attribute:meta])*
        $Mirror:ident: $Order:ty,
        new($($size:ident: $Size:ty)?) => $begin:expr,
        $(at($($given:ident: $Given:ty)?) => $start:expr, $bytes:literal bytes,)?
        real $Real:ty = $real:expr,
        |$engine:ident, $object:ident, $number:ident| { $($field:ident: $value:expr,)* }
    ) => {
        impl $Mirror {
            $(#[$attribute])*
            #[allow(clippy::new_without_default, reason = "`new` needs a model")]
            #[track_caller]
            pub fn new($($size: $Size)?) -> $Mirror {
                let location = std::panic::Location::caller();
                $crate::engine::perform::silently(|engine| {
                    let object = engine.create(<$Order as objects::Object>::PARTS);
                    $Mirror::named(engine, object, $begin, location)
                })
            }

            $(
                /// Creates the object of a native program at this address.
                pub(crate) fn at(
                    engine: &mut $crate::engine::Engine,
                    address: usize,
                    $($given: $Given)?
                ) -> $Mirror {
                    let parts = <$Order as objects::Object>::PARTS;
                    let object = engine.names.object_at(address as u64, parts);
                    engine.name_object_at(object, address, $bytes);
                    $Mirror::with(engine, object, $start)
                }
            )?

            /// Creates the mirror of an object that already has its id.
            pub(crate) fn named(
                engine: &mut $crate::engine::Engine,
                object: explore::ObjectId,
                size: <$Order as objects::Object>::Size,
                location: $crate::engine::place::Place,
            ) -> $Mirror {
                engine.name_object(object, stringify!($Mirror), location);
                $Mirror::with(engine, object, size)
            }

            fn with(
                $engine: &mut $crate::engine::Engine,
                $object: explore::ObjectId,
                size: <$Order as objects::Object>::Size,
            ) -> $Mirror {
                use $crate::rust::pools::Pooled;
                let $number = <$Order>::pool(&mut $engine.life.objects).create(size);
                $Mirror {
                    object: $object,
                    number: $number,
                    $($field: $value,)*
                }
            }

            /// Returns the state of the object.
            #[inline(always)]
            fn order(self, engine: &mut $crate::engine::Engine) -> &mut $Order {
                use $crate::rust::pools::Pooled;
                <$Order>::pool(&mut engine.life.objects).get_mut(self.number)
            }

            /// Sets the name of the object in traces.
            #[track_caller]
            pub fn call(&self, name: &str) {
                $crate::engine::perform::silently(|engine| engine.rename(self.object, name));
            }
        }

        #[allow(unused_parens, reason = "a mirror has one parameter or none")]
        impl $crate::rust::settle::Inborn for $Mirror {
            type Size = ($($Size)?);

            const PARTS: u32 = <$Order as objects::Object>::PARTS;

            #[cfg(feature = "enforce")]
            type Real = $Real;

            #[cfg(feature = "enforce")]
            #[allow(
                clippy::declare_interior_mutable_const,
                reason = "each object starts with this value"
            )]
            const REAL: Self::Real = $real;

            fn begin(
                object: explore::ObjectId,
                ($($size)?): Self::Size,
                location: $crate::engine::place::Place,
            ) -> $Mirror {
                $crate::engine::perform::silently(|engine| {
                    $Mirror::named(engine, object, $begin, location)
                })
            }
        }

        impl $crate::rust::settle::Born<$Mirror> {
            /// Sets the name of the object in traces.
            #[track_caller]
            pub fn call(&self, name: &str) {
                $crate::rust::outside::outside!();
                self.get().call(name);
            }
        }
    };
}

pub(crate) use mirror;

impl Engine {
    /// Orders the running thread after the events that ended its wait, that is, that granted its
    /// place.
    #[inline(always)]
    pub(crate) fn follows_grant(&mut self, wait: Wait) {
        if self.watch.races {
            self.takes_up_grant(wait);
        }
        self.follows_weakly(wait);
    }

    #[inline(never)]
    fn takes_up_grant(&mut self, wait: Wait) {
        let mut edges = std::mem::take(&mut self.granting);
        edges.clear();
        self.life.objects.edges(wait, &mut edges);
        self.guests.happens_before.take_up(self.running, &edges);
        self.granting = edges;
    }

    /// Orders the running thread after the events that ended its wait, if the memory model is weak.
    /// Under sequential consistency, the conflicts of the events order them anyway.
    #[inline(always)]
    pub(crate) fn follows_weakly(&mut self, wait: Wait) {
        if self.is_weak() {
            self.comes_after_grant(wait);
        }
    }

    #[cold]
    fn comes_after_grant(&mut self, wait: Wait) {
        let mut edges = Vec::new();
        self.life.objects.edges(wait, &mut edges);
        edges.into_iter().for_each(|edge| self.comes_after(edge));
    }

    /// Orders the running thread after these events.
    pub(crate) fn synchronize_with(&mut self, events: &[EventId]) {
        if self.watch.races {
            self.guests.happens_before.take_up(self.running, events);
        }
        if self.is_weak() {
            events.iter().for_each(|&event| self.comes_after(event));
        }
    }

    /// Stores the clock of the running thread under the current event, so that threads to which the
    /// event grants a place are ordered after it. Only the detection of data races needs this.
    pub(crate) fn may_grant(&mut self, event: EventId) {
        if self.watch.races {
            self.guests.happens_before.leave(self.running, event);
        }
    }
}
