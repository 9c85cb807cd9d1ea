//! The definition of a step of a model.
//!
//! Spawns and waits have no access, so they commute with every operation of other threads. In a
//! search, they are not steps: they happen as early as possible, as parts of the step before. This
//! leaves fewer steps to explore and fewer events to store.

use crate::config::Config;
use report::Shortcut;

/// The operations that count as a step.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum StepGranularity {
    /// Operations with an access or with alternatives. Spawns and waits are parts of the step
    /// before.
    #[default]
    Accesses,
    /// Every operation, as in traces for users.
    Operations,
}

impl StepGranularity {
    /// Returns the granularity of steps in a search.
    pub(crate) fn of_search(config: &Config) -> StepGranularity {
        match config.without.contains(&Shortcut::FoldedSpawns) {
            true => StepGranularity::Operations,
            false => StepGranularity::Accesses,
        }
    }
}
