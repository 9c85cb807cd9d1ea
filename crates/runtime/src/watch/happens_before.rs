//! Happens-before of C11 and C++20, for data races (FastTrack, Flanagan and Freund, PLDI 2009).
//!
//! This relation has separate vector clocks, with fewer edges than the clocks of the exploration:
//! relaxed accesses, failed tries and requests create no synchronization edges here.
//!
//! 1. A release store heads a release sequence. Read-modify-writes continue it. Later stores of the
//!    same thread continue it, too, in C and in C++ before C++20 (`continues`). Any other store
//!    ends it. A variable is an object if all accesses have the same place and size (`Variable`).
//!    In all other cases, each accessed byte is a variable, so that an access does not order
//!    neighbouring bytes.
//! 2. Fences: a release fence makes later relaxed stores releases, and an acquire fence makes
//!    earlier relaxed loads acquires. A sequentially consistent fence is both.
//! 3. Objects: an event with synchronization edges to later events (unlock, send, arrival at a
//!    barrier, completion of a once, release of a permit) stores its clock, and the wait that it
//!    grants joins that clock. The same holds for the drop of the last sender, and for a receive
//!    that makes room for a waiting send. The standard library does not promise these last two
//!    kinds of edges. Its implementation provides them where threads wait.

use explore::{EventId, MemoryModel, ObjectId, ThreadId};
use rustc_hash::FxHashMap;
use std::sync::atomic::Ordering;

/// Implements `Clone`. A clone into an existing value reuses its memory, because savepoints copy
/// all clocks.
macro_rules! clone_in_place {
    ($name:ident { $($field:ident),* } $($fresh:ident),*) => {
        impl Clone for $name {
            fn clone(&self) -> $name {
                $name { $($field: self.$field.clone(),)* $($fresh: Default::default(),)* }
            }

            fn clone_from(&mut self, other: &$name) {
                $(self.$field.clone_from(&other.$field);)*
            }
        }
    };
}

/// A vector clock with an entry per thread. Entries beyond the end are 0.
#[derive(Default, Debug)]
struct Clock {
    entries: Vec<u32>,
}

clone_in_place!(Clock { entries });
clone_in_place!(Known {
    now,
    released,
    acquirable,
    unparked
});
clone_in_place!(Sequence {
    clock,
    heads,
    execution
});
clone_in_place!(HappensBefore { threads, variables, bytes, left, execution, all_synchronize } spare, versions);

impl Clock {
    fn at(&self, thread: ThreadId) -> u32 {
        self.entries.get(thread.index()).copied().unwrap_or(0)
    }

    /// self := self ⊔ other
    fn join(&mut self, other: &Clock) {
        if self.entries.len() < other.entries.len() {
            self.entries.resize(other.entries.len(), 0);
        }
        for (entry, &other) in self.entries.iter_mut().zip(&other.entries) {
            *entry = (*entry).max(other);
        }
    }

    fn tick(&mut self, thread: ThreadId) {
        if self.entries.len() <= thread.index() {
            self.entries.resize(thread.index() + 1, 0);
        }
        self.entries[thread.index()] += 1;
    }

    fn clear(&mut self) {
        self.entries.clear();
    }
}

/// A point in the execution of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Epoch {
    pub(crate) thread: ThreadId,
    number: u32,
}

/// The happens-before relation of an execution.
#[derive(Default)]
pub(crate) struct HappensBefore {
    /// Indexed by thread.
    threads: Vec<Known>,
    /// The release sequence to which the value of each atomic variable belongs.
    variables: Vec<Sequence>,
    /// The release sequences for memory that is accessed in several sizes, by granule, for disjoint
    /// sets of its bytes.
    bytes: FxHashMap<usize, Vec<(u8, Sequence)>>,
    /// Clocks that events have stored, sorted by event.
    left: Vec<(EventId, Clock)>,
    /// Indexed by event: the release sequence to which the event's write belongs, if reads may read
    /// old values. Copies do not contain them, because they stay valid when a copy is restored
    /// (`restore`).
    versions: Vec<Option<Sequence>>,
    /// Whether every atomic access acquires and releases, whatever its ordering is.
    all_synchronize: bool,
    /// Clocks to be reused.
    spare: Vec<Clock>,
    execution: u64,
}

