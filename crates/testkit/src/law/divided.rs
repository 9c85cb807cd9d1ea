//! The law of divided searches: parts that are given away are searched on their own, in any order, and together they
//! execute what one search does.

use super::{Laws, resumed};
use crate::random::Random;
use explore::{Algorithm, End, Options, Strategy};

/// Executions between two divisions, and parts that are given away at one, at most.
const EXECUTIONS: u64 = 6;
const PARTS: u64 = 3;

impl Laws<'_> {
    /// However the search is divided, each trace is executed once (each interleaving by exhaustive search).
    pub(super) fn can_be_divided(
        &self,
        algorithm: Algorithm,
        random: &mut Random,
    ) -> Result<(), String> {
        if !matches!(algorithm, Algorithm::Exhaustive | Algorithm::Parsimonious) {
            return Ok(());
        }
        let options = Options::default();
        let traces = self.expected.traces.len() as u64;
        let interleavings = self.expected.interleavings;
        let expected = interleavings.filter(|_| algorithm == Algorithm::Exhaustive);
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
                // What the others have executed is forgotten, so they must not go on.
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
