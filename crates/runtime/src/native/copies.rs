//! Memory that is copied or filled as a whole.

use super::Frame;
use super::plain::{Written, read_within, write};
use super::ranges::{content_of, touch};
use crate::engine::Engine;
use crate::engine::names::Range;
use crate::engine::perform::{perform_when, silently};
use explore::{Access, OpKind};
use std::cell::Cell;

/// Copies memory like `memmove`. Where plain accesses are events, each word is copied by a read and
/// a write.
///
/// # Safety
///
/// The conditions of [`read`](super::read) and [`write()`](super::write) must hold for all bytes.
pub unsafe fn copy(to: usize, from: usize, length: usize, frame: *const Frame) {
    let given = [to, from, length].map(|word| word as u128);
    // SAFETY: the frame is valid, as promised by the caller.
    let code = unsafe { (*frame).code() };
    let source = std::ptr::with_exposed_provenance::<u8>(from);
    let target = std::ptr::with_exposed_provenance_mut::<u8>(to);
    if silently(|engine| engine.races_plain()) {
        // SAFETY: as promised by the caller.
        unsafe {
            read_within(from, length, frame, given);
            write(to, length, code);
            target.copy_from(source, length);
        }
        return;
    }
    // Copy in the direction in which overlapping words are read before they are overwritten.
    let words = length.div_ceil(WORD);
    for index in 0..words {
        let start = WORD * if to > from { words - 1 - index } else { index };
        let size = WORD.min(length - start);
        let mut word = [0_u8; WORD];
        // SAFETY: as promised by the caller.
        unsafe {
            match index {
                0 => read_within(from + start, size, frame, given),
                _ => read_on(from + start, size, code),
            }
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

/// Reports that the program is about to copy a structure. The copy is one write, for which source
/// and target become one object. A copy to the thread's private stack is an exception: only its
/// read is an event. The search may have handled the write on the fast path (`own`), where it is
/// not an event, and an execution that is recorded for the report must have the same events.
///
/// # Safety
///
/// The conditions of [`read`](super::read) and [`write()`](super::write) must hold for all bytes.
pub unsafe fn copy_at_once(to: usize, from: usize, length: usize, frame: *const Frame) {
    let given = [to, from, length].map(|word| word as u128);
    if silently(|engine| engine.is_on_private_stack(to, length)) {
        // SAFETY: as promised by the caller.
        unsafe {
            read_within(from, length, frame, given);
            return write(to, length, (*frame).code());
        }
    }
    let found_range = Cell::new(None);
    let continues = |engine: &mut Engine| {
        let range = engine.range_of_copy(to, from, length);
        found_range.set(Some(range));
        // SAFETY: as promised by the caller.
        let code = unsafe {
            engine.takes_effect_at(to, length);
            (*frame).code()
        };
        engine.announces(OpKind::Store, Access::Write, range, code)
    };
    perform_when(continues, |engine| {
        let range = found_range.get().expect("a copy has a range");
        // SAFETY: the program is about to write this memory.
        let before = unsafe {
            engine.changes(to, length);
            content_of(to, length, range)
        };
        engine.record_value_ids(before, before);
        engine.guests.native.written = Some(Written {
            address: to,
            length,
            range,
        });
        if engine.watch.is_on() {
            engine.order_plain(OpKind::Load, from, length, range);
            engine.order_plain(OpKind::Store, to, length, range);
        }
    });
}

const WORD: usize = 8;

/// Reports a further plain read of the operation at this place. The await rule does not compare the
/// thread's state here.
///
/// # Safety
///
/// The conditions are those of [`read`](super::read).
pub unsafe fn read_on(address: usize, length: usize, code: usize) {
    // SAFETY: the program is about to read this memory.
    unsafe { touch(std::ptr::with_exposed_provenance::<u8>(address)) };
    let found_range = Cell::new(None);
    let continues = |engine: &mut Engine| {
        if engine.races_plain() {
            return engine.continues_racing(|engine| engine.shadow_read(address, length, code));
        }
        if engine.is_on_private_stack(address, length) {
            return engine.accesses_privately(OpKind::Load, code);
        }
        let range = engine.range(address, length);
        found_range.set(Some(range));
        engine.announces(OpKind::Load, Access::Read, range, code)
    };
    perform_when(continues, |engine| {
        // SAFETY: as promised by the caller.
        unsafe {
            match found_range.get() {
                Some(range) => engine.has_read(address, length, range),
                None if engine.races_plain() => {}
                None => engine.record_read(address, length),
            }
        }
    });
}

/// Fills memory like `memset`. Where plain accesses are events, each word is filled by a write.
///
/// # Safety
///
/// The conditions are those of [`write()`](super::write), for all the memory.
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

impl Engine {
    /// Returns the range that a copy writes, after making it one object with the range that the
    /// copy reads.
    fn range_of_copy(&mut self, to: usize, from: usize, length: usize) -> Range {
        self.accesses_stack(to, length);
        self.accesses_stack(from, length);
        let (range, has_grown) = self.names.copy_range(to as u64, from as u64, length as u32);
        if has_grown {
            self.coarsen_ranges(true);
        }
        range
    }
}
