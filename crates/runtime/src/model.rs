//! The program: a closure that is run again and again.

use crate::names::Names;
use crate::trace::{Shown, Trace};
use explore::{Interrupt, Outcome, Pending, Performed, Program, Schedule, Step};

/// How a closure is run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// A thread that would perform more events than this stops (`Halt::Bound(Bound::Events)`).
    pub max_events: u32,
    /// A thread that would expire more often than this in timed operations stops.
    pub timeouts: u32,
    /// Whether a panic that somebody observes (by join, or as poison) is a failure, too.
    pub panics_fail: bool,
    /// Whether threads may be left waiting when the main thread has returned.
    pub waiting_after_main: bool,
    /// Bytes of the stack of a thread.
    pub stack_size: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            max_events: 10_000,
            timeouts: 2,
            panics_fail: false,
            waiting_after_main: false,
            stack_size: 256 * 1024,
        }
    }
}

/// A closure and the threads that it starts, as a program that can be explored.
///
/// Panics where it is reset inside a model: models do not nest.
pub struct Model {}

impl Model {
    /// The program that runs `body` in its main thread.
    pub fn new(_config: Config, _body: impl Fn() + 'static) -> Model {
        todo!()
    }

    /// The same with names that another process interned: schedules and searches saved there fit.
    pub fn with_names(_config: Config, _names: Names, _body: impl Fn() + 'static) -> Model {
        todo!()
    }

    /// The names of threads and objects interned so far, and what is known to be coarse.
    pub fn names(&self) -> &Names {
        todo!()
    }

    /// To name the threads of a schedule that comes from a file.
    pub fn names_mut(&mut self) -> &mut Names {
        todo!()
    }

    /// What went wrong in the execution at hand, where its outcome is a bug.
    pub fn failure(&self) -> Option<Shown> {
        todo!()
    }

    /// Runs one schedule, up to its end or the first step that does not fit, and records it for people.
    pub fn trace(&mut self, _schedule: &Schedule) -> Result<Trace, Interrupt> {
        todo!()
    }
}

impl Program for Model {
    fn reset(&mut self) {
        todo!()
    }

    fn pending(&self) -> &[Pending] {
        todo!()
    }

    fn step(&mut self, _step: Step) -> Result<Performed<'_>, Interrupt> {
        todo!()
    }

    fn outcome(&self) -> Outcome {
        todo!()
    }
}
