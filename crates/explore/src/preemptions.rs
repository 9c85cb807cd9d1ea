//! Bounds on preemptions, which may grow automatically.

use crate::execution::Execution;
use crate::execution::Performed;
use crate::program::{Divergence, Outcome, Pending};
use crate::reduction::FewPreemptions;
use crate::search::Search;
use crate::strategy::{Decision, Strategy};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeFrom;
use std::str::FromStr;

/// The bound on preemptions in an execution.
///
/// ```
/// use explore::Preemptions;
///
/// assert_eq!("2".parse(), Ok(Preemptions::AtMost(2)));
/// assert_eq!("0..".parse(), Ok(Preemptions::From(0)));
/// assert_eq!(Preemptions::from(1..).to_string(), "1..");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preemptions {
    /// At most this number of preemptions. Executions with more are excluded.
    AtMost(u32),
    /// A sequence of searches with a growing bound. The first search has this bound, and each later
    /// search allows one more preemption, until no execution is excluded (Musuvathi, Qadeer, PLDI
    /// 2007). The first bug found has the fewest possible preemptions.
    From(u32),
}

impl From<u32> for Preemptions {
    fn from(bound: u32) -> Preemptions {
        Preemptions::AtMost(bound)
    }
}

impl From<RangeFrom<u32>> for Preemptions {
    fn from(bounds: RangeFrom<u32>) -> Preemptions {
        Preemptions::From(bounds.start)
    }
}

impl fmt::Display for Preemptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Preemptions::AtMost(bound) => write!(f, "{bound}"),
            Preemptions::From(bound) => write!(f, "{bound}.."),
        }
    }
}

/// A text that is not a bound on preemptions.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} is not a preemption bound: write 2 for at most two, or 0.. for a bound that grows from zero"
)]
pub struct NoBound(String);

impl FromStr for Preemptions {
    type Err = NoBound;

    fn from_str(text: &str) -> Result<Preemptions, NoBound> {
        let (number, make): (&str, fn(u32) -> Preemptions) = match text.strip_suffix("..") {
            Some(start) => (start, Preemptions::From),
            None => (text, Preemptions::AtMost),
        };
        let number = number.parse().map_err(|_| NoBound(text.to_owned()))?;
        Ok(make(number))
    }
}

/// A sequence of searches. Each allows one preemption more than the last, until no execution is
/// excluded.
#[derive(Serialize, Deserialize)]
pub struct Growing {
    search: Search<FewPreemptions>,
    bound: u32,
    is_exhaustive: bool,
    /// Whether the current search has excluded executions.
    leaves_out: bool,
    has_restarted: bool,
}

impl Growing {
    /// Returns a sequence whose first search has this bound.
    pub fn new(bound: u32, is_exhaustive: bool) -> Growing {
        Growing {
            search: Search::new().by(FewPreemptions::new(bound, is_exhaustive)),
            bound,
            is_exhaustive,
            leaves_out: false,
            has_restarted: false,
        }
    }

    /// Restores the bound of the search, which is not saved with the search.
    pub(crate) fn resumed(self) -> Growing {
        let reduction = FewPreemptions::new(self.bound, self.is_exhaustive);
        Growing {
            search: self.search.by(reduction),
            ..self
        }
    }
}

impl Strategy for Growing {
    fn backtrack(&mut self) -> bool {
        self.has_restarted = !self.search.backtrack();
        self.leaves_out |= self.search.leaves_out();
        if !self.has_restarted {
            return true;
        }
        if !self.leaves_out {
            return false;
        }
        *self = Growing {
            has_restarted: true,
            ..Growing::new(self.bound + 1, self.is_exhaustive)
        };
        self.search.backtrack()
    }

    fn has_restarted(&self) -> bool {
        self.has_restarted
    }

    fn returns(&self) -> bool {
        self.search.returns()
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        self.search.extend(pending)
    }

    fn performed(&mut self, performed: &Performed<'_>) {
        self.search.performed(performed);
    }

    fn analyse(&mut self, outcome: Outcome) {
        self.search.analyse(outcome);
    }

    fn execution(&self) -> &Execution {
        self.search.execution()
    }

    /// Estimates the progress of the search with the current bound.
    fn estimate(&self) -> Option<f64> {
        self.search.estimate()
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a search consists of serializable data")
    }
}
