//! Synchronization outside the model: atomics and locks of `std`, parking_lot and `tokio::sync`.
//!
//! Programs in safe Rust have no data races. So if two threads write to the same memory, and no
//! operation in the model orders the writes ([`order`]), something outside the model synchronizes
//! the threads, and the search misses interleavings. Between two switches only one thread runs, so
//! every difference afterwards ([`copy`]) is a write by that thread. Memory is compared in some
//! executions of a search, while they run. Reads, and accesses to memory that is not compared, are
//! left to [`reordered`].
//!
//! The compared memory is the heap of the model except blocks above 63 KiB, the stacks of suspended
//! threads, and copies of statics. Allocated memory is fresh, because memory is not reused within
//! an execution. Reads, writes that are undone between two switches, and writes to memory of bytes
//! (text and buffers, which all threads that print share) are not detected. Counts of a
//! `std::sync::Arc` are recognized by their position at the beginning of a block and by their
//! values. Writes to these counts are not reported.

mod copy;
mod order;
mod reordered;

pub use reordered::{Beginning, Difference};

use crate::engine::Engine;
use crate::engine::model::Model;
use crate::engine::own_stack::LINK;
use crate::engine::perform::{current, silently};
use crate::engine::place::Place;
use copy::{Change, Copy, GRANULE};
use explore::ThreadId;
use order::Order;
use report::{LeftOut, Omission};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The number of bytes that may be compared in one exploration.
const BUDGET: usize = 256 << 20;

/// The fixed cost of a comparison, in bytes.
const COMPARISON: usize = 1024;

/// The maximum number of blocks that are reported.
const MOST_REPORTED: usize = 3;

/// The upper bound of values that can be counts of owners.
const LARGEST_COUNT: u64 = 1 << 20;

/// The data of the current execution, if it is compared.
pub(crate) struct Hidden {
    /// The number of bytes that may still be compared.
    budget: usize,
    order: Order,
    copy: Copy,
    /// The last writes, by granule number.
    writes: FxHashMap<usize, Vec<Write>>,
    /// Pairs of (thread, parent) started in the current run.
    born: Vec<(ThreadId, ThreadId)>,
    /// Blocks of the heap by address.
    blocks: BTreeMap<usize, Block>,
    /// The place at which the running thread continued, or `None` if it began.
    place: Option<Place>,
    /// The addresses of the blocks, or of single granules outside of blocks, that have been
    /// reported.
    reported: Vec<usize>,
}

/// A block of the heap.
#[derive(Clone, Copy)]
struct Block {
    size: usize,
    owner: ThreadId,
}

/// A write of some bytes of a granule.
#[derive(Clone, Copy)]
struct Write {
    by: By,
    /// The period of the thread ([`Order`]) in which it wrote.
    period: u32,
    /// The written bytes. Bit i stands for byte i.
    bytes: u8,
}

/// The thread of a write, and the operations between which it wrote.
#[derive(Clone, Copy)]
struct By {
    thread: ThreadId,
    after: Option<Place>,
    before: Place,
}

/// Two writes that are not ordered.
struct Conflict {
    change: Change,
    writes: [By; 2],
}

impl Default for Hidden {
    fn default() -> Hidden {
        Hidden {
            budget: BUDGET,
            order: Order::default(),
            copy: Copy::default(),
            writes: FxHashMap::default(),
            born: Vec::new(),
            blocks: BTreeMap::new(),
            place: None,
            reported: Vec::new(),
        }
    }
}

impl Hidden {
    /// Prepares for a new execution.
    pub(crate) fn clear(&mut self) {
        self.order.clear();
        self.copy.clear();
        self.writes.clear();
        self.born.clear();
        self.blocks.clear();
    }

    /// Records that a thread is started by `parent`, the running thread. `parent` is `None` for the
    /// main thread.
    pub(crate) fn started(&mut self, thread: ThreadId, parent: Option<ThreadId>) {
        match parent {
            Some(parent) => self.born.push((thread, parent)),
            None => self.order.started(thread, None),
        }
    }

    /// Records that `joiner` is ordered after the end of `thread`.
    pub(crate) fn joined(&mut self, joiner: ThreadId, thread: ThreadId) {
        self.order.joined(joiner, thread);
    }

