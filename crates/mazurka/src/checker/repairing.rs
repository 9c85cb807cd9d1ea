//! Finds which memory orderings must be stronger to prevent the failures of a program. At first,
//! all orderings are `SeqCst`. Then each one is made as weak as possible.

use super::search::{Search, UntilEnded, bound_of};
use explore::{Algorithm, End, Interrupt, MemoryModel, MemoryOrder, Options, Outcome, Program};
use report::{FailureKind, Repair, Report, Stronger};
use runtime::{Site, Written};
use std::collections::BTreeMap;

/// The maximum number of executions for all attempts.
const RUNS: u64 = 20_000;

/// The maximum number of times that an attempt starts again with coarser objects (see `search.rs`).
const RESTARTS: usize = 32;

/// The minimum ordering at each site (place in the program) during an attempt. Other sites have
/// `SeqCst`.
type Attempt = BTreeMap<Site, MemoryOrder>;

impl Search {
    /// Finds the orderings that prevent the failures, and adds them to the first failure. Nothing
    /// else may be run afterwards, because objects may have become coarser.
    pub(super) fn add_repair(&mut self, report: &mut Report) {
        let memory = self.memory_of_repair(report);
        let (Some(memory), Some(first)) = (memory, report.errors.first_mut()) else {
            return;
        };
        let mut runs = 0;
        self.model.set_memory(memory);
        let attempt = self.weakest_attempt(memory, &mut runs);
        let written = self.model.stop_strengthening();
        if written.is_empty() {
            return;
        }
        match attempt {
            Some(attempt) => first.repair = Some(self.described(attempt, &written, runs)),
            None => report.warnings.push(format!(
                "the orderings that prevent the failure are not known after {runs} executions"
            )),
        }
    }

    /// Returns the memory model of the attempts, or `None` if no repair is wanted. A data race can
    /// be found before the search has chosen a model; the attempts then use RC11.
    fn memory_of_repair(&self, report: &Report) -> Option<MemoryModel> {
        let settings = &self.settings;
        let first = report.errors.first().filter(|_| settings.explains)?;
        let is_chosen = settings.config.conditions.memory != MemoryModel::Auto
            || settings.chosen_memory.is_some();
        match settings.is_weak() {
            true => Some(settings.memory()),
            false if is_chosen || first.kind != FailureKind::DataRace => None,
            false => settings.may_weaken().then_some(MemoryModel::Rc11),
        }
    }

    fn described(&self, attempt: Attempt, written: &BTreeMap<Site, Written>, runs: u64) -> Repair {
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
        Repair {
            orderings: attempt.into_iter().filter_map(stronger).collect(),
            executions: runs,
        }
    }

    /// Returns an attempt without failures in which no ordering can be weaker. Returns an empty
    /// attempt if there are failures even with `SeqCst` everywhere, and `None` if not all
    /// executions can be searched.
    fn weakest_attempt(&mut self, memory: MemoryModel, runs: &mut u64) -> Option<Attempt> {
        let mut attempt = Attempt::new();
        if !self.is_free_of_failures(&attempt, memory, runs)? {
            return Some(attempt);
        }
        // Weaker orderings can lead to new sites.
        while let Some((site, written)) = self.next_site(&attempt) {
            for order in written.candidates().chain([MemoryOrder::SeqCst]) {
                attempt.insert(site, order);
                let is_enough = order == MemoryOrder::SeqCst
                    || self.is_free_of_failures(&attempt, memory, runs)?;
                if is_enough {
                    break;
                }
            }
        }
        Some(attempt)
    }

    fn next_site(&self, attempt: &Attempt) -> Option<(Site, Written)> {
        let mut orderings = self.model.weak_orderings().into_iter();
        orderings.find(|(site, _)| !attempt.contains_key(site))
    }

    /// Searches all executions with the orderings of the attempt. Returns whether none of them
    /// fails, or `None` if not all can be searched.
    fn is_free_of_failures(
        &mut self,
        attempt: &Attempt,
        memory: MemoryModel,
        runs: &mut u64,
    ) -> Option<bool> {
        let options = Options {
            memory,
            ..self.settings.options()
        };
        self.model.strengthen(attempt.clone());
        for _ in 0..=RESTARTS {
            let mut strategy = Algorithm::default().strategy(options);
            let end = loop {
                let mut ended = UntilEnded::default();
                let end = explore::explore(&mut self.model, &mut strategy, &mut ended);
                *runs += 1;
                match end {
                    Ok(End::Stopped) if ended.outcome.is_some_and(Outcome::is_bug) => {
                        return Some(false);
                    }
                    Ok(End::Stopped) if self.may_continue(*runs) => {}
                    Ok(End::Stopped) => return None,
                    end => break end,
                }
            };
            match end {
                Ok(_) => return Some(true),
                Err(Interrupt::Coarsened) => self.model.set_memory(memory),
                Err(_) => return None,
            }
        }
        None
    }

    /// Checks whether the last execution was complete and another one is allowed.
    fn may_continue(&mut self, runs: u64) -> bool {
        let mut pending = self.model.pending().iter();
        let is_cut = pending.any(|thread| bound_of(thread).is_some());
        !is_cut && runs < RUNS && self.brake.pulled().is_none()
    }
}
