//! Atomic accesses to memory by address.

use super::Frame;
use super::places::Given;
use super::ranges::{bytes_of, token, touch, value_seen};
use crate::engine::Engine;
use crate::engine::dependence::DependsOn;
use crate::engine::names::Range;
use crate::engine::perform::{perform_when, silently};
use crate::rust::atomic::Value;
use crate::rust::versions::Sort;
use explore::{Access, Op, OpKind};
use std::cell::Cell;
use std::sync::atomic::Ordering;

/// Performs an atomic load.
///
/// # Safety
///
/// The program must be about to perform this access, and `frame` must be that of its call of the
/// hook.
#[inline]
pub unsafe fn load<V: Value>(pointer: *const V, order: Ordering, frame: *const Frame) -> V {
    // SAFETY: as promised by the caller.
    unsafe {
        let given = Given::All([pointer.addr() as u128, 0, 0]);
        let stops = |engine: &mut Engine| engine.stops_by(frame, true, given);
        load_unless(stops, pointer, (order, Sort::Atomic), (*frame).code())
    }
}

/// Reports a volatile read, which the program performs afterwards. It is an event, but does not
/// order other memory. All volatile accesses to the same memory are totally ordered.
///
/// # Safety
///
/// The conditions are those of [`load`].
#[inline]
pub unsafe fn read_volatile<V: Value>(pointer: *const V, frame: *const Frame) {
    // SAFETY: as promised by the caller.
    unsafe {
        let given = Given::All([pointer.addr() as u128, 0, 0]);
        let stops = |engine: &mut Engine| engine.stops_by(frame, true, given);
        let sort = Sort::Volatile;
        load_unless(stops, pointer, (Ordering::Relaxed, sort), (*frame).code());
    }
}

/// Performs a load of this sort at the place `code`. `stops` decides whether the thread stops
/// instead.
///
/// # Safety
///
/// The conditions are those of [`store`].
#[inline(always)]
pub(super) unsafe fn load_unless<V: Value>(
    stops: impl FnOnce(&mut Engine) -> bool,
    pointer: *const V,
    (order, sort): (Ordering, Sort),
    code: usize,
) -> V {
    // SAFETY: the program is about to read this memory.
    unsafe { touch(pointer) };
    let found_range = Cell::new(None);
    let continues = |engine: &mut Engine| {
        // SAFETY: the program is about to access this memory.
        let range = unsafe { engine.atomic_range(pointer, sort) };
        found_range.set(Some(range));
        if stops(engine) {
            return false;
        }
        match sort {
            Sort::Atomic => {
                engine.announces_atomic((OpKind::Load, Access::Read), range, order, code)
            }
            Sort::Volatile => engine.announces(OpKind::Load, Access::Read, range, code),
            Sort::Own => engine.announces_own((OpKind::Load, Access::Read), range, order, code),
        }
    };
    perform_when(continues, |engine| {
        let range = found_range.get().expect("an access has a range");
        // SAFETY: the program reads this memory, which is not written meanwhile.
        let (value, token) = unsafe {
            let value = engine.value_at(pointer.read_unaligned(), range, sort);
            (value, token(value, range))
        };
        engine.record_value_ids(token, token);
        engine.own_atomically(pointer.addr(), size_of::<V>());
        if engine.watch.is_on() {
            engine.loaded_at(pointer, value, (range, sort), order);
        }
        value
    })
}

/// Performs an atomic store.
///
/// # Safety
///
/// The program must be about to perform this access, at the place `code`.
#[inline]
pub unsafe fn store<V: Value>(pointer: *mut V, value: V, order: Ordering, code: usize) {
    // SAFETY: the program is about to write this memory.
    unsafe { touch(pointer) };
    let found_range = Cell::new(None);
    let continues = |engine: &mut Engine| {
        if engine.is_on_own_stack(pointer.addr()) {
            // This may be the first write of a function to its frame, which still holds the bytes
            // that hooks left there.
            engine.wipe_stacks();
        }
        // SAFETY: the program is about to access this memory.
        let range = unsafe { engine.atomic_range(pointer, Sort::Atomic) };
        found_range.set(Some(range));
        engine.announces_atomic((OpKind::Store, Access::Write), range, order, code)
    };
    perform_when(continues, |engine| {
        let range = found_range.get().expect("an access has a range");
        // SAFETY: the program writes this memory, and nothing else accesses it at the same time.
        unsafe {
            engine.changes(pointer.addr(), size_of::<V>());
            let old = pointer.read_unaligned();
            let before = token(old, range);
            if engine.is_written_at(old, value, range, Sort::Atomic) {
                pointer.write_unaligned(value);
            }
            engine.record_value_ids(before, token(value, range));
            if old != value {
                engine.thread().life.guests.round.take_effect();
            }
        }
        engine.own_atomically(pointer.addr(), size_of::<V>());
        if engine.watch.is_on() {
            engine.stored_at(pointer, value, range, order);
        }
    });
}

