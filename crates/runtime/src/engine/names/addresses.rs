//! Names of objects after their address. Native programs use these names, because their statics,
//! stacks and heaps are at the same addresses in every execution and every process.
//!
//! Memory is divided into disjoint ranges, each of which is one object. If an access overlaps
//! several ranges, or only a part of a range, everything that it overlaps becomes one range and so
//! one object.

use super::Names;
use explore::{ObjectId, ThreadId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The objects, code locations and settings of native programs. An *effect* of a thread is a change
/// that other threads can observe.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Addresses {
    /// Ranges of memory by their first addresses.
    ranges: BTreeMap<u64, Range>,
    /// Synchronization objects by address and number of parts.
    objects: BTreeMap<(u64, u32), ObjectId>,
    /// Addresses of code to which a thread has returned without an effect in between.
    loops: BTreeSet<u64>,
    /// Addresses of code to which a thread has returned in the same state.
    spins: BTreeSet<u64>,
    /// Whether hooks zero the stack below them, because the stacks of threads that repeat a read or
    /// a try are compared.
    #[serde(default)]
    has_wiped_stacks: bool,
    /// Whether a thread may poll a variable under a lock, so that a lock that a round takes and
    /// releases is no effect.
    #[serde(default)]
    has_lock_polls: bool,
    /// Whether a round of `std::lock` of C++ has failed and the rest of its loop was left out (see
    /// `native::lock_several`).
    #[serde(default)]
    has_left_out_rounds: bool,
    /// Whether a try to lock outside `std::lock` has failed, so that no rounds are left out.
    #[serde(default)]
    keeps_rounds: bool,
    /// Under weak memory models, memory that is written plainly between atomic accesses becomes a
    /// new object each time. The key is the first object of the memory and the number of these
    /// changes.
    #[serde(default)]
    renewed: BTreeMap<(ObjectId, u32), ObjectId>,
    /// For each thread, the number of bytes of its stack, from the base, that comparisons may
    /// reach. A number that is 0 or missing stands for `USUAL_DEPTH`.
    #[serde(default)]
    compared_depths: Vec<u32>,
}

/// The number of bytes of a stack, from its base, that comparisons may reach if no larger number is
/// recorded.
const USUAL_DEPTH: usize = 2048;

/// The maximum size in bytes of a stack that is compared. Spin loops on larger stacks are not
/// detected.
pub(crate) const MOST_COMPARED: usize = 1 << 20;

/// A range of memory that is one object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Range {
    /// The first address of the range.
    pub(crate) start: u64,
    /// The length in bytes.
    pub(crate) length: u32,
    pub(crate) object: ObjectId,
    /// Whether accesses at different addresses or of different sizes share the range or its object.
    pub(crate) is_merged: bool,
}

impl Addresses {
    /// Checks that ranges match their keys and do not overlap, and that all objects are known.
    pub(super) fn is_consistent(&self, is_object: impl Fn(ObjectId) -> bool) -> bool {
        let mut end = 0;
        let is_range = |(&start, range): (&u64, &Range)| {
            let is_behind = start >= end && range.start == start && range.length > 0;
            end = start.saturating_add(u64::from(range.length));
            is_behind && end < u64::MAX && is_object(range.object)
        };
        let renewed = self.renewed.iter();
        let mut renewed = renewed.flat_map(|(&(first, _), &object)| [first, object]);
        self.ranges.iter().all(is_range)
            && self.objects.values().all(|&object| is_object(object))
            && renewed.all(is_object)
    }
}

impl Range {
    fn end(&self) -> u64 {
        self.start + u64::from(self.length)
    }
}

