//! The counter of owners: what of it is told to the model.

use crate::await_rule::Seen;
use crate::engine::Engine;
use crate::owner::CounterEvents;
use crate::perform::{self, perform, silently};
use explore::{Access, ObjectId, Op, OpKind, Token};
use objects::Coarsening;
use std::panic::Location;
use std::sync::atomic::Ordering::{Acquire, Release};

/// The counter of one value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    object: ObjectId,
    pub(super) number: u32,
}

impl Counter {
    /// The counter of a fresh value.
    #[track_caller]
    #[inline]
    pub fn new() -> Counter {
        let location = Location::caller();
        silently(|engine| {
            let object = engine.create(1);
            engine.name_object(object, "Arc", location);
            let number = engine.own("Arc", location);
            let counts = engine.names.is_coarse(object, Coarsening::Polled);
            let owned = engine.owned.get_mut(number);
            owned.counter = object;
            owned.events = CounterEvents {
                drops: counts || engine.names.is_coarse(object, Coarsening::Ordered),
                counts,
                weak: engine.names.is_coarse(object, Coarsening::Scanned),
            };
            Counter { object, number }
        })
    }

    /// The counter with this number.
    pub fn known(number: u32) -> Counter {
        let object = silently(|engine| engine.owned.get(number).counter);
        Counter { object, number }
    }

    #[inline]
    fn events(self) -> CounterEvents {
        silently(|engine| engine.owned.get(self.number).events)
    }

    /// One more share, where there are `count` by then.
    #[track_caller]
    #[inline]
    pub fn take_share(self, count: impl Fn() -> usize) {
        if perform::current().is_some() && self.events().counts {
            self.change("clone", |_| (count(), count() + 1));
        }
    }

    /// One share less, where there are `count` by then; whether it was the last. `is_told`: the caller learns that.
    #[track_caller]
    #[inline]
    pub fn give_up(self, count: impl Fn() -> usize, is_told: bool) -> bool {
        if perform::current().is_none() {
            return count() == 1;
        }
        if is_told {
            self.coarsen(Coarsening::Polled);
        }
        match self.events().drops {
            true => {
                let (before, _) = self.change("drop", |engine| {
                    let count = count();
                    self.end_share(engine, count == 1);
                    (count, count - 1)
                });
                before == 1
            }
            false => silently(|engine| {
                let is_last = count() == 1;
                self.end_share(engine, is_last);
                is_last
            }),
        }
    }

    /// What comes before the end of a share is seen by the last one.
    fn end_share(self, engine: &mut Engine, is_last: bool) {
        engine.give_up_share(self.number);
        if engine.watch.races {
            let clocks = &mut engine.happens_before;
            clocks.publish(engine.running, self.object, Release);
        }
        if is_last {
            self.end_last_share(engine);
        }
    }

    fn end_last_share(self, engine: &mut Engine) {
        engine.disown(self.number);
        self.acquire(engine);
    }

    fn acquire(self, engine: &mut Engine) {
        if engine.watch.races {
            let clocks = &mut engine.happens_before;
            clocks.load(engine.running, self.object, Acquire);
        }
    }

    /// Takes the only share, if it is the only one of `count`.
    #[track_caller]
    pub fn take_last(self, count: impl Fn() -> usize) -> bool {
        self.coarsen(Coarsening::Polled);
        let (_, left) = self.change("try_unwrap", |engine| match count() {
            1 => {
                self.end_last_share(engine);
                (1, 0)
            }
            count => (count, count),
        });
        left == 0
    }

    /// Runs the destructor of the value. If it does what others notice and several threads gave up shares, then
    /// it matters who was last.
    pub fn watch_destructor(self, destructor: impl FnOnce()) {
        if perform::current().is_none() {
            return destructor();
        }
        let done = || silently(|engine| (engine.thread().operations, engine.touches));
        let before = done();
        destructor();
        if done() != before {
            silently(|engine| {
                if engine.owned.get(self.number).has_several_droppers() {
                    engine.coarsen(self.object, Coarsening::Ordered);
                }
            });
        }
    }

    /// Somebody looks at the count. Orders nothing, as in `std`.
    #[track_caller]
    pub fn look(self, what: &'static str, count: impl Fn() -> usize) -> usize {
        self.coarsen(Coarsening::Polled);
        self.read(what, |_| count())
    }

    /// Somebody asks whether there is one owner and no weak reference; if so, it comes after the end of the others.
    #[track_caller]
    pub fn look_if_unique(self, count: impl Fn() -> usize) {
        self.coarsen(Coarsening::Polled);
        self.coarsen(Coarsening::Scanned);
        self.read("get_mut", |engine| {
            self.acquire(engine);
            count()
        });
    }

    /// Somebody looks at the number of weak references.
    #[track_caller]
    pub fn look_at_weak(self, count: impl Fn() -> usize) -> usize {
        self.coarsen(Coarsening::Scanned);
        self.read("weak_count", |_| count())
    }

    /// A weak reference comes or goes.
    #[track_caller]
    pub fn change_weak(self, what: &'static str) {
        if perform::current().is_some() && self.events().weak {
            self.change(what, |_| (0, 0));
        }
    }

    /// A weak reference asks for a share, where there are `count` by then.
    #[track_caller]
    pub fn upgrade(self, count: impl Fn() -> usize) {
        self.coarsen(Coarsening::Polled);
        self.change("upgrade", |_| match count() {
            0 => (0, 0),
            count => (count, count + 1),
        });
    }

    fn coarsen(self, coarsening: Coarsening) {
        silently(|engine| engine.coarsen(self.object, coarsening));
    }

    #[track_caller]
    fn read(self, what: &'static str, count: impl FnOnce(&mut Engine) -> usize) -> usize {
        let op = self.op(OpKind::Load, Access::Read);
        perform(op, Location::caller(), |engine| {
            let count = count(engine);
            let token = Token(count as u64);
            engine.note(token, token);
            engine.see(Seen::Value(self.object, token));
            engine.record(|name| format!("{name}.{what}() -> {count}"));
            count
        })
    }

    /// `effect` tells the count before and after.
    #[track_caller]
    fn change(
        self,
        what: &'static str,
        effect: impl FnOnce(&mut Engine) -> (usize, usize),
    ) -> (usize, usize) {
        let op = self.op(OpKind::ReadModifyWrite, Access::Write);
        perform(op, Location::caller(), |engine| {
            let (before, after) = effect(engine);
            engine.note(Token(before as u64), Token(after as u64));
            engine.record(|name| format!("{name}.{what}(): {before} -> {after}"));
            (before, after)
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
