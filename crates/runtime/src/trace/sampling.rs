//! The places of an execution's events and of its objects' creations. Collecting them is cheaper
//! than recording the execution, and does not affect the exploration.

use crate::engine::Engine;
use crate::engine::model::Model;
use crate::engine::place::Place;
use crate::trace::source::Spot;
use explore::{EventId, ObjectId};

/// The places noted in an execution.
#[derive(Default)]
pub(crate) struct Sampled {
    /// Indexed by event.
    spots: Vec<Spot>,
    /// The objects with the places where they were created.
    made: Vec<(ObjectId, Place)>,
}

/// Access to the places noted in an execution.
pub struct Sample<'m> {
    engine: &'m Engine,
}

impl Model {
    /// Starts to note places, from the next execution on.
    pub fn begin_sampling(&mut self) {
        self.engine_mut().watch.sample(true);
    }

    /// Stops noting places, from the next execution on.
    pub fn end_sampling(&mut self) {
        self.engine_mut().watch.sample(false);
    }

    /// Returns the places noted for the current execution, if there are any.
    pub fn sample(&self) -> Sample<'_> {
        Sample {
            engine: self.engine(),
        }
    }

    /// Returns the place as `file:line:column`, or `None` if it is in a library or unknown.
    pub fn place(&self, spot: Spot) -> Option<String> {
        self.engine().shown_spot(spot)
    }
}

impl Sample<'_> {
    /// Returns the place of an event.
    pub fn spot(&self, event: EventId) -> Option<Spot> {
        self.engine.guests.sampled.spots.get(event.index()).copied()
    }

    /// Returns the objects with the places where they were created.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, Spot)> {
        let made = self.engine.guests.sampled.made.iter();
        made.map(|&(object, place)| (object, Spot::Source(place)))
    }
}

impl Engine {
    #[cold]
    pub(crate) fn sample_event(&mut self, spot: Spot) {
        self.guests.sampled.spots.push(spot);
    }

    #[cold]
    pub(crate) fn sample_object(&mut self, object: ObjectId, place: Place) {
        self.guests.sampled.made.push((object, place));
    }

    /// Discards the noted places at the beginning of an execution.
    pub(crate) fn forget_sample(&mut self) {
        self.guests.sampled.spots.clear();
        self.guests.sampled.made.clear();
    }
}
