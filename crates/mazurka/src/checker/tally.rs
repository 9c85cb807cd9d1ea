//! The numbers of a search, counted per execution.

use explore::{Bound, Outcome};
use report::{Counts, Restart};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The numbers of a search.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Executions that ran until no thread could continue, halted ones excluded.
    pub executions: u64,
    /// Executions in which a thread stopped at an assumption, at a bound, or in a spin loop that a
    /// write by another thread could end.
    pub halted: u64,
    /// Redundant executions.
    pub blocked: u64,
    /// Deadlocks, which are included in `executions`.
    pub deadlocks: u64,
    /// Events of all executions, including repeated events.
    pub events: u64,
    /// Events of the longest execution.
    pub max_depth: usize,
    /// Probes (runs outside the exploration).
    pub probes: u64,
    /// Bounds that left executions out or halted a thread.
    pub bounds: BTreeSet<Bound>,
    /// Executions before the search last started again. No other field includes them.
    pub given_up: u64,
    /// How often the search started again, for each reason.
    pub restarts: BTreeMap<Restart, u64>,
}

impl Tally {
    /// Returns the number of executions since the search last started again.
    pub fn complete(&self) -> u64 {
        self.executions + self.halted + self.blocked
    }

    /// Counts an execution.
    pub fn count(&mut self, outcome: Outcome, events: usize) {
        match outcome {
            Outcome::Completed | Outcome::Failed | Outcome::Stuck => self.executions += 1,
            Outcome::Deadlock => {
                self.executions += 1;
                self.deadlocks += 1;
            }
            Outcome::Halted => self.halted += 1,
            Outcome::Blocked => self.blocked += 1,
        }
        self.events += events as u64;
        self.max_depth = self.max_depth.max(events);
    }

    /// Adds the numbers of another part.
    pub fn add(&mut self, other: &Tally) {
        self.executions += other.executions;
        self.halted += other.halted;
        self.blocked += other.blocked;
        self.deadlocks += other.deadlocks;
        self.events += other.events;
        self.max_depth = self.max_depth.max(other.max_depth);
        self.probes += other.probes;
        self.bounds.extend(&other.bounds);
        self.given_up += other.given_up;
        self.add_restarts(other);
    }

    /// Returns the counts that the trail shows to other processes.
    pub fn counts(&self) -> Counts {
        Counts {
            executions: self.executions,
            halted: self.halted,
            blocked: self.blocked,
            deadlocks: self.deadlocks,
            events: self.events,
            max_depth: self.max_depth as u64,
        }
    }

    /// Creates the tally from the counts in another process's trail.
    pub fn of(counts: &Counts) -> Tally {
        Tally {
            executions: counts.executions,
            halted: counts.halted,
            blocked: counts.blocked,
            deadlocks: counts.deadlocks,
            events: counts.events,
            max_depth: usize::try_from(counts.max_depth).unwrap_or(usize::MAX),
            ..Tally::default()
        }
    }

    /// Returns the number of all executions, including those before the search restarted.
    pub fn runs(&self) -> u64 {
        self.given_up + self.executions + self.halted + self.blocked
    }

    /// Adds the reasons for which another part started again.
    pub fn add_restarts(&mut self, other: &Tally) {
        for (&why, &count) in &other.restarts {
            *self.restarts.entry(why).or_default() += count;
        }
    }

    /// Resets the numbers, because the search starts again. `why` is given if the program is the
    /// cause. Keeps only the number of executions and the reasons.
    pub fn restart(&mut self, why: Option<Restart>) {
        *self = Tally {
            given_up: self.runs(),
            restarts: std::mem::take(&mut self.restarts),
            ..Tally::default()
        };
        if let Some(why) = why {
            *self.restarts.entry(why).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_executions_are_counted_apart_from_halted_and_blocked_ones() {
        let mut tally = Tally::default();
        for outcome in [
            Outcome::Completed,
            Outcome::Failed,
            Outcome::Deadlock,
            Outcome::Stuck,
        ] {
            tally.count(outcome, 3);
        }
        tally.count(Outcome::Halted, 5);
        tally.count(Outcome::Blocked, 1);
        assert_eq!((tally.executions, tally.halted, tally.blocked), (4, 1, 1));
        assert_eq!(
            (tally.deadlocks, tally.events, tally.max_depth, tally.runs()),
            (1, 18, 5, 6)
        );
    }

    #[test]
    fn executions_before_a_fresh_start_are_runs_and_nothing_else() {
        let mut tally = Tally::default();
        for _ in 0..2 {
            tally.count(Outcome::Deadlock, 3);
            tally.restart(Some(Restart::Loop));
        }
        tally.count(Outcome::Completed, 2);
        assert_eq!((tally.executions, tally.deadlocks, tally.events), (1, 0, 2));
        assert_eq!((tally.runs(), tally.given_up), (3, 2));
        assert_eq!(tally.restarts, [(Restart::Loop, 2)].into());
    }
}
