//! How many jobs search.

use mazurka::{CheckError, Checker, Division};
use std::thread::available_parallelism;

/// How many jobs search.
#[derive(Clone, Copy)]
pub enum Jobs {
    /// As many as the user asked for.
    Asked(usize),
    /// As many as fit the machine.
    Fitting(usize),
}

impl Default for Jobs {
    fn default() -> Jobs {
        Jobs::Fitting(1)
    }
}

impl Jobs {
    /// As many as were asked for, or else one for each core that this process may use.
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

    /// The search of the checker, divided; or what the report says if it is not.
    pub fn divide(self, checker: &Checker) -> Result<Result<Division, Option<String>>, CheckError> {
        if self.number() == 1 {
            return Ok(Err(None));
        }
        let divided = checker.divide(self.number())?;
        Ok(divided.map_err(|why| self.by_one_because(&why)))
    }

    /// What the report says of a search by one job: nothing to those who have not asked for several.
    pub fn by_one_because(self, why: &str) -> Option<String> {
        matches!(self, Jobs::Asked(2..)).then(|| why.to_owned())
    }
}
