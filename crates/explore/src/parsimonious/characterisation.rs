//! MkSchedChar of POP: which read schedules are explored before the one that reverses a race
//! (Abdulla et al., CAV 2024, section 5; with state-dependent kinds).
//!
//! Where the paper is silent: the racing event may itself head the last schedule, whose
//! characterisation is then inherited (C2), also if it was a write there; an inherited
//! characterisation first advances by what its schedule's followers did (INNER); the racing event
//! counts as executed without the schedule (OWN), since its kind may differ there. That last item can
//! block conditional operations only, so it is left out on an object that has none.

use super::candidate::Candidate;
use super::expression::Expression;
use super::generated::Item;
use super::record::Record;
use crate::execution::{Access, EventId, Execution, Race};

/// φ of the schedule that brings the second event of the race before the first.
pub(super) fn of(race: Race, record: &Record, is_compared: bool) -> Vec<Expression> {
    let execution = &record.execution;
    let object = execution.event(race.second).op.object;
    let mut items = Vec::with_capacity(race.second.index() - race.first.index());
    let mut characterisation = Vec::new();
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
            characterisation.extend(
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
        characterisation.extend(inherited.iter().map(nested));
    } else if is_compared {
        items.push(Item::event(execution, race.second));
    }
    if items.iter().any(|item| matches!(item, Item::Event { .. })) {
        characterisation.push(Expression::new(race, execution, items, None));
    }
    characterisation
}

/// The expression after the events of the schedule between its head and the race's second event;
/// none if it vanishes.
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
        .expect("what was executed after a schedule is not blocked by it")
}