    /// Records that the thread has allocated a block.
    pub(crate) fn allocated(&mut self, address: usize, size: usize, owner: ThreadId) {
        self.blocks.insert(address, Block { size, owner });
    }

    /// Records writes of the thread. Returns those not ordered with writes of other threads.
    fn write_all(&mut self, by: By, changes: &[Change]) -> Vec<Conflict> {
        for &change in changes {
            self.end_owners(by.thread, change);
        }
        let conflicts = changes.iter().filter_map(|&change| self.write(by, change));
        conflicts.collect()
    }

    fn write(&mut self, by: By, change: Change) -> Option<Conflict> {
        let order = &self.order;
        let writes = self.writes.entry(change.granule).or_default();
        let is_concurrent = |write: &&Write| {
            write.by.thread != by.thread
                && write.bytes & change.bytes != 0
                && order.known(by.thread, write.by.thread) < write.period
        };
        let other = writes.iter().find(is_concurrent).map(|write| write.by);
        let period = order.period(by.thread);
        let write = Write {
            by,
            period,
            bytes: change.bytes,
        };
        writes.retain(|old| old.by.thread != by.thread || old.bytes & !change.bytes != 0);
        writes.push(write);
        let writes = other.map(|other| [other, by]);
        writes.map(|writes| Conflict { change, writes })
    }

    /// Returns whether the change looks like a change of a count of owners at the beginning of a
    /// standard `Arc`.
    fn counts_owners(&self, change: Change) -> bool {
        let address = change.granule * GRANULE;
        let Some((start, block)) = self.block(address) else {
            return false;
        };
        let offset = address - start;
        let is_in_place = start.is_multiple_of(GRANULE) && block.size >= 2 * GRANULE;
        if !is_in_place || offset >= 2 * GRANULE {
            return false;
        }
        let other = (start + (offset ^ GRANULE)) as *const u64;
        // SAFETY: the word is in the compared word's block, beside it, and is not written
        // meanwhile.
        let other = unsafe { other.read() };
        are_counts(offset, change.values, other)
    }

    /// If the change looks like the drop of the last share of a standard `Arc`, orders the thread
    /// after the drops of all other shares.
    fn end_owners(&mut self, thread: ThreadId, change: Change) {
        if change.values[1] != 0 || !self.counts_owners(change) {
            return;
        }
        for write in self.writes.get(&change.granule).into_iter().flatten() {
            self.order.learn(thread, write.by.thread, write.period);
        }
    }

    /// Returns the block with this address.
    fn block(&self, address: usize) -> Option<(usize, Block)> {
        let (&start, &block) = self.blocks.range(..=address).next_back()?;
        (address < start + block.size).then_some((start, block))
    }
}

/// Returns whether `before` and `after` can be values of one of two counts of owners, if the other
/// count is `other` now.
fn are_counts(offset: usize, [before, after]: [u64; 2], other: u64) -> bool {
    let is_count = |value: u64| value < LARGEST_COUNT;
    // The maximum value locks the count of weak shares.
    let is_weak = |value: u64| (1..LARGEST_COUNT).contains(&value) || value == u64::MAX;
    let is_last = is_count(before) && [after, other] == [0, 0];
    match offset / GRANULE {
        0 => is_count(before) && is_count(after) && (is_weak(other) || is_last),
        _ => (is_weak(before) && is_weak(after) && is_count(other)) || is_last,
    }
}

/// Runs `change`, whose writes belong to an object of the model but are not the effect of an
/// operation.
#[track_caller]
pub fn in_object<R>(change: impl FnOnce() -> R) -> R {
    let compare = |compare: fn(&mut Engine)| {
        if current().is_some() {
            silently(|engine| {
                if engine.watch.compares {
                    compare(engine);
                }
            });
        }
    };
    compare(Engine::compare_before_effect);
    let result = change();
    compare(Engine::compare_after_effect);
    result
}

impl Model {
    /// Starts to search for synchronization that the model does not see, unless some has been found
    /// or the budget is used up. Such synchronization is reported as left out of the search
    /// ([`Model::left_out`]).
    pub fn begin_comparing(&mut self) {
        let engine = self.engine_mut();
        let has_reported = !engine.guests.hidden.reported.is_empty();
        engine.watch.compares =
            engine.config.native.is_none() && engine.guests.hidden.budget > 0 && !has_reported;
    }

