//! The core of Mazurka: the record of an execution, and the choice of the next step.
//!
//! This crate is pure: it uses no threads, time, files, environment or output, and it sees the
//! values of the program only as ids. [`explore()`] runs a [`Program`] as a [`Strategy`] decides,
//! while an [`Observer`] watches.
//!
//! Terms: a thread announces an *operation* ([`Op`]). An *event* is a performed operation. A *step*
//! is one scheduling decision: a thread, and an *alternative* if its operation can be performed in
//! several ways. A *schedule* is a list of steps. An *execution* is a sequence of events. Two
//! events of different threads *conflict* if they access the same object and at least one of them
//! writes. A *race* is a pair of conflicting events that another schedule can reverse. A
//! *synchronization edge* is an order of two events that no schedule can reverse, for example
//! unlock → the wait that it grants. Two events are *dependent* if they belong to one thread, if
//! they conflict, or if a synchronization edge orders them. A *trace* is an equivalence class of
//! executions that order dependent events in the same way.

#![forbid(unsafe_code)]

mod algorithm;
mod bounded;
mod commutation;
mod comparing;
mod const_text;
pub mod execution;
mod fingerprint;
mod footprint;
mod graph;
mod observer;
mod parsimonious;
mod preemptions;
mod probe;
mod probe_runs;
mod program;
mod random;
mod reduction;
mod replay;
mod search;
mod strategy;
mod symmetry;
mod verification;

pub use algorithm::{Algorithm, Options, UnknownAlgorithm, Unreadable};
pub use bounded::Bounded;
pub use comparing::Comparing;
pub use execution::{
    Access, Accesses, Constraint, Event, EventId, Execution, MemoryOrder, ObjectId, Op, OpKind,
    Performed, Point, Race, ReadsFrom, Request, Schedule, Step, ThreadId, ValueId, Waiting,
};
pub use fingerprint::Fingerprint;
pub use footprint::Footprint;
pub use graph::{GraphSearch, GraphWalk, MemoryModel, UnknownMemoryModel};
pub use observer::Observer;
pub use parsimonious::Parsimonious;
pub use preemptions::{Growing, NoBound, Preemptions};
pub use probe::{Probe, Reached};
pub use program::{Bound, Divergence, Found, Halt, Interrupt, Outcome, Pending, Program};
pub use random::{Pct, RandomWalk};
pub use replay::Replay;
pub use search::{Enabled, Node, Reduction, Search, Sleeper};
pub use strategy::{Decision, Ending, LEARNING, Part, Strategy};
pub use symmetry::{Symmetric, Symmetry};
pub use verification::Verification;

use probe_runs::ProbeRuns;

/// How an exploration ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The strategy has no further execution.
    Exhausted,
    /// An observer stopped the exploration.
    Stopped,
}

/// Runs the program repeatedly as the strategy decides, until the strategy has no further execution
/// or the observer stops the exploration. Returns an error if the exploration cannot continue.
pub fn explore<P, S, O>(
    program: &mut P,
    strategy: &mut S,
    observer: &mut O,
) -> Result<End, Interrupt>
where
    P: Program + ?Sized,
    S: Strategy,
    O: Observer + ?Sized,
{
    while strategy.backtrack() {
        if strategy.has_restarted() {
            observer.restarted();
        }
        program.repeat(strategy.execution(), strategy.returns())?;
        let mut last = strategy.execution().last_thread();
        let outcome = loop {
            match strategy.extend(program.pending())? {
                Decision::Run(step) => {
                    let preempts = bounded::preempts(step.thread, last, program.pending());
                    last = Some(step.thread);
                    match program.step(step) {
                        Ok(ref mut performed) => {
                            performed.preempts = preempts;
                            strategy.performed(performed);
                        }
                        Err(interrupt) => return Err(interrupt),
                    }
                }
                Decision::Probe => {
                    let mut probe = ProbeRuns::new(program, observer);
                    strategy.probe(&mut probe)?;
                    if probe.has_run {
                        program.repeat(strategy.execution(), false)?;
                    }
                }
                Decision::Stop(Ending::Maximal) => break program.outcome(),
                Decision::Stop(Ending::Blocked) => break Outcome::Blocked,
            }
        };
        strategy.analyse(outcome);
        if observer.ended(outcome, strategy).is_break() {
            return Ok(End::Stopped);
        }
    }
    Ok(End::Exhausted)
}
