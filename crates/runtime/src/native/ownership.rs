//! Finds the memory on which data races are possible: several threads access it, and not all
//! accesses are atomic. Other memory needs no vector clocks. The states of memory are those of
//! Eraser (Savage et al., TOCS 1997, section 2.2), but they are kept over all executions.
//!
//! When memory is found to be shared, its earlier accesses were not watched, so the exploration
//! starts again. After many restarts, all memory is watched. A resumed exploration cannot start
//! again, so it watches all memory from the beginning. A slice (a part of a divided search) is an
//! exception, because it can be repeated.

use crate::engine::model::Model;
use explore::ThreadId;
use report::Shortcut;
use rustc_hash::FxHashMap;
use std::mem;

/// The accesses to a granule (eight aligned bytes) so far, over all executions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Owner {
    /// The only thread that accesses the granule, or `None` if there are several.
    thread: Option<ThreadId>,
    /// Whether some access is not atomic.
    has_plain: bool,
}

/// What an access reveals about its granule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// As far as is known, no race is possible here.
    Harmless,
    /// The memory is shared.
    Shared,
    /// The memory is shared, and this access is the first that shows it.
    NewlyShared,
}

/// The owners of memory, by granule.
#[derive(Default)]
pub(crate) struct Ownership {
    owners: FxHashMap<usize, Owner>,
    /// A cache of recent entries, by slot.
    recent: Vec<(usize, Owner)>,
    /// The number of times that the exploration has started again.
    restarts: u32,
    /// Whether all memory counts as shared.
    is_given_up: bool,
    /// Whether the model runs one slice of a search, so that a restart repeats only this slice.
    is_of_slices: bool,
}

const RECENT: usize = 4096;

/// After more restarts than this, all memory is watched.
const MOST_RESTARTS: u32 = 8;

/// A restart after more executions than this is the last one: all memory is watched from then on.
const LATE: u64 = 1000;

/// Returns the slot of a granule. Stacks lie side by side and have the same layout, so the low bits
/// of their addresses would collide. The slot consists of the upper bits of a product instead
/// (Fibonacci hashing, Knuth, TAOCP 3, section 6.4).
#[inline(always)]
fn slot(granule: usize) -> usize {
    const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    ((granule as u64).wrapping_mul(GOLDEN_RATIO) >> (u64::BITS - RECENT.ilog2())) as usize
}

const NOBODY: Owner = Owner {
    thread: None,
    has_plain: false,
};

impl Ownership {
    /// Treats all memory as shared from now on.
    pub(crate) fn give_up(&mut self) {
        self.is_given_up = true;
        self.recent.clear();
    }

    /// Records that the exploration starts again after `executions` executions. Returns whether it
    /// is better to watch all memory, because there were many restarts, or this restart is late and
    /// does not repeat only a slice.
    pub(crate) fn restart(&mut self, executions: u64) -> bool {
        self.restarts += 1;
        self.restarts > MOST_RESTARTS || executions > LATE && !self.is_of_slices
    }

    /// Returns the granules whose owners are known.
    pub(crate) fn granules(&self) -> impl Iterator<Item = usize> {
        self.owners.keys().copied()
    }

    /// Returns whether the model runs one slice of a search, starting from the ownership known from
    /// earlier slices.
    pub(crate) fn is_of_slices(&self) -> bool {
        self.is_of_slices
    }

    /// Returns whether the cache shows that only this thread accesses the granule, with at least
    /// one plain access.
    #[inline(always)]
    pub(crate) fn is_own(&self, granule: usize, thread: ThreadId) -> bool {
        let owner = Owner {
            thread: Some(thread),
            has_plain: true,
        };
        self.recent.get(slot(granule)) == Some(&(granule, owner))
    }