impl Names {
    /// Returns the range that an access belongs to, and whether existing ranges were replaced for
    /// this access.
    pub(crate) fn range(&mut self, start: u64, length: u32) -> (Range, bool) {
        let end = start + u64::from(length);
        let before = self.addresses.ranges.range(..end);
        let touched: Vec<Range> = before
            .rev()
            .map(|(_, &range)| range)
            .take_while(|range| range.end() > start)
            .collect();
        match touched[..] {
            [] => {
                let object = self.add_object(1);
                let range = Range {
                    start,
                    length,
                    object,
                    is_merged: false,
                };
                self.addresses.ranges.insert(start, range);
                (range, false)
            }
            [range] if range.start == start && range.length == length => (range, false),
            [range] if range.is_merged && range.start <= start && range.end() >= end => {
                (range, false)
            }
            _ => (self.merge_ranges(&touched, start, end), true),
        }
    }

    /// Replaces the ranges that an access from `start` to `end` touches by one range.
    fn merge_ranges(&mut self, touched: &[Range], start: u64, end: u64) -> Range {
        let starts = touched.iter().map(|range| range.start);
        let start = starts.fold(start, u64::min);
        let end = touched.iter().map(Range::end).fold(end, u64::max);
        for range in touched {
            self.addresses.ranges.remove(&range.start);
        }
        let object = touched.iter().map(|range| range.object).min();
        let merged = Range {
            start,
            length: u32::try_from(end - start).expect("a range has fewer than 2^32 bytes"),
            object: object.expect("an access merges what it touches"),
            is_merged: true,
        };
        self.addresses.ranges.insert(start, merged);
        merged
    }

    /// Returns the range that a copy writes, and whether existing ranges were replaced or united
    /// for this copy. The source of the copy becomes the same object as the target.
    pub(crate) fn copy_range(&mut self, to: u64, from: u64, length: u32) -> (Range, bool) {
        let (source, has_grown) = self.range(from, length);
        let (target, has_grown_again) = self.range(to, length);
        if source.object == target.object {
            return (target, has_grown || has_grown_again);
        }
        let objects = [source.object, target.object];
        self.unite(&objects, source.object.min(target.object));
        (self.range(to, length).0, true)
    }

    /// Makes all ranges of these objects one object.
    fn unite(&mut self, objects: &[ObjectId], united: ObjectId) {
        for range in self.addresses.ranges.values_mut() {
            if objects.contains(&range.object) {
                range.object = united;
                range.is_merged = true;
            }
        }
    }

    /// Returns the synchronization object at an address.
    pub(crate) fn object_at(&mut self, address: u64, parts: u32) -> ObjectId {
        if let Some(&object) = self.addresses.objects.get(&(address, parts)) {
            return object;
        }
        let object = self.add_object(parts);
        self.addresses.objects.insert((address, parts), object);
        object
    }

    /// Returns the object of memory that plain writes have changed `count` times between atomic
    /// accesses. `first` is the memory's first object.
    pub(crate) fn renewed(&mut self, first: ObjectId, count: u32) -> ObjectId {
        if let Some(&object) = self.addresses.renewed.get(&(first, count)) {
            return object;
        }
        let object = self.add_object(1);
        self.addresses.renewed.insert((first, count), object);
        object
    }

    /// Returns whether a thread has returned to this address of code without an effect in between.
    pub(crate) fn is_loop(&self, code: u64) -> bool {
        self.addresses.loops.contains(&code)
    }

    /// Returns whether a thread has returned to any address of code without an effect in between.
    pub(crate) fn has_loops(&self) -> bool {
        !self.addresses.loops.is_empty()
    }

    /// Records that a thread returned to this address of code without an effect in between.
    pub(crate) fn record_loop(&mut self, code: u64) {
        self.addresses.loops.insert(code);
    }

    /// Returns whether a thread has returned to this address of code in the same state.
    pub(crate) fn is_spin(&self, code: u64) -> bool {
        self.addresses.spins.contains(&code)
    }

    /// Records that a thread returned to this address of code in the same state.
    pub(crate) fn record_spin(&mut self, code: u64) {
        self.addresses.spins.insert(code);
    }

