//! Why a search is not complete.

use super::search::Search;
use explore::{Algorithm, Bound};
use report::quantity::{count, counted};
use report::{Limit, bound_name};

impl Search {
    /// What ended the search before it was done, and what cut something off.
    pub(super) fn limits(&self) -> Vec<Limit> {
        let mut limits: Vec<Limit> = self.halt.into_iter().collect();
        if !self.checker.algorithm.proves() {
            limits.push(Limit::Algorithm);
        }
        if self.checker.options.published_cuts {
            limits.push(Limit::PublishedCuts);
        }
        limits.extend(self.tally.bounds.iter().map(|&bound| Limit::from(bound)));
        limits
    }

    /// A limit for people.
    pub(super) fn told(&self, limit: Limit) -> String {
        match limit {
            Limit::Executions => self.executions_told(),
            Limit::Time => {
                let limit = self.checker.time_limit.unwrap_or_default();
                format!("stopped after {limit:?}")
            }
            Limit::Interrupted => "interrupted".to_owned(),
            Limit::Observer => "stopped by an observer".to_owned(),
            Limit::Race => "a data race decides what the program does".to_owned(),
            Limit::Replay => "one schedule was repeated".to_owned(),
            Limit::Algorithm => {
                let algorithm = self.checker.algorithm;
                format!("{algorithm} tries executions and proves nothing")
            }
            Limit::PublishedCuts => {
                "cuts as published lose executions: nothing is proven, and a bug may be missed"
                    .to_owned()
            }
            Limit::Preemptions => self.preemptions_told(),
            Limit::Events => bound_told(self.checker.conditions.max_events, Bound::Events),
            Limit::Timeouts => bound_told(self.checker.conditions.timeouts, Bound::Timeouts),
            Limit::Exploration => {
                "the program left interleavings out (stop_exploring, skip_branch): they are not checked"
                    .to_owned()
            }
            // These are named with what they leave out.
            Limit::LeftOut(kind) => kind.to_string(),
            Limit::Unroll => bound_told(self.checker.conditions.unroll.unwrap_or(0), Bound::Unroll),
        }
    }

    fn executions_told(&self) -> String {
        let executions = counted(self.tally.runs(), "execution");
        let given_up = match self.tally.given_up {
            0 => String::new(),
            given_up => format!(", {} of them before the search began anew", count(given_up)),
        };
        format!("stopped after {executions}{given_up}")
    }

    fn preemptions_told(&self) -> String {
        let limit = self.checker.options.preemptions.unwrap_or(0);
        let bound = bound_told(limit, Bound::Preemptions);
        match self.checker.algorithm {
            Algorithm::Exhaustive => bound,
            algorithm => format!(
                "{bound}; {algorithm} looks for bugs within it, only exhaustive tries every execution"
            ),
        }
    }
}

fn bound_told(limit: u32, bound: Bound) -> String {
    format!("at most {limit} {}", bound_name(bound))
}
