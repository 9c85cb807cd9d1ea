//! Tasks that stopped at a condition. Segments that may change a condition evaluate it again.
//!
//! A task whose condition does not hold is never woken: which segment woke it would not be a
//! function of the trace. Other executions schedule the task later. Repeated evaluation only
//! decides whether the current execution was halted, since the condition holds at its end, or is a
//! deadlock.
//!
//! No deadlock is lost. If a task waits for ever, move its attempt to the end: it changes nothing,
//! so the others end as before, and this execution is explored. No deadlock is invented. If no
//! condition holds at the end, leave out the failed attempts: in the rest the scheduler let the
//! others run first. (If a condition holds, the state is not final: the execution counts as
//! halted.)

use super::access_set::Parts;
use runtime::ThreadId;

/// A task that stopped at a condition.
pub struct Awaiting {
    task: ThreadId,
    holds: Box<dyn Fn() -> bool + Send>,
}

/// Stops the current task for good because its condition does not hold.
pub(super) fn in_vain<P: Parts>(
    parts: &P,
    condition: impl Fn(P::Shared<'_>) -> bool + Clone + Send + 'static,
) -> ! {
    let registered = Registered {
        parts,
        task: runtime::current(),
    };
    parts.with_awaiting(&mut |awaiting| {
        let (parts, condition) = (parts.clone(), condition.clone());
        awaiting.push(Awaiting {
            task: registered.task,
            holds: Box::new(move || parts.jointly(&condition)),
        });
    });
    loop {
        parts.objects().as_ref()[0].halt_at_condition();
    }
}

/// Evaluates the conditions again, since the last segment may have changed them.
pub(super) fn ask_again<P: Parts>(parts: &P) {
    parts.with_awaiting(&mut |awaiting| {
        for Awaiting { task, holds } in awaiting.iter() {
            runtime::Object::now_holds(*task, holds());
        }
    });
}

/// Removes the condition when its task is dropped, since the condition keeps its objects alive.
struct Registered<'a, P: Parts> {
    parts: &'a P,
    task: ThreadId,
}

impl<P: Parts> Drop for Registered<'_, P> {
    fn drop(&mut self) {
        let mut forgotten = Vec::new();
        self.parts.with_awaiting(&mut |awaiting| {
            forgotten.extend(awaiting.extract_if(.., |other| other.task == self.task));
        });
    }
}
