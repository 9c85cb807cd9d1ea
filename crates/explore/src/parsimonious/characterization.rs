//! MkSchedChar of POP: the read schedules that are explored before the schedule that reverses a
//! race (Abdulla et al., CAV 2024, section 5; with state-dependent kinds).
//!
//! Points that the paper leaves open:
//! * C2: The racing event may itself be the head of the last schedule. The new schedule then
//!   inherits the characterization of that schedule, even if the event was a write there.
//! * INNER: An inherited characterization first advances over the events of the new schedule that
//!   follow the inherited head.
//! * OWN: The racing event is also an item of P, because its kind may differ in the execution
//!   without the schedule. This can block only conditional operations, so the item is omitted for
//!   objects without them.

use super::candidate::Candidate;
use super::expression::Expression;
use super::generated::Item;
use super::record::Record;
use crate::execution::{Access, EventId, Execution, Race};

/// Returns φ, the characterization of the schedule that moves the second event of the race before
/// the first. `is_compared` says whether conditional operations access the object.
pub(super) fn of(race: Race, record: &Record, is_compared: bool) -> Vec<Expression> {
    let execution = &record.execution;
    let object = execution.event(race.second).op.object;
    let mut items = Vec::with_capacity(race.second.index() - race.first.index());
    let mut characterization = Vec::new();
    for id in (race.first.index() + 1..race.second.index()).map(EventId::at) {
        if !execution.happens_before(id, race.second) {
            items.push(Item::event(execution, id));
            continue;
        }
        let Some(inherited) = record.head(id) else {
            continue;
        };
        let event = execution.event(id);
        if event.op.access == Access::Read && event.op.object != object {
            characterization.extend(
                inherited
                    .iter()
                    .filter_map(|inner| advance(inner, id, race, execution))
                    .map(|inner| Expression::new(race, execution, items.clone(), Some(inner))),
            );
        }
        items.push(Item::head(execution, id));
    }
    if let Some(inherited) = record.head(race.second) {
        let nested = |inner: &Expression| {
            Expression::new(race, execution, items.clone(), Some(inner.clone()))
        };
        characterization.extend(inherited.iter().map(nested));
    } else if is_compared {
        items.push(Item::event(execution, race.second));
    }
    if items.iter().any(|item| matches!(item, Item::Event { .. })) {
        characterization.push(Expression::new(race, execution, items, None));
    }
    characterization
}

/// Advances an inherited expression over the events of the new schedule between the head of the
/// inherited schedule (`head`) and the race's second event. Returns `None` if an event discards
/// the expression.
fn advance(
    inner: &Expression,
    head: EventId,
    race: Race,
    execution: &Execution,
) -> Option<Expression> {
    let schedule = (head.index() + 1..race.second.index())
        .map(EventId::at)
        .filter(|&id| execution.happens_before(id, race.second))
        .map(|id| Candidate::of(execution, id));
    inner
        .after_all(schedule)
        .expect("a schedule does not block events that were executed after it")
}
