//! Initials: threads that can begin a sequence (Abdulla et al., POPL 2014, Definition 4.2).

use super::wakeup_tree::Planned;
use crate::execution::{EventId, Execution, Race, ThreadId};
use crate::search::Sleeper;

/// I(v) for v = notdep(f, E).e of the race (f, e), with E up to e: the threads whose first event in
/// v has no predecessor in v, each with that event.
pub(super) fn initials(
    race: Race,
    execution: &Execution,
) -> impl Iterator<Item = (ThreadId, EventId)> + '_ {
    let start = race.first.index();
    let second = execution.event(race.second);
    // The only conflicts that can order e after events between f and e are with accesses to the
    // same object that commute with f. Those accesses are reads, and f is then a read, too.
    let second_is_initial = execution.is_program_ordered_before(race.second, start)
        && !execution
            .notdep(race.first, race.second.index())
            .any(|event| execution.event(event).op.conflicts_with(second.op));
    let second_initial = second_is_initial.then_some((second.thread(), race.second));
    execution
        .notdep(race.first, race.second.index())
        .filter(move |&event| execution.is_initial_from(event, start))
        .map(|event| (execution.event(event).thread(), event))
        .chain(second_initial)
}

/// Checks whether the sleeper is in WI(v): its thread's first event in v has no conflicting event
/// before it, or its thread is not in v and nothing in v conflicts with it.
///
/// Only conflicts matter. A sleeper is enabled before v, so its other predecessors are done.
pub(super) fn is_weak_initial(sleeper: Sleeper, v: &[Planned]) -> bool {
    v.iter()
        .find(|event| event.thread == sleeper.thread || event.op.conflicts_with(sleeper.op))
        .is_none_or(|event| event.thread == sleeper.thread)
}
