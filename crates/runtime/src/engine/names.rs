//! The names of threads and objects, which are the same in all executions.
//!
//! A thread is named by its *spawn path*: for each of its ancestors and itself, the number among
//! the threads of its parent. An object is named by its creating thread and its number there, by
//! the memory in which it was first used, or, in a native program, by its address. None of these
//! depends on the schedule. Ids are dense numbers, assigned in the order in which the names first
//! occur.

mod addresses;
mod coarse;
mod merged;
mod sites;

use addresses::Addresses;
pub(crate) use addresses::{MOST_COMPARED, Range};
use explore::{MemoryModel, ObjectId, ReadsFrom, Schedule, Step, ThreadId};
use objects::{Coarsening, Object};
use report::SavedStep;
use serde::{Deserialize, Serialize};
pub(crate) use sites::{Region, Resident, Site};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::iter;

/// The maximum number of parts of an object.
pub(crate) const MOST_PARTS: u32 = 4;

/// The maximum number of threads. A file that names more threads is corrupt.
const MOST_THREADS: usize = 1 << 14;
/// The maximum number of objects. A file with more objects is corrupt.
const MOST_OBJECTS: u32 = 1 << 24;

/// Dense ids for spawn paths and objects, together with the known coarsenings of the objects:
/// objects of which more operations count as dependent than usual ([`Coarsening`]). Names are
/// interned when they first occur, and are never forgotten. A resumed search needs the names of the
/// search that it resumes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Names {
    /// Indexed by thread.
    threads: Vec<Named>,
    objects: u32,
    /// Objects with [`Coarsening::Tried`], such as locks with a try operation.
    tried: BTreeSet<ObjectId>,
    /// Objects with [`Coarsening::Ordered`], such as barriers whose leader is queried.
    ordered: BTreeSet<ObjectId>,
    /// Objects with [`Coarsening::Polled`], such as ends of threads that are polled.
    polled: BTreeSet<ObjectId>,
    /// Objects with [`Coarsening::Shared`], such as signals that other processes send.
    shared: BTreeSet<ObjectId>,
    /// Objects with [`Coarsening::Registered`]: relations (links and monitors) of processes with a
    /// registered name.
    registered: BTreeSet<ObjectId>,
    /// Objects with [`Coarsening::Scanned`], such as tables over which a thread iterates.
    scanned: BTreeSet<ObjectId>,
    /// Objects with [`Coarsening::Distinguished`]: ends of threads that look like twins and are
    /// not.
    distinguished: BTreeSet<ObjectId>,
    /// Twins that their parent has joined together, each by the end of the first of them.
    joined_together: BTreeSet<ObjectId>,
    /// Objects that are parts of another object, by that object and a key.
    parts: BTreeMap<(ObjectId, u64), ObjectId>,
    /// For each merged object, the object with a smaller id into which it was merged (and which may
    /// be merged itself).
    merged: BTreeMap<ObjectId, ObjectId>,
    /// Objects that are named by their location in memory.
    residents: BTreeMap<Resident, ObjectId>,
    /// Names that only native programs use.
    addresses: Addresses,
    /// Whether the program uses plain memory, so that happens-before must be known.
    has_plain_memory: bool,
    /// Whether happens-before includes synchronization by native programs' atomic accesses.
    orders_atomics: bool,
    /// Whether the program executes hints of spin loops, so that the await rule applies.
    has_hints: bool,
    /// The memory model that the search has chosen under `MemoryModel::Auto`, and the reason.
    memory: Option<(MemoryModel, String)>,
}

/// A thread, with its children and objects.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Named {
    /// The parent of the main thread is the main thread itself.
    parent: ThreadId,
    /// The number of the thread among the children of its parent.
    number: u32,
    /// The children, by their numbers.
    children: Vec<ThreadId>,
    /// `objects[n]` is the n-th object that the thread created.
    objects: Vec<Created>,
    /// The thread's park token.
    park: ObjectId,
    /// The thread's end.
    end: ObjectId,
}

/// The n-th object that a thread creates. It has one id for each number of parts with which it has
/// occurred.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Created {
    parts: u32,
    object: ObjectId,
    /// The ids for other numbers of parts, each with that number.
    others: Vec<(u32, ObjectId)>,
}

impl Created {
    fn is(&self, object: ObjectId) -> bool {
        self.object == object || self.others.iter().any(|&(_, other)| other == object)
    }
}

/// The error for a spawn path, or for the text of a coarsening, that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not a spawn path such as 0.2.1")]
pub struct UnknownThread(pub String);

