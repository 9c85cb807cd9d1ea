//! Barriers.

use crate::engine::perform::{self, perform, silently};
use crate::rust::mirror::mirror;
use crate::rust::pools::Wait;
use explore::ObjectId;
use objects::{Barrier as Order, Coarsening, Ticket};
use std::panic::Location;

/// A reusable barrier for a fixed number of threads.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    pub(crate) object: ObjectId,
    number: u32,
    /// Whether the order of the arrivals is known to matter (`Coarsening::Ordered`), so that
    /// arrivals conflict.
    is_ordered: bool,
}

/// The result of passing a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    object: ObjectId,
    is_ordered: bool,
    is_leader: bool,
}

mirror! {
    /// Creates a barrier that lets each group of this many threads pass.
    Barrier: Order,
    new(places: usize) => places,
    at(places: usize) => places, 32 bytes,
    real std::sync::OnceLock<enforce::blocking::Barrier> = std::sync::OnceLock::new(),
    |engine, object, number| {
        is_ordered: engine.names.is_coarse(object, Coarsening::Ordered),
    }
}

impl Barrier {
    /// Waits until as many threads have arrived as the barrier has places. The next arrivals form a
    /// new group.
    #[track_caller]
    pub fn wait(&self) -> Arrival {
        let location = Location::caller();
        let ticket = self.arrive(location);
        let wait = Wait::Barrier(self.number, ticket);
        perform::wait(Order::WAIT.on(self.object), wait, location, |_| ());
        let is_leader = silently(|engine| self.order(engine).is_leader(ticket));
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
                let order = self.order(engine);
                let ticket = order.arrive(thread, event);
                if order.is_crowded() {
                    engine.coarsen_object(self.object, Coarsening::Ordered);
                }
                engine.may_grant(event);
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

    /// Checks whether the thread was the last to arrive. From the first query on, the exploration
    /// distinguishes the orders of the arrivals.
    #[track_caller]
    pub fn is_leader(&self) -> bool {
        if !self.is_ordered {
            silently(|engine| engine.coarsen_object(self.object, Coarsening::Ordered));
        }
        self.is_leader
    }
}
