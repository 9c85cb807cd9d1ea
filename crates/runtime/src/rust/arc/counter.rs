//! The counter of the owners of an `Arc`. Only some of its changes are operations of the model.

use crate::engine::Engine;
use crate::engine::perform::{self, silently, visible};
use crate::engine::place::Place;
use crate::rust::outside::outside;
use crate::rust::owner::CounterEvents;
use crate::watch::seen::Seen;
use explore::{Access, MemoryOrder, ObjectId, Op, OpKind, Request};
use objects::Coarsening;
use std::panic::Location;
use std::sync::atomic::Ordering::{Acquire, Release};

/// The counter of one value's shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    object: ObjectId,
    pub(super) number: u32,
}

/// The owners of a value, as one of them finds them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owners {
    /// Only this owner.
    One,
    /// This owner, and weak references.
    OneBesideWeak,
    /// Also other owners.
    Several,
}

impl Counter {
    /// Creates the counter of a new value.
    #[track_caller]
    #[inline]
    pub fn new() -> Counter {
        Counter::named("Arc", true)
    }

    /// Creates the counter of a new value that reports call `what`. `leaks` says whether it is a
    /// failure if the value is never dropped.
    #[track_caller]
    #[inline]
    pub fn named(what: &'static str, leaks: bool) -> Counter {
        outside!(Counter::outside());
        let location = Location::caller();
        silently(|engine| {
            let object = engine.create(1);
            engine.name_object(object, what, location);
            let number = engine.own(what, location);
            let all = engine.config.conditions.is_enforceable;
            let counts = all || engine.names.is_coarse(object, Coarsening::Polled);
            let weak = all || engine.names.is_coarse(object, Coarsening::Scanned);
            let owned = engine.guests.owned.get_mut(number);
            owned.counter = object;
            owned.leaks = leaks;
            owned.events = CounterEvents {
                drops: engine.names.is_coarse(object, Coarsening::Ordered),
                counts,
                weak,
            };
            Counter { object, number }
        })
    }

    /// Returns the existing counter with this number.
    #[track_caller]
    pub fn known(number: u32) -> Counter {
        let object = silently(|engine| engine.guests.owned.get(number).counter);
        Counter { object, number }
    }

    /// Creates a counter for use outside of models, which records nothing.
    #[cfg(feature = "enforce")]
    pub fn outside() -> Counter {
        Counter {
            object: ObjectId::NONE,
            number: 0,
        }
    }

    #[inline]
    #[track_caller]
    fn events(self) -> CounterEvents {
        silently(|engine| engine.guests.owned.get(self.number).events)
    }

    /// Records that the value of a new counter does not exist yet.
    pub fn await_value(self) {
        if perform::current().is_some() {
            silently(|engine| engine.guests.owned.get_mut(self.number).shares = 0);
        }
    }

    /// Adds the first share, because the value exists now. This happens before the value is found
    /// through a weak reference.
    #[track_caller]
    pub fn begin(self) {
        if perform::current().is_none() {
            return;
        }
        let begin = |engine: &mut Engine| {
            engine.guests.owned.get_mut(self.number).shares = 1;
            self.publish(engine);
        };
        match self.events().counts {
            true => self.change("new_cyclic", Access::Read, |engine| {
                begin(engine);
                self.record_end(engine);
            }),
            false => silently(begin),
        }
    }

    /// Adds a share.
    #[track_caller]
    #[inline]
    pub fn take_share(self) {
        if perform::current().is_none() {
            return;
        }
        let add = |engine: &mut Engine| engine.guests.owned.get_mut(self.number).shares += 1;
        match self.events().counts {
            true => self.change("clone", Access::Read, add),
            false => silently(add),
        }
    }

    /// Removes a share. Returns whether the share was the last one. Outside of a model, does
    /// nothing and returns false.
    #[track_caller]
    #[inline]
    pub fn give_up(self) -> bool {
        if perform::current().is_none() {
            return false;
        }
        let release = |engine: &mut Engine| self.end_share_as_event(engine);
        match self.events() {
            CounterEvents { drops: true, .. } => self.change("drop", Access::Write, release),
            CounterEvents { counts: true, .. } => self.change("drop", Access::Read, release),
            CounterEvents { .. } => silently(|engine| self.end_share(engine)),
        }
    }

