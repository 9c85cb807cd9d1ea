//! Memory and values that must be freed or dropped before an execution ends, and the numbers of
//! their owners.

use crate::engine::Engine;
use crate::engine::place::Place;
use crate::trace::Shown;
use explore::{EventId, ObjectId, ThreadId};
use report::FailureKind;

/// A value that must be dropped or freed.
pub(crate) struct Owned {
    /// The kind of the value, for users.
    what: &'static str,
    location: Place,
    /// Whether it is a failure if the value is never dropped.
    pub(crate) leaks: bool,
    /// The number of owners.
    pub(crate) shares: usize,
    /// The number of weak shares added since creation minus those removed. It is counted only where
    /// these changes are events.
    pub(crate) weak_shares: usize,
    /// The threads that gave up shares. If there are several, the order of the drops may matter.
    droppers: Droppers,
    /// The object of its counter, if it has one.
    pub(crate) counter: ObjectId,
    /// The operations on the counter that are events.
    pub(crate) events: CounterEvents,
    /// The events that gave up shares. They are recorded only if reads may return old values.
    pub(crate) ends: Vec<EventId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Droppers {
    None,
    One(ThreadId),
    Many,
}

/// The operations on a counter of owners that are events, because they are known to be observable
/// or because schedules must be enforceable.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct CounterEvents {
    /// Whether giving up a share is a write access, because other threads observe effects of the
    /// last owner's drop.
    pub(crate) drops: bool,
    /// Whether giving up and taking shares are events, because a thread may read the number of
    /// shares. The changes commute, so they are read accesses, and the read of the number is a
    /// write access.
    pub(crate) counts: bool,
    /// Whether changes of weak shares are events (read accesses), for the same reason.
    pub(crate) weak: bool,
}

impl Owned {
    /// Checks whether different threads gave up shares.
    pub(crate) fn has_several_droppers(&self) -> bool {
        self.droppers == Droppers::Many
    }
}

impl Engine {
    /// Discards all owned values at the end of the execution.
    #[inline]
    pub(crate) fn clear_owned(&mut self) {
        if !self.guests.owned.is_empty() {
            self.guests.owned.clear();
            self.guests.raw_arcs.clear();
            self.guests.raw_memory.clear();
        }
    }

    /// Registers a value that must be dropped. Returns its number.
    pub(crate) fn own(&mut self, what: &'static str, location: Place) -> u32 {
        let owned = || Owned {
            what,
            location,
            leaks: true,
            shares: 1,
            weak_shares: 0,
            droppers: Droppers::None,
            counter: ObjectId::NONE,
            events: CounterEvents::default(),
            ends: Vec::new(),
        };
        self.guests.owned.add(|old| *old = owned(), owned)
    }

    /// Records that the value was dropped. Returns false if the value had been dropped before.
    pub(crate) fn disown(&mut self, number: u32) -> bool {
        std::mem::take(&mut self.guests.owned.get_mut(number).shares) > 0
    }

    /// Gives up a share for the running thread. Returns whether the share was the last one.
    pub(crate) fn give_up_share(&mut self, number: u32) -> bool {
        let dropper = Droppers::One(self.running);
        let owned = self.guests.owned.get_mut(number);
        owned.droppers = match owned.droppers {
            Droppers::None => dropper,
            known if known == dropper => dropper,
            Droppers::One(_) | Droppers::Many => Droppers::Many,
        };
        owned.shares = owned.shares.saturating_sub(1);
        owned.shares == 0
    }

    /// Returns the failure for values of a completed execution that were not dropped. Returns
    /// `None` if there are no such values, and if leaks are not checked.
    pub(crate) fn leak(&self) -> Option<Shown> {
        // Values that statics own were dropped when the last thread ended.
        if !self.config.leaks_fail || self.guests.has_lost_statics || self.statics_own_values() {
            return None;
        }
        let alive = self
            .guests
            .owned
            .iter()
            .filter(|owned| owned.shares > 0 && owned.leaks);
        let places = alive.map(|owned| (owned.what, self.shown_place(owned.location)));
        let mut places: Vec<_> = places.collect();
        places.sort();
        let (_, location) = places.first()?.clone();
        let named = places.iter().map(|(what, place)| match place {
            Some(place) => format!("{what} created at {place}"),
            None => (*what).to_owned(),
        });
        let named: Vec<String> = named.collect();
        Some(Shown {
            kind: FailureKind::Leak,
            message: format!("never dropped: {}", named.join(", ")),
            location,
            event: None,
        })
    }
}
