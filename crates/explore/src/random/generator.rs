//! SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): the same seed always gives the same numbers.

use crate::execution::{Request, ThreadId};
use crate::program::Pending;
use crate::search::Enabled;
use serde::{Deserialize, Serialize};

/// A generator of random numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Generator(u64);

impl Generator {
    /// Returns the generator of an execution. Many executions share a seed and differ in their
    /// number.
    pub(crate) fn of_execution(seed: u64, execution: u64) -> Generator {
        let mut seeds = Generator(seed);
        Generator(seeds.number() ^ execution.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draws an enabled thread, if there is one.
    pub(crate) fn thread<'a>(&mut self, pending: &'a [Pending]) -> Option<(ThreadId, &'a Request)> {
        let enabled = Enabled::new(pending, None);
        match enabled.iter().count() {
            0 => None,
            count => enabled.iter().nth(self.below(count)),
        }
    }

    /// Returns a number below `bound`, which is positive.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.number()) * bound as u128) >> 64) as usize
    }
}