/// The clocks of a thread.
#[derive(Default)]
struct Known {
    /// The clock at the thread's present point.
    now: Clock,
    /// The clock that a relaxed store publishes, which is the clock of the last release fence.
    released: Clock,
    /// The clock that the next acquire fence joins: the join of the clocks that relaxed loads read.
    acquirable: Clock,
    /// The join of the clocks of the threads that unparked this thread.
    unparked: Clock,
}

/// The variable of an atomic access.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Variable {
    /// An object that is always accessed as a whole.
    Object(ObjectId),
    /// Memory at this address, of this length.
    Bytes(usize, usize),
}

impl From<ObjectId> for Variable {
    fn from(object: ObjectId) -> Variable {
        Variable::Object(object)
    }
}

/// The number of bytes of a granule.
const GRANULE: usize = 8;

#[derive(Default)]
struct Sequence {
    /// The clock that an acquire of the value joins: the join of the heads.
    clock: Clock,
    /// The clock that each thread has published into the sequence.
    heads: Vec<(ThreadId, Clock)>,
    /// The execution that the sequence belongs to.
    execution: u64,
}

impl Sequence {
    fn clear(&mut self) {
        self.clock.clear();
        self.heads.clear();
    }

    /// Prepares for a store of the thread. The thread's own part of the sequence stays if the store
    /// continues it.
    fn store(&mut self, thread: ThreadId, continues: bool) {
        let heads = std::mem::take(&mut self.heads);
        self.clock.clear();
        let mut heads = heads.into_iter().filter(|&(head, _)| head == thread);
        if continues && let Some((_, clock)) = heads.next() {
            self.clock.clone_from(&clock);
            self.heads.push((thread, clock));
        }
    }

    /// Publishes a clock of the thread into the sequence.
    fn publish(&mut self, thread: ThreadId, published: &Clock) {
        if published.entries.is_empty() {
            return;
        }
        self.clock.join(published);
        match self.heads.iter_mut().find(|(head, _)| *head == thread) {
            Some((_, clock)) => clock.join(published),
            None => self.heads.push((thread, published.clone())),
        }
    }
}

impl HappensBefore {
    /// Returns the state before any thread has started.
    pub(crate) fn new(memory: MemoryModel) -> HappensBefore {
        HappensBefore {
            all_synchronize: memory == MemoryModel::Ra,
            ..HappensBefore::default()
        }
    }

    /// Discards the state of the execution.
    pub(crate) fn clear(&mut self) {
        self.execution += 1;
        self.bytes.clear();
        self.versions.clear();
        for (_, clock) in self.left.drain(..) {
            self.spare.push(clock);
        }
        for known in &mut self.threads {
            known.now.clear();
            known.released.clear();
            known.acquirable.clear();
            known.unparked.clear();
        }
    }

