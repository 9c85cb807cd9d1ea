//! Options that cannot be used together.

use super::CheckError;
use super::settings::Settings;
use explore::Algorithm;

impl Settings {
    /// Rejects options that contradict each other or leave nothing to check.
    pub fn contradiction(&self) -> Result<(), CheckError> {
        if self.seed_is_set && self.algorithm.proves() {
            return Err(CheckError::Contradiction(
                "only the algorithms random and pct use a seed; choose one of them or omit the seed",
            ));
        }
        if self.config.symmetry {
            self.fits_symmetry()?;
        }
        if self.is_weak() {
            self.fits_weak_memory()?;
        }
        if self.max_executions == Some(0) {
            return Err(CheckError::Contradiction(
                "a limit of 0 executions leaves nothing to check",
            ));
        }
        self.has_room()
    }

    /// Rejects options that only searches over interleavings support.
    fn fits_weak_memory(&self) -> Result<(), CheckError> {
        if !self.has_graphs() {
            return Err(CheckError::Contradiction(
                "a memory model other than sc has its own search; omit the algorithm, or choose random, or the memory model sc",
            ));
        }
        if self.options.preemptions.is_some() {
            return Err(CheckError::Contradiction(
                "preemptions are bounded under sequential consistency only; omit the bound, or choose the memory model sc",
            ));
        }
        if self.config.conditions.interleaves_plain {
            return Err(CheckError::Contradiction(
                "plain accesses are interleaved under sequential consistency only; choose the memory model sc",
            ));
        }
        Ok(())
    }

    /// Rejects options under which executions that differ only in the exchange of threads are not
    /// known to be equivalent.
    fn fits_symmetry(&self) -> Result<(), CheckError> {
        let is_supported = matches!(
            self.algorithm,
            Algorithm::Parsimonious | Algorithm::Optimal | Algorithm::Source | Algorithm::Sleep
        );
        if !is_supported {
            return Err(CheckError::Contradiction(
                "only parsimonious, optimal, source and sleep can reduce by symmetry; choose one of them or omit the reduction",
            ));
        }
        if self.options.preemptions.is_some() {
            return Err(CheckError::Contradiction(
                "an exchange of threads changes the number of preemptions; omit the bound or the reduction by symmetry",
            ));
        }
        if self.config.conditions.memory.is_weak() || self.config.conditions.is_enforceable {
            return Err(CheckError::Contradiction(
                "symmetry reduces only searches under sequential consistency that are not for `mazurka run`; omit the reduction, or choose the memory model sc",
            ));
        }
        Ok(())
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
