//! The tree of a search, for the report. The first executions are run again after the search.

use super::brake::{Brake, Braked};
use super::search::{Search, UntilEnded};
use explore::{Execution, Outcome, Schedule, Strategy};
use report::{Branch, End, Tree};
use std::time::Duration;

/// The maximum number of executions in the tree.
const MOST: usize = 1000;

/// The maximum time for running them.
const LONGEST: Duration = Duration::from_secs(2);

impl Search {
    /// Returns the tree: where each of the first executions leaves the previous one. Ends with the
    /// first bug, as the search does without [`keep_going`](super::Checker::keep_going).
    pub(super) fn sample(&mut self) -> Tree {
        self.model.mark_code(true);
        let mut tree = self.run_sample();
        self.model.mark_code(false);
        tree.unreached = self.model.unreached();
        tree
    }

    fn run_sample(&mut self) -> Tree {
        let settings = &self.settings;
        let mut strategy = settings.algorithm.strategy(settings.options());
        let most = settings
            .limit()
            .map_or(MOST, |limit| MOST.min(limit as usize));
        let mut brake = Brake::new(Some(LONGEST), settings.stops.clone(), 0.0);
        let mut tree = Tree::default();
        let mut before = Schedule::new();
        self.model.step_by_accesses();
        while tree.branches.len() < most && brake.pulled().is_none() {
            let mut ended = UntilEnded::default();
            let mut program = Braked {
                model: &mut self.model,
                brake: &mut brake,
                trail: None,
                covered: None,
                kept: None,
                is_sampled: false,
            };
            let result = explore::explore(&mut program, &mut strategy, &mut ended);
            if result.is_err() {
                return tree;
            }
            let Some(outcome) = ended.outcome else {
                tree.is_whole = true;
                return tree;
            };
            if ended.has_restarted {
                tree.branches.clear();
                before.clear();
            }
            let execution = strategy.execution();
            // The strategy may repeat the common events in a new order.
            let schedule = execution.schedule();
            let both = schedule.iter().zip(&before);
            let kept = both.take_while(|(step, other)| step == other).count();
            before.clone_from(&schedule);
            tree.branches.push(self.branch(execution, kept, outcome));
            if outcome.is_bug() && !self.settings.keeps_going {
                tree.is_whole = true;
                return tree;
            }
        }
        tree
    }

    fn branch(&self, execution: &Execution, kept: usize, outcome: Outcome) -> Branch {
        let first = execution.events().nth(kept);
        Branch {
            kept,
            events: execution.len(),
            thread: first.map_or_else(String::new, |(_, event)| {
                self.model.thread_name(event.thread())
            }),
            end: match outcome {
                Outcome::Completed => End::Complete,
                Outcome::Failed | Outcome::Stuck | Outcome::Deadlock => End::Bug,
                Outcome::Halted => End::Halted,
                Outcome::Blocked => End::Redundant,
            },
        }
    }
}
