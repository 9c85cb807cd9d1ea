//! Atomic variables and fences. A variable *settles* at its first use in an execution: it becomes
//! an object of the exploration (see `settle.rs`).

#[cfg(feature = "enforce")]
mod real;

#[cfg(feature = "enforce")]
pub use real::Real;

use crate::engine::Engine;
use crate::engine::dependence::DependsOn;
use crate::engine::perform::{clean_after_first_use, current, perform_ordered, silently, visible};
use crate::engine::place::Place;
use crate::memory::value_id;
use crate::rust::outside::outside;
use crate::rust::settle::{Settle, Settling, settled};
use crate::rust::versions::memory_order;
use crate::watch::seen::Seen;
use explore::{Access, ObjectId, Op, OpKind, Request, ValueId};
use std::cell::{Cell, UnsafeCell};
use std::fmt::{self, Debug};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::atomic::Ordering;

/// The processor's atomic operations on a type, which only code outside of models needs.
#[cfg(not(feature = "enforce"))]
pub trait Real {}

#[cfg(not(feature = "enforce"))]
impl<V> Real for V {}

/// A type whose values an atomic variable can hold.
pub trait Value: Copy + Debug + PartialEq + Real {
    /// The name of the variable's type in a trace, such as `AtomicUsize`.
    const NAME: &'static str;

    /// Whether values are addresses, which mean nothing to users.
    const IS_POINTER: bool = false;

    /// Returns a token that is equal for equal values and independent of the schedule.
    fn token(self) -> ValueId;
}

macro_rules! integers {
    ($($integer:ident $name:literal),*) => {
        $(impl Value for $integer {
            const NAME: &'static str = $name;

            #[inline(always)]
            fn token(self) -> ValueId {
                // Programs also store addresses in integers, with tags in unused bits.
                match size_of::<$integer>() == size_of::<usize>() {
                    true => value_id::of_address(self as usize),
                    false => ValueId(self as u64),
                }
            }
        })*
    };
}

integers!(
    bool "AtomicBool", u8 "AtomicU8", u16 "AtomicU16", u32 "AtomicU32", u64 "AtomicU64",
    usize "AtomicUsize", i8 "AtomicI8", i16 "AtomicI16", i32 "AtomicI32", i64 "AtomicI64",
    isize "AtomicIsize"
);

impl Value for u128 {
    const NAME: &'static str = "AtomicU128";

    #[inline]
    fn token(self) -> ValueId {
        // Two values with the same token would count as equal, so the halves are mixed.
        let (low, high) = (self as u64, (self >> 64) as u64);
        ValueId(low.wrapping_add(high.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)))
    }
}

impl<T> Value for *mut T {
    const NAME: &'static str = "AtomicPtr";
    const IS_POINTER: bool = true;

    #[inline(always)]
    fn token(self) -> ValueId {
        value_id::of_address(self.addr())
    }
}

/// An atomic variable, which is `Sync` for all values that it can hold.
///
/// Every operation is an event. Under sequential consistency, orderings matter only for data races.
/// The caller must check which orderings are valid.
pub struct Atomic<V> {
    /// The object's id with all bits inverted. This number is 0 until the variable has settled, so
    /// that zeroed memory is a valid variable, as with `std`.
    object: Cell<u32>,
    /// The place of creation, or `None` in zeroed memory.
    location: Option<Place>,
    value: UnsafeCell<V>,
}

// SAFETY: the value is plain data. Only the effects of operations and `peek` touch it, on the one
// thread of the operating system that runs the model; operations on other threads panic before they
// touch it. The content of a static is never written, only that of its copies.
unsafe impl<V: Value> Sync for Atomic<V> {}
// SAFETY: an atomic of the standard library is `Send`, too, even if it holds a pointer.
unsafe impl<V: Value> Send for Atomic<V> {}

impl<V: Value> UnwindSafe for Atomic<V> {}
impl<V: Value> RefUnwindSafe for Atomic<V> {}

