//! Initials of a sequence: who can come first (Abdulla et al., POPL 2014, Definition 4.2).

use super::wakeup_tree::Planned;
use crate::execution::{EventId, Execution, Race, ThreadId};
use crate::search::Sleeper;

/// I(v) for v = notdep(f, E).e of the race (f, e), E up to e: the threads whose first event in v
/// has no predecessor in v, each with that event.
pub(super) fn initials(
    race: Race,
    execution: &Execution,
) -> impl Iterator<Item = (ThreadId, EventId)> + '_ {
    let start = race.first.index();
    let second = execution.event(race.second);
    // What e follows by conflict in v are accesses of its object between f and e that commute with
    // f, thus reads, and then f is a read itself.
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

/// Whether the sleeper is in WI(v): it is the first of its thread in v with nothing before it that
/// conflicts, or it is not in v and conflicts with nothing there.
///
/// Conflicts alone decide, since a sleeper is enabled before v: its other predecessors are done.
pub(super) fn is_weak_initial(sleeper: Sleeper, v: &[Planned]) -> bool {
    v.iter()
        .find(|event| event.thread == sleeper.thread || event.op.conflicts_with(sleeper.op))
        .is_none_or(|event| event.thread == sleeper.thread)
}
