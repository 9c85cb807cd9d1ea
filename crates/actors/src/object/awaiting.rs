//! Tasks that stopped at a condition. Segments that may change a condition evaluate it again.
//!
//! A task whose condition does not hold is never woken, because the trace would not determine which
//! segment woke it. Other executions schedule the task later. The repeated evaluation only decides
//! whether the current execution counts as halted (the condition holds at its end) or as a
//! deadlock.
//!
//! No deadlock is missed: if a task waits forever, consider the execution in which its attempt
//! comes last. The failed attempt changes nothing, so the other tasks end as before. This execution
//! is explored, too. No false deadlock is reported: if no condition holds at the end, consider the
//! execution without the failed attempts. In that execution the scheduler ran the other tasks
//! first, and none of the waiting tasks can continue. (If a condition holds, the state is not
//! final, and the execution counts as halted.)

use super::access_set::Parts;
use runtime::ThreadId;

/// A task that stopped at a condition.
pub struct Awaiting {
    task: ThreadId,
    holds: Box<dyn Fn() -> bool + Send>,
}

/// Stops the current task for the rest of the execution, because its condition does not hold.
pub(super) fn block_for_ever<P: Parts>(
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

/// Evaluates the conditions again, because the last segment may have changed them.
pub(super) fn ask_again<P: Parts>(parts: &P) {
    parts.with_awaiting(&mut |awaiting| {
        for Awaiting { task, holds } in awaiting.iter() {
            runtime::Object::now_holds(*task, holds());
        }
    });
}

/// Removes the condition when its task is dropped: the condition keeps its objects alive.
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