const fn op(kind: OpKind, access: Access, object: ObjectId) -> Op {
    Op {
        kind,
        access,
        object,
    }
}

impl<V: Value> Atomic<V> {
    /// Creates a variable that settles at its first use.
    #[inline]
    #[track_caller]
    pub const fn new(value: V) -> Atomic<V> {
        Atomic {
            object: Cell::new(!ObjectId::NONE.0),
            location: Some(Location::caller()),
            value: UnsafeCell::new(value),
        }
    }

    /// Settles the variable at once. Its name consists of the running thread and the variable's
    /// number among the objects of that thread.
    ///
    /// # Panics
    ///
    /// Panics outside of a model.
    #[must_use]
    #[track_caller]
    pub fn settled(self) -> Atomic<V> {
        outside!(self);
        let object = silently(|engine| {
            let object = engine.create(1);
            engine.name_object(object, V::NAME, self.made_at());
            object
        });
        self.settle_as(object);
        self
    }

    /// Creates a variable of a library, which is hidden from the program. Traces call it `name`.
    #[track_caller]
    pub fn internal(value: V, name: &str) -> Atomic<V> {
        outside!(Atomic::new(value));
        let object = silently(|engine| {
            let object = engine.create(1);
            engine.name_internal(object, name);
            object
        });
        let variable = Atomic::new(value);
        variable.settle_as(object);
        variable
    }

    /// Settles the variable as this object, which already has a name.
    pub(crate) fn settle_as(&self, object: ObjectId) {
        self.object.set(!object.0);
    }

    /// Returns the place where the variable was created. If the variable is in zeroed memory, no
    /// constructor has recorded a place, so the place of the current use is returned.
    #[track_caller]
    fn made_at(&self) -> Place {
        self.location.unwrap_or(Location::caller())
    }

    /// Returns the object, or `ObjectId::NONE` if the variable has not settled.
    pub(crate) fn object(&self) -> ObjectId {
        ObjectId(!self.object.get())
    }

    /// Returns the variable of the current execution: this variable itself, or its copy if it is in
    /// a static.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn here(&self) -> &Atomic<V> {
        let mut here = self;
        // Settles the variable. The function `settled` in `settle.rs` explains the loop.
        while !here.is_settled() {
            here = here.come_here();
            clean_after_first_use();
        }
        here
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn come_here(&self) -> &Atomic<V> {
        let address = (&raw const *self).addr();
        let location = self.made_at();
        let object = silently(|engine| {
            let object = engine.create_nearby(address, 1)?;
            engine.name_object(object, V::NAME, location);
            Some(object)
        });
        match object {
            Some(object) => {
                self.settle_as(object);
                self
            }
            None => settled(self),
        }
    }

    /// Reads the value.
    #[inline(always)]
    #[track_caller]
    pub fn load(&self, order: Ordering) -> V {
        outside!(self.load_outside());
        let atomic = self.here();
        let load = op(OpKind::Load, Access::Read, atomic.object());
        let order_of_load = memory_order(order);
        perform_ordered(load, order_of_load, Location::caller(), |engine| {
            let value = engine.value_read(atomic.own());
            engine.record_value_ids(value.token(), value.token());
            if engine.watch.is_on() {
                loaded(engine, value, order);
            }
            value
        })
    }

    /// Writes a value.
    #[inline(always)]
    #[track_caller]
    pub fn store(&self, value: V, order: Ordering) {
        outside!(self.store_outside(value));
        let atomic = self.here();
        let store = op(OpKind::Store, Access::Write, atomic.object());
        let order_of_store = memory_order(order);
        perform_ordered(store, order_of_store, Location::caller(), |engine| {
            engine.record_value_ids(atomic.own().token(), value.token());
            atomic.write(engine, value);
            if engine.watch.is_on() {
                stored(engine, value, order);
            }
        });
    }

