//! The distinct failures that a search has met.

use explore::Schedule;
use report::FailureKind;
use runtime::Wanted;
use serde::{Deserialize, Serialize};

/// What tells two failures apart.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Symptom {
    pub kind: FailureKind,
    pub message: String,
    /// `file:line:column`, if known.
    pub location: Option<String>,
}

impl Symptom {
    /// How a model finds it among others in one execution.
    pub fn wanted(&self) -> Option<Wanted> {
        Some(Wanted {
            kind: self.kind,
            message: self.message.clone(),
            location: self.location.clone(),
        })
    }

    /// As the model shows it.
    pub fn shown(&self) -> runtime::Shown {
        runtime::Shown {
            kind: self.kind,
            message: self.message.clone(),
            location: self.location.clone(),
            event: None,
        }
    }

    /// What the model shows.
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
    /// A schedule that shows it, in the ids of this search.
    pub schedule: Schedule,
}

/// The distinct failures in the order in which they were met.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Failures {
    pub sightings: Vec<Sighting>,
}

impl Failures {
    /// Whether this failure has been met before.
    pub fn contains(&self, symptom: &Symptom) -> bool {
        self.sightings
            .iter()
            .any(|sighting| sighting.symptom == *symptom)
    }

    /// Whether values are raced for, so that the program need not do the same after the same steps.
    pub fn contain_a_race(&self) -> bool {
        self.sightings
            .iter()
            .any(|sighting| sighting.symptom.kind == FailureKind::DataRace)
    }

    /// Whether none was met.
    pub fn is_empty(&self) -> bool {
        self.sightings.is_empty()
    }
}
