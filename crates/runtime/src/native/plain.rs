//! Plain and volatile accesses to memory by address, which the program performs after reporting
//! them.

use super::Frame;
use super::foreign::may_be_stack;
use super::places::Given;
use super::ranges::{bytes_at, content_of, memory_seen, touch};
use crate::engine::Engine;
use crate::engine::names::Range;
use crate::engine::perform::{perform_when, silently};
use crate::rust::versions::Sort;
use crate::trace::source::Spot;
use explore::{Access, Bound, Halt, OpKind};
use report::{LeftOut, Omission};
use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{self, Relaxed};

/// A plain or volatile write, which the program performs after its hook.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    pub(super) address: usize,
    pub(super) length: usize,
    pub(super) range: Range,
}

/// Reports a plain read of `length` bytes, which the program performs afterwards.
///
/// # Safety
///
/// The conditions are those of [`load`](super::load).
#[inline]
pub unsafe fn read(address: usize, length: usize, frame: *const Frame) {
    let given = [address as u128, length as u128, 0];
    // SAFETY: as promised by the caller.
    unsafe { read_given(address, length, frame, Given::All(given)) }
}

/// Reports a plain read within a library call of the program. `given` are the known arguments of
/// the call.
///
/// # Safety
///
/// The conditions are those of [`load`](super::load).
pub unsafe fn read_within(address: usize, length: usize, frame: *const Frame, given: [u128; 3]) {
    // SAFETY: as promised by the caller.
    unsafe { read_given(address, length, frame, Given::Part(given)) }
}

/// # Safety
///
/// The conditions are those of [`load`](super::load).
#[inline(always)]
unsafe fn read_given(address: usize, length: usize, frame: *const Frame, given: Given) {
    // SAFETY: the program is about to read this memory.
    unsafe { touch(std::ptr::with_exposed_provenance::<u8>(address)) };
    let found_range = Cell::new(None);
    let continues = |engine: &mut Engine| {
        let is_private = engine.is_on_private_stack(address, length);
        let is_event = !engine.races_plain() && !is_private;
        // SAFETY: as promised by the caller.
        if unsafe { engine.stops_by(frame, is_event, given) } {
            return false;
        }
        // SAFETY: as promised by the caller.
        let code = unsafe { (*frame).code() };
        if engine.races_plain() {
            return engine.continues_racing(|engine| engine.shadow_read(address, length, code));
        }
        if is_private {
            return engine.accesses_privately(OpKind::Load, code);
        }
        let range = engine.range(address, length);
        found_range.set(Some(range));
        engine.announces(OpKind::Load, Access::Read, range, code)
    };
    perform_when(continues, |engine| {
        // SAFETY: the program is about to read this memory.
        unsafe {
            match found_range.get() {
                Some(range) => engine.has_read(address, length, range),
                None if engine.races_plain() => {}
                None => engine.record_read(address, length),
            }
        }
    });
}

/// Reports a plain write of `length` bytes, which the program performs afterwards.
///
/// # Safety
///
/// The conditions are those of [`store`](super::store).
#[inline]
pub unsafe fn write(address: usize, length: usize, code: usize) {
    // SAFETY: the program is about to write this memory.
    unsafe { touch(std::ptr::with_exposed_provenance::<u8>(address)) };
    let found_range = Cell::new(None);
    let continues = |engine: &mut Engine| {
        // SAFETY: as promised by the caller.
        unsafe { engine.takes_effect_at(address, length) };
        if engine.races_plain() {
            return engine.continues_racing(|engine| engine.shadow_write(address, length, code));
        }
        if engine.is_on_private_stack(address, length) {
            return engine.accesses_privately(OpKind::Store, code);
        }
        let range = engine.range(address, length);
        found_range.set(Some(range));
        engine.announces(OpKind::Store, Access::Write, range, code)
    };
    perform_when(continues, |engine| {
        let Some(range) = found_range.get() else {
            return engine.record_private_write(address, length);
        };
        // SAFETY: the program is about to write this memory.
        let before = unsafe {
            engine.changes(address, length);
            content_of(address, length, range)
        };
        engine.record_value_ids(before, before);
        engine.guests.native.written = Some(Written {
            address,
            length,
            range,
        });
        if engine.watch.is_on() {
            engine.order_plain(OpKind::Store, address, length, range);
        }
    });
}

