//! The distinct failures of a search.

use explore::Schedule;
use report::FailureKind;
use runtime::Wanted;
use serde::{Deserialize, Serialize};

/// The properties that distinguish failures.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Symptom {
    pub kind: FailureKind,
    pub message: String,
    /// `file:line:column`, if known.
    pub location: Option<String>,
}

impl Symptom {
    /// Converts the symptom to the form by which a model finds this failure among those of an
    /// execution.
    pub fn wanted(&self) -> Option<Wanted> {
        Some(Wanted {
            kind: self.kind,
            message: self.message.clone(),
            location: self.location.clone(),
        })
    }

    /// Converts the symptom to the form that the model uses.
    pub fn shown(&self) -> runtime::Shown {
        runtime::Shown {
            kind: self.kind,
            message: self.message.clone(),
            location: self.location.clone(),
            event: None,
        }
    }

    /// Creates the symptom of a failure that the model shows.
    pub fn of(shown: runtime::Shown) -> Symptom {
        Symptom {
            kind: shown.kind,
            message: shown.message,
            location: shown.location,
        }
    }
}

/// A failure and the first execution that showed it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Sighting {
    pub symptom: Symptom,
    /// Number of the execution, from 1.
    pub execution: u64,
    /// A schedule that shows the failure, with the ids of this search.
    pub schedule: Schedule,
}

/// The distinct failures, in order of discovery.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Failures {
    pub sightings: Vec<Sighting>,
}

impl Failures {
    /// Checks whether this failure is known.
    pub fn contains(&self, symptom: &Symptom) -> bool {
        self.sightings
            .iter()
            .any(|sighting| sighting.symptom == *symptom)
    }

    /// Checks whether there was a data race, after which the same steps may have different effects.
    pub fn contain_a_race(&self) -> bool {
        self.sightings
            .iter()
            .any(|sighting| sighting.symptom.kind == FailureKind::DataRace)
    }

    /// Checks whether there was no failure.
    pub fn is_empty(&self) -> bool {
        self.sightings.is_empty()
    }
}