    /// Replaces the value with the result of `change` and returns the old value. `name` is the name
    /// of the operation, such as `fetch_add`. `change` must not have side effects.
    #[inline(always)]
    #[track_caller]
    pub fn modify(&self, name: &'static str, order: Ordering, change: impl Fn(V) -> V) -> V {
        outside!(self.modify_outside(change));
        let atomic = self.here();
        let modify = op(OpKind::ReadModifyWrite, Access::Write, atomic.object());
        let both = memory_order(order);
        perform_ordered(modify, both, Location::caller(), |engine| {
            let old = engine.value_read(atomic.own());
            let new = change(old);
            engine.record_value_ids(old.token(), new.token());
            atomic.write(engine, new);
            if engine.watch.is_on() {
                modified(engine, name, old, new, order);
            }
            old
        })
    }

    /// Replaces the value with `new` if it is `current`. Returns the old value, as `Err` if it is
    /// not `current`.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: V,
        new: V,
        success: Ordering,
        failure: Ordering,
    ) -> Result<V, V> {
        outside!(self.exchange_outside(current, new));
        let location = Location::caller();
        let atomic = self.here();
        let expects = current.token();
        let announce = |engine: &mut Engine| {
            let op = op(OpKind::CompareExchange, Access::Write, atomic.object());
            let mut request = Request {
                expects: Some(expects),
                order: memory_order(success),
                on_failure: memory_order(failure),
                ..Request::plain(op)
            };
            request.op.access = request.access_at(atomic.own().token());
            engine.process_ordering(&mut request, Some(location));
            engine.announce_conditional(request, DependsOn::Value, location);
        };
        visible(announce, |engine| {
            let old = engine.value_read(atomic.own());
            let is_equal = old.token() == expects;
            let after = if is_equal { new } else { old };
            engine.record_value_ids(old.token(), after.token());
            if is_equal {
                engine.op.access = Access::Write;
                atomic.write(engine, new);
            } else {
                engine.op.access = Access::Read;
            }
            if engine.watch.is_on() {
                exchanged(engine, [old, current, new], is_equal, [success, failure]);
            }
            if is_equal { Ok(old) } else { Err(old) }
        })
    }

    /// Returns the value in the current execution without an event, for `Debug`. Outside of a
    /// model, returns the value with which each execution begins (with the feature `enforce`, the
    /// current real value).
    pub fn peek(&self) -> V {
        outside!(self.read_outside());
        match crate::is_in_model() {
            true => self.here().own(),
            false => self.own(),
        }
    }

    /// Returns the value of this variable itself without an event, for an exclusive owner.
    #[inline(always)]
    pub fn own(&self) -> V {
        // SAFETY: one thread of the operating system copies values in and out. The values are never
        // borrowed.
        unsafe { *self.value.get() }
    }

    /// Writes the value by the current operation.
    #[inline(always)]
    fn write(&self, engine: &mut Engine, value: V) {
        if engine.is_written(self.own(), value) {
            self.set(value);
        }
    }

    /// Writes the value without an event.
    #[inline(always)]
    pub(crate) fn set(&self, value: V) {
        // SAFETY: as in `own`.
        unsafe { *self.value.get() = value };
    }

    /// Returns the address of the current execution's value. Accesses through it are not recorded.
    pub fn as_ptr(&self) -> *mut V {
        outside!(self.value.get());
        self.here().value.get()
    }

    /// Returns the value, to which the caller has exclusive access.
    pub fn get_mut(&mut self) -> &mut V {
        // Under a weak memory model, later reads would not see a write through the reference. All
        // earlier accesses happen before it, so later accesses may use a new object, which begins
        // with the value that the caller leaves.
        if is_weak() {
            self.settle_as(ObjectId::NONE);
        }
        self.value.get_mut()
    }
}

/// Checks whether the caller runs in a model with a weak memory model.
// Not inlined, because frames of code without optimizations are large.
#[inline(never)]
fn is_weak() -> bool {
    current().is_some() && silently(|engine| engine.is_weak())
}

impl<V: Value> Settle for Atomic<V> {
    #[inline(always)]
    fn is_settled(&self) -> bool {
        self.object() != ObjectId::NONE
    }

