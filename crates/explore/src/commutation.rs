//! Checks whether steps commute in the current state, by running both orders.
//!
//! The result depends only on the threads, the operations and the [footprints](Footprint) of the
//! steps (their *situation*), so it is stored for each situation. If a footprint is unknown, both
//! orders are run each time.

use crate::execution::{EventId, Execution, Op, Race, Step, ThreadId};
use crate::fingerprint::Fingerprint;
use crate::footprint::Footprint;
use crate::probe::{Probe, Reached};
use crate::program::Interrupt;
use crate::reduction::SleepSequence;
use crate::search::Sleeper;
use std::collections::BTreeMap;

/// When this number of results is stored, all of them are discarded, to limit memory.
const MOST: usize = 100_000;

/// Consecutive steps in two orders. In the reversed order, the first step comes last.
pub(crate) struct Window {
    straight: Vec<Step>,
    reversed: Vec<Step>,
    /// The operation and the footprint of each step; `None` if a footprint is unknown or does not
    /// hold for these steps.
    footprints: Option<Vec<(Op, Footprint)>>,
}

/// The steps in both orders, with the operations that they perform.
#[derive(Clone)]
struct Orders {
    straight: SleepSequence,
    reversed: SleepSequence,
}

/// The stored results.
#[derive(Default)]
pub(crate) struct Commutations {
    /// The results, by the digest of the situation: `None` if the steps do not commute.
    known: BTreeMap<u128, Vec<(Fingerprint, Option<Orders>)>>,
    /// The number of stored results.
    number: usize,
}

impl Window {
    /// Builds a window of two threads' steps from one state. In the reversed order, the first step
    /// comes last.
    pub(crate) fn of_pair(pair: [(Sleeper, Option<Footprint>); 2]) -> Window {
        let [first, second] = [&pair[0], &pair[1]].map(|(sleeper, _)| Step::of(sleeper.thread));
        let footprints = pair.into_iter();
        Window {
            straight: vec![first, second],
            reversed: vec![second, first],
            footprints: footprints
                .map(|(sleeper, footprint)| Some((sleeper.op, footprint?)))
                .collect(),
        }
    }

    /// Builds the window of the race (f, e): f.v.e, and v.e.f as its reversal. v is the sequence of
    /// events between f and e that happen before e. Returns `None` if an event had alternatives.
    /// `footprints[i]` is the footprint of event i.
    pub(crate) fn of_race(
        race: Race,
        execution: &Execution,
        footprints: &[Option<Footprint>],
    ) -> Option<Window> {
        let mut events = Vec::new();
        execution.between(race, &mut events);
        events.insert(0, race.first);
        events.push(race.second);
        let event = |&id: &EventId| execution.event(id);
        if events.iter().any(|id| event(id).alternatives != 1) {
            return None;
        }
        let straight: Vec<Step> = events.iter().map(|id| event(id).step).collect();
        let mut reversed = straight.clone();
        reversed.rotate_left(1);
        let is_in_a_row = race.second.index() - race.first.index() + 1 == events.len();
        let of_event = |id: &EventId| {
            let footprint = footprints.get(id.index())?.clone()?;
            (is_in_a_row || !footprint.is_exposed).then(|| (event(id).op, footprint))
        };
        Some(Window {
            straight,
            reversed,
            footprints: events.iter().map(of_event).collect(),
        })
    }

    /// Returns the steps in the other order.
    pub(crate) fn reversed(&self) -> &[Step] {
        &self.reversed
    }

    /// Checks whether the result is stored with its two orders swapped. Both orders of a pair of
    /// steps have the same situation. So the result is stored as if the thread with the smaller id
    /// came first.
    fn is_swapped(&self) -> bool {
        self.straight.len() == 2 && self.straight[0].thread > self.straight[1].thread
    }

    /// Returns everything that the result depends on, or `None` if a footprint is missing.
    fn situation(&self) -> Option<Fingerprint> {
        let footprints = self.footprints.as_ref()?;
        let steps = self.straight.iter().zip(footprints);
        let mut threads: Vec<(ThreadId, Fingerprint)> = steps
            .map(|(step, (_, footprint))| (step.thread, footprint.thread.clone()))
            .collect();
        if self.is_swapped() {
            threads.swap(0, 1);
        }
        let mut objects = BTreeMap::new();
        for (op, footprint) in footprints.iter().filter(|(op, _)| op.is_access()) {
            objects
                .entry(op.object)
                .or_insert_with(|| footprint.object.clone());
        }
        Some(Fingerprint::of((threads, objects)))
    }
}

impl Commutations {
    /// Returns the steps in the other order if both orders lead from `prefix` to the same state,
    /// and `None` otherwise.
    pub(crate) fn reversed(
        &mut self,
        prefix: &[Step],
        window: &Window,
        probe: &mut dyn Probe,
    ) -> Result<Option<SleepSequence>, Interrupt> {
        let situation = window.situation();
        let known = situation
            .as_ref()
            .and_then(|situation| self.find(situation))
            .cloned();
        let is_swapped = window.is_swapped();
        let orders = match known {
            Some(known) => known.map(|orders| orders.swapped(is_swapped)),
            None => {
                let orders = orders(prefix, window, probe)?;
                if let Some(situation) = situation {
                    let of_situation = orders.clone().map(|orders| orders.swapped(is_swapped));
                    self.store(situation, of_situation);
                }
                orders
            }
        };
        Ok(orders.map(|orders| orders.reversed))
    }

    fn find(&self, situation: &Fingerprint) -> Option<&Option<Orders>> {
        let mut same = self.known.get(&situation.digest())?.iter();
        same.find(|(known, _)| known == situation)
            .map(|(_, orders)| orders)
    }

    fn store(&mut self, situation: Fingerprint, orders: Option<Orders>) {
        if self.number == MOST {
            self.number = 0;
            self.known.clear();
        }
        self.number += 1;
        let same = self.known.entry(situation.digest()).or_default();
        same.push((situation, orders));
    }
}

impl Orders {
    fn swapped(self, is_swapped: bool) -> Orders {
        match is_swapped {
            true => Orders {
                straight: self.reversed,
                reversed: self.straight,
            },
            false => self,
        }
    }
}

/// Runs both orders. Returns `None` if their states differ, if an order is impossible, or if an
/// operation has alternatives.
fn orders(
    prefix: &[Step],
    window: &Window,
    probe: &mut dyn Probe,
) -> Result<Option<Orders>, Interrupt> {
    let Some(straight) = probe.state_after(prefix, &window.straight)? else {
        return Ok(None);
    };
    let Some(reversed) = probe.state_after(prefix, &window.reversed)? else {
        return Ok(None);
    };
    let is_same = straight.state == reversed.state;
    let has_choice = straight.has_alternatives() || reversed.has_alternatives();
    Ok((is_same && !has_choice).then(|| Orders {
        straight: straight.sequence(&window.straight),
        reversed: reversed.sequence(&window.reversed),
    }))
}

impl Reached {
    fn has_alternatives(&self) -> bool {
        let mut requests = self.requests.iter();
        requests.any(|request| request.alternatives != 1)
    }

    /// Returns the steps with the operations that they announced.
    fn sequence(&self, steps: &[Step]) -> SleepSequence {
        let announced = steps.iter().zip(&self.requests);
        announced
            .map(|(step, request)| Sleeper {
                thread: step.thread,
                op: request.op,
            })
            .collect()
    }
}
