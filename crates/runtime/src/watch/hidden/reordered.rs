//! Equivalent executions. Independent events may come in any order, and each thread behaves the
//! same in all of these orders. If a thread behaves differently, threads synchronize by means that
//! the model does not see.

use crate::engine::model::Model;
use explore::{EventId, Execution, Interrupt, Outcome, Pending, Program, Step, ThreadId};

/// A difference between an execution and an equivalent execution.
#[derive(Debug)]
pub struct Difference {
    /// A description for users.
    pub what: String,
    /// The number of events before the difference.
    pub at: usize,
}

/// The course of an execution compared with another execution.
enum Course {
    Same,
    /// After this number of events, this thread behaves differently.
    Otherwise(usize, ThreadId),
    /// A thread cannot continue.
    Unknown,
}

/// The time at which a started thread runs the code before its first event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beginning {
    /// Right before the thread's first event.
    Late,
    /// Before the parent of the thread continues.
    AtOnce,
}

impl Model {
    /// Runs the events of an execution, which ended with `outcome`, in an equivalent order, with
    /// the steps that belong to this order. Returns the first difference. Returns `None` if nothing
    /// differs, or if a thread cannot continue, for instance because it waits for a thread whose
    /// events come later in this order.
    pub fn run_reordered(
        &mut self,
        execution: &Execution,
        order: &[(EventId, Step)],
        beginning: Beginning,
        outcome: Outcome,
    ) -> Result<Option<Difference>, Interrupt> {
        match beginning {
            Beginning::Late => self.engine_mut().late = Some(Vec::new()),
            Beginning::AtOnce => self.engine_mut().children_go_first = true,
        }
        let course = self.run_otherwise(execution, order);
        while self.begin_late(|_| true) {}
        self.engine_mut().late = None;
        self.engine_mut().children_go_first = false;
        let mut pending = self.pending().iter();
        let enabled = pending.position(|pending| pending.enabled().is_some());
        let thread_does = |at, thread| Difference {
            what: self.continues_differently(thread),
            at,
        };
        let all = order.len();
        Ok(match (course?, enabled) {
            (Course::Unknown, _) => None,
            (Course::Otherwise(at, thread), _) => Some(thread_does(at, thread)),
            (Course::Same, Some(index)) => Some(thread_does(all, ThreadId(index as u16))),
            (Course::Same, None) if self.outcome() == outcome => None,
            (Course::Same, None) => Some(Difference {
                what: "the program ends differently".to_owned(),
                at: all,
            }),
        })
    }

    /// Runs the events until one differs.
    fn run_otherwise(
        &mut self,
        execution: &Execution,
        order: &[(EventId, Step)],
    ) -> Result<Course, Interrupt> {
        self.reset();
        for (at, &(id, step)) in order.iter().enumerate() {
            let event = execution.event(id);
            let Step { thread, choice, .. } = step;
            self.begin_late(|late| late == thread);
            // Other started threads may have to run first: they may start this thread, or end so
            // that it can continue, without an earlier event.
            while !self.is_enabled(thread) && self.begin_late(|_| true) {}
            match self.pending().get(thread.index()) {
                Some(Pending::Enabled(request)) if choice < request.alternatives => {}
                _ if self.waits(thread) => return Ok(Course::Unknown),
                _ => return Ok(Course::Otherwise(at, thread)),
            }
            let performed = self.step(step)?;
            let values = (performed.before, performed.after);
            if event.must_be(id, performed.op, values).is_err() {
                return Ok(Course::Otherwise(at, thread));
            }
        }
        Ok(Course::Same)
    }

    /// Returns whether the thread can perform its next operation.
    fn is_enabled(&self, thread: ThreadId) -> bool {
        let pending = self.pending().get(thread.index());
        pending.is_some_and(|pending| pending.enabled().is_some())
    }

    /// Returns whether the thread waits or is halted, or has not been started while another thread
    /// waits or is halted.
    fn waits(&self, thread: ThreadId) -> bool {
        let is_stopped =
            |pending: &Pending| matches!(pending, Pending::Waiting(_) | Pending::Halted(_));
        match self.pending().get(thread.index()) {
            None | Some(Pending::NotStarted) => self.pending().iter().any(is_stopped),
            Some(own) => is_stopped(own),
        }
    }

    /// Of the threads that have been started but have not begun, runs the last one for which
    /// `begins` holds, up to its first step. Returns whether there was such a thread.
    fn begin_late(&mut self, begins: impl Fn(ThreadId) -> bool) -> bool {
        let late = self.engine_mut().late.as_mut();
        let late = late.and_then(|late| {
            let index = late.iter().rposition(|&thread| begins(thread))?;
            Some(late.remove(index))
        });
        let Some(thread) = late else { return false };
        self.engine_mut().is_ready(thread);
        self.settle();
        true
    }

    fn continues_differently(&self, thread: ThreadId) -> String {
        let engine = self.engine();
        let name = engine.thread_name(thread);
        match engine.shown_place_of(thread) {
            Some(place) => format!("{name} continues differently at {place}"),
            None => format!("{name} continues differently"),
        }
    }
}
