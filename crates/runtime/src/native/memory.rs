//! Accesses to memory by address.

use super::Frame;
use crate::atomic::Value;
use crate::await_rule::Seen;
use crate::engine::Engine;
use crate::names::Range;
use crate::perform::{perform_when, silently};
use explore::{Access, ObjectId, Op, OpKind, Request, Token};
use rustc_hash::FxHasher;
use std::cell::Cell;
use std::hash::Hasher;
use std::sync::atomic::Ordering;

/// Looking up a range is what every access begins with: those of late are found by one comparison.
#[derive(Default)]
pub(crate) struct Ranges {
    recent: Vec<Recent>,
}

#[derive(Clone, Copy)]
struct Recent {
    address: usize,
    length: usize,
    range: Range,
}

const RECENT: usize = 1024;

const NOTHING: Recent = Recent {
    address: 0,
    length: 0,
    range: Range {
        start: 0,
        length: 0,
        object: ObjectId::NONE,
        is_merged: false,
    },
};

/// A plain write is done by the program after its hook.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    address: usize,
    length: usize,
    range: Range,
}

impl Engine {
    /// The range that an access belongs to.
    #[inline(always)]
    pub(crate) fn range(&mut self, address: usize, length: usize) -> Range {
        let slot = (address >> 2) % RECENT;
        match self.native.ranges.recent.get(slot) {
            Some(recent) if recent.address == address && recent.length == length => recent.range,
            _ => self.look_up(address, length, slot),
        }
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, address: usize, length: usize, slot: usize) -> Range {
        let (range, has_grown) = self.names.range(address as u64, length as u32);
        let recent = &mut self.native.ranges.recent;
        if has_grown || recent.is_empty() {
            recent.clear();
            recent.resize(RECENT, NOTHING);
        }
        recent[slot] = Recent {
            address,
            length,
            range,
        };
        self.is_coarsened |= has_grown;
        range
    }

    /// What the thread that runs does next; whether it goes on at once.
    #[inline(always)]
    pub(crate) fn announces(
        &mut self,
        kind: OpKind,
        access: Access,
        range: Range,
        code: usize,
    ) -> bool {
        self.thread().code = code;
        let object = range.object;
        let op = Op {
            kind,
            access,
            object,
        };
        let index = self.running.index();
        self.pending[index] = explore::Pending::Enabled(Request::plain(op));
        self.runs_on()
    }
}

/// The token of what a range holds.
///
/// # Safety
///
/// The range is memory that can be read.
unsafe fn content(range: Range) -> Token {
    let start = std::ptr::with_exposed_provenance::<u8>(range.start as usize);
    let mut hasher = FxHasher::default();
    // SAFETY: as promised by the caller; the one thread of the operating system that runs the model reads it.
    hasher.write(unsafe { std::slice::from_raw_parts(start, range.length as usize) });
    Token(hasher.finish())
}

/// The token of a value that an access of the range reads or writes.
///
/// # Safety
///
/// As for [`content`].
#[inline(always)]
unsafe fn token<V: Value>(value: V, range: Range) -> Token {
    match range.is_merged {
        false => value.token(),
        // SAFETY: as promised by the caller.
        true => unsafe { content(range) },
    }
}

/// The program could not access this address either.
///
/// # Safety
///
/// A signal handler deals with an address that cannot be read.
#[inline(always)]
unsafe fn touch<V>(pointer: *const V) {
    // SAFETY: as promised by the caller.
    unsafe { pointer.cast::<u8>().read_volatile() };
}

/// An atomic load.
///
/// # Safety
///
/// The program accesses the variable like this, and `frame` is that of its call.
#[inline]
pub unsafe fn load<V: Value>(pointer: *const V, order: Ordering, frame: *const Frame) -> V {
    // SAFETY: the program is about to read it.
    unsafe { touch(pointer) };
    let met = Cell::new(None);
    let goes_on = |engine: &mut Engine| {
        let range = engine.range(pointer.addr(), size_of::<V>());
        met.set(Some(range));
        // SAFETY: as promised by the caller.
        if unsafe { engine.stops_by(frame) } {
            return false;
        }
        // SAFETY: as promised by the caller.
        engine.announces(OpKind::Load, Access::Read, range, unsafe {
            (*frame).code()
        })
    };
    perform_when(goes_on, |engine| {
        let range = met.get().expect("an access has a range");
        // SAFETY: the program reads it, and nobody writes it meanwhile.
        let (value, token) = unsafe {
            let value = pointer.read_unaligned();
            (value, token(value, range))
        };
        engine.note(token, token);
        engine.own_atomically(pointer.addr(), size_of::<V>());
        if engine.watch.is_on() {
            engine.loaded_at(pointer, value, token, order);
        }
        value
    })
}