    fn settle(&self, settling: &Settling) {
        let address = (&raw const *self).addr();
        self.settle_as(silently(|engine| {
            let object = settling.object(engine, address, 1);
            engine.name_object(object, V::NAME, self.made_at());
            object
        }));
    }
}

impl<V: Value> Debug for Atomic<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.peek().fmt(f)
    }
}

#[cold]
#[inline(never)]
fn loaded<V: Value>(engine: &mut Engine, value: V, order: Ordering) {
    let order = engine.strengthened(order);
    let object = engine.op.object;
    engine.see(Seen::Value(object, value.token()));
    if engine.watch.races {
        engine.take_version();
        engine
            .guests
            .happens_before
            .load(engine.running, object, order);
    }
    let order = engine.shown_order(order, "");
    engine.record_values([value], 0, |name, [value]| {
        format!("{name}.load({order}) -> {value}")
    });
}

/// Records a write for the await rule. A write that does not change the value counts as a read.
fn wrote(engine: &mut Engine) {
    if engine.before == engine.after {
        engine.see(Seen::Value(engine.op.object, engine.before));
    }
}

#[cold]
#[inline(never)]
fn stored<V: Value>(engine: &mut Engine, value: V, order: Ordering) {
    let order = engine.strengthened(order);
    wrote(engine);
    if engine.watch.races {
        engine
            .guests
            .happens_before
            .store(engine.running, engine.op.object, order, false);
        engine.keep_version();
    }
    let order = engine.shown_order(order, ", ");
    let position = engine.shown_position();
    engine.record_values([value], 0, |name, [value]| {
        format!("{name}.store({value}{order}){position}")
    });
}

#[cold]
#[inline(never)]
fn modified<V: Value>(engine: &mut Engine, operation: &str, old: V, new: V, order: Ordering) {
    let order = engine.strengthened(order);
    wrote(engine);
    if engine.watch.races {
        engine.take_version();
        engine
            .guests
            .happens_before
            .load(engine.running, engine.op.object, order);
        engine
            .guests
            .happens_before
            .publish(engine.running, engine.op.object, order);
        engine.keep_version();
    }
    let order = engine.shown_order(order, " ");
    engine.record_values([old, new], 1, |name, [old, new]| {
        format!("{name}.{operation}{order}: {old} -> {new}")
    });
}

/// Records a compare-exchange. `values` are the found, expected and new values. `orders` are the
/// orderings on success and on failure.
#[cold]
#[inline(never)]
fn exchanged<V: Value>(engine: &mut Engine, values: [V; 3], is_equal: bool, orders: [Ordering; 2]) {
    let success = engine.strengthened(orders[0]);
    let failure = engine.strengthened_if(true, orders[1]);
    let object = engine.op.object;
    wrote(engine);
    if engine.watch.races {
        engine.take_version();
        engine.guests.happens_before.load(
            engine.running,
            object,
            if is_equal { success } else { failure },
        );
        if is_equal {
            engine
                .guests
                .happens_before
                .publish(engine.running, object, success);
            engine.keep_version();
        }
    }
    let afterwards = if is_equal { 2 } else { 0 };
    let order = engine.shown_order(if is_equal { success } else { failure }, ", ");
    engine.record_values(values, afterwards, |name, [old, current, new]| {
        let result = if is_equal { "Ok" } else { "Err" };
        format!("{name}.compare_exchange({current}, {new}{order}) -> {result}({old})")
    });
}

/// A memory fence: an event without an access.
#[track_caller]
pub fn fence(order: Ordering) {
    outside!(enforce::fence());
    let fence = op(OpKind::Fence, Access::None, ObjectId::NONE);
    perform_ordered(fence, memory_order(order), Location::caller(), |engine| {
        if engine.watch.races {
            let order = engine.strengthened(order);
            engine.guests.happens_before.fence(engine.running, order);
        }
        engine.record(|_| format!("fence({order:?})"));
    });
}
