//! Prefixes verified so far (Metzler, Saissi, Bokor, Suri: iteratively relaxed scheduling).
//!
//! E_k denotes the first k events of the first execution. This prefix is verified when every
//! execution that begins with E_k was explored and none failed. This requires a search that
//! explores an execution only after all executions that share a longer prefix with the first
//! execution. Depth-first searches have this order. POP has it if it defers children
//! ([`Algorithm::verifier`]).
//!
//! [`Algorithm::verifier`]: crate::Algorithm::verifier

use crate::execution::{Accesses, Constraint, Execution};
use crate::program::Outcome;
use std::collections::BTreeSet;

/// The verified prefixes of the first execution, updated while other executions are explored. The
/// exploration must end when an execution has failed.
///
/// ```
/// use explore::{Execution, Outcome, Verification};
///
/// let mut verification = Verification::default();
/// verification.begins(0);
/// verification.ended(Outcome::Completed, &Execution::default());
/// assert_eq!(verification.verified(), 0);
/// ```
#[derive(Default, Debug)]
pub struct Verification {
    first: Option<Execution>,
    accesses: Accesses,
    /// The length of the prefix that the first execution shares with the current one.
    common: usize,
    /// Prefixes of at least this length are verified.
    verified: usize,
    has_failed: bool,
}

impl Verification {
    /// Records the beginning of an execution that shares its first `kept` events with the previous
    /// one.
    pub fn begins(&mut self, kept: usize) {
        if self.first.is_some() && kept < self.common {
            self.common = kept;
            self.verified = kept + 1;
        }
    }

    /// Records that the current execution has ended.
    pub fn ended(&mut self, outcome: Outcome, execution: &Execution) {
        self.accesses.record(execution);
        self.has_failed |= outcome.is_bug();
        if self.first.is_none() {
            self.first = Some(execution.clone());
            self.common = execution.len();
            self.verified = execution.len();
        }
    }

    /// Records that every execution was explored.
    pub fn exhausted(&mut self) {
        if !self.has_failed {
            self.verified = 0;
        }
    }

    /// Checks whether an execution has failed. Then no shorter prefix will be verified.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Returns the length of the shortest prefix that is known to be verified.
    pub fn verified(&self) -> usize {
        self.verified
    }

    /// Returns the execution whose prefixes are verified.
    pub fn first(&self) -> Option<&Execution> {
        self.first.as_ref()
    }

    /// Returns the constraints that make a run begin with the shortest verified prefix.
    pub fn constraints(&self) -> BTreeSet<Constraint> {
        match &self.first {
            Some(first) => first.constraints(self.verified, &self.accesses),
            None => BTreeSet::new(),
        }
    }
}
