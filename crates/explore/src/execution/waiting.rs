//! What it costs to keep a run to an execution: a model of time in which each event takes one unit, threads run side by
//! side, and each begins somewhat later than the one before.

use super::{EventId, Execution};
use std::collections::BTreeSet;

/// Units of time that it takes to start a thread: those of some microseconds, where an event takes nanoseconds.
const START: u64 = 1000;

/// How much threads wait for each other, most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Waiting {
    /// Threads that wait at all.
    pub threads: usize,
    /// Units of time that they wait, all together.
    pub time: u64,
    /// Races, the orders that are kept.
    pub races: usize,
}

impl Execution {
    /// The waiting of threads that run side by side and are kept to this execution.
    ///
    /// ```
    /// let nothing = explore::Execution::default().waiting();
    /// assert_eq!((nothing.threads, nothing.time), (0, 0));
    /// ```
    pub fn waiting(&self) -> Waiting {
        let mut ends: Vec<u64> = Vec::with_capacity(self.len());
        let mut threads = BTreeSet::new();
        let mut time = 0;
        let mut races = self.races().iter().peekable();
        for (id, event) in self.events() {
            let end_of = |event: EventId| ends[event.index()];
            let own = self.previous_of(id).into_iter();
            let own = own.chain(self.edges(id).iter().copied());
            let begun = START * event.thread().index() as u64;
            let ready = own.map(end_of).fold(begun, u64::max);
            let mut start = ready;
            while let Some(race) = races.next_if(|race| race.second == id) {
                start = start.max(end_of(race.first));
            }
            if start > ready {
                threads.insert(event.thread());
                time += start - ready;
            }
            ends.push(start + 1);
        }
        Waiting {
            threads: threads.len(),
            time,
            races: self.races().len(),
        }
    }
}
