//! An execution with the bookkeeping of POP: the schedules that were inserted by reversing races,
//! and the characterization of explored schedules after each prefix.
//!
//! Both belong to the execution, not to its events: an event that is the head of a schedule in one
//! execution may be part of a longer schedule in the next.

use super::candidate::Candidate;
use super::expression::Expression;
use super::sleep_set::SleepSet;
use crate::execution::Performed;
use crate::execution::{Access, EventId, Execution, Request, Step, Tail};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The characterization of the read schedules that are explored before a schedule (φ).
pub(super) type Characterization = Arc<Vec<Expression>>;

/// The events that reversed a race. The last one, the head, is the racing event that was moved
/// forward.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Schedule {
    /// Position of the first event.
    start: usize,
    /// Position after the last event.
    end: usize,
    /// Whether the last event is the head. False if the head was cut off.
    has_head: bool,
    characterization: Option<Characterization>,
}

/// An execution with schedules and characterizations (see the module).
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) execution: Execution,
    /// Sorted by position, and disjoint.
    schedules: Vec<Schedule>,
    /// Sleep sets, each with the number of events after which it is valid, up to the next entry.
    /// Sorted by this number.
    sleep: Vec<(usize, SleepSet)>,
}

/// The suffix of a record, cut off to be restored later.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct Suffix {
    tail: Tail,
    schedules: Vec<Schedule>,
    sleep: Vec<(usize, SleepSet)>,
}

impl Suffix {
    pub(super) fn tail(&self) -> &Tail {
        &self.tail
    }
}

impl Record {
    /// Appends an event that was executed. The sleep set must not block the event.
    pub(super) fn push(&mut self, step: Step, request: &Request, performed: &Performed<'_>) {
        self.execution.push(step, request, performed);
        if self.has_sleepers() {
            self.wake();
        }
    }

    /// Checks whether the sleep set after all events contains an expression.
    #[inline]
    pub(super) fn has_sleepers(&self) -> bool {
        self.sleep
            .last()
            .is_some_and(|(_, sleep)| !sleep.is_empty())
    }

    /// Updates the sleep set for the last event.
    #[inline(never)]
    fn wake(&mut self) {
        let events = self.execution.len();
        let last = Candidate::of(&self.execution, EventId::at(events - 1));
        let updated = self.sleep().after(&last);
        let updated = updated.expect("an event that is executed is not blocked");
        if let Some(updated) = updated {
            self.sleep.push((events, updated));
        }
    }

    /// Records the events from `start` on as a schedule, with the last event as its head. If the
    /// head is a read, the schedule's characterization is valid from now on.
    #[inline(never)]
    pub(super) fn close_schedule(
        &mut self,
        start: usize,
        characterization: Option<Characterization>,
    ) {
        let end = self.execution.len();
        let head = self.execution.event(EventId::at(end - 1));
        if let Some(added) = characterization.as_deref()
            && head.op.access == Access::Read
        {
            let sleep = self.sleep().with(added);
            self.sleep.push((end, sleep));
        }
        self.schedules.push(Schedule {
            start,
            end,
            has_head: true,
            characterization,
        });
    }

    /// Returns the sleep set after all events: the characterization of explored reads.
    pub(super) fn sleep(&self) -> &SleepSet {
        self.sleep
            .last()
            .map_or(SleepSet::EMPTY, |(_, sleep)| sleep)
    }

    /// Returns the sleep set after the given number of events.
    pub(super) fn sleep_after(&self, events: usize) -> &SleepSet {
        let entries = self.sleep.partition_point(|&(from, _)| from <= events);
        self.sleep[..entries]
            .last()
            .map_or(SleepSet::EMPTY, |(_, sleep)| sleep)
    }

    /// Checks whether the event is part of a schedule.
    pub(super) fn is_scheduled(&self, event: EventId) -> bool {
        let before = self
            .schedules
            .partition_point(|schedule| schedule.end <= event.index());
        self.schedules
            .get(before)
            .is_some_and(|schedule| schedule.start <= event.index())
    }

    /// Returns the characterization of the event's schedule if the event is its head.
    pub(super) fn head(&self, event: EventId) -> Option<&[Expression]> {
        let before = self
            .schedules
            .partition_point(|schedule| schedule.end <= event.index());
        let schedule = self.schedules.get(before)?;
        (schedule.has_head && schedule.end == event.index() + 1).then(|| {
            schedule
                .characterization
                .as_deref()
                .map_or(&[][..], Vec::as_slice)
        })
    }

    /// Returns the heads strictly between two events, the last one first.
    pub(super) fn heads_between(
        &self,
        first: EventId,
        second: EventId,
    ) -> impl Iterator<Item = EventId> + '_ {
        self.schedules
            .iter()
            .rev()
            .filter(|schedule| schedule.has_head)
            .map(|schedule| EventId::at(schedule.end - 1))
            .skip_while(move |&head| head >= second)
            .take_while(move |&head| head > first)
    }

    /// Removes everything after the given number of events.
    pub(super) fn truncate(&mut self, events: usize) {
        self.execution.truncate(events);
        let kept = self
            .schedules
            .partition_point(|schedule| schedule.start < events);
        self.schedules.truncate(kept);
        if let Some(last) = self.schedules.last_mut().filter(|last| last.end > events) {
            *last = Schedule {
                end: events,
                has_head: false,
                characterization: None,
                ..*last
            };
        }
        self.sleep
            .truncate(self.sleep.partition_point(|&(from, _)| from <= events));
    }

    /// Cuts off everything after the given number of events and keeps it in `suffix`.
    pub(super) fn split_off(&mut self, events: usize, suffix: &mut Suffix) {
        let kept = self
            .schedules
            .partition_point(|schedule| schedule.end <= events);
        suffix.schedules.clear();
        suffix.schedules.extend_from_slice(&self.schedules[kept..]);
        let kept = self.sleep.partition_point(|&(from, _)| from <= events);
        suffix.sleep.clear();
        suffix.sleep.extend(self.sleep.drain(kept..));
        self.execution.split_off(events, &mut suffix.tail);
        self.truncate(events);
    }

    /// Undoes `split_off`, which cut off `suffix` after the given number of events.
    pub(super) fn restore(&mut self, events: usize, suffix: &mut Suffix) {
        self.truncate(events);
        self.execution.append(&suffix.tail);
        if suffix
            .schedules
            .first()
            .is_some_and(|first| first.start < events)
        {
            self.schedules.pop();
        }
        self.schedules.append(&mut suffix.schedules);
        self.sleep.append(&mut suffix.sleep);
    }
}