/// Reports a volatile write of `length` bytes, which the program performs afterwards. The write is
/// an event, but does not order other memory.
///
/// # Safety
///
/// The conditions are those of [`store`](super::store).
#[inline]
pub unsafe fn write_volatile(address: usize, length: usize, code: usize) {
    // SAFETY: the program is about to write this memory.
    unsafe { touch(std::ptr::with_exposed_provenance::<u8>(address)) };
    let found_range = Cell::new(None);
    let continues = |engine: &mut Engine| {
        if engine.is_on_own_stack(address) {
            engine.thread().life.guests.round.take_effect();
            // At a function's first write to its frame, the frame still holds the bytes that hooks
            // left there.
            engine.wipe_stacks();
        } else {
            engine.writes_memory(address);
        }
        let range = engine.range(address, length);
        found_range.set(Some(range));
        engine.announces(OpKind::Store, Access::Write, range, code)
    };
    perform_when(continues, |engine| {
        let range = found_range.get().expect("an access has a range");
        // SAFETY: the program is about to write this memory.
        let before = unsafe {
            engine.changes(address, length);
            content_of(address, length, range)
        };
        engine.record_value_ids(before, before);
        engine.guests.native.written = Some(Written {
            address,
            length,
            range,
        });
        if engine.is_weak() {
            engine.has_versions(range, Sort::Volatile);
        }
        engine.own_atomically(address, length);
        if engine.watch.races {
            engine.shadow_atomic(address, length, Access::Write);
            let order = engine.effective(Ordering::Relaxed);
            let (thread, variable) = (engine.running, range.variable(address, length));
            engine
                .guests
                .happens_before
                .store(thread, variable, order, false);
        }
    });
}

/// Where plain accesses may race, warns in the report that volatile accesses are not checked for
/// races. The warning is given for the first access outside the thread's own stack while other
/// threads exist.
pub fn warn_of_volatile(address: usize, code: usize) {
    static HAS_WARNED: AtomicBool = AtomicBool::new(false);
    if HAS_WARNED.load(Relaxed) {
        return;
    }
    silently(|engine| {
        if !engine.guests.native.is_raced || engine.life.live < 2 || engine.is_on_own_stack(address)
        {
            return;
        }
        HAS_WARNED.store(true, Relaxed);
        let place = engine.shown_spot(Spot::Code(code));
        let place = place.map_or_else(String::new, |place| format!(", the first one at {place},"));
        engine.guests.warnings.get_mut().insert(format!(
            "volatile accesses{place} are interleaved with others, but are not checked for data races"
        ));
    });
}

/// Records that the running thread changes something other than the program's memory.
pub fn take_effect() {
    silently(|engine| engine.thread().life.guests.round.take_effect());
}

/// Records for users that the current event is a call, with a description of the call.
pub fn record_call(text: impl FnOnce() -> String) {
    silently(|engine| engine.record_call(text));
}

/// Records an allocation by the running thread, which is an effect. Returns the thread's number.
pub fn begin_allocation() -> usize {
    silently(|engine| {
        engine.thread().life.guests.round.take_effect();
        engine.running.index()
    })
}

/// The number of bytes of a new block that count as written by the allocation.
const MOST_FILLED: usize = 1 << 16;

/// Records that the running thread has allocated a block. The allocation counts as a write of the
/// block, so a thread that finds its address without synchronization has a data race. This write
/// also stands for what the allocating library function writes into the block.
pub fn fill_block(address: usize, size: usize, code: usize) {
    silently(|engine| {
        if engine.races_plain() {
            engine.shadow_write(address, size.min(MOST_FILLED), code);
        }
    });
}

/// Records that memory is freed. An access that is not ordered before the free is a use after free.
pub fn release(address: usize, length: usize, code: usize) {
    silently(|engine| {
        if !engine.races_plain() {
            engine.search_for_races();
        }
        engine.thread().life.code = code;
        engine.thread().life.guests.round.take_effect();
        engine.shadow_release(address, length, code);
    });
}

/// Records that memory is unmapped. A later mapping there counts as other memory.
pub fn unmap(address: usize, length: usize, code: usize) {
    silently(|engine| {
        if !engine.races_plain() {
            engine.search_for_races();
        }
        engine.thread().life.guests.round.take_effect();
        // Complete the write of this step now, because its memory is unreadable afterwards.
        engine.complete_write();
        engine.shadow_unmap(address..address + length, code);
    });
}

/// The greatest length, in bytes, of a range of pages whose change is recorded for each granule.
const MOST_CHANGED: usize = 1 << 16;

/// Records that the running thread changes the mapping of pages or their protection.
/// This conflicts with accesses by other threads; if `is_read` is true, only with their writes.
pub fn change_pages(pages: std::ops::Range<usize>, is_read: bool, code: usize) {
    silently(|engine| {
        if engine.is_solo() {
            return;
        }
        if !engine.races_plain() {
            engine.search_for_races();
        }
        engine.thread().life.guests.round.take_effect();
        if pages.len() > MOST_CHANGED {
            let what =
                "accesses to more than 64 KiB of memory while its mapping or protection changes";
            let left_out = LeftOut::new(Omission::Unseen, what);
            engine.guests.left_out.get_mut().insert(left_out);
        } else if is_read {
            engine.shadow_read(pages.start, pages.len(), code);
        } else {
            engine.shadow_write(pages.start, pages.len(), code);
        }
    });
}

