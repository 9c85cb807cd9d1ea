//! Which prefixes of the first execution are verified (Metzler, Saissi, Bokor, Suri: iteratively relaxed scheduling).
//!
//! The prefix E_k is verified when every execution that begins with it was explored and none of them failed. Depth-first
//! searches, and POP where it takes the longest common prefix first ([`Algorithm::verifier`]), come to no
//! execution that shares less with the first one before those are done that share more.
//!
//! [`Algorithm::verifier`]: crate::Algorithm::verifier

use crate::execution::{Accesses, Constraint, Execution};
use crate::program::Outcome;
use std::collections::BTreeSet;

/// What is verified of a first execution, while others are explored.
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
    /// What the execution at hand has in common with the first one.
    common: usize,
    /// The prefixes of this length and longer ones are verified.
    verified: usize,
    has_failed: bool,
}

impl Verification {
    /// An execution begins that has so many events in common with the one before.
    pub fn begins(&mut self, kept: usize) {
        if self.first.is_some() && kept < self.common {
            self.common = kept;
            self.verified = kept + 1;
        }
    }

    /// The execution that began has ended.
    pub fn ended(&mut self, outcome: Outcome, execution: &Execution) {
        self.accesses.note(execution);
        self.has_failed |= outcome.is_bug();
        if self.first.is_none() {
            self.first = Some(execution.clone());
            self.common = execution.len();
            self.verified = execution.len();
        }
    }

    /// Every execution was explored.
    pub fn exhausted(&mut self) {
        if !self.has_failed {
            self.verified = 0;
        }
    }

    /// Whether an execution has failed, so that no shorter prefix will be verified.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// The length of the shortest prefix that is known to be verified.
    pub fn verified(&self) -> usize {
        self.verified
    }

    /// The first execution, of which the prefixes are.
    pub fn first(&self) -> Option<&Execution> {
        self.first.as_ref()
    }

    /// What a run has to keep so that it begins with the shortest verified prefix.
    pub fn constraints(&self) -> BTreeSet<Constraint> {
        match &self.first {
            Some(first) => first.constraints(self.verified, &self.accesses),
            None => BTreeSet::new(),
        }
    }
}
