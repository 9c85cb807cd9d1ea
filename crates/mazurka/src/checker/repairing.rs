//! Finds the orderings that have to be stronger so that the program has no failure: first all of them
//! are `SeqCst`, then each one gets as weak as possible.

use super::search::Search;
use explore::{MemoryOrder, Observer, Outcome, Strategy};
use report::{Repair, Stronger};
use runtime::{Site, Written};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The maximum number of executions for all attempts.
const RUNS: u64 = 20_000;

/// The weakest ordering of each site in an attempt. Other sites have `SeqCst`.
type Attempt = BTreeMap<Site, MemoryOrder>;

/// Stops an attempt at its first failure, and when there were too many executions.
struct Attempted {
    has_failed: bool,
    runs: u64,
}

impl Observer for Attempted {
    fn ended(&mut self, outcome: Outcome, _: &dyn Strategy) -> ControlFlow<()> {
        self.has_failed = outcome.is_bug();
        self.runs += 1;
        match self.has_failed || self.runs >= RUNS {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl Search {
    /// Returns `None`, with a warning, if the attempts take too many executions or the search would
    /// have to start again with coarser objects.
    pub(super) fn repair(&mut self) -> Option<Repair> {
        let mut runs = 0;
        let attempt = self.weakest_attempt(&mut runs);
        let written = self.model.stop_strengthening();
        if attempt.is_none() {
            self.model.warned(vec![format!(
                "the orderings that prevent the failure are not known after {runs} executions"
            )]);
        }
        let stronger = |(site, least): (Site, MemoryOrder)| {
            let Written { order, .. } = written[&site];
            let needs = order.at_least(least);
            (needs != order).then(|| Stronger {
                location: self.model.place(site.spot).unwrap_or_default(),
                on_failure: site.is_of_failure,
                is: self.model.ordering_name(order).to_owned(),
                needs: self.model.ordering_name(needs).to_owned(),
            })
        };
        Some(Repair {
            orderings: attempt?.into_iter().filter_map(stronger).collect(),
            executions: runs,
        })
    }

    /// Returns an attempt without failures, in which no ordering can be weaker. Returns an empty one
    /// if there is none.
    fn weakest_attempt(&mut self, runs: &mut u64) -> Option<Attempt> {
        let mut attempt = Attempt::new();
        if !self.is_free_of_failures(&attempt, runs)? {
            return Some(attempt);
        }
        // Weaker orderings can lead to new sites.
        while let Some((site, written)) = self.next_site(&attempt) {
            for order in written.candidates().chain([MemoryOrder::SeqCst]) {
                attempt.insert(site, order);
                if order == MemoryOrder::SeqCst || self.is_free_of_failures(&attempt, runs)? {
                    break;
                }
            }
        }
        Some(attempt)
    }

    fn next_site(&self, attempt: &Attempt) -> Option<(Site, Written)> {
        let mut met = self.model.weak_orderings().into_iter();
        met.find(|(site, _)| !attempt.contains_key(site))
    }

    /// Searches all executions with the orderings of the attempt. Returns `None` if there are too
    /// many.
    fn is_free_of_failures(&mut self, attempt: &Attempt, runs: &mut u64) -> Option<bool> {
        self.model.strengthen(attempt.clone());
        let mut strategy = self.settings.algorithm.strategy(self.settings.options());
        let mut attempted = Attempted {
            has_failed: false,
            runs: *runs,
        };
        let end = explore::explore(&mut self.model, &mut strategy, &mut attempted);
        *runs = attempted.runs;
        let is_stopped = self.brake.pulled().is_some() || end.is_err();
        (!is_stopped && (attempted.has_failed || *runs < RUNS)).then_some(!attempted.has_failed)
    }
}
