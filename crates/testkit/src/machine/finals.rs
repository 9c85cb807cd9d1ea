//! The end of an execution: values and places, for comparison with the direct semantics.

use super::{Machine, Status};
use crate::phase::{Phase, Wait};

/// The position of a thread at the end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// Not started.
    NotStarted,
    /// At its end.
    Finished,
    /// An assertion failed.
    Failed,
    /// At an assumption that does not hold.
    Assuming,
    /// At an action.
    At {
        /// Number of the instruction.
        instruction: usize,
        /// Whether the thread waits at a condition variable and has not been signalled.
        for_signal: bool,
    },
}

/// The final values and places.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Final {
    /// The value of each variable.
    pub variables: Vec<u64>,
    /// Registers and place of each thread.
    pub threads: Vec<(Vec<u64>, Place)>,
}

impl Machine {
    /// Returns values and places, for comparison with the direct semantics.
    pub fn end(&self) -> Final {
        Final {
            variables: self.variables.clone(),
            threads: (0..self.threads.len())
                .map(|thread| {
                    (
                        self.threads[thread].local.registers.to_vec(),
                        self.place(thread),
                    )
                })
                .collect(),
        }
    }

    /// Checks whether a reader waits only because writers wait.
    pub fn is_overtaking(&self) -> bool {
        (0..self.threads.len()).any(|number| {
            let thread = &self.threads[number];
            thread.status == Status::Running && self.phase(number) == Phase::Wait(Wait::Read) && {
                let lock = self.action(number).objects[0];
                self.rwlocks[lock].is_overtaking(thread.ticket())
            }
        })
    }

    fn place(&self, number: usize) -> Place {
        let thread = &self.threads[number];
        match thread.status {
            Status::NotStarted => Place::NotStarted,
            Status::Finished | Status::Ending => Place::Finished,
            Status::Failed => Place::Failed,
            Status::Assuming => Place::Assuming,
            Status::Running => Place::At {
                instruction: thread.local.next,
                for_signal: self.phase(number) == Phase::Wait(Wait::Signalled),
            },
        }
    }
}
