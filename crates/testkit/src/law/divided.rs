//! The law of divided searches. Parts of a search are given away and searched separately, in any
//! order. Together, all parts perform the executions of an undivided search.

use super::{Laws, resumed};
use crate::random::Random;
use explore::{Algorithm, End, Options, Strategy};

/// The maximum number of executions between two divisions, and of parts given away at each.
const EXECUTIONS: u64 = 6;
const PARTS: u64 = 3;

impl Laws<'_> {
    /// Checks that a divided search executes each trace once (an exhaustive search: each
    /// interleaving).
    pub(super) fn can_be_divided(
        &self,
        algorithm: Algorithm,
        random: &mut Random,
    ) -> Result<(), String> {
        let options = Options::default();
        if !algorithm.proves() || !algorithm.is_divisible(options) {
            return Ok(());
        }
        let traces = self.expected.traces.len() as u64;
        let interleavings = self.expected.interleavings;
        let expected = interleavings.filter(|_| algorithm.is_exhaustive());
        let expected = expected.unwrap_or(traces);
        let mut seen = self.seen(0);
        let mut waiting = vec![algorithm.strategy(options).save()];
        while !waiting.is_empty() {
            let next = waiting.swap_remove(random.index(waiting.len()));
            let mut search = resumed(algorithm, options, &next)?;
            let restarts = seen.restarts;
            seen.limit = seen.executions() + 1 + random.below(EXECUTIONS);
            let end = self.explore(&mut search, &mut seen)?;
            if seen.restarts > restarts {
                // The executions of the other parts are forgotten, so the other parts must not
                // continue.
                waiting.clear();
            }
            if seen.executions() > expected {
                return Err(format!("more than {expected} executions"));
            }
            if end == End::Stopped {
                let parts = random.below(PARTS + 1);
                let parts = (0..parts).map_while(|_| search.give_away());
                waiting.extend(parts.map(|part| part.saved));
                waiting.push(search.save());
            }
        }
        self.are_traces(&seen)?;
        match (seen.traces.len() as u64, seen.executions()) {
            (found, executions) if found == traces && executions == expected => Ok(()),
            (found, executions) => Err(format!(
                "divided, {executions} executions of {expected}, and {found} of {traces} traces"
            )),
        }
    }
}
