//! Options that cannot be used together.

use super::CheckError;
use super::settings::Settings;
use explore::States;

impl Settings {
    /// Rejects options that contradict each other or leave nothing to check.
    pub fn contradiction(&self) -> Result<(), CheckError> {
        if self.seed_is_set && self.algorithm.proves() {
            return Err(CheckError::Contradiction(
                "a seed is only used by the algorithms random and pct; choose one of them or leave it out",
            ));
        }
        if self.options.published_cuts && !self.algorithm.compares_states() {
            return Err(CheckError::Contradiction(
                "cuts as published are cuts of the algorithm context-sensitive; choose it or leave them out",
            ));
        }
        if self.options.states != States::default() && !self.algorithm.compares_states() {
            return Err(CheckError::Contradiction(
                "only the algorithm context-sensitive compares states; choose it or leave out how",
            ));
        }
        if self.options.states != States::default() && self.options.published_cuts {
            return Err(CheckError::Contradiction(
                "cuts as published are made where states are compared at once, not where they are stored",
            ));
        }
        if self.max_executions == Some(0) {
            return Err(CheckError::Contradiction(
                "a limit of 0 executions leaves nothing to check",
            ));
        }
        self.has_room()
    }

    /// Rejects a limit that lets threads perform no operations.
    pub fn has_room(&self) -> Result<(), CheckError> {
        match self.conditions.max_events {
            0 => Err(CheckError::Contradiction(
                "a limit of 0 operations leaves nothing to check",
            )),
            _ => Ok(()),
        }
    }
}