    fn known(&mut self, thread: ThreadId) -> &mut Known {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, Known::default);
        }
        &mut self.threads[thread.index()]
    }

    /// Starts a thread. `parent` is `None` for the main thread.
    pub(crate) fn started(&mut self, thread: ThreadId, parent: Option<ThreadId>) {
        let mut clock = std::mem::take(&mut self.known(thread).now);
        if let Some(parent) = parent {
            clock.clone_from(&self.known(parent).now);
            self.known(parent).now.tick(parent);
        }
        clock.tick(thread);
        self.known(thread).now = clock;
    }

    /// Orders the end of `thread` before the present of `joiner`.
    pub(crate) fn joined(&mut self, joiner: ThreadId, thread: ThreadId) {
        let ended = std::mem::take(&mut self.known(thread).now);
        self.known(joiner).now.join(&ended);
        self.known(thread).now = ended;
    }

    /// Stores the thread's clock for its event.
    pub(crate) fn leave(&mut self, thread: ThreadId, event: EventId) {
        let mut clock = self.spare.pop().unwrap_or_default();
        clock.clone_from(&self.known(thread).now);
        self.left.push((event, clock));
        self.known(thread).now.tick(thread);
    }

    /// Joins the clocks stored for these events into the thread's clock.
    pub(crate) fn take_up(&mut self, thread: ThreadId, events: &[EventId]) {
        let left = std::mem::take(&mut self.left);
        for event in events {
            if let Ok(position) = left.binary_search_by_key(event, |&(event, _)| event) {
                self.known(thread).now.join(&left[position].1);
            }
        }
        self.left = left;
    }

    /// Records that `by` unparks `thread`.
    pub(crate) fn unparks(&mut self, by: ThreadId, thread: ThreadId) {
        let now = std::mem::take(&mut self.known(by).now);
        self.known(thread).unparked.join(&now);
        self.known(by).now = now;
        self.known(by).now.tick(by);
    }

    /// Records that the thread received its park token.
    pub(crate) fn parked(&mut self, thread: ThreadId) {
        let Known { now, unparked, .. } = self.known(thread);
        now.join(unparked);
    }

    /// Applies `does` to each sequence that a part of the variable belongs to.
    fn for_each(
        &mut self,
        thread: ThreadId,
        variable: Variable,
        mut does: impl FnMut(&mut Known, &mut Sequence),
    ) {
        self.known(thread);
        let known = &mut self.threads[thread.index()];
        match variable {
            Variable::Object(object) => {
                if self.variables.len() <= object.index() {
                    self.variables
                        .resize_with(object.index() + 1, Sequence::default);
                }
                let sequence = &mut self.variables[object.index()];
                if sequence.execution != self.execution {
                    sequence.execution = self.execution;
                    sequence.clear();
                }
                does(known, sequence);
            }
            Variable::Bytes(address, length) => {
                for (granule, bytes) in granules(address, length) {
                    let parts = self.bytes.entry(granule).or_default();
                    split(parts, bytes);
                    for (_, sequence) in parts.iter_mut().filter(|(mask, _)| mask & bytes != 0) {
                        does(known, sequence);
                    }
                }
            }
        }
    }

    /// Makes the release sequence of a write the current one of its variable. `None` stands for the
    /// initial value.
    pub(crate) fn take_version(&mut self, object: ObjectId, write: Option<EventId>) {
        let version = write.and_then(|write| self.versions.get(write.index())?.clone());
        let execution = self.execution;
        self.for_each(ThreadId::MAIN, object.into(), |_, sequence| {
            *sequence = version.clone().unwrap_or_default();
            sequence.execution = execution;
        });
    }

    /// Keeps the current release sequence of a variable as that of the write `event`.
    pub(crate) fn keep_version(&mut self, object: ObjectId, event: EventId) {
        if let Some(version) = self.variables.get(object.index()) {
            if self.versions.len() <= event.index() {
                self.versions.resize_with(event.index() + 1, || None);
            }
            self.versions[event.index()] = Some(version.clone());
        }
    }

    /// Returns to a copy that was made after the first `events` events of the execution.
    pub(crate) fn restore(&mut self, copy: &HappensBefore, events: usize) {
        self.clone_from(copy);
        self.versions.truncate(events);
    }

    /// Returns the ordering that an access or fence has under the memory model.
    fn effective(&self, order: Ordering) -> Ordering {
        match self.all_synchronize {
            true => Ordering::AcqRel,
            false => order,
        }
    }

    /// Performs an atomic load.
    pub(crate) fn load(
        &mut self,
        thread: ThreadId,
        variable: impl Into<Variable>,
        order: Ordering,
    ) {
        let order = self.effective(order);
        self.for_each(thread, variable.into(), |known, sequence| {
            match acquires(order) {
                true => known.now.join(&sequence.clock),
                false => known.acquirable.join(&sequence.clock),
            };
        });
    }

    /// Performs an atomic store that is not a read-modify-write. `continues` is true if the store
    /// continues the release sequence of its thread.
    pub(crate) fn store(
        &mut self,
        thread: ThreadId,
        variable: impl Into<Variable>,
        order: Ordering,
        continues: bool,
    ) {
        let variable = variable.into();
        self.for_each(thread, variable, |_, sequence| {
            sequence.store(thread, continues);
        });
        self.publish(thread, variable, order);
    }

    /// Publishes a clock of the thread into the current release sequence, as the store of a
    /// read-modify-write does after its load.
    pub(crate) fn publish(
        &mut self,
        thread: ThreadId,
        variable: impl Into<Variable>,
        order: Ordering,
    ) {
        let order = self.effective(order);
        self.for_each(thread, variable.into(), |known, sequence| {
            let published = match releases(order) {
                true => &known.now,
                false => &known.released,
            };
            sequence.publish(thread, published);
        });
        if releases(order) {
            self.known(thread).now.tick(thread);
        }
    }

    /// Performs a fence.
    pub(crate) fn fence(&mut self, thread: ThreadId, order: Ordering) {
        let order = self.effective(order);
        let Known {
            now,
            released,
            acquirable,
            ..
        } = self.known(thread);
        if acquires(order) {
            now.join(acquirable);
        }
        if releases(order) {
            released.clone_from(now);
            now.tick(thread);
        }
    }

    /// Returns the present point of the thread.
    pub(crate) fn now(&mut self, thread: ThreadId) -> Epoch {
        Epoch {
            thread,
            number: self.known(thread).now.at(thread),
        }
    }

    /// Checks whether the point happens before the present of the thread.
    pub(crate) fn knows(&mut self, thread: ThreadId, epoch: Epoch) -> bool {
        self.known(thread).now.at(epoch.thread) >= epoch.number
    }
}

