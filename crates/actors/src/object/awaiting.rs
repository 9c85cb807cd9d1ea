//! Tasks that stopped at a condition, asked again after each segment that may have made it true.
//!
//! A task that awaits a condition in vain never wakes up: which segment woke it would not be a function of the
//! trace. Other executions let it come later. What is asked again decides only what the execution at hand was:
//! halted if the condition holds at its end, a deadlock if it does not.
//!
//! Nothing is lost: where a task waits for ever, let its attempt come last of all; it changes nothing, so the
//! others end as they do, and the execution is one of those explored. Nothing is invented: leave the failed attempts
//! out of an execution at whose end none of their conditions holds, and it is one in which the scheduler let
//! the others go first. (Where one holds, the state is none to end in, and the execution counts as halted.)

use super::access_set::Parts;
use runtime::ThreadId;

/// A task that stopped at a condition.
pub struct Awaiting {
    task: ThreadId,
    holds: Box<dyn Fn() -> bool + Send>,
}

/// The condition of these parts does not hold: the task stops for good.
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

/// Something may have changed: what the tasks await may hold by now, or not any more.
pub(super) fn ask_again<P: Parts>(parts: &P) {
    parts.with_awaiting(&mut |awaiting| {
        for Awaiting { task, holds } in awaiting.iter() {
            runtime::Object::now_holds(*task, holds());
        }
    });
}

/// What is asked knows its objects, so it is forgotten with the task, that they can be dropped.
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
