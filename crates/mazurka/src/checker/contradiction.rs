//! Options that cannot be used together.

use super::CheckError;
use super::settings::Settings;

impl Settings {
    /// Rejects options that contradict each other or leave nothing to check.
    pub fn contradiction(&self) -> Result<(), CheckError> {
        if self.seed_is_set && self.algorithm.proves() {
            return Err(CheckError::Contradiction(
                "only the algorithms random and pct use a seed; choose one of them or omit the seed",
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
        match self.config.conditions.max_events {
            0 => Err(CheckError::Contradiction(
                "a limit of 0 operations leaves nothing to check",
            )),
            _ => Ok(()),
        }
    }
}
