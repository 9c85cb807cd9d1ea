//! The places of an execution's events and of its objects' creations. Collecting them is cheaper
//! than recording the execution, and does not affect the exploration.

use crate::engine::Engine;
use crate::engine::model::Model;
use crate::trace::source::{Place, Spot};
use explore::{EventId, ObjectId};

/// The places noted for an execution.
#[derive(Default)]
pub(crate) struct Noted {
    /// Indexed by event.
    spots: Vec<Spot>,
    made: Vec<(ObjectId, Place)>,
}

/// The places of an execution.
pub struct Look<'m> {
    engine: &'m Engine,
}

impl Model {
    /// Starts to note places, from the next execution on.
    pub fn begin_look(&mut self) {
        self.engine_mut().watch.look(true);
    }

    /// Stops noting places, from the next execution on.
    pub fn end_look(&mut self) {
        self.engine_mut().watch.look(false);
    }

    /// Returns the places noted for the current execution, if there are any.
    pub fn look(&self) -> Look<'_> {
        Look {
            engine: self.engine(),
        }
    }

    /// Returns `file:line:column`. None in a library, or if the place is unknown.
    pub fn place(&self, spot: Spot) -> Option<String> {
        self.engine().shown_spot(spot)
    }
}

impl Look<'_> {
    /// Returns the place of an event.
    pub fn spot(&self, event: EventId) -> Option<Spot> {
        self.engine.noted.spots.get(event.index()).copied()
    }

    /// Returns the objects with the places where they were created.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, Spot)> {
        let made = self.engine.noted.made.iter();
        made.map(|&(object, place)| (object, Spot::Source(place)))
    }
}

impl Engine {
    #[cold]
    pub(crate) fn note_event(&mut self, spot: Spot) {
        self.noted.spots.push(spot);
    }

    #[cold]
    pub(crate) fn note_object(&mut self, object: ObjectId, place: Place) {
        self.noted.made.push((object, place));
    }

    /// Discards the noted places at the beginning of an execution.
    pub(crate) fn forget_look(&mut self) {
        self.noted.spots.clear();
        self.noted.made.clear();
    }
}
