//! Determines which races of an execution decide its failure, so that a user sees them first.
//!
//! A race decides the failure if its first event happens before the failure: reversing the race may
//! change the values that the failing thread reads. Of these races, the races at the object that
//! the failing check read weigh most, then the races nearest to the failure.

use explore::{Access, EventId, Execution, ObjectId, Race};
use std::cmp::Reverse;

/// Returns the event in which the failure began. This differs from `event`, in which the failure
/// appeared, if a join has propagated a panic. `failed` are the events in which panics began.
pub(crate) fn cause(
    event: EventId,
    execution: &Execution,
    mut failed: impl Iterator<Item = EventId>,
) -> EventId {
    let cause = failed.find(|&cause| is_past(execution, cause, event));
    cause.unwrap_or(event)
}

/// Returns the races between accesses, sorted. Races that decide the failure come first. Without a
/// failing event, races near the end come first.
pub(crate) fn by_weight(execution: &Execution, failed: Option<EventId>) -> Vec<Race> {
    let failed = failed.filter(|event| event.index() < execution.len());
    let checked = failed.and_then(|event| checked_by(execution, event));
    let mut races: Vec<Race> = execution.races().to_vec();
    races.retain(|race| execution.event(race.first).op.access != Access::None);
    races.sort_by_key(|race| {
        let Some(failed) = failed else {
            return Reverse((false, false, race.second));
        };
        let decides = is_past(execution, race.first, failed);
        let is_checked = Some(execution.event(race.first).op.object) == checked;
        let nearest = match is_past(execution, race.second, failed) {
            true => race.second,
            false => race.first,
        };
        Reverse((decides, is_checked, nearest))
    });
    races
}

/// Returns the object of the last access by the event's thread, up to this event.
fn checked_by(execution: &Execution, event: EventId) -> Option<ObjectId> {
    let thread = execution.event(event).thread();
    let mut events = execution.events().rev();
    events
        .find(|(id, other)| *id <= event && other.thread() == thread && other.op.is_access())
        .map(|(_, access)| access.op.object)
}

/// Checks whether `past` is `event` or happens before it.
fn is_past(execution: &Execution, past: EventId, event: EventId) -> bool {
    past <= event && event.index() < execution.len() && execution.happens_before(past, event)
}

#[cfg(test)]
mod tests {
    use super::*;
    use explore::{Op, OpKind, Performed, Request, Step, ThreadId};

    /// Creates an execution of events given as (thread, object, whether it writes).
    fn execution(events: &[(u16, u32, bool)]) -> Execution {
        let mut execution = Execution::default();
        for &(thread, object, writes) in events {
            let op = Op {
                kind: OpKind::Load,
                access: if writes { Access::Write } else { Access::Read },
                object: ObjectId(object),
            };
            let performed = Performed::of(op);
            execution.push(Step::of(ThreadId(thread)), &Request::plain(op), &performed);
        }
        execution
    }

    fn pairs(races: &[Race]) -> Vec<(u32, u32)> {
        races
            .iter()
            .map(|race| (race.first.0, race.second.0))
            .collect()
    }

    #[test]
    fn races_of_others_come_last_and_those_of_the_check_first() {
        let execution = execution(&[
            (1, 5, true),
            (0, 5, false),
            (1, 7, true),
            (0, 7, false),
            (0, 5, false),
            (1, 5, true),
            (2, 9, true),
            (3, 9, true),
        ]);
        let failed = Some(EventId(4));
        let races = by_weight(&execution, failed);
        assert_eq!(pairs(&races), [(4, 5), (0, 1), (2, 3), (6, 7)]);
        let races = by_weight(&execution, None);
        assert_eq!(races[0].second, EventId(7));
    }

    #[test]
    fn a_panic_that_was_joined_is_the_cause_of_the_one_that_it_caused() {
        let execution = execution(&[(1, 5, true), (2, 6, true), (0, 5, false)]);
        let failed = [EventId(1), EventId(0), EventId(2)];
        assert_eq!(
            cause(EventId(2), &execution, failed.into_iter()),
            EventId(0)
        );
        let none = std::iter::empty();
        assert_eq!(cause(EventId(2), &execution, none), EventId(2));
    }
}
