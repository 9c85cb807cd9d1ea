//! Barriers.

use crate::engine::Engine;
use crate::engine::perform::{self, perform, silently};
use crate::engine::place::Place;
use crate::engine::waiting::Wait;
use crate::rust::settle::Inborn;
use explore::ObjectId;
use objects::{Barrier as Order, Coarsening, Ticket};
use std::panic::Location;

/// A reusable barrier for a fixed number of threads.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    pub(crate) object: ObjectId,
    number: u32,
    /// Whether arrivals are ordered.
    is_ordered: bool,
}

/// The result of passing a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    object: ObjectId,
    is_ordered: bool,
    is_leader: bool,
}

impl Inborn for Barrier {
    type Size = usize;

    const PARTS: u32 = Order::PARTS;

    #[cfg(feature = "enforce")]
    type Real = std::sync::OnceLock<enforce::blocking::Barrier>;

    #[cfg(feature = "enforce")]
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "each object starts with this value"
    )]
    const REAL: Self::Real = std::sync::OnceLock::new();

    fn begin(object: ObjectId, places: usize, location: Place) -> Barrier {
        silently(|engine| Barrier::named(engine, object, places, location))
    }
}

impl Barrier {
    /// Creates the barrier of a native program at this address.
    pub(crate) fn at(engine: &mut Engine, address: usize, places: usize) -> Barrier {
        let object = engine.names.object_at(address as u64, Order::PARTS);
        engine.name_object_at(object, address, 32);
        let barriers = &mut engine.life.objects.barriers;
        let number = barriers.add(|order| order.clear(places), || Order::new(places));
        let is_ordered = engine.names.is_coarse(object, Coarsening::Ordered);
        Barrier {
            object,
            number,
            is_ordered,
        }
    }

    /// Creates a barrier for the given number of threads.
    #[track_caller]
    pub fn new(places: usize) -> Barrier {
        let location = Location::caller();
        silently(|engine| {
            let object = engine.create(Order::PARTS);
            Barrier::named(engine, object, places, location)
        })
    }

    /// Creates a barrier for an object that already has its id.
    fn named(engine: &mut Engine, object: ObjectId, places: usize, location: Place) -> Barrier {
        engine.name_object(object, "Barrier", location);
        let barriers = &mut engine.life.objects.barriers;
        let number = barriers.add(|order| order.clear(places), || Order::new(places));
        let is_ordered = engine.names.is_coarse(object, Coarsening::Ordered);
        Barrier {
            object,
            number,
            is_ordered,
        }
    }

    /// Waits until the number of arrived threads equals the number of places.
    #[track_caller]
    pub fn wait(&self) -> Arrival {
        let location = Location::caller();
        let ticket = self.arrive(location);
        let wait = Wait::Barrier(self.number, ticket);
        perform::wait(Order::WAIT.on(self.object), wait, location, |_| ());
        let is_leader = silently(|engine| {
            engine
                .life
                .objects
                .barriers
                .get(self.number)
                .is_leader(ticket)
        });
        Arrival {
            object: self.object,
            is_ordered: self.is_ordered,
            is_leader,
        }
    }

    #[track_caller]
    fn arrive(&self, location: &'static Location<'static>) -> Ticket {
        perform(
            Order::arrive_form(self.is_ordered).on(self.object),
            location,
            |engine| {
                let (thread, event) = (engine.running, engine.event());
                let order = engine.life.objects.barriers.get_mut(self.number);
                let ticket = order.arrive(thread, event);
                if order.is_crowded() {
                    engine.coarsen_object(self.object, Coarsening::Ordered);
                }
                if engine.watch.races {
                    engine.guests.happens_before.leave(thread, event);
                }
                ticket
            },
        )
    }
}

impl Arrival {
    #[cfg(feature = "enforce")]
    pub(crate) fn outside(is_leader: bool) -> Arrival {
        Arrival {
            object: ObjectId::NONE,
            is_ordered: true,
            is_leader,
        }
    }

    /// Checks whether the thread was the last to arrive. This query makes the arrivals of the
    /// barrier ordered.
    #[track_caller]
    pub fn is_leader(&self) -> bool {
        if !self.is_ordered {
            silently(|engine| engine.coarsen_object(self.object, Coarsening::Ordered));
        }
        self.is_leader
    }
}