    /// Records that the behaviour `what` of the threads shows synchronization that the model does
    /// not see.
    pub fn hides(&mut self, what: &str) {
        self.engine_mut().leave_out_hidden(what);
    }

    /// Returns whether synchronization that the model does not see has been found.
    pub fn is_known_to_hide(&self) -> bool {
        let left_out = self.engine().guests.left_out.borrow();
        left_out
            .iter()
            .any(|left_out| left_out.kind == Omission::Hidden)
    }

    /// Ends the search that [`begin_comparing`](Model::begin_comparing) has started.
    pub fn end_comparing(&mut self) {
        self.engine_mut().watch.compares = false;
    }
}

impl Engine {
    /// Ends comparing permanently, because the program has processes or concurrent objects, whose
    /// library changes their data after the event.
    pub(crate) fn forgo_comparing(&mut self) {
        self.guests.hidden.budget = 0;
        self.watch.compares = false;
    }

    /// Records that the thread is about to run.
    #[cold]
    pub(crate) fn begin_comparison(&mut self, thread: ThreadId) {
        let is_begun = self.threads[thread.index()].job.is_none();
        let place = self.threads[thread.index()].life.location;
        self.guests.hidden.place = is_begun.then_some(place);
    }

    /// Records that the thread has run, so that all differences are its writes.
    #[cold]
    pub(crate) fn end_comparison(&mut self, thread: ThreadId) {
        self.order_event(thread);
        self.compare(thread, true, None);
    }

    /// Records that the running thread is about to perform an operation without a switch.
    #[cold]
    pub(crate) fn compare_before_effect(&mut self) {
        let here = 0_u8;
        self.compare(self.running, true, Some((&raw const here).addr()));
    }

    /// Records that the running thread has performed an operation, which changed only objects.
    pub(crate) fn compare_after_effect(&mut self) {
        self.order_event(self.running);
        let here = 0_u8;
        self.compare(self.running, false, Some((&raw const here).addr()));
    }

    /// Orders the current event, which belongs to the thread and has had its effect.
    fn order_event(&mut self, thread: ThreadId) {
        let has_event = self.life.is_in_event && !self.is_ending();
        if has_event && self.guests.hidden.order.events() == self.life.events as usize {
            self.guests.hidden.order.event(thread, self.op, &self.edges);
        }
    }

    /// Returns whether the threads may be in states that the program cannot reach, because the
    /// execution is being ended.
    fn is_ending(&self) -> bool {
        self.is_tearing_down || self.is_run_out || self.guests.ending.is_some()
    }

    /// Compares memory. Changes are recorded as writes of the thread if `reports` is true.
    /// `on_stack` is the start of the used stack of the running thread, or `None` if all threads
    /// are suspended.
    fn compare(&mut self, thread: ThreadId, reports: bool, on_stack: Option<usize>) {
        if self.is_ending() {
            return;
        }
        let mut hidden = std::mem::take(&mut self.guests.hidden);
        let edges = &self.threads[thread.index()].life.edges;
        hidden.order.take_up(thread, edges);
        let by = By {
            thread,
            after: hidden.place,
            before: self.threads[thread.index()].life.location,
        };
        let mut changes = Vec::new();
        self.find_changes(&mut hidden.copy, on_stack, |change| changes.push(change));
        let conflicts = match reports {
            true => hidden.write_all(by, &changes),
            false => Vec::new(),
        };
        for (thread, parent) in std::mem::take(&mut hidden.born) {
            hidden.order.started(thread, Some(parent));
        }
        let cost = COMPARISON + hidden.copy.size();
        hidden.budget = hidden.budget.saturating_sub(cost);
        self.watch.compares = hidden.budget > 0;
        self.guests.hidden = hidden;
        for conflict in conflicts {
            self.report_conflict(&conflict);
        }
    }

    /// Passes all changes in memory that threads may share to `report`.
    fn find_changes(
        &self,
        copy: &mut Copy,
        on_stack: Option<usize>,
        mut report: impl FnMut(Change),
    ) {
        copy.begin();
        let mut spans = Vec::new();
        for &id in &self.life.started {
            self.threads[id.index()]
                .guests
                .heap
                .add_object_spans(&mut spans);
        }
        spans.extend(self.guests.residents.copied());
        for span in spans {
            // SAFETY: the memory is in use in this execution, and no thread of the model runs.
            unsafe { copy.compare(span.0, span, &mut report) };
        }
        for &id in &self.life.started {
            let start = on_stack.filter(|_| id == self.running);
            self.compare_stack(copy, id, start, &mut report);
        }
    }

