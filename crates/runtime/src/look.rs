//! A quick look at an execution of a search: where its events stand, and where its objects were made. Cheaper than
//! to record it, and without effect on what is explored.

use crate::engine::Engine;
use crate::model::Model;
use crate::source::{Place, Spot};
use explore::{EventId, ObjectId};

/// What is noted of an execution that is looked at.
#[derive(Default)]
pub(crate) struct Noted {
    /// Indexed by event.
    spots: Vec<Spot>,
    made: Vec<(ObjectId, Place)>,
}

/// An execution that was looked at.
pub struct Look<'m> {
    engine: &'m Engine,
}

impl Model {
    /// The next execution is looked at.
    pub fn begin_look(&mut self) {
        self.engine_mut().watch.look(true);
    }

    /// The next one is not.
    pub fn end_look(&mut self) {
        self.engine_mut().watch.look(false);
    }

    /// What is known of the execution at hand, if it was looked at.
    pub fn look(&self) -> Look<'_> {
        Look {
            engine: self.engine(),
        }
    }

    /// `file:line:column`; none in a library, or if it is not known.
    pub fn place(&self, spot: Spot) -> Option<String> {
        self.engine().shown_spot(spot)
    }
}

impl Look<'_> {
    /// Where an event stands.
    pub fn spot(&self, event: EventId) -> Option<Spot> {
        self.engine.noted.spots.get(event.index()).copied()
    }

    /// The objects with the places where they were made.
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

    /// The execution begins anew.
    pub(crate) fn forget_look(&mut self) {
        self.noted.spots.clear();
        self.noted.made.clear();
    }
}
