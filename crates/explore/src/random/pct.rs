//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
//!
//! Every thread has a random priority, and the thread with the highest priority runs. At d − 1
//! random steps, the priority of the running thread falls below all initial priorities. In a
//! program with n threads and k steps, an execution finds a bug of depth d (a bug that needs d
//! ordering constraints) with probability at least 1/(n·k^(d−1)).
//!
//! Deviation: k is the length of the longest execution so far, among the first [`LEARNING`] ones.

use super::generator::Generator;
use crate::execution::Performed;
use crate::execution::{Execution, Request, Step, ThreadId};
use crate::program::{Divergence, Outcome, Pending};
use crate::search::Enabled;
use crate::strategy::{Decision, Ending, LEARNING, Strategy};
use serde::{Deserialize, Serialize};

/// The depth d of the bugs to find.
const DEPTH: usize = 3;

/// An endless sequence of executions by random priorities.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pct {
    seed: u64,
    /// The number of the next execution, from 0. With the seed, it determines the random numbers.
    next: u64,
    generator: Generator,
    execution: Execution,
    /// Priorities by thread, drawn when a thread is first enabled.
    priorities: Vec<Option<u64>>,
    /// Positions of the steps after which the running thread's priority falls.
    changes: [usize; DEPTH - 1],
    /// The length k that the positions are drawn from.
    longest: usize,
    step: Step,
    request: Request,
}

impl Pct {
    /// Returns the sequence of executions of a seed.
    pub fn new(seed: u64) -> Pct {
        Pct {
            seed,
            next: 0,
            generator: Generator::of_execution(seed, 0),
            execution: Execution::default(),
            priorities: Vec::new(),
            changes: [0; DEPTH - 1],
            longest: 1,
            step: Step::of(ThreadId::MAIN),
            request: Request::UNKNOWN,
        }
    }

    /// Returns the thread's priority, which is drawn at the first call. Priorities that fell are
    /// below all others.
    fn priority(&mut self, thread: ThreadId) -> u64 {
        if self.priorities.len() <= thread.index() {
            self.priorities.resize(thread.index() + 1, None);
        }
        let drawn = &mut self.priorities[thread.index()];
        *drawn.get_or_insert_with(|| DEPTH as u64 + (self.generator.number() >> 1))
    }
}

impl Strategy for Pct {
    fn backtrack(&mut self) -> bool {
        if self.next <= LEARNING {
            self.longest = self.longest.max(self.execution.len());
        }
        self.execution.truncate(0);
        self.generator = Generator::of_execution(self.seed, self.next);
        self.next += 1;
        self.priorities.clear();
        self.changes = std::array::from_fn(|_| self.generator.below(self.longest));
        true
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        let mut highest: Option<(u64, ThreadId, Request)> = None;
        for (thread, &request) in Enabled::new(pending, None).iter() {
            let priority = self.priority(thread);
            if highest.is_none_or(|(other, ..)| priority > other) {
                highest = Some((priority, thread, request));
            }
        }
        let Some((_, thread, request)) = highest else {
            return Ok(Decision::Stop(Ending::Maximal));
        };
        let choice = match request.alternatives {
            1 => 0,
            alternatives => self.generator.below(alternatives as usize) as u32,
        };
        self.request = request;
        self.step = Step::choosing(thread, choice);
        Ok(Decision::Run(self.step))
    }

    fn performed(&mut self, performed: &Performed<'_>) {
        let at = self.execution.len();
        self.execution.push(self.step, &self.request, performed);
        if let Some(rank) = self.changes.iter().position(|&change| change == at) {
            self.priorities[self.step.thread.index()] = Some(rank as u64);
        }
    }

    fn analyse(&mut self, _outcome: Outcome) {}

    fn skip(&mut self, executions: u64) {
        self.next += executions;
    }

    fn execution(&self) -> &Execution {
        &self.execution
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a search consists of serializable data")
    }
}