    /// Returns whether hooks zero the stack below them.
    pub(crate) fn has_wiped_stacks(&self) -> bool {
        self.addresses.has_wiped_stacks
    }

    /// Makes hooks zero the stack below them from the next execution on.
    pub(crate) fn wipe_stacks(&mut self) {
        self.addresses.has_wiped_stacks = true;
    }

    /// Returns whether a thread may poll a variable under a lock.
    pub(crate) fn has_lock_polls(&self) -> bool {
        self.addresses.has_lock_polls
    }

    /// Records that a thread may poll a variable under a lock.
    pub(crate) fn record_lock_poll(&mut self) {
        self.addresses.has_lock_polls = true;
    }

    /// Returns how many bytes of the thread's stack, from the base, comparisons may reach.
    pub(crate) fn compared_depth(&self, thread: ThreadId) -> usize {
        let known = self.addresses.compared_depths.get(thread.index());
        let known = known.map_or(0, |&depth| depth as usize);
        known.clamp(USUAL_DEPTH, MOST_COMPARED)
    }

    /// Lets comparisons reach at least this many bytes of the thread's stack, from the base, from
    /// the next execution on.
    pub(crate) fn compare_to_depth(&mut self, thread: ThreadId, depth: usize) {
        let depths = &mut self.addresses.compared_depths;
        if depths.len() <= thread.index() {
            depths.resize(thread.index() + 1, 0);
        }
        let depth = u32::try_from(depth.next_power_of_two());
        depths[thread.index()] = depth.expect("stacks that are compared are small");
    }

    /// Returns whether threads stop after a failed round of `std::lock`.
    pub(crate) fn leaves_out_rounds(&self) -> bool {
        !self.addresses.keeps_rounds
    }

    /// Returns whether a thread has stopped after a failed round.
    pub(crate) fn has_left_out_rounds(&self) -> bool {
        self.addresses.has_left_out_rounds
    }

    /// Records that a thread stops after a failed round.
    pub(crate) fn leave_out_rounds(&mut self) {
        self.addresses.has_left_out_rounds = true;
    }

    /// Makes threads continue after failed rounds from now on.
    pub(crate) fn keep_rounds(&mut self) {
        self.addresses.keeps_rounds = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_accesses_are_one_object_and_neighbours_are_two() {
        let mut names = Names::default();
        let (first, _) = names.range(0x1000, 4);
        let (second, has_grown) = names.range(0x1004, 4);
        assert!(first.object != second.object && !has_grown);
        assert_eq!(names.range(0x1000, 4), (first, false));
    }

    #[test]
    fn the_ranges_of_a_copy_are_one_object_and_stay_so_when_they_grow() {
        let mut names = Names::default();
        names.range(0x1000, 16);
        let (other, _) = names.range(0x3000, 4);
        let (target, is_news) = names.copy_range(0x1000, 0x2000, 16);
        assert!(is_news && target.is_merged && target.start == 0x1000);
        assert_eq!(names.copy_range(0x1000, 0x2000, 16), (target, false));
        let (part, _) = names.range(0x2008, 8);
        assert_eq!(part.object, target.object);
        let (longer, has_grown) = names.range(0x200c, 8);
        assert!(has_grown && longer.object == target.object);
        assert_eq!(names.range(0x1000, 16).0.object, target.object);
        assert_ne!(other.object, target.object);
    }

    #[test]
    fn accesses_that_overlap_become_one_object() {
        let mut names = Names::default();
        let (first, _) = names.range(0x1000, 4);
        names.range(0x1004, 4);
        let (whole, has_grown) = names.range(0x1000, 8);
        assert!(has_grown && whole.is_merged);
        assert_eq!(whole.object, first.object);
        assert_eq!(names.range(0x1004, 4), (whole, false));
        let (longer, has_grown) = names.range(0x1006, 4);
        assert!(has_grown);
        assert_eq!((longer.start, longer.length), (0x1000, 10));
    }
}