impl Default for Names {
    fn default() -> Names {
        let mut names = Names {
            threads: Vec::new(),
            objects: 0,
            tried: BTreeSet::new(),
            ordered: BTreeSet::new(),
            polled: BTreeSet::new(),
            shared: BTreeSet::new(),
            registered: BTreeSet::new(),
            scanned: BTreeSet::new(),
            distinguished: BTreeSet::new(),
            joined_together: BTreeSet::new(),
            parts: BTreeMap::new(),
            merged: BTreeMap::new(),
            residents: BTreeMap::new(),
            addresses: Addresses::default(),
            has_plain_memory: false,
            orders_atomics: false,
            has_hints: false,
            memory: None,
        };
        names.add_thread(ThreadId::MAIN, 0);
        names
    }
}

impl Names {
    /// Returns the memory model that the search has chosen under `MemoryModel::Auto`, and the
    /// reason: the place of an ordering weaker than `SeqCst`.
    pub fn chosen_memory(&self) -> Option<(MemoryModel, &str)> {
        let (memory, why) = self.memory.as_ref()?;
        Some((*memory, why))
    }

    /// Chooses the memory model.
    pub(crate) fn choose_memory(&mut self, memory: MemoryModel, why: String) {
        self.memory = Some((memory, why));
    }

    /// Returns a hash of the known coarsenings. A search that was saved with a different hash
    /// cannot be resumed.
    pub fn coarsenings(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.shared, &self.registered, &self.scanned).hash(&mut hasher);
        self.distinguished.hash(&mut hasher);
        (&self.tried, &self.ordered, &self.polled, &self.merged).hash(&mut hasher);
        hasher.finish()
    }

    /// Checks names that were read from a file: all ids must have been assigned, no thread may be
    /// its own ancestor, and no object may be merged into itself, even through other objects.
    pub fn is_consistent(&self) -> bool {
        let is_object = |object: ObjectId| object == ObjectId::NONE || object.0 < self.objects;
        let is_thread = |(index, named): (usize, &Named)| {
            let is_child = |(number, child): (usize, &ThreadId)| {
                let child_named = self.threads.get(child.index());
                child.index() > index
                    && child_named.is_some_and(|named| {
                        named.parent.index() == index && named.number as usize == number
                    })
            };
            let is_created = |created: &Created| {
                let others = created.others.iter().map(|&(_, other)| other);
                others.chain([created.object]).all(is_object)
            };
            (index == 0 || named.parent.index() < index)
                && named.children.iter().enumerate().all(is_child)
                && named.objects.iter().all(is_created)
                && named.park.0 < self.objects
                && named.end.0 < self.objects
        };
        let coarse = [&self.tried, &self.ordered, &self.polled];
        let coarse = coarse
            .into_iter()
            .chain([&self.shared, &self.registered, &self.scanned])
            .chain([&self.distinguished, &self.joined_together]);
        (1..=MOST_THREADS).contains(&self.threads.len())
            && self.objects <= MOST_OBJECTS
            && self.threads.iter().enumerate().all(is_thread)
            && coarse.flatten().all(|&object| is_object(object))
            && self.parts.values().all(|&part| is_object(part))
            && self
                .merged
                .iter()
                .all(|(&from, &into)| into < from && is_object(from))
            && self
                .residents
                .values()
                .all(|object| object.0 < self.objects)
            && self.addresses.is_consistent(is_object)
    }

    /// Returns the spawn path of a thread. `0` is the main thread, `0.2` its third child.
    pub fn spawn_path(&self, thread: ThreadId) -> String {
        match thread {
            ThreadId::MAIN => "0".to_owned(),
            _ => {
                let named = &self.threads[thread.index()];
                format!("{}.{}", self.spawn_path(named.parent), named.number)
            }
        }
    }

    /// Returns the spawn path as numbers. The order of such paths is the same in every process.
    pub(crate) fn path(&self, thread: ThreadId) -> Vec<u32> {
        if thread == ThreadId::MAIN {
            return Vec::new();
        }
        let named = &self.threads[thread.index()];
        let mut path = self.path(named.parent);
        path.push(named.number);
        path
    }

    /// Converts a schedule to names that do not depend on the process.
    pub fn save(&self, schedule: &Schedule) -> Vec<SavedStep> {
        schedule
            .chunk_by(|a, b| a.thread == b.thread)
            .map(|run| {
                let is_last = |step: &Step| step.reads_from == ReadsFrom::LAST;
                let reads = match run.iter().all(is_last) {
                    true => Vec::new(),
                    false => run.iter().map(|step| step.reads_from.code()).collect(),
                };
                SavedStep {
                    thread: self.spawn_path(run[0].thread),
                    choices: run.iter().map(|step| step.choice).collect(),
                    reads,
                }
            })
            .collect()
    }

    /// Converts a saved schedule to the ids of this process.
    pub fn load(&mut self, steps: &[SavedStep]) -> Result<Schedule, UnknownThread> {
        let mut schedule = Schedule::new();
        for saved in steps {
            let thread = self.thread(&saved.thread)?;
            let reads = saved.reads.iter().map(|&code| ReadsFrom::of_code(code));
            let reads = reads.chain(iter::repeat(ReadsFrom::LAST));
            schedule.extend(
                saved
                    .choices
                    .iter()
                    .zip(reads)
                    .map(|(&choice, reads_from)| Step {
                        thread,
                        choice,
                        reads_from,
                    }),
            );
        }
        Ok(schedule)
    }

    fn thread(&mut self, path: &str) -> Result<ThreadId, UnknownThread> {
        let unknown = || UnknownThread(path.to_owned());
        let mut numbers = path.split('.');
        if numbers.next() != Some("0") {
            return Err(unknown());
        }
        let mut thread = ThreadId::MAIN;
        for number in numbers {
            let number: u16 = number.parse().map_err(|_| unknown())?;
            let known = self.threads[thread.index()].children.len();
            if self.threads.len() + (usize::from(number) + 1).saturating_sub(known) > MOST_THREADS {
                return Err(unknown());
            }
            for earlier in 0..=u32::from(number) {
                self.child(thread, earlier);
            }
            thread = self.child(thread, u32::from(number));
        }
        Ok(thread)
    }

    /// Returns the child of `parent` with this number. All smaller numbers must have occurred.
    #[inline]
    pub(crate) fn child(&mut self, parent: ThreadId, number: u32) -> ThreadId {
        match self.threads[parent.index()].children.get(number as usize) {
            Some(&child) => child,
            None => {
                let child = self.add_thread(parent, number);
                self.threads[parent.index()].children.push(child);
                child
            }
        }
    }

    fn add_thread(&mut self, parent: ThreadId, number: u32) -> ThreadId {
        let thread = ThreadId::from_index(self.threads.len());
        let park = self.add_object(objects::Park::PARTS);
        // Reserve the ids after `end`. When an object is accessed, `poll` evaluates the waits for
        // the preceding ids again, because these may be parts of the same object.
        let end = self.add_object(MOST_PARTS);
        self.threads.push(Named {
            parent,
            number,
            children: Vec::new(),
            objects: Vec::new(),
            park,
            end,
        });
        thread
    }

    fn add_object(&mut self, parts: u32) -> ObjectId {
        let object = ObjectId(self.objects);
        self.objects += parts;
        assert!(
            self.objects < ObjectId::NONE.0,
            "a program has fewer than 2^32 objects"
        );
        object
    }

    /// Returns the n-th object that `thread` created. All smaller numbers must have occurred.
    pub(crate) fn object(&mut self, thread: ThreadId, number: u32, parts: u32) -> ObjectId {
        match self.threads[thread.index()].objects.get(number as usize) {
            Some(created) if created.parts == parts => created.object,
            Some(_) => self.other_object(thread, number, parts),
            None => {
                let object = self.add_object(parts);
                let created = Created {
                    parts,
                    object,
                    others: Vec::new(),
                };
                self.threads[thread.index()].objects.push(created);
                object
            }
        }
    }

    /// Returns whether `object` is named by the thread that created it. Looks at recent objects of
    /// the thread `likely` first.
    pub(crate) fn is_created(&self, likely: ThreadId, object: ObjectId) -> bool {
        let recent = self.threads[likely.index()].objects.iter().rev();
        let all = self.threads.iter().flat_map(|thread| &thread.objects);
        recent.chain(all).any(|created| created.is(object))
    }

    /// Returns, for each object that is named after its creator, the spawn path of the creating
    /// thread and the object's number there.
    pub fn creators(&self) -> BTreeMap<ObjectId, (String, u32)> {
        let mut creators = BTreeMap::new();
        for (index, thread) in self.threads.iter().enumerate() {
            let path = self.spawn_path(ThreadId::from_index(index));
            for (created, number) in thread.objects.iter().zip(0..) {
                let others = created.others.iter().map(|&(_, other)| other);
                let all = others.chain([created.object]);
                creators.extend(all.map(|object| (object, (path.clone(), number))));
            }
        }
        creators
    }

    /// Returns the object for a number that first named an object with a different number of parts.
    #[cold]
    fn other_object(&mut self, thread: ThreadId, number: u32, parts: u32) -> ObjectId {
        let others = &self.threads[thread.index()].objects[number as usize].others;
        if let Some(&(_, object)) = others
            .iter()
            .find(|&&(other_parts, _)| other_parts == parts)
        {
            return object;
        }
        let object = self.add_object(parts);
        self.threads[thread.index()].objects[number as usize]
            .others
            .push((parts, object));
        object
    }

    /// Returns the object that is the part of `whole` with this key.
    pub(crate) fn part(&mut self, whole: ObjectId, key: u64) -> ObjectId {
        if let Some(&part) = self.parts.get(&(whole, key)) {
            return part;
        }
        let part = self.add_object(1);
        self.parts.insert((whole, key), part);
        part
    }

    /// Returns the park token of a thread.
    pub(crate) fn park(&self, thread: ThreadId) -> ObjectId {
        self.threads[thread.index()].park
    }

    /// Returns the object that stands for the end of a thread.
    pub(crate) fn end(&self, thread: ThreadId) -> ObjectId {
        self.threads[thread.index()].end
    }

    /// Returns the thread that starts this thread. The parent of the main thread is the main thread
    /// itself.
    pub(crate) fn parent(&self, thread: ThreadId) -> ThreadId {
        self.threads[thread.index()].parent
    }

    /// Returns whether this coarsening of the object is known.
    pub(crate) fn is_coarse(&self, object: ObjectId, coarsening: Coarsening) -> bool {
        let known = match coarsening {
            Coarsening::Tried => &self.tried,
            Coarsening::Ordered => &self.ordered,
            Coarsening::Polled => &self.polled,
            Coarsening::Shared => &self.shared,
            Coarsening::Registered => &self.registered,
            Coarsening::Scanned => &self.scanned,
            Coarsening::Distinguished => &self.distinguished,
        };
        !known.is_empty() && known.contains(&object)
    }

    /// Applies this coarsening to the object from now on.
    pub(crate) fn coarsen(&mut self, object: ObjectId, coarsening: Coarsening) {
        let known = match coarsening {
            Coarsening::Tried => &mut self.tried,
            Coarsening::Ordered => &mut self.ordered,
            Coarsening::Polled => &mut self.polled,
            Coarsening::Shared => &mut self.shared,
            Coarsening::Registered => &mut self.registered,
            Coarsening::Scanned => &mut self.scanned,
            Coarsening::Distinguished => &mut self.distinguished,
        };
        known.insert(object);
    }

    /// Records that a parent has joined all twins of a group without an event in between. `end` is
    /// the end of the first of them.
    pub(crate) fn join_together(&mut self, end: ObjectId) {
        self.joined_together.insert(end);
    }

    /// Returns whether a parent has joined these twins together in some execution.
    pub(crate) fn are_joined_together(&self, end: ObjectId) -> bool {
        self.joined_together.contains(&end)
    }

    /// Returns whether data races are searched for.
    pub(crate) fn has_plain_memory(&self) -> bool {
        self.has_plain_memory
    }

    /// Returns whether the await rule applies.
    pub(crate) fn has_hints(&self) -> bool {
        self.has_hints
    }

    /// Applies the await rule from now on.
    pub(crate) fn record_hint(&mut self) {
        self.has_hints = true;
    }

    /// Searches for data races from now on.
    pub(crate) fn record_plain_memory(&mut self) {
        self.has_plain_memory = true;
    }

    /// Returns whether happens-before includes synchronization by native programs' atomic accesses.
    pub(crate) fn orders_atomics(&self) -> bool {
        self.orders_atomics
    }

    /// Tracks synchronization by native programs' atomic accesses from the beginning, so that a
    /// search does not restart to do so.
    pub fn order_atomics(&mut self) {
        self.orders_atomics = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_depend_on_the_order_of_meeting() {
        let mut names = Names::default();
        let first = names.child(ThreadId::MAIN, 0);
        let second = names.child(ThreadId::MAIN, 1);
        let grandchild = names.child(first, 0);
        assert_eq!(names.child(ThreadId::MAIN, 1), second);
        assert_eq!(names.spawn_path(grandchild), "0.0.0");
        let object = names.object(second, 0, 2);
        let other = names.object(second, 0, 1);
        assert_ne!(object, other);
        assert_eq!(names.object(second, 0, 2), object);
        assert_eq!(names.object(second, 0, 1), other);
    }

    #[test]
    fn a_schedule_is_read_back_in_a_fresh_process() {
        let mut names = Names::default();
        let child = names.child(ThreadId::MAIN, 0);
        let grandchild = names.child(child, 0);
        let schedule: Schedule = [ThreadId::MAIN, grandchild, grandchild, child]
            .map(Step::of)
            .into();
        let saved = names.save(&schedule);
        let mut fresh = Names::default();
        let loaded = fresh.load(&saved).expect("saved paths are readable");
        assert_eq!(fresh.save(&loaded), saved);
        assert!(
            fresh
                .load(&[SavedStep {
                    thread: "1.x".to_owned(),
                    choices: vec![0],
                    reads: Vec::new(),
                }])
                .is_err()
        );
    }
}
