//! The number of jobs that search.

use mazurka::{CheckError, Checker, Division};
use std::thread::available_parallelism;

/// The number of jobs that search.
#[derive(Clone, Copy)]
pub enum Jobs {
    /// The number that the user asked for.
    Asked(usize),
    /// A number that suits the machine.
    Fitting(usize),
}

impl Default for Jobs {
    fn default() -> Jobs {
        Jobs::Fitting(1)
    }
}

impl Jobs {
    /// Returns the given number, or one job for each core that this process may use.
    pub fn of(asked: Option<u16>) -> Jobs {
        match asked {
            Some(jobs) => Jobs::Asked(jobs.into()),
            None => Jobs::Fitting(available_parallelism().map_or(1, usize::from)),
        }
    }

    pub fn number(self) -> usize {
        match self {
            Jobs::Asked(jobs) | Jobs::Fitting(jobs) => jobs,
        }
    }

    /// Divides the search of the checker among the jobs. The inner error is returned if there is
    /// only one job, or if the search cannot be divided. It is the warning for the report, if one
    /// is needed.
    pub fn divide(self, checker: &Checker) -> Result<Result<Division, Option<String>>, CheckError> {
        if self.number() == 1 {
            return Ok(Err(None));
        }
        let divided = checker.divide(self.number())?;
        Ok(divided.map_err(|why| self.by_one_because(&why)))
    }

    /// Returns why one job searches, but only if the user asked for several.
    pub fn by_one_because(self, why: &str) -> Option<String> {
        matches!(self, Jobs::Asked(2..)).then(|| why.to_owned())
    }
}
