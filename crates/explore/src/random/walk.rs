//! Random walk: each step draws an enabled thread and then one of its alternatives, uniformly.

use super::generator::Generator;
use crate::execution::Performed;
use crate::execution::{Execution, Request, Step, ThreadId};
use crate::program::{Divergence, Outcome, Pending};
use crate::strategy::{Decision, Ending, Strategy};
use serde::{Deserialize, Serialize};

/// An endless sequence of random executions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RandomWalk {
    seed: u64,
    /// The number of the next execution, from 0. With the seed, it determines the random numbers.
    next: u64,
    generator: Generator,
    execution: Execution,
    step: Step,
    request: Request,
}

impl RandomWalk {
    /// Returns the sequence of walks of a seed.
    pub fn new(seed: u64) -> RandomWalk {
        RandomWalk {
            seed,
            next: 0,
            generator: Generator::of_execution(seed, 0),
            execution: Execution::default(),
            step: Step::of(ThreadId::MAIN),
            request: Request::UNKNOWN,
        }
    }
}

impl Strategy for RandomWalk {
    fn backtrack(&mut self) -> bool {
        self.execution.truncate(0);
        self.generator = Generator::of_execution(self.seed, self.next);
        self.next += 1;
        true
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        let Some((thread, &request)) = self.generator.thread(pending) else {
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
        self.execution.push(self.step, &self.request, performed);
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