/// Performs an atomic read-modify-write and returns the old value. `named` holds the operation's
/// name, such as `fetch_add`, and its ordering. `change` computes the new value from the old value
/// and `operand`.
///
/// # Safety
///
/// The conditions are those of [`load`].
#[inline]
pub unsafe fn modify<V: Value>(
    pointer: *mut V,
    named: (&'static str, Ordering),
    frame: *const Frame,
    operand: V,
    change: impl FnOnce(V, V) -> V,
) -> V {
    // SAFETY: as promised by the caller.
    unsafe {
        let given = [pointer.addr() as u128, wide(operand), 0];
        let stops = |engine: &mut Engine| engine.stops_by(frame, true, Given::All(given));
        let named = (named.0, named.1, Sort::Atomic);
        modify_unless(stops, pointer, named, (*frame).code(), |old| {
            change(old, operand)
        })
    }
}

/// Performs a read-modify-write of this sort at the place `code`. `stops` decides whether the
/// thread stops instead.
///
/// # Safety
///
/// The conditions are those of [`store`].
#[inline(always)]
pub(super) unsafe fn modify_unless<V: Value>(
    stops: impl FnOnce(&mut Engine) -> bool,
    pointer: *mut V,
    (name, order, sort): (&'static str, Ordering, Sort),
    code: usize,
    change: impl FnOnce(V) -> V,
) -> V {
    // SAFETY: the program is about to write this memory.
    unsafe { touch(pointer) };
    let found_range = Cell::new(None);
    let continues = |engine: &mut Engine| {
        // SAFETY: the program is about to access this memory.
        let range = unsafe { engine.atomic_range(pointer, sort) };
        found_range.set(Some(range));
        if stops(engine) {
            return false;
        }
        let modify = (OpKind::ReadModifyWrite, Access::Write);
        match sort {
            Sort::Own => engine.announces_own(modify, range, order, code),
            Sort::Atomic | Sort::Volatile => engine.announces_atomic(modify, range, order, code),
        }
    };
    perform_when(continues, |engine| {
        let range = found_range.get().expect("an access has a range");
        // SAFETY: the program writes this memory, and nothing else accesses it at the same time.
        let (old, new) = unsafe {
            engine.changes(pointer.addr(), size_of::<V>());
            let newest = pointer.read_unaligned();
            let old = engine.value_at(newest, range, sort);
            let before = token(old, range);
            let new = change(old);
            if engine.is_written_at(newest, new, range, sort) {
                pointer.write_unaligned(new);
            }
            engine.record_value_ids(before, token(new, range));
            (old, new)
        };
        if old != new {
            engine.thread().life.guests.round.take_effect();
        }
        engine.own_atomically(pointer.addr(), size_of::<V>());
        if engine.watch.is_on() {
            engine.modified_at((pointer, range, sort), name, (old, new), order);
        }
        old
    })
}

/// Performs an atomic compare-exchange. Returns the value found, as `Err` if it is not the expected
/// value.
///
/// # Safety
///
/// The conditions are those of [`load`].
#[inline]
pub unsafe fn compare_exchange<V: Value>(
    pointer: *mut V,
    (expected, new): (V, V),
    orders: [Ordering; 2],
    frame: *const Frame,
) -> Result<V, V> {
    // SAFETY: the program is about to access this memory.
    unsafe { touch(pointer) };
    let found_range = Cell::new(None);
    let given = [pointer.addr() as u128, wide(expected), wide(new)];
    // SAFETY: as promised by the caller.
    let code = unsafe { (*frame).code() };
    let continues = |engine: &mut Engine| {
        // SAFETY: the program is about to access this memory.
        let range = unsafe { engine.atomic_range(pointer, Sort::Atomic) };
        found_range.set(Some(range));
        // SAFETY: as promised by the caller.
        if unsafe { engine.stops_by(frame, true, Given::All(given)) } {
            return false;
        }
        let op = Op {
            kind: OpKind::CompareExchange,
            access: Access::Write,
            object: range.object,
        };
        let mut request = engine.ordered(op, orders, code);
        if !range.is_merged {
            request.expects = Some(expected.token());
            // SAFETY: the program is about to access this memory.
            request.op.access = request.access_at(unsafe { pointer.read_unaligned() }.token());
        }
        let location = engine.thread().life.location;
        engine.announce_conditional(request, DependsOn::Value, location);
        engine.runs_on()
    };
    perform_when(continues, |engine| {
        let range = found_range.get().expect("an access has a range");
        // SAFETY: the program accesses this memory, and nothing else accesses it at the same time.
        let newest = unsafe { pointer.read_unaligned() };
        let old = engine.value_at(newest, range, Sort::Atomic);
        // SAFETY: as above.
        let before = unsafe { token(old, range) };
        let is_equal = old == expected;
        if is_equal {
            // SAFETY: as above.
            unsafe {
                engine.changes(pointer.addr(), size_of::<V>());
                if engine.is_written_at(newest, new, range, Sort::Atomic) {
                    pointer.write_unaligned(new);
                }
            }
            engine.thread().life.guests.round.take_effect();
        }
        // SAFETY: as above.
        let after = unsafe { token(if is_equal { new } else { old }, range) };
        engine.record_value_ids(before, after);
        if !range.is_merged {
            // The access is known since the announcement, unless an old value was read.
            engine.op.access = match is_equal {
                true => Access::Write,
                false => Access::Read,
            };
        }
        engine.own_atomically(pointer.addr(), size_of::<V>());
        if engine.watch.is_on() {
            engine.exchanged_at((pointer, range), [old, expected, new], is_equal, orders);
        }
        if is_equal { Ok(old) } else { Err(old) }
    })
}

/// Returns the bytes of a value, followed by zeros.
fn wide<V: Value>(value: V) -> u128 {
    let mut bytes = [0; size_of::<u128>()];
    bytes[..size_of::<V>()].copy_from_slice(bytes_of(&value));
    u128::from_ne_bytes(bytes)
}

/// Performs a fence of the memory model. It is no effect for the await rule: a round that only reads
/// and fences learns nothing new.
pub fn fence(order: Ordering, code: usize) {
    silently(|engine| {
        engine.thread().life.code = code;
        engine.end_frames();
    });
    crate::fence(order);
}

impl Engine {
    /// Announces an atomic access. Returns whether the thread continues at once.
    #[inline(always)]
    pub(super) fn announces_atomic(
        &mut self,
        (kind, access): (OpKind, Access),
        range: Range,
        order: Ordering,
        code: usize,
    ) -> bool {
        let object = range.object;
        let op = Op {
            kind,
            access,
            object,
        };
        let request = self.ordered(op, [order; 2], code);
        self.announces_request(request)
    }

    /// Records that the running thread has observed this value in memory.
    pub(super) fn see_value<V: Value>(&mut self, pointer: *const V, value: V) {
        self.see(value_seen(pointer.addr(), bytes_of(&value)));
        // SAFETY: the program accesses this memory.
        if self.is_weak() && unsafe { pointer.read_unaligned() } != value {
            self.reads_old_value(pointer.addr(), size_of::<V>());
        }
    }

    #[cold]
    #[inline(never)]
    fn loaded_at<V: Value>(
        &mut self,
        pointer: *const V,
        value: V,
        (range, sort): (Range, Sort),
        order: Ordering,
    ) {
        self.see_value(pointer, value);
        if self.watch.races {
            self.shadow_atomic(pointer.addr(), size_of::<V>(), Access::Read);
        }
        if self.is_ordering() {
            let order = self.strengthened(self.effective(order));
            let variable = range.variable(pointer.addr(), size_of::<V>());
            if sort == Sort::Atomic {
                self.take_version();
            }
            self.guests
                .happens_before
                .load(self.running, variable, order);
        }
        let order = self.shown_order(order, "");
        self.record_memory(
            pointer.addr(),
            &[bytes_of(&value)],
            Some(0),
            |name, [value]| format!("{name}.load({order}) -> {value}"),
        );
    }

    #[cold]
    #[inline(never)]
    fn stored_at<V: Value>(&mut self, pointer: *const V, value: V, range: Range, order: Ordering) {
        if self.watch.races {
            self.shadow_atomic(pointer.addr(), size_of::<V>(), Access::Write);
        }
        if self.is_ordering() {
            let order = self.strengthened(self.effective(order));
            let continues = order == Ordering::Relaxed && self.continues_release_sequences();
            let variable = range.variable(pointer.addr(), size_of::<V>());
            self.guests
                .happens_before
                .store(self.running, variable, order, continues);
            self.keep_version();
        }
        let order = self.shown_order(order, ", ");
        let position = self.shown_position();
        self.record_memory(
            pointer.addr(),
            &[bytes_of(&value)],
            Some(0),
            |name, [value]| format!("{name}.store({value}{order}){position}"),
        );
    }

    #[cold]
    #[inline(never)]
    fn modified_at<V: Value>(
        &mut self,
        (pointer, range, sort): (*const V, Range, Sort),
        operation: &str,
        (old, new): (V, V),
        order: Ordering,
    ) {
        if old == new {
            self.see_value(pointer, old);
        }
        if self.watch.races {
            self.shadow_atomic(pointer.addr(), size_of::<V>(), Access::Write);
        }
        if self.is_ordering() {
            let order = self.strengthened(self.effective(order));
            let variable = range.variable(pointer.addr(), size_of::<V>());
            let has_versions = sort == Sort::Atomic;
            if has_versions {
                self.take_version();
            }
            self.guests
                .happens_before
                .load(self.running, variable, order);
            self.guests
                .happens_before
                .publish(self.running, variable, order);
            if has_versions {
                self.keep_version();
            }
        }
        let values = [bytes_of(&old), bytes_of(&new)];
        let order = self.shown_order(order, " ");
        self.record_memory(pointer.addr(), &values, Some(1), |name, [old, new]| {
            format!("{name}.{operation}{order}: {old} -> {new}")
        });
    }

    /// Reports a compare-exchange to the watchers. `values` are the found, expected and new values.
    /// `orders` are the orderings on success and on failure.
    #[cold]
    #[inline(never)]
    fn exchanged_at<V: Value>(
        &mut self,
        (pointer, range): (*const V, Range),
        values: [V; 3],
        is_equal: bool,
        [success, failure]: [Ordering; 2],
    ) {
        if !is_equal {
            self.see_value(pointer, values[0]);
        }
        if self.watch.races {
            let access = if is_equal {
                Access::Write
            } else {
                Access::Read
            };
            self.shadow_atomic(pointer.addr(), size_of::<V>(), access);
        }
        if self.is_ordering() {
            let order = if is_equal { success } else { failure };
            let order = self.strengthened_if(!is_equal, self.effective(order));
            let variable = range.variable(pointer.addr(), size_of::<V>());
            self.take_version();
            self.guests
                .happens_before
                .load(self.running, variable, order);
            if is_equal {
                self.guests
                    .happens_before
                    .publish(self.running, variable, order);
                self.keep_version();
            }
        }
        let bytes = [
            bytes_of(&values[0]),
            bytes_of(&values[1]),
            bytes_of(&values[2]),
        ];
        let afterwards = if is_equal { 2 } else { 0 };
        let order = self.shown_order(if is_equal { success } else { failure }, ", ");
        self.record_memory(
            pointer.addr(),
            &bytes,
            Some(afterwards),
            |name, [old, expected, new]| {
                let result = if is_equal { "succeeds" } else { "fails" };
                format!("{name}.compare_exchange({expected}, {new}{order}) {result}: {old}")
            },
        );
    }
}