/// An atomic store.
///
/// # Safety
///
/// The program accesses the variable like this, at the place `code`.
#[inline]
pub unsafe fn store<V: Value>(pointer: *mut V, value: V, order: Ordering, code: usize) {
    // SAFETY: the program is about to write it.
    unsafe { touch(pointer) };
    let met = Cell::new(None);
    let goes_on = |engine: &mut Engine| {
        let range = engine.range(pointer.addr(), size_of::<V>());
        met.set(Some(range));
        engine.thread().laps.take_effect();
        engine.announces(OpKind::Store, Access::Write, range, code)
    };
    perform_when(goes_on, |engine| {
        let range = met.get().expect("an access has a range");
        // SAFETY: the program writes it, and nobody else accesses it meanwhile.
        unsafe {
            let before = token(pointer.read_unaligned(), range);
            pointer.write_unaligned(value);
            engine.note(before, token(value, range));
        }
        engine.own_atomically(pointer.addr(), size_of::<V>());
        if engine.watch.is_on() {
            engine.stored_at(pointer, value, order);
        }
    });
}

/// An atomic read-modify-write. `name` is that of the operation, as `fetch_add`; gives the old value.
///
/// # Safety
///
/// As for [`store`].
#[inline]
pub unsafe fn modify<V: Value>(
    pointer: *mut V,
    (name, order): (&'static str, Ordering),
    code: usize,
    change: impl FnOnce(V) -> V,
) -> V {
    // SAFETY: the program is about to write it.
    unsafe { touch(pointer) };
    let met = Cell::new(None);
    let goes_on = |engine: &mut Engine| {
        let range = engine.range(pointer.addr(), size_of::<V>());
        met.set(Some(range));
        engine.thread().laps.take_effect();
        engine.announces(OpKind::ReadModifyWrite, Access::Write, range, code)
    };
    perform_when(goes_on, |engine| {
        let range = met.get().expect("an access has a range");
        // SAFETY: the program writes it, and nobody else accesses it meanwhile.
        let (old, new) = unsafe {
            let old = pointer.read_unaligned();
            let before = token(old, range);
            let new = change(old);
            pointer.write_unaligned(new);
            engine.note(before, token(new, range));
            (old, new)
        };
        engine.own_atomically(pointer.addr(), size_of::<V>());
        if engine.watch.is_on() {
            engine.modified_at(pointer, name, (old, new), order);
        }
        old
    })
}

/// An atomic compare-exchange; gives the value that was found, as `Err` if it is not the expected one.
///
/// # Safety
///
/// As for [`load`].
#[inline]
pub unsafe fn compare_exchange<V: Value>(
    pointer: *mut V,
    (expected, new): (V, V),
    orders: [Ordering; 2],
    frame: *const Frame,
) -> Result<V, V> {
    // SAFETY: the program is about to access it.
    unsafe { touch(pointer) };
    let met = Cell::new(None);
    let goes_on = |engine: &mut Engine| {
        let range = engine.range(pointer.addr(), size_of::<V>());
        met.set(Some(range));
        // SAFETY: as promised by the caller.
        if unsafe { engine.stops_by(frame) } {
            return false;
        }
        // SAFETY: as promised by the caller.
        engine.thread().code = unsafe { (*frame).code() };
        let mut request = Request::plain(Op {
            kind: OpKind::CompareExchange,
            access: Access::Write,
            object: range.object,
        });
        if !range.is_merged {
            request.expects = Some(expected.token());
            // SAFETY: the program is about to access it.
            request.op.access = request.access_at(unsafe { pointer.read_unaligned() }.token());
        }
        let location = engine.thread().location;
        engine.announce_conditional(request, location);
        engine.runs_on()
    };
    perform_when(goes_on, |engine| {
        let range = met.get().expect("an access has a range");
        // SAFETY: the program accesses it, and nobody else does meanwhile.
        let old = unsafe { pointer.read_unaligned() };
        // SAFETY: as above.
        let before = unsafe { token(old, range) };
        let is_equal = old == expected;
        if is_equal {
            // SAFETY: as above.
            unsafe { pointer.write_unaligned(new) };
            engine.thread().laps.take_effect();
        }
        // SAFETY: as above.
        let after = unsafe { token(if is_equal { new } else { old }, range) };
        engine.note(before, after);
        engine.own_atomically(pointer.addr(), size_of::<V>());
        if engine.watch.is_on() {
            engine.exchanged_at(pointer, [old, expected, new], is_equal, orders);
        }
        if is_equal { Ok(old) } else { Err(old) }
    })
}

/// A fence of the memory model.
pub fn fence(order: Ordering, code: usize) {
    super::at(code, || crate::fence(order));
}

/// A plain read of this many bytes, which the program does when this returns.
///
/// # Safety
///
/// As for [`load`].
#[inline]
pub unsafe fn read(address: usize, length: usize, frame: *const Frame) {
    // SAFETY: the program is about to read it.
    unsafe { touch(std::ptr::with_exposed_provenance::<u8>(address)) };
    let met = Cell::new(None);
    let is_event = Cell::new(true);
    let goes_on = |engine: &mut Engine| {
        // SAFETY: as promised by the caller.
        if unsafe { engine.stops_by(frame) } {
            return false;
        }
        // SAFETY: as promised by the caller.
        let code = unsafe { (*frame).code() };
        if engine.races_plain() {
            is_event.set(false);
            engine.shadow_read(address, length, code);
            return true;
        }
        let range = engine.range(address, length);
        met.set(Some(range));
        engine.announces(OpKind::Load, Access::Read, range, code)
    };
    perform_when(goes_on, |engine| {
        if let (true, Some(range)) = (is_event.get(), met.get()) {
            // SAFETY: the program is about to read it.
            unsafe { engine.has_read(address, length, range) };
        }
    });
}

/// A plain write of this many bytes, which the program does when this returns.
///
/// # Safety
///
/// As for [`store`].
#[inline]
pub unsafe fn write(address: usize, length: usize, code: usize) {
    // SAFETY: the program is about to write it.
    unsafe { touch(std::ptr::with_exposed_provenance::<u8>(address)) };
    let met = Cell::new(None);
    let goes_on = |engine: &mut Engine| {
        engine.takes_effect_at(address);
        if engine.races_plain() {
            engine.shadow_write(address, length, code);
            return true;
        }
        let range = engine.range(address, length);
        met.set(Some(range));
        engine.announces(OpKind::Store, Access::Write, range, code)
    };
    perform_when(goes_on, |engine| {
        if let Some(range) = met.get() {
            // SAFETY: the program is about to write it.
            let before = unsafe { content_of(address, length, range) };
            engine.note(before, before);
            engine.native.written = Some(Written {
                address,
                length,
                range,
            });
            if engine.watch.is_on() {
                engine.order_plain(OpKind::Store);
            }
        }
    });
}

/// A write of volatile memory of this many bytes, which the program does when this returns: an event, without
/// an order for other memory.
///
/// # Safety
///
/// As for [`store`].
#[inline]
pub unsafe fn write_volatile(address: usize, length: usize, code: usize) {
    // SAFETY: the program is about to write it.
    unsafe { touch(std::ptr::with_exposed_provenance::<u8>(address)) };
    let met = Cell::new(None);
    let goes_on = |engine: &mut Engine| {
        engine.thread().laps.take_effect();
        let range = engine.range(address, length);
        met.set(Some(range));
        engine.announces(OpKind::Store, Access::Write, range, code)
    };
    perform_when(goes_on, |engine| {
        let range = met.get().expect("an access has a range");
        // SAFETY: the program is about to write it.
        let before = unsafe { content_of(address, length, range) };
        engine.note(before, before);
        engine.native.written = Some(Written {
            address,
            length,
            range,
        });
        engine.own_atomically(address, length);
        if engine.watch.races {
            engine.shadow_atomic(address, length, Access::Write);
            let object = engine.op.object;
            engine
                .happens_before
                .store(engine.running, object, Ordering::Relaxed);
        }
    });
}

/// Copies memory as `memmove` does: where plain accesses are events, a read and a write for each word.
///
/// # Safety
///
/// As for [`read`] and [`write()`], of all the memory.
pub unsafe fn copy(to: usize, from: usize, length: usize, frame: *const Frame) {
    // SAFETY: the frame is valid, as promised by the caller.
    let code = unsafe { (*frame).code() };
    let source = std::ptr::with_exposed_provenance::<u8>(from);
    let target = std::ptr::with_exposed_provenance_mut::<u8>(to);
    if silently(|engine| engine.races_plain()) {
        // SAFETY: as promised by the caller.
        unsafe {
            read(from, length, frame);
            write(to, length, code);
            target.copy_from(source, length);
        }
        return;
    }
    // Overlapping memory is copied from the end that is not overwritten.
    let words = length.div_ceil(WORD);
    for index in 0..words {
        let start = WORD * if to > from { words - 1 - index } else { index };
        let size = WORD.min(length - start);
        let mut word = [0_u8; WORD];
        // SAFETY: as promised by the caller.
        unsafe {
            read(from + start, size, frame);
            source
                .add(start)
                .copy_to_nonoverlapping(word.as_mut_ptr(), size);
            write(to + start, size, code);
            target
                .add(start)
                .copy_from_nonoverlapping(word.as_ptr(), size);
        }
    }
}

const WORD: usize = 8;

/// Fills memory as `memset` does: where plain accesses are events, a write for each word.
///
/// # Safety
///
/// As for [`write()`], of all the memory.
pub unsafe fn fill(to: usize, byte: u8, length: usize, code: usize) {
    let step = match silently(|engine| engine.races_plain()) {
        true => length,
        false => WORD,
    };
    for start in (0..length).step_by(step) {
        let size = step.min(length - start);
        // SAFETY: as promised by the caller.
        unsafe {
            write(to + start, size, code);
            std::ptr::with_exposed_provenance_mut::<u8>(to + start).write_bytes(byte, size);
        }
    }
}

/// The thread that runs asks for memory: an effect of its own. Gives its number.
pub fn begin_allocation() -> usize {
    silently(|engine| {
        engine.thread().laps.take_effect();
        engine.running.index()
    })
}

/// Memory is given back: whoever accesses it without an order uses it after its end.
pub fn release(address: usize, length: usize, code: usize) {
    silently(|engine| {
        if !engine.races_plain() {
            engine.look_for_races();
        }
        engine.thread().code = code;
        engine.thread().laps.take_effect();
        engine.shadow_release(address, length, code);
    });
}

/// The token of what an access reads or writes.
///
/// # Safety
///
/// As for [`content`].
unsafe fn content_of(address: usize, length: usize, range: Range) -> Token {
    let start = std::ptr::with_exposed_provenance::<u8>(address);
    // SAFETY: as promised by the caller.
    unsafe {
        match (range.is_merged, length) {
            (false, 1) => Token(u64::from(start.read())),
            (false, 2) => Token(u64::from(start.cast::<u16>().read_unaligned())),
            (false, 4) => Token(u64::from(start.cast::<u32>().read_unaligned())),
            (false, 8) => Token(start.cast::<u64>().read_unaligned()),
            _ => content(range),
        }
    }
}

impl Engine {
    /// The thread that runs writes here. What is on its own stack is compared when it comes back to a place.
    #[inline(always)]
    pub(crate) fn takes_effect_at(&mut self, address: usize) {
        if !self.is_on_own_stack(address) {
            self.thread().laps.take_effect();
        }
    }

    /// Whether the address is on the stack of the thread that runs.
    #[inline(always)]
    pub(crate) fn is_on_own_stack(&mut self, address: usize) -> bool {
        let fibre = &self.thread().fibre;
        (fibre.lowest()..fibre.base()).contains(&address)
    }

    #[inline(always)]
    fn races_plain(&self) -> bool {
        self.native.is_raced
    }

    /// Whether it matters for data races what atomic accesses order.
    #[inline(always)]
    fn is_ordering(&self) -> bool {
        self.watch.races && self.native.is_ordering
    }

    /// The plain read of the event at hand.
    ///
    /// # Safety
    ///
    /// As for [`content`].
    unsafe fn has_read(&mut self, address: usize, length: usize, range: Range) {
        // SAFETY: as promised by the caller.
        let token = unsafe { content_of(address, length, range) };
        self.note(token, token);
        if self.watch.is_on() {
            self.see(Seen::Value(self.op.object, token));
            self.order_plain(OpKind::Load);
            // SAFETY: as promised by the caller.
            let bytes = unsafe { bytes_at(address, length) };
            self.record_memory(address, &[bytes], |name, [value]| {
                format!("{name} -> {value}")
            });
        }
    }

    /// The plain write of the event at hand is done.
    #[cold]
    pub(crate) fn has_written(&mut self, written: Written) {
        let Written {
            address,
            length,
            range,
        } = written;
        // SAFETY: the program has written it just now.
        unsafe {
            self.after = content_of(address, length, range);
            let bytes = bytes_at(address, length);
            self.record_memory(address, &[bytes], |name, [value]| {
                format!("{name} = {value}")
            });
        }
    }

    /// A plain access that is an event is ordered with others like an atomic one.
    #[cold]
    fn order_plain(&mut self, kind: OpKind) {
        if !self.watch.races {
            return;
        }
        let (thread, object) = (self.running, self.op.object);
        self.happens_before.load(thread, object, Ordering::SeqCst);
        if kind == OpKind::Store {
            self.happens_before
                .publish(thread, object, Ordering::SeqCst);
        }
    }

    #[cold]
    #[inline(never)]
    fn loaded_at<V: Value>(&mut self, pointer: *const V, value: V, token: Token, order: Ordering) {
        let object = self.op.object;
        self.see(Seen::Value(object, token));
        if self.watch.races {
            self.shadow_atomic(pointer.addr(), size_of::<V>(), Access::Read);
        }
        if self.is_ordering() {
            self.happens_before.load(self.running, object, order);
        }
        self.record_memory(pointer.addr(), &[bytes_of(&value)], |name, [value]| {
            format!("{name}.load() -> {value}")
        });
    }

    #[cold]
    #[inline(never)]
    fn stored_at<V: Value>(&mut self, pointer: *const V, value: V, order: Ordering) {
        if self.watch.races {
            self.shadow_atomic(pointer.addr(), size_of::<V>(), Access::Write);
        }
        if self.is_ordering() {
            self.happens_before
                .store(self.running, self.op.object, order);
        }
        self.record_memory(pointer.addr(), &[bytes_of(&value)], |name, [value]| {
            format!("{name}.store({value})")
        });
    }

    #[cold]
    #[inline(never)]
    fn modified_at<V: Value>(
        &mut self,
        pointer: *const V,
        operation: &str,
        (old, new): (V, V),
        order: Ordering,
    ) {
        let object = self.op.object;
        if self.watch.races {
            self.shadow_atomic(pointer.addr(), size_of::<V>(), Access::Write);
        }
        if self.is_ordering() {
            self.happens_before.load(self.running, object, order);
            self.happens_before.publish(self.running, object, order);
        }
        let values = [bytes_of(&old), bytes_of(&new)];
        self.record_memory(pointer.addr(), &values, |name, [old, new]| {
            format!("{name}.{operation}: {old} -> {new}")
        });
    }

    /// `values`: found, expected, new; `orders`: of success, of failure.
    #[cold]
    #[inline(never)]
    fn exchanged_at<V: Value>(
        &mut self,
        pointer: *const V,
        values: [V; 3],
        is_equal: bool,
        [success, failure]: [Ordering; 2],
    ) {
        let object = self.op.object;
        if !is_equal {
            self.see(Seen::Value(object, self.before));
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
            self.happens_before.load(self.running, object, order);
            if is_equal {
                self.happens_before.publish(self.running, object, success);
            }
        }
        let bytes = [
            bytes_of(&values[0]),
            bytes_of(&values[1]),
            bytes_of(&values[2]),
        ];
        self.record_memory(pointer.addr(), &bytes, |name, [old, expected, new]| {
            let result = if is_equal { "succeeds" } else { "fails" };
            format!("{name}.compare_exchange({expected}, {new}) {result}: {old}")
        });
    }

    /// Says what the event at hand does, with the name of the variable and values.
    fn record_memory<const N: usize>(
        &mut self,
        address: usize,
        values: &[&[u8]; N],
        text: impl FnOnce(&str, [String; N]) -> String,
    ) {
        if !self.watch.records {
            return;
        }
        let Some(native) = self.config.native else {
            return;
        };
        let name = native.source_map.variable(address, values[0].len());
        let values = values.map(|bytes| native.source_map.value(address, bytes));
        self.record(|_| text(&name, values));
    }
}

fn bytes_of<V>(value: &V) -> &[u8] {
    // SAFETY: the values of C that are accessed atomically are integers, which have no padding.
    unsafe { std::slice::from_raw_parts((&raw const *value).cast::<u8>(), size_of::<V>()) }
}

/// # Safety
///
/// The memory can be read, and nobody writes it while the slice is used.
unsafe fn bytes_at<'m>(address: usize, length: usize) -> &'m [u8] {
    // SAFETY: as promised by the caller.
    unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(address), length) }
}