/// Returns the granules of a piece of memory, each with the set of its bytes that belong to it.
fn granules(address: usize, length: usize) -> impl Iterator<Item = (usize, u8)> {
    let end = address + length;
    (address / GRANULE..end.div_ceil(GRANULE)).map(move |granule| {
        let start = address.max(granule * GRANULE);
        let bytes = end.min((granule + 1) * GRANULE) - start;
        (
            granule,
            ((0xff_u16 >> (GRANULE - bytes)) << (start % GRANULE)) as u8,
        )
    })
}

/// Splits sequences so that the bytes of each sequence are all in the set or all outside it.
fn split(parts: &mut Vec<(u8, Sequence)>, bytes: u8) {
    let mut rest = bytes;
    for index in 0..parts.len() {
        let mask = parts[index].0;
        rest &= !mask;
        if mask & bytes != 0 && mask & !bytes != 0 {
            parts[index].0 = mask & !bytes;
            let part = (mask & bytes, parts[index].1.clone());
            parts.push(part);
        }
    }
    if rest != 0 {
        parts.push((rest, Sequence::default()));
    }
}

/// Checks whether a load with this ordering is an acquire. Orderings that may be added to the
/// language count as the strongest.
fn acquires(order: Ordering) -> bool {
    !matches!(order, Ordering::Relaxed | Ordering::Release)
}

