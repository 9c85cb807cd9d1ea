//! Measures the slices of a divided search, for simulations of many workers.

use super::part::{Part, Portion};
use super::slicing::Sliced;
use super::{CheckError, Checker};
use explore::LEARNING;
use runtime::Names;
use std::sync::Arc;
use std::time::Instant;

/// A slice of a divided search.
#[doc(hidden)]
pub struct Measured {
    /// Index of the slice that gave this part away or left it over; `None` for the first slice.
    pub parent: Option<usize>,
    /// Estimated size of the part, as a fraction of the whole.
    pub share: f64,
    pub executions: u64,
    /// Duration in seconds, with all overhead around its executions.
    pub took_s: f64,
}

impl Checker {
    /// Searches in slices of this number of executions, each giving away this number of parts.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Checker::try_check`].
    #[doc(hidden)]
    pub fn measured(
        self,
        executions: u64,
        parts: u32,
        program: impl Fn() + 'static,
    ) -> Result<Vec<Measured>, CheckError> {
        let settings = &self.settings;
        let strategy = settings.algorithm.strategy(settings.options()).save();
        let mut sliced = Sliced::new(program);
        let mut measured = Vec::new();
        let mut waiting = vec![(None, Part::whole(Arc::<Names>::default(), strategy))];
        while let Some((parent, part)) = waiting.pop() {
            let portion = Portion {
                executions: match part.is_first() {
                    true => executions.max(LEARNING),
                    false => executions,
                },
                parts,
                least: u64::MAX,
                parts_at_early_end: parts,
                earlier: 0,
            };
            let began = Instant::now();
            let settings = settings.of_slices(None);
            let slice = sliced.slice(&settings, &part, portion, None)?;
            if slice.anew.is_some() {
                // The search has started again, so earlier slices no longer count.
                measured.clear();
                waiting.clear();
            }
            let count = measured.len();
            measured.push(Measured {
                parent: parent.filter(|_| count > 0),
                share: part.share,
                executions: slice.found.tally.complete(),
                took_s: began.elapsed().as_secs_f64(),
            });
            // Parts are done in the order of the search, so that few parts wait.
            let rest = slice.rest.into_iter().rev();
            waiting.extend(rest.map(|part| (Some(count), part)));
        }
        Ok(measured)
    }
}