impl Engine {
    /// Records a write by the running thread for the await rule. A write to the thread's own stack
    /// is not an effect: the stack is compared when the thread returns to a place.
    ///
    /// # Safety
    ///
    /// The memory must be readable.
    #[inline(always)]
    pub(crate) unsafe fn takes_effect_at(&mut self, address: usize, length: usize) {
        if self.is_on_own_stack(address) {
            return self
                .thread()
                .life
                .guests
                .round
                .foreign
                .write_own(address, length);
        }
        self.writes_memory(address);
        // SAFETY: as promised by the caller.
        unsafe { self.changes(address, length) };
    }

    /// Records the write if the checker need not allocate memory for this. Otherwise, returns false
    /// and records nothing.
    #[inline(always)]
    pub(super) fn takes_effect_simply(&mut self, address: usize) -> bool {
        if self.is_on_own_stack(address) {
            return self.thread().life.guests.round.foreign.is_known();
        }
        let is_simple = !may_be_stack(address);
        if is_simple {
            self.writes_memory(address);
        }
        is_simple
    }

    /// Returns whether the address is on the stack of the running thread.
    #[inline(always)]
    pub(crate) fn is_on_own_stack(&mut self, address: usize) -> bool {
        let fibre = &self.thread().fibre;
        (fibre.lowest()..fibre.base()).contains(&address)
    }

    #[inline(always)]
    pub(super) fn races_plain(&self) -> bool {
        self.guests.native.is_raced
    }

    /// Counts a plain access by the running thread that is not an event. Returns false beyond the
    /// limit.
    #[inline(always)]
    pub(super) fn begin_raced_access(&mut self) -> bool {
        let left = &mut self.thread().life.accesses_left;
        let continues = *left > 0;
        *left -= u32::from(continues);
        continues
    }

    /// Counts a plain access by the running thread that is not an event, and calls `performs` for
    /// it. Beyond the limit, halts the thread instead. Returns whether the thread continues.
    pub(super) fn continues_racing(&mut self, performs: impl FnOnce(&mut Engine)) -> bool {
        let continues = self.begin_raced_access();
        match continues {
            true => performs(self),
            false => self.halt(Halt::Bound(Bound::Accesses)),
        }
        continues
    }

    /// Records the plain read of the current event.
    ///
    /// # Safety
    ///
    /// The conditions are those of [`content_of`].
    pub(super) unsafe fn has_read(&mut self, address: usize, length: usize, range: Range) {
        // SAFETY: as promised by the caller.
        let token = unsafe { content_of(address, length, range) };
        self.record_value_ids(token, token);
        if self.watch.is_on() {
            // SAFETY: as promised by the caller.
            self.see(unsafe { memory_seen(address, length) });
            self.order_plain(OpKind::Load, address, length, range);
            // SAFETY: as promised by the caller.
            unsafe { self.record_read(address, length) };
        }
    }

    /// Records for users the value that the plain read of the current operation finds.
    ///
    /// # Safety
    ///
    /// The memory must be readable.
    pub(super) unsafe fn record_read(&mut self, address: usize, length: usize) {
        if self.watch.audits {
            self.audit_access(address, length, false);
        }
        // SAFETY: as promised by the caller.
        let bytes = unsafe { bytes_at(address, length) };
        self.record_memory(address, &[bytes], Some(0), |name, [value]| {
            format!("{name} -> {value}")
        });
    }

    /// Completes the record of a plain or volatile write, if the current event is one.
    #[cold]
    pub(crate) fn complete_write(&mut self) {
        let Some(Written {
            address,
            length,
            range,
        }) = self.guests.native.written.take()
        else {
            return;
        };
        if self.is_ended_local(address) {
            // The memory belongs to the checker now. The written value is never read.
            self.record_memory(address, &[&[0]], None, |name, _| {
                format!("{name} is written")
            });
            return;
        }
        // SAFETY: the program has just written this memory.
        unsafe {
            self.after = content_of(address, length, range);
            let bytes = bytes_at(address, length);
            self.record_memory(address, &[bytes], Some(0), |name, [value]| {
                format!("{name} = {value}")
            });
        }
    }

    /// Orders a plain access that is an event like a sequentially consistent atomic access. It can
    /// race only with a free of its memory, or with the beginning or end of an object there.
    #[cold]
    pub(super) fn order_plain(
        &mut self,
        kind: OpKind,
        address: usize,
        length: usize,
        range: Range,
    ) {
        if !self.watch.races {
            return;
        }
        let (thread, code) = (self.running, self.thread().life.code);
        let variable = range.variable(address, length);
        self.guests
            .happens_before
            .load(thread, variable, Ordering::SeqCst);
        if kind == OpKind::Load {
            self.shadow_read(address, length, code);
        } else {
            self.shadow_write(address, length, code);
            self.guests
                .happens_before
                .publish(thread, variable, Ordering::SeqCst);
        }
    }
}