/// Checks whether a store with this ordering is a release.
fn releases(order: Ordering) -> bool {
    !matches!(order, Ordering::Relaxed | Ordering::Acquire)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: ThreadId = ThreadId(0);
    const OTHER: ThreadId = ThreadId(1);
    const FLAG: Variable = Variable::Object(ObjectId(3));

    fn two_threads() -> HappensBefore {
        let mut clocks = HappensBefore::default();
        clocks.clear();
        clocks.started(MAIN, None);
        clocks.started(OTHER, Some(MAIN));
        clocks
    }

    #[test]
    fn a_release_store_is_acquired() {
        let mut clocks = two_threads();
        let written = clocks.now(OTHER);
        assert!(!clocks.knows(MAIN, written));
        clocks.store(OTHER, FLAG, Ordering::Release, false);
        clocks.load(MAIN, FLAG, Ordering::Acquire);
        assert!(clocks.knows(MAIN, written));
        let later = clocks.now(OTHER);
        assert!(!clocks.knows(MAIN, later));
    }

    #[test]
    fn a_relaxed_store_publishes_nothing_without_a_fence() {
        let mut clocks = two_threads();
        let written = clocks.now(OTHER);
        clocks.store(OTHER, FLAG, Ordering::Relaxed, false);
        clocks.load(MAIN, FLAG, Ordering::Acquire);
        assert!(!clocks.knows(MAIN, written));
        clocks.fence(OTHER, Ordering::Release);
        clocks.store(OTHER, FLAG, Ordering::Relaxed, false);
        clocks.load(MAIN, FLAG, Ordering::Relaxed);
        assert!(!clocks.knows(MAIN, written));
        clocks.fence(MAIN, Ordering::Acquire);
        assert!(clocks.knows(MAIN, written));
    }

    #[test]
    fn a_relaxed_read_modify_write_continues_a_release_sequence() {
        let mut clocks = two_threads();
        let third = ThreadId(2);
        clocks.started(third, Some(MAIN));
        let written = clocks.now(OTHER);
        clocks.store(OTHER, FLAG, Ordering::Release, false);
        clocks.load(third, FLAG, Ordering::Relaxed);
        clocks.publish(third, FLAG, Ordering::Relaxed);
        clocks.load(MAIN, FLAG, Ordering::Acquire);
        assert!(clocks.knows(MAIN, written));
        clocks.store(third, FLAG, Ordering::Relaxed, false);
        let mut late = two_threads();
        late.load(MAIN, FLAG, Ordering::Acquire);
        assert!(!late.knows(MAIN, written));
    }

    #[test]
    fn a_wait_joins_the_clock_of_its_cause() {
        let mut clocks = two_threads();
        let written = clocks.now(OTHER);
        clocks.leave(OTHER, EventId(4));
        clocks.take_up(MAIN, &[EventId(3)]);
        assert!(!clocks.knows(MAIN, written));
        clocks.take_up(MAIN, &[EventId(4)]);
        assert!(clocks.knows(MAIN, written));
    }

    #[test]
    fn a_relaxed_store_of_the_same_thread_continues_a_release_sequence_before_cpp20() {
        for continues in [false, true] {
            let mut clocks = two_threads();
            let third = ThreadId(2);
            clocks.started(third, Some(MAIN));
            let written = clocks.now(OTHER);
            clocks.store(OTHER, FLAG, Ordering::Release, continues);
            // A read-modify-write of another thread heads a separate sequence.
            let late = clocks.now(third);
            clocks.load(third, FLAG, Ordering::Relaxed);
            clocks.publish(third, FLAG, Ordering::Release);
            clocks.store(OTHER, FLAG, Ordering::Relaxed, continues);
            clocks.load(MAIN, FLAG, Ordering::Acquire);
            assert_eq!(clocks.knows(MAIN, written), continues);
            assert!(!clocks.knows(MAIN, late));
            clocks.store(third, FLAG, Ordering::Relaxed, continues);
            let mut other = clocks.clone();
            other.started(ThreadId(3), None);
            other.load(ThreadId(3), FLAG, Ordering::Acquire);
            assert!(!other.knows(ThreadId(3), written) && !other.knows(ThreadId(3), late));
        }
    }

    #[test]
    fn bytes_have_clocks_of_their_own() {
        let (first, second) = (Variable::Bytes(16, 1), Variable::Bytes(17, 1));
        let whole = Variable::Bytes(14, 4);
        let mut clocks = two_threads();
        clocks.load(MAIN, whole, Ordering::Relaxed);
        let written = clocks.now(OTHER);
        clocks.store(OTHER, first, Ordering::Release, false);
        clocks.store(OTHER, second, Ordering::Relaxed, false);
        clocks.load(MAIN, second, Ordering::Acquire);
        assert!(!clocks.knows(MAIN, written));
        let mut wide = clocks.clone();
        wide.load(MAIN, whole, Ordering::Acquire);
        assert!(wide.knows(MAIN, written));
        clocks.load(MAIN, first, Ordering::Acquire);
        assert!(clocks.knows(MAIN, written));
        clocks.store(MAIN, whole, Ordering::Relaxed, false);
        let third = ThreadId(2);
        clocks.started(third, None);
        clocks.load(third, first, Ordering::Acquire);
        assert!(!clocks.knows(third, written));
    }
}
