//! Values that atomic accesses read under weak memory models. Memory holds the newest value of each
//! variable; the search decides which value a read gets.

use crate::engine::Engine;
use crate::engine::names::Range;
use crate::engine::perform::silently;
use crate::rust::atomic::Value;
use crate::rust::versions::Sort;
use explore::{EventId, MemoryModel, ReadsFrom};

/// Records that the program's accesses do not read all old values that they could read.
pub fn leaves_out_old_values(why: &str) {
    silently(|engine| engine.leave_out_stale_values(why));
}

/// Returns the event of the running thread's last access, and what this access read from.
pub fn last_access() -> (EventId, ReadsFrom) {
    silently(|engine| (engine.event(), engine.reads_from))
}

impl Engine {
    /// Returns the range of an atomic or volatile access. Under a weak memory model, memory that
    /// was written plainly since its last atomic access becomes a new object.
    ///
    /// # Safety
    ///
    /// The memory must be readable.
    #[inline(always)]
    pub(super) unsafe fn atomic_range<V: Value>(&mut self, pointer: *const V, sort: Sort) -> Range {
        let mut range = self.range(pointer.addr(), size_of::<V>());
        if self.is_weak() && !range.is_merged && sort == Sort::Atomic {
            // SAFETY: as promised by the caller.
            range.object = self.renewed(range.object, unsafe { pointer.read_unaligned() });
        }
        range
    }

    /// Returns the value that the current operation reads from memory that holds `newest`.
    #[inline(always)]
    pub(super) fn value_at<V: Value>(&mut self, newest: V, range: Range, sort: Sort) -> V {
        match self.reads_from == ReadsFrom::LAST || !self.has_versions(range, sort) {
            true => newest,
            false => self.value_read(newest),
        }
    }

    /// Records that the current operation writes `value` to memory that holds `newest`. Returns
    /// whether the memory holds the value from now on.
    #[inline(always)]
    pub(super) fn is_written_at<V: Value>(
        &mut self,
        newest: V,
        value: V,
        range: Range,
        sort: Sort,
    ) -> bool {
        self.reads_from == ReadsFrom::LAST
            || !self.has_versions(range, sort)
            || self.is_written(newest, value)
    }

    /// Returns whether the current operation may access old values. Under a weak memory model, all
    /// accesses to a range must have the same size and sort. Other accesses are refused.
    #[cold]
    pub(super) fn has_versions(&mut self, range: Range, sort: Sort) -> bool {
        let mix = match range.is_merged {
            true => "accesses of different sizes to the same atomic or volatile memory",
            false if !self.guests.versions.are_all(range.object, sort) => {
                "atomic and volatile accesses to the same memory"
            }
            false => {
                let is_tso = self.config.conditions.memory == MemoryModel::Tso;
                if sort == Sort::Volatile && is_tso && !self.is_solo() {
                    self.leave_out_stale_values("volatile accesses drain the store buffer");
                }
                return sort == Sort::Atomic;
            }
        };
        self.needs_sc(mix);
        false
    }
}