    /// Removes a share in an event that is a write access, because the caller may depend on whether
    /// the share was the last one. Returns whether it was.
    #[track_caller]
    pub fn give_up_and_check(self) -> bool {
        self.coarsen(Coarsening::Polled);
        let release = |engine: &mut Engine| self.end_share_as_event(engine);
        self.change("into_inner", Access::Write, release)
    }

    /// Removes a share. The ends of all shares happen before the end of the last share.
    fn end_share(self, engine: &mut Engine) -> bool {
        let is_last = engine.give_up_share(self.number);
        if !is_last {
            // A destructor that gives up this share may have made another owner the last one.
            engine.touches += 1;
        }
        self.publish(engine);
        if is_last {
            self.acquire(engine);
        }
        is_last
    }

    /// Orders what the running thread has done before later acquires of the counter.
    fn publish(self, engine: &mut Engine) {
        if engine.watch.races {
            let clocks = &mut engine.guests.happens_before;
            clocks.publish(engine.running, self.object, Release);
        }
    }

    /// Removes a share as a part of the current event.
    fn end_share_as_event(self, engine: &mut Engine) -> bool {
        let is_last = self.end_share(engine);
        self.record_end(engine);
        is_last
    }

    /// Records the current event, which has published something, for later acquires under a weak
    /// memory model.
    fn record_end(self, engine: &mut Engine) {
        if engine.is_weak() {
            let event = engine.event();
            engine.guests.owned.get_mut(self.number).ends.push(event);
        }
    }

    /// Orders the running thread after the ends of all other shares so far.
    fn acquire(self, engine: &mut Engine) {
        if engine.watch.races {
            let clocks = &mut engine.guests.happens_before;
            clocks.load(engine.running, self.object, Acquire);
        }
        if engine.is_weak() {
            for index in 0..engine.guests.owned.get(self.number).ends.len() {
                let end = engine.guests.owned.get(self.number).ends[index];
                engine.comes_after(end);
            }
        }
    }

    /// Removes the share if it is the only share. Returns whether it was.
    #[track_caller]
    pub fn take_last(self) -> bool {
        self.coarsen(Coarsening::Polled);
        self.change("try_unwrap", Access::Write, |engine| {
            let is_only = engine.guests.owned.get(self.number).shares == 1;
            if is_only {
                engine.disown(self.number);
                self.acquire(engine);
            } else {
                self.see_shares(engine);
            }
            is_only
        })
    }

    /// Runs the destructor of the value. The order of the drops matters if several threads dropped
    /// shares, and the destructor has effects that other threads can observe or runs in a loop that
    /// the await rule watches (the rule that stops loops without progress). If so, drops of these
    /// shares become events.
    pub fn watch_destructor(self, destructor: impl FnOnce()) {
        if perform::current().is_none() {
            return destructor();
        }
        let done = || silently(|engine| (engine.thread().life.operations, engine.touches));
        let before = done();
        destructor();
        let is_in_loop = silently(|engine| engine.thread().life.guests.round.is_watched());
        if is_in_loop || done() != before {
            silently(|engine| {
                if engine.guests.owned.get(self.number).has_several_droppers() {
                    engine.coarsen_object(self.object, Coarsening::Ordered);
                }
            });
        }
    }

    /// Returns the number of shares. This creates no synchronization edge, as in `std`.
    #[track_caller]
    pub fn read_shares(self) -> usize {
        self.coarsen(Coarsening::Polled);
        self.read("strong_count", |engine| self.see_shares(engine))
    }

    /// Records a check for exactly one owner and no weak reference. Orders the check after the ends
    /// of the other shares.
    #[track_caller]
    pub fn check_unique(self) {
        self.coarsen(Coarsening::Polled);
        self.coarsen(Coarsening::Scanned);
        self.read("get_mut", |engine| {
            self.acquire(engine);
            self.see_weak_shares(engine);
            self.see_shares(engine)
        });
    }