    /// Records an access to the granule.
    #[inline]
    pub(crate) fn access(&mut self, granule: usize, thread: ThreadId, is_plain: bool) -> Found {
        if self.is_given_up {
            return Found::Shared;
        }
        match self.recent.get(slot(granule)) {
            Some(&(number, owner)) if number == granule && owner.has(thread, is_plain) => {
                owner.found()
            }
            _ => self.look_up(granule, thread, is_plain),
        }
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, granule: usize, thread: ThreadId, is_plain: bool) -> Found {
        let owner = self.owners.entry(granule).or_insert(Owner {
            thread: Some(thread),
            has_plain: is_plain,
        });
        let was_shared = owner.is_shared();
        owner.has_plain |= is_plain;
        if owner.thread != Some(thread) {
            owner.thread = None;
        }
        let owner = *owner;
        if self.recent.is_empty() {
            self.recent.resize(RECENT, (usize::MAX, NOBODY));
        }
        self.recent[slot(granule)] = (granule, owner);
        if owner.is_shared() && !was_shared {
            return Found::NewlyShared;
        }
        owner.found()
    }
}

/// Findings about a native program, which a process passes from one slice to the next.
#[derive(Default)]
pub struct Learnt {
    ownership: Ownership,
    /// The number of executions so far.
    repeated: u64,
}

impl Model {
    /// Starts from the findings of earlier slices, as far as this search uses them. The search can
    /// repeat this slice if it [finds more shared memory](Model::has_found_more_shared_memory).
    pub fn take_up(&mut self, learnt: Learnt) {
        let engine = self.engine_mut();
        engine.guests.savepoints.repeated = learnt.repeated;
        let is_used = engine.guests.native.is_raced && engine.names.has_plain_memory();
        if is_used && !engine.config.without.contains(&Shortcut::Ownership) {
            engine.guests.native.ownership = learnt.ownership;
            engine.guests.native.ownership.is_of_slices = true;
        }
    }

    /// Returns the findings for the next slice. The model cannot be used afterwards.
    pub fn take_learnt(&mut self) -> Learnt {
        let engine = self.engine_mut();
        Learnt {
            ownership: mem::take(&mut engine.guests.native.ownership),
            repeated: engine.guests.savepoints.repeated,
        }
    }

    /// Returns whether executions so far have accessed shared memory that was not watched. This
    /// finding makes no object coarser, so it is not visible elsewhere.
    pub fn has_found_more_shared_memory(&self) -> bool {
        self.engine().guests.native.has_found_more_shared
    }
}

impl Owner {
    /// Returns whether an access by the thread leaves this record unchanged.
    fn has(self, thread: ThreadId, is_plain: bool) -> bool {
        (self.thread.is_none() || self.thread == Some(thread)) && (self.has_plain || !is_plain)
    }

    fn is_shared(self) -> bool {
        self.thread.is_none() && self.has_plain
    }

    fn found(self) -> Found {
        match self.is_shared() {
            true => Found::Shared,
            false => Found::Harmless,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: ThreadId = ThreadId(1);
    const TWO: ThreadId = ThreadId(2);

    #[test]
    fn memory_is_shared_once_two_threads_access_it_and_one_of_them_plainly() {
        let mut ownership = Ownership::default();
        assert_eq!(ownership.access(7, ONE, true), Found::Harmless);
        assert!(ownership.is_own(7, ONE) && !ownership.is_own(7, TWO));
        assert_eq!(ownership.access(7, TWO, false), Found::NewlyShared);
        assert_eq!(ownership.access(7, TWO, false), Found::Shared);
        assert_eq!(ownership.access(7, ONE, true), Found::Shared);
        assert!(!ownership.is_own(7, ONE));
    }

    #[test]
    fn memory_that_is_only_accessed_atomically_is_harmless_until_it_is_not() {
        let mut ownership = Ownership::default();
        for thread in [ONE, TWO, ONE] {
            assert_eq!(ownership.access(7, thread, false), Found::Harmless);
        }
        assert_eq!(ownership.access(7 + RECENT, ONE, true), Found::Harmless);
        assert_eq!(ownership.access(7, ONE, true), Found::NewlyShared);
    }

    #[test]
    fn all_memory_is_shared_once_it_is_given_up() {
        let mut ownership = Ownership::default();
        ownership.access(7, ONE, true);
        ownership.give_up();
        assert!(!ownership.is_own(7, ONE));
        assert_eq!(ownership.access(7, ONE, true), Found::Shared);
    }
}
