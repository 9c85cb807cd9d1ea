//! What has to be given back before an execution ends: memory whose owners are counted or told.

use crate::engine::Engine;
use crate::source::Place;
use crate::trace::Shown;
use explore::{ObjectId, ThreadId};
use report::FailureKind;

/// Something that somebody has to drop or free.
pub(crate) struct Owned {
    /// What it is, for people.
    what: &'static str,
    location: Place,
    /// How many owners there are.
    pub(crate) shares: usize,
    /// How many weak shares came since it was made, without those that are gone; counted where they are events.
    pub(crate) weak_shares: usize,
    /// Who gave up a share of it; two different ones may do so in either order.
    droppers: Droppers,
    /// The object of its counter, if it has one.
    pub(crate) counter: ObjectId,
    /// Which operations at the counter are events.
    pub(crate) events: CounterEvents,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Droppers {
    None,
    One(ThreadId),
    Many,
}

/// Which operations at a counter of owners are events, as far as it is known that somebody can tell.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct CounterEvents {
    /// Giving up a share is a write: the last one does something that others notice.
    pub(crate) drops: bool,
    /// Giving up and taking shares are reads, which commute: somebody looks at their number, which is a write.
    pub(crate) counts: bool,
    /// The same for weak shares.
    pub(crate) weak: bool,
}

impl Owned {
    /// Whether different threads gave up shares.
    pub(crate) fn has_several_droppers(&self) -> bool {
        self.droppers == Droppers::Many
    }
}

impl Engine {
    /// The execution is over.
    #[inline]
    pub(crate) fn clear_owned(&mut self) {
        if !self.owned.is_empty() {
            self.owned.clear();
            self.raw_arcs.clear();
            self.raw_memory.clear();
        }
    }

    /// Something was made that has to be dropped; gives its number.
    pub(crate) fn own(&mut self, what: &'static str, location: Place) -> u32 {
        let owned = || Owned {
            what,
            location,
            shares: 1,
            weak_shares: 0,
            droppers: Droppers::None,
            counter: ObjectId::NONE,
            events: CounterEvents::default(),
        };
        self.owned.add(|old| *old = owned(), owned)
    }

    /// It was dropped. False if that was so before.
    pub(crate) fn disown(&mut self, number: u32) -> bool {
        std::mem::take(&mut self.owned.get_mut(number).shares) > 0
    }

    /// The thread that runs gives up a share; whether it was the last.
    pub(crate) fn give_up_share(&mut self, number: u32) -> bool {
        let own = Droppers::One(self.running);
        let owned = self.owned.get_mut(number);
        owned.droppers = match owned.droppers {
            Droppers::None => own,
            known if known == own => own,
            Droppers::One(_) | Droppers::Many => Droppers::Many,
        };
        owned.shares = owned.shares.saturating_sub(1);
        owned.shares == 0
    }

    /// What is left of a completed execution that should have been dropped.
    pub(crate) fn leak(&self) -> Option<Shown> {
        // What statics own was dropped when the last thread ended.
        if !self.config.leaks_fail || self.has_lost_statics || self.statics_own_values() {
            return None;
        }
        let alive = self.owned.iter().filter(|owned| owned.shares > 0);
        let places = alive.map(|owned| (owned.what, self.shown_place(owned.location)));
        let mut places: Vec<_> = places.collect();
        places.sort();
        let (_, location) = places.first()?.clone();
        let named = places.iter().map(|(what, place)| match place {
            Some(place) => format!("{what} made at {place}"),
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
