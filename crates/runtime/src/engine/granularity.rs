//! The definition of a step of a model.
//!
//! Spawns and waits have no access, so they commute with every operation of other threads. In a
//! search they happen as early as possible, in the step before. So there are fewer steps to explore
//! and fewer events to store.

use crate::config::Config;
use report::Shortcut;

/// The operations that count as a step.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum StepGranularity {
    /// Operations with an access or with alternatives. Spawns and waits commute with everything and
    /// happen as early as possible, in the step before, so that there are fewer steps to explore.
    #[default]
    Accesses,
    /// Every operation, for users.
    Operations,
}

impl StepGranularity {
    /// Returns the steps of a search.
    pub(crate) fn of_search(config: &Config) -> StepGranularity {
        match config.without.contains(&Shortcut::FoldedSpawns) {
            true => StepGranularity::Operations,
            false => StepGranularity::Accesses,
        }
    }
}
