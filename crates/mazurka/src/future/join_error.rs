//! The reason why a task has no result.

use std::any::Any;
use std::fmt;
use std::sync::Mutex;

/// The error of a task that was aborted or panicked.
pub struct JoinError {
    /// `None` if the task was aborted. The mutex lets threads share the error.
    panic: Option<Mutex<Box<dyn Any + Send>>>,
}

impl JoinError {
    pub(super) fn cancelled() -> JoinError {
        JoinError { panic: None }
    }

    pub(super) fn panicked(panic: Box<dyn Any + Send>) -> JoinError {
        let panic = Some(Mutex::new(panic));
        JoinError { panic }
    }

    /// Checks whether the task was aborted.
    pub fn is_cancelled(&self) -> bool {
        self.panic.is_none()
    }

    /// Checks whether the task panicked.
    pub fn is_panic(&self) -> bool {
        self.panic.is_some()
    }

    /// Returns the payload of the task's panic, or the error itself if the task was aborted.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, JoinError> {
        match self.panic {
            Some(panic) => Ok(panic
                .into_inner()
                .unwrap_or_else(|panic| panic.into_inner())),
            None => Err(self),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.panic {
            Some(_) => "the task panicked",
            None => "the task was aborted",
        })
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.panic {
            Some(_) => "JoinError::Panic(..)",
            None => "JoinError::Cancelled",
        })
    }
}

impl std::error::Error for JoinError {}
