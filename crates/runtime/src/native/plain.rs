//! Plain and volatile accesses to memory by address, which the program does itself after it has told them.

use super::Frame;
use super::ranges::{bytes_at, content_of, touch};
use crate::await_rule::Seen;
use crate::engine::Engine;
use crate::names::Range;
use crate::perform::{perform_when, silently};
use explore::{Access, OpKind};
use std::cell::Cell;
use std::sync::atomic::Ordering;

/// A plain write is done by the program after its hook.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    address: usize,
    length: usize,
    range: Range,
}

/// A plain read of this many bytes, which the program does when this returns.
///
/// # Safety
///
/// As for [`load`](super::load).
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
/// As for [`store`](super::store).
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
/// As for [`store`](super::store).
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
    pub(super) fn races_plain(&self) -> bool {
        self.native.is_raced
    }

    /// The plain read of the event at hand.
    ///
    /// # Safety
    ///
    /// As for [`content_of`].
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
}
