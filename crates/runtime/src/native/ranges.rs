//! Maps the address and size of an access to its *range*: the memory that is one object of the
//! search. Accesses that overlap without being equal share one *merged* range. The value of a
//! merged range is its whole content.

use crate::engine::Engine;
use crate::engine::names::Range;
use crate::rust::atomic::Value;
use crate::watch::happens_before::Variable;
use crate::watch::seen::Seen;
use explore::{Access, ObjectId, Op, OpKind, Request, ValueId};
use report::Restart;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// A cache of recently used ranges, because every access looks up its range.
#[derive(Default)]
pub(crate) struct Ranges {
    recent: Vec<Recent>,
}

/// An access and the range that it belongs to.
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

impl Engine {
    /// Returns the range that an access belongs to.
    #[inline(always)]
    pub(crate) fn range(&mut self, address: usize, length: usize) -> Range {
        self.accesses_stack(address, length);
        let slot = (address >> 2) % RECENT;
        match self.guests.native.ranges.recent.get(slot) {
            Some(recent) if recent.address == address && recent.length == length => recent.range,
            _ => self.look_up(address, length, slot),
        }
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, address: usize, length: usize, slot: usize) -> Range {
        let (range, has_grown) = self.names.range(address as u64, length as u32);
        if has_grown || self.guests.native.ranges.recent.is_empty() {
            self.coarsen_ranges(has_grown);
        }
        self.guests.native.ranges.recent[slot] = Recent {
            address,
            length,
            range,
        };
        range
    }

    /// Empties the cache, because a cached access may belong to another range now. If a range has
    /// grown, the exploration starts again.
    pub(crate) fn coarsen_ranges(&mut self, has_grown: bool) {
        let recent = &mut self.guests.native.ranges.recent;
        recent.clear();
        recent.resize(RECENT, NOTHING);
        if has_grown {
            self.coarsen(Restart::OverlappingAccesses);
        }
    }

    /// Announces the running thread's next operation. Under every memory model, the operation is
    /// totally ordered with all other such operations on its object. Returns whether the thread
    /// continues at once.
    #[inline(always)]
    pub(crate) fn announces(
        &mut self,
        kind: OpKind,
        access: Access,
        range: Range,
        code: usize,
    ) -> bool {
        let op = Op {
            kind,
            access,
            object: range.object,
        };
        self.thread().life.code = code;
        self.announces_request(Request::of_object(op))
    }

    /// Announces the running thread's next operation. Returns whether the thread continues at once.
    #[inline(always)]
    pub(super) fn announces_request(&mut self, request: Request) -> bool {
        self.end_frames();
        let index = self.running.index();
        self.life.pending[index] = explore::Pending::Enabled(self.after_yield(request));
        let runs_on = self.runs_on();
        // Record the changes of memory so far, although the thread is not suspended here.
        if runs_on && self.watch.reads {
            self.end_segment();
        }
        runs_on
    }

    /// Records the current event for users, with the variable's name and the given values.
    /// `afterwards` is the index in `values` of the value that the variable has after the event, if
    /// known.
    pub(super) fn record_memory<const N: usize>(
        &mut self,
        address: usize,
        values: &[&[u8]; N],
        afterwards: Option<usize>,
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
        if let Some(afterwards) = afterwards {
            self.record_variable(name.clone(), values[afterwards].clone());
        }
        self.record(|_| text(&name, values));
    }
}

impl Range {
    /// Returns the variable, for happens-before, of an access to this part of the range. In a
    /// merged range, each byte is a separate variable, because synchronization on one byte must not
    /// order accesses to its neighbours.
    #[inline]
    pub(super) fn variable(self, address: usize, length: usize) -> Variable {
        match self.is_merged {
            true => Variable::Bytes(address, length),
            false => Variable::Object(self.object),
        }
    }
}

/// Returns the id of the content of a range.
///
/// # Safety
///
/// The range must be readable memory.
unsafe fn content(range: Range) -> ValueId {
    let start = std::ptr::with_exposed_provenance::<u8>(range.start as usize);
    let mut hasher = FxHasher::default();
    // SAFETY: as promised by the caller. Only this system thread, which runs the model, accesses
    // the memory.
    hasher.write(unsafe { std::slice::from_raw_parts(start, range.length as usize) });
    ValueId(hasher.finish())
}

/// Returns the id of a value that an access to the range reads or writes. In a merged range, this
/// is the id of the whole content.
///
/// # Safety
///
/// The conditions are those of [`content`].
#[inline(always)]
pub(super) unsafe fn token<V: Value>(value: V, range: Range) -> ValueId {
    match range.is_merged {
        false => value.token(),
        // SAFETY: as promised by the caller.
        true => unsafe { content(range) },
    }
}

/// Returns the id of the value in this memory, for an access of `length` bytes. In a merged range,
/// and if no integer has this length, it is the id of the whole content of the range.
///
/// # Safety
///
/// The conditions are those of [`content`].
pub(super) unsafe fn content_of(address: usize, length: usize, range: Range) -> ValueId {
    let start = std::ptr::with_exposed_provenance::<u8>(address);
    // SAFETY: as promised by the caller.
    unsafe {
        match (range.is_merged, length) {
            (false, 1) => ValueId(u64::from(start.read())),
            (false, 2) => ValueId(u64::from(start.cast::<u16>().read_unaligned())),
            (false, 4) => ValueId(u64::from(start.cast::<u32>().read_unaligned())),
            (false, 8) => ValueId(start.cast::<u64>().read_unaligned()),
            _ => content(range),
        }
    }
}

/// Reads the first byte. If the program accesses an invalid address, the fault occurs here, before
/// the checker accesses the memory.
///
/// # Safety
///
/// A signal handler must deal with unreadable addresses.
#[inline(always)]
pub(super) unsafe fn touch<V>(pointer: *const V) {
    // SAFETY: as promised by the caller.
    unsafe { pointer.cast::<u8>().read_volatile() };
}

/// Returns the observation that the running thread makes by reading this memory.
///
/// # Safety
///
/// The memory must be readable, and must not be written meanwhile.
pub(super) unsafe fn memory_seen(address: usize, length: usize) -> Seen {
    // SAFETY: as promised by the caller.
    value_seen(address, unsafe { bytes_at(address, length) })
}

/// Returns the observation that the running thread makes by reading these bytes at an address.
pub(super) fn value_seen(address: usize, bytes: &[u8]) -> Seen {
    Seen::Memory {
        address,
        length: bytes.len(),
        digest: digest(bytes),
    }
}

/// Returns a digest of the memory.
///
/// # Safety
///
/// The conditions are those of [`memory_seen`].
pub(crate) unsafe fn digest_at(address: usize, length: usize) -> u64 {
    // SAFETY: as promised by the caller.
    digest(unsafe { bytes_at(address, length) })
}

fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

pub(super) fn bytes_of<V>(value: &V) -> &[u8] {
    // SAFETY: the values of C that are accessed atomically are integers, which have no padding.
    unsafe { std::slice::from_raw_parts((&raw const *value).cast::<u8>(), size_of::<V>()) }
}

/// # Safety
///
/// The memory must be readable, and must not be written while the slice is used.
pub(super) unsafe fn bytes_at<'m>(address: usize, length: usize) -> &'m [u8] {
    // SAFETY: as promised by the caller.
    unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(address), length) }
}