    /// Prepares a mutable access to the value by one of its owners. `has_weak` returns whether there
    /// are weak references. If only these are left besides the owner, the owner gives up its share.
    #[track_caller]
    pub fn make_unique(self, has_weak: impl FnOnce() -> bool) -> Owners {
        self.coarsen(Coarsening::Polled);
        self.coarsen(Coarsening::Scanned);
        self.change("make_mut", Access::Write, |engine| {
            self.see_weak_shares(engine);
            if self.see_shares(engine) != 1 {
                return Owners::Several;
            }
            self.acquire(engine);
            if !has_weak() {
                return Owners::One;
            }
            engine.disown(self.number);
            Owners::OneBesideWeak
        })
    }

    /// Returns the number of weak references, which `count` reads.
    #[track_caller]
    pub fn read_weak(self, count: impl Fn() -> usize) -> usize {
        self.coarsen(Coarsening::Scanned);
        self.read("weak_count", |engine| {
            self.see_weak_shares(engine);
            count()
        })
    }

    /// Changes the number of weak references.
    #[track_caller]
    pub fn change_weak(self, what: &'static str, change: isize) {
        if perform::current().is_some() && self.events().weak {
            self.change(what, Access::Read, |engine| {
                let owned = engine.guests.owned.get_mut(self.number);
                owned.weak_shares = owned.weak_shares.wrapping_add_signed(change);
            });
        }
    }

    /// Records that the running thread observes the number of owners, and returns the number.
    fn see_shares(self, engine: &mut Engine) -> usize {
        let shares = engine.guests.owned.get(self.number).shares;
        engine.see(Seen::Shares(self.number, shares));
        shares
    }

    fn see_weak_shares(self, engine: &mut Engine) {
        let shares = engine.guests.owned.get(self.number).weak_shares;
        engine.see(Seen::WeakShares(self.number, shares));
    }

    /// Adds a share for a weak reference if the value is alive. Returns whether the value is alive.
    /// If it is, the ends of shares so far happen before this, as in `std`.
    #[track_caller]
    pub fn upgrade(self) -> bool {
        self.coarsen(Coarsening::Polled);
        self.change("upgrade", Access::Write, |engine| {
            self.see_shares(engine);
            let owned = engine.guests.owned.get_mut(self.number);
            let is_alive = owned.shares > 0;
            owned.shares += usize::from(is_alive);
            if is_alive {
                self.acquire(engine);
            }
            is_alive
        })
    }

    #[track_caller]
    fn coarsen(self, coarsening: Coarsening) {
        silently(|engine| engine.coarsen_object(self.object, coarsening));
    }

    /// Reads the counter. The read changes nothing, but is a write access for the exploration,
    /// because changes of shares are read accesses. As in `std`, the read itself creates no
    /// synchronization edge.
    #[track_caller]
    fn read(self, what: &'static str, count: impl FnOnce(&mut Engine) -> usize) -> usize {
        let op = self.op(OpKind::Load, Access::Write);
        visible(announced(op, Location::caller()), |engine| {
            let count = count(engine);
            engine.record(|name| format!("{name}.{what}() -> {count}"));
            count
        })
    }

    #[track_caller]
    fn change<R>(
        self,
        what: &'static str,
        access: Access,
        effect: impl FnOnce(&mut Engine) -> R,
    ) -> R {
        let op = self.op(OpKind::ReadModifyWrite, access);
        visible(announced(op, Location::caller()), |engine| {
            let before = engine.guests.owned.get(self.number).shares;
            let result = effect(engine);
            let after = engine.guests.owned.get(self.number).shares;
            engine.record(|name| format!("{name}.{what}(): {before} -> {after}"));
            result
        })
    }

    fn op(self, kind: OpKind, access: Access) -> Op {
        Op {
            kind,
            access,
            object: self.object,
        }
    }
}

/// Returns a closure that announces a relaxed access to a counter. The search under a weak memory
/// model uses this ordering. The ordering does not influence which memory model is chosen: only the
/// program's own accesses do.
fn announced(op: Op, location: Place) -> impl FnOnce(&mut Engine) {
    let request = Request {
        order: MemoryOrder::Relaxed,
        ..Request::plain(op)
    };
    move |engine| engine.announce(request, location)
}
