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
enum Owner {
    /// There was no access.
    Unused,
    /// Only this thread accesses the granule. `has_plain` tells whether some access is not atomic.
    One { thread: ThreadId, has_plain: bool },
    /// Several threads access the granule.
    Several { has_plain: bool },
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

/// The number of granules in a page of memory.
const PER_PAGE: usize = 512;

/// The owners of memory, by granule.
#[derive(Default)]
pub(crate) struct Ownership {
    /// The owners of the granules of each page with accesses.
    pages: Vec<[Owner; PER_PAGE]>,
    /// The index of each page in `pages`, by page number.
    known: FxHashMap<usize, u32>,
    /// A cache of `known`, by slot.
    recent: Vec<(usize, u32)>,
    /// The number of times that the exploration has started again.
    restarts: u32,
    /// Whether all memory counts as shared.
    is_given_up: bool,
    /// Whether the model runs one slice of a search, so that a restart repeats only this slice.
    is_of_slices: bool,
}

const RECENT: usize = 1024;

/// After more restarts than this, all memory is watched.
const MOST_RESTARTS: u32 = 8;

/// A restart after more executions than this is the last one: all memory is watched from then on.
const LATE: u64 = 1000;

/// Returns the slot of a page. Stacks lie side by side and have the same layout, so the low bits of
/// their addresses would collide. The slot consists of the upper bits of a product instead
/// (Fibonacci hashing, Knuth, TAOCP 3, section 6.4).
#[inline(always)]
fn slot(page: usize) -> usize {
    const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    ((page as u64).wrapping_mul(GOLDEN_RATIO) >> (u64::BITS - RECENT.ilog2())) as usize
}

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
        self.known.iter().flat_map(|(page, &index)| {
            let owners = self.pages[index as usize].iter().enumerate();
            let accessed = owners.filter(|(_, owner)| **owner != Owner::Unused);
            accessed.map(move |(within, _)| page * PER_PAGE + within)
        })
    }

    /// Returns whether the model runs one slice of a search, starting from the ownership known from
    /// earlier slices.
    pub(crate) fn is_of_slices(&self) -> bool {
        self.is_of_slices
    }

    /// Returns whether only this thread accesses the granule, with at least one plain access.
    /// Returns false, too, if the cache does not have the page.
    #[inline(always)]
    pub(crate) fn is_own(&self, granule: usize, thread: ThreadId) -> bool {
        let has_plain = true;
        self.recent(granule) == Some(Owner::One { thread, has_plain })
    }

    /// Returns the owner of the granule if the cache has its page.
    #[inline(always)]
    fn recent(&self, granule: usize) -> Option<Owner> {
        let page = granule / PER_PAGE;
        let &(number, index) = self.recent.get(slot(page))?;
        let owners = self.pages.get(index as usize)?;
        (number == page).then(|| owners[granule % PER_PAGE])
    }

    /// Records an access to the granule.
    #[inline]
    pub(crate) fn access(&mut self, granule: usize, thread: ThreadId, is_plain: bool) -> Found {
        if self.is_given_up {
            return Found::Shared;
        }
        match self.recent(granule) {
            Some(owner) if owner.after(thread, is_plain) == owner => owner.found(),
            _ => self.look_up(granule, thread, is_plain),
        }
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, granule: usize, thread: ThreadId, is_plain: bool) -> Found {
        let page = granule / PER_PAGE;
        let index = *self.known.entry(page).or_insert_with(|| {
            self.pages.push([Owner::Unused; PER_PAGE]);
            self.pages.len() as u32 - 1
        });
        if self.recent.is_empty() {
            self.recent.resize(RECENT, (usize::MAX, 0));
        }
        self.recent[slot(page)] = (page, index);
        let owner = &mut self.pages[index as usize][granule % PER_PAGE];
        let before = owner.found();
        *owner = owner.after(thread, is_plain);
        match (before, owner.found()) {
            (Found::Harmless, Found::Shared) => Found::NewlyShared,
            (_, found) => found,
        }
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
    /// Returns the record after an access by the thread.
    #[inline(always)]
    fn after(self, thread: ThreadId, is_plain: bool) -> Owner {
        match self {
            Owner::Unused => Owner::One {
                thread,
                has_plain: is_plain,
            },
            Owner::One {
                thread: only,
                has_plain,
            } if only == thread => Owner::One {
                thread,
                has_plain: has_plain | is_plain,
            },
            Owner::One { has_plain, .. } | Owner::Several { has_plain } => Owner::Several {
                has_plain: has_plain | is_plain,
            },
        }
    }

    /// Returns what an access that leaves this record unchanged reveals.
    #[inline(always)]
    fn found(self) -> Found {
        match self {
            Owner::Several { has_plain: true } => Found::Shared,
            Owner::Unused | Owner::One { .. } | Owner::Several { has_plain: false } => {
                Found::Harmless
            }
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
        let elsewhere = 7 + RECENT * PER_PAGE;
        assert_eq!(ownership.access(elsewhere, ONE, true), Found::Harmless);
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
