//! The reasons why a search is incomplete.

use super::search::Search;
use explore::Bound;
use report::quantity::{count, counted};
use report::{Limit, bound_name};

impl Search {
    /// Returns the limit that ended the search early, and the limits that cut something off.
    pub(super) fn limits(&self) -> Vec<Limit> {
        let mut limits: Vec<Limit> = self.halt.into_iter().collect();
        if !self.settings.algorithm.proves() {
            limits.push(Limit::Algorithm);
        }
        limits.extend(self.tally.bounds.iter().map(|&bound| Limit::from(bound)));
        limits
    }

    /// Describes a limit for the report. Most descriptions say how far the search went or how to
    /// raise the limit.
    pub(super) fn describe(&self, limit: Limit) -> String {
        let conditions = &self.settings.config.conditions;
        match limit {
            Limit::Executions => {
                let raise = self.raise("max_executions");
                format!("{}; {raise}", self.describe_executions())
            }
            Limit::Time => {
                let limit = self.settings.time_limit.unwrap_or_default();
                format!("stopped after {limit:?}; {}", self.raise("time_limit"))
            }
            Limit::Interrupted => "interrupted".to_owned(),
            Limit::Observer => "stopped by an observer".to_owned(),
            Limit::Race => "the behaviour of the program depends on a data race".to_owned(),
            Limit::Replay => "one schedule was repeated".to_owned(),
            Limit::Algorithm => {
                let algorithm = self.settings.algorithm;
                format!("{algorithm} samples executions and proves nothing")
            }
            Limit::Preemptions => {
                let bound = self.settings.options.preemptions;
                let bound = bound.expect("nothing is left out without a bound");
                let (name, raise) = (bound_name(Bound::Preemptions), self.raise("preemptions"));
                format!("limit of {bound} on {name}; {raise}")
            }
            Limit::Events => self.describe_bound(conditions.max_events, Bound::Events, "max_events"),
            Limit::Accesses => {
                let most = conditions.max_events.saturating_mul(runtime::ACCESSES);
                self.describe_bound(most, Bound::Accesses, "max_events")
            }
            Limit::Timeouts => self.describe_bound(conditions.timeouts, Bound::Timeouts, "timeouts"),
            Limit::Exploration => {
                "the program left out interleavings (stop_exploring, skip_branch): they are not checked"
                    .to_owned()
            }
            // The report lists these with their details.
            Limit::LeftOut(kind) => kind.to_string(),
            Limit::Patience => self.describe_spin(),
            Limit::Unroll if self.settings.config.native.is_none() => {
                let rounds = conditions.observed_rounds();
                format!(
                    "limit of {rounds} on iterations of a spin loop whose effects other threads observe before the loop undoes them; {}",
                    self.raise("unroll")
                )
            }
            Limit::Unroll => {
                let rounds = conditions.unroll.unwrap_or(0);
                self.describe_bound(rounds, Bound::Unroll, "unroll")
            }
        }
    }

    fn describe_bound(&self, limit: u32, bound: Bound, option: &str) -> String {
        let limit = count(limit.into());
        format!(
            "limit of {limit} on {}; {}",
            bound_name(bound),
            self.raise(option)
        )
    }

    /// Returns how to raise a limit, with the name of the option in Rust or on the command line.
    fn raise(&self, option: &str) -> String {
        match self.settings.is_commanded {
            true => format!("raise with --{}", option.replace('_', "-")),
            false => format!("raise with {option}"),
        }
    }

    fn describe_executions(&self) -> String {
        let executions = counted(self.tally.runs(), "execution");
        let given_up = match self.tally.given_up {
            0 => String::new(),
            given_up => format!(", {} of them before the search restarted", count(given_up)),
        };
        format!("stopped after {executions}{given_up}")
    }
}
