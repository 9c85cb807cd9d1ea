//! Values that atomic accesses read under weak memory models. Memory holds the newest value of each
//! variable; the search decides which value a read gets.

use crate::engine::Engine;
use crate::engine::names::Range;
use crate::rust::atomic::Value;
use crate::rust::versions::Sort;
use explore::{MemoryModel, ReadsFrom};
use report::Restart;

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
            false => return sort == Sort::Atomic,
        };
        self.needs_sc(mix);
        false
    }

    /// Refuses an event that cannot be checked under a weak memory model. If the search has chosen
    /// the model itself, it starts again under sequential consistency, with a warning.
    #[cold]
    pub(super) fn needs_sc(&mut self, what: &str) {
        if !self.is_weak() {
            return;
        }
        let Some((_, place)) = self.names.chosen_memory() else {
            let memory = self.config.conditions.memory;
            return self.refuse_event(format!(
                "{what} cannot be checked under {memory}; choose the memory model sc"
            ));
        };
        let place = place.to_owned();
        self.guests.warnings.get_mut().insert(format!(
            "{what} are checked under sequential consistency only"
        ));
        self.names.choose_memory(MemoryModel::Sc, place);
        self.coarsen(Restart::WeakOrdering);
    }
}
