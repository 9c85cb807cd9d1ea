//! The names of threads and objects, the same in all executions.

use explore::{Schedule, ThreadId};
use report::SavedStep;
use serde::{Deserialize, Serialize};

/// Dense ids for spawn paths and for objects, interned as they are met and never forgotten, and what
/// was learnt of the objects (coarsenings). A resumed search needs the names of the one it resumes.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Names {}

/// A spawn path that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is no spawn path; one looks like 0.2.1")]
pub struct UnknownThread(pub String);

impl Names {
    /// A hash of what is known to be coarse. A search saved under another one does not fit.
    pub fn coarsenings(&self) -> u64 {
        todo!()
    }

    /// The spawn path of a thread: `0` is the main thread, `0.2` its third child.
    pub fn spawn_path(&self, _thread: ThreadId) -> String {
        todo!()
    }

    /// The schedule in names that do not depend on the process.
    pub fn save(&self, _schedule: &Schedule) -> Vec<SavedStep> {
        todo!()
    }

    /// The schedule in the names of this process.
    pub fn load(&mut self, _steps: &[SavedStep]) -> Result<Schedule, UnknownThread> {
        todo!()
    }
}