    fn compare_stack(
        &self,
        copy: &mut Copy,
        id: ThreadId,
        start: Option<usize>,
        report: impl FnMut(Change),
    ) {
        let thread = &self.threads[id.index()];
        let base = thread.fibre.base();
        let in_use = match start {
            Some(start) => start..base,
            // SAFETY: the thread is suspended, and the slice is not kept.
            None if thread.job.is_none() => unsafe { thread.fibre.in_use() }.as_ptr().addr()..base,
            None => return,
        };
        if (thread.fibre.lowest()..base).contains(&in_use.start) {
            let length = in_use.len().saturating_sub(LINK);
            // SAFETY: the thread is suspended, or runs this function, in frames below those in use.
            unsafe { copy.compare(base, (in_use.start, length), report) };
        }
    }

    /// Reports two writes that are not ordered.
    fn report_conflict(&mut self, conflict: &Conflict) {
        let change = conflict.change;
        let address = change.granule * GRANULE;
        let block = self.guests.hidden.block(address);
        let key = block.map_or(address, |(start, _)| start);
        let is_reported = self.guests.hidden.reported.contains(&key)
            || self.guests.hidden.reported.len() >= MOST_REPORTED;
        if is_reported || self.guests.hidden.counts_owners(change) {
            return;
        }
        let what = match block {
            Some((start, block)) => {
                let offset = address - start;
                let owner = self.thread_name(block.owner);
                let size = block.size;
                format!("byte {offset} of a block of {size} bytes allocated by {owner}")
            }
            None => self.hidden_place(address),
        };
        self.guests.hidden.reported.push(key);
        let [first, second] = conflict.writes.map(|by| self.shown_by(by));
        self.leave_out_hidden(&format!(
            "{what} is written by {first} and by {second}, and no operation of the model orders these writes"
        ));
    }

    fn leave_out_hidden(&mut self, what: &str) {
        let what = format!(
            "{what}: threads synchronize in a way that the model does not see, such as with atomics, locks or an Arc \
             of std, parking_lot or tokio::sync, so not all interleavings are explored"
        );
        let left_out = LeftOut::new(Omission::Hidden, what);
        self.guests.left_out.get_mut().insert(left_out);
    }

    /// Returns a description of an address outside all blocks.
    fn hidden_place(&self, address: usize) -> String {
        let is_on_stack = |id: &&ThreadId| {
            let fibre = &self.threads[id.index()].fibre;
            (fibre.lowest()..fibre.base()).contains(&address)
        };
        match self.life.started.iter().find(is_on_stack) {
            Some(&id) => format!("a variable on the stack of {}", self.thread_name(id)),
            None => "a static".to_owned(),
        }
    }

    fn shown_by(&self, by: By) -> String {
        let name = self.thread_name(by.thread);
        let after = by.after.and_then(|place| self.shown_place(place));
        let before = self.shown_place(by.before);
        match (after, before) {
            (Some(after), Some(before)) if after != before => {
                format!("{name} between {after} and {before}")
            }
            (Some(place), _) => format!("{name} after {place}"),
            (None, Some(place)) => format!("{name} before {place}"),
            (None, None) => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the strong and weak counts of an `Arc` whose shares are cloned and dropped one by
    /// one.
    #[test]
    fn counts_of_an_arc_are_known_by_their_values() {
        let strong = |values, weak| are_counts(0, values, weak);
        let weak = |values, strong| are_counts(GRANULE, values, strong);
        assert!(strong([1, 3], 1) && strong([3, 2], 2) && strong([1, 0], 1));
        assert!(strong([2, 0], 0) && weak([1, 0], 0));
        assert!(weak([1, 2], 1) && weak([1, u64::MAX], 1) && strong([1, 2], u64::MAX));
        assert!(!strong([0, 1], 0) && !strong([1, 1 << 40], 1) && !weak([0, 1], 7));
        assert!(!weak([1, 2], 1 << 40));
    }
}
