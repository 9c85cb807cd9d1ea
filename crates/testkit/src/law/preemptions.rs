//! The laws of bounds on preemptions, checked by brute force over interleavings.

use super::{Laws, MOST_PREEMPTIONS, resumed};
use crate::random::Random;
use crate::trace::{Key, records};
use explore::{Algorithm, End, Observer, Options, Outcome, Preemptions, Strategy};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

impl Laws<'_> {
    /// Checks that a bounded search finds exactly the traces of interleavings within the bound, and
    /// reports that something was left out if these are not all traces. Random walks must find no
    /// trace outside the bound. Every execution that is begun must reach its end.
    pub(super) fn keeps_within_preemptions(
        &self,
        algorithm: Algorithm,
        random: &mut Random,
    ) -> Result<(), String> {
        let preemptions = random.below(MOST_PREEMPTIONS + 1);
        let options = Options {
            seed: random.number(),
            preemptions: Some(Preemptions::AtMost(preemptions as u32)),
            ..Options::default()
        };
        let within = self.expected.within.get(preemptions as usize);
        let is_complete = algorithm.proves() && within.is_some();
        let mut seen = self.seen(if is_complete { u64::MAX } else { 100 });
        let mut strategy = algorithm.strategy(options);
        self.explore(&mut strategy, &mut seen)?;
        self.are_traces(&seen)?;
        if seen.blocked > 0 {
            return Err(format!("{} executions are blocked", seen.blocked));
        }
        let Some(within) = within else {
            return Ok(());
        };
        let with = format!("with at most {preemptions} preemptions");
        if seen.traces.keys().any(|trace| !within.contains(trace)) {
            return Err(format!("no interleaving {with} shows this trace"));
        }
        let (found, all) = (seen.traces.len(), within.len());
        if is_complete && found != all {
            return Err(format!("{found} of {all} traces {with}"));
        }
        let is_whole = all == self.expected.traces.len();
        match is_complete && !is_whole && !strategy.leaves_out() {
            true => Err(format!("nothing is reported as left out {with}")),
            false => Ok(()),
        }
    }

    /// Checks that a bound that grows from 0 finally gives all traces. Each trace must be found
    /// first at the smallest bound that allows it. The search is saved and resumed at a random
    /// point.
    pub(super) fn grows_preemptions(
        &self,
        algorithm: Algorithm,
        random: &mut Random,
    ) -> Result<(), String> {
        let within = &self.expected.within;
        if !algorithm.proves() || within.is_empty() {
            return Ok(());
        }
        let options = Options {
            preemptions: Some(Preemptions::From(0)),
            ..Options::default()
        };
        let mut first_bounds = FirstBounds {
            order: self.order,
            bound: 0,
            traces: BTreeMap::new(),
            left: 1 + random.below(2 * self.expected.traces.len() as u64 + 1),
        };
        let mut strategy = algorithm.strategy(options);
        if self.explore(&mut strategy, &mut first_bounds)? == End::Stopped {
            first_bounds.left = u64::MAX;
            strategy = resumed(algorithm, options, &strategy.save())?;
            self.explore(&mut strategy, &mut first_bounds)?;
        }
        if first_bounds.traces.len() != self.expected.traces.len() {
            let (found, all) = (first_bounds.traces.len(), self.expected.traces.len());
            return Err(format!("{found} of {all} traces with a bound that grows"));
        }
        for (trace, &bound) in &first_bounds.traces {
            let mut allowed = within.iter().map(|traces| traces.contains(trace));
            let smallest = allowed.position(|is_allowed| is_allowed);
            if smallest.unwrap_or(within.len()) != bound.min(within.len()) {
                return Err(format!(
                    "a trace is first shown with {bound} preemptions, but brute force needs {smallest:?}"
                ));
            }
        }
        Ok(())
    }
}

/// The bound at which the search first found each trace.
struct FirstBounds<'a> {
    order: &'a [usize],
    bound: usize,
    traces: BTreeMap<Key, usize>,
    /// The number of executions after which the search stops.
    left: u64,
}

impl Observer for FirstBounds<'_> {
    fn ended(&mut self, _: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
        let key = Key::of(&records(strategy.execution(), self.order));
        self.traces.entry(key).or_insert(self.bound);
        self.left -= 1;
        match self.left {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn restarted(&mut self) {
        self.bound += 1;
    }
}
