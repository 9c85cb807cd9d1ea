//! Happens-before by vector clocks, as C11 defines it if all atomics are sequentially consistent.
//!
//! Two accesses may race although they are never adjacent. For example, an atomic store acquires
//! nothing, so it does not order its thread's later accesses. Finding these races takes far more
//! states. Objects create more happens-before edges here than the standards require, so every race
//! that is found is real.

use super::State;
use super::compile::{Access, Code, Instruction};
use crate::c_program::{Object, REGION};
use std::collections::BTreeMap;

/// For each thread, the number of its segments that happen before a point. A segment ends at each
/// operation that may release.
type Clock = Vec<u8>;

/// The happens-before order of an execution.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Order {
    /// For each thread, the segments that happen before its next step. Its own entry is its current
    /// segment.
    threads: Vec<Clock>,
    /// For each object, by kind and number, the segments that happen before the next operation on
    /// it.
    objects: BTreeMap<(u8, usize), Clock>,
    /// For each byte, the segments that happen before an atomic read of it.
    released: Vec<Clock>,
    /// By byte and thread: the last segments with a plain read, an atomic read, a plain write and
    /// an atomic write.
    last: Vec<Vec<[u8; 4]>>,
    /// By object and thread: the last segment that used the object, and the last that destroyed and
    /// initialized it.
    lives: BTreeMap<(u8, usize, usize), [u8; 2]>,
    /// Whether two accesses raced.
    pub(super) has_race: bool,
    /// Whether a use of an object and a destruction or initialization of it were not ordered.
    pub(super) has_race_of_objects: bool,
}

impl Order {
    /// Returns the order of an execution without events.
    pub(super) fn new(threads: usize, bytes: usize) -> Order {
        let clock = |thread: usize| {
            (0..threads)
                .map(|other| u8::from(other == thread))
                .collect()
        };
        Order {
            threads: (0..threads).map(clock).collect(),
            objects: BTreeMap::new(),
            released: vec![vec![0; threads]; bytes],
            last: vec![vec![[0; 4]; threads]; bytes],
            lives: BTreeMap::new(),
            has_race: false,
            has_race_of_objects: false,
        }
    }

    /// Records that the thread performs an instruction in this state.
    pub(super) fn record(&mut self, code: &Code, state: &State, thread: usize, does: &Instruction) {
        use Instruction::*;
        for object in Code::uses(does).into_iter().flatten() {
            self.live(object, thread, 0);
        }
        if let Renew(object) = *does {
            self.live(object, thread, 1);
        }
        let object = |kind: u8, number: usize| Some((kind, number));
        let object = match *does {
            Lock(mutex, _) | LockOrJump(mutex, _) | Unlock(mutex) => object(0, mutex),
            ReadLock(lock, _) | ReadUnlock(lock) | WriteLock(lock, _) | WriteUnlock(lock) => {
                object(1, lock)
            }
            Enqueue(_, mutex) => object(0, mutex),
            Wake(condvar) | WakeInTime(condvar) | Signal(condvar, _) => object(2, condvar),
            Post(semaphore) | Take(semaphore, _) => object(3, semaphore),
            Arrive(barrier, _) | Leave(barrier) => object(4, barrier),
            EnterOnce(once, _) | EndOnce(once) => object(5, once),
            EnterFutex(place, ..) | LeaveFutex(place) | WakeFutex(place, ..) => {
                object(6, place.region * REGION + place.offset)
            }
            Create(child) => {
                self.threads[child] = join(&self.threads[child], &self.threads[thread]);
                return self.advance(thread);
            }
            Join(child) => {
                self.threads[thread] = join(&self.threads[thread], &self.threads[child]);
                return;
            }
            _ => None,
        };
        if let Some(object) = object {
            let known = self.objects.entry(object).or_default();
            let both = join(known, &self.threads[thread]);
            known.clone_from(&both);
            self.threads[thread] = both;
            self.advance(thread);
        }
        let is_over = matches!(*does, EnterOnce(once, _) if state.onces[once] != super::Once::New);
        if let Some(mut access) = code.access(does).filter(|_| !is_over) {
            let reads = !matches!(does, Store(..) | EnterFutex(..));
            if let CompareExchange(place, ..) = *does {
                access.is_write = state.get(place) == state.threads[thread].temporary;
            }
            self.access(access, thread, reads);
        }
    }

    /// Records that an object is used (0), or destroyed and initialized (1).
    fn live(&mut self, object: Object, thread: usize, does: usize) {
        let (kind, number) = match object {
            Object::Mutex(number) => (0, number),
            Object::RwLock(number) => (1, number),
            Object::Condvar(number) => (2, number),
            Object::Semaphore(number) => (3, number),
            Object::Barrier(number) => (4, number),
        };
        let clock = &self.threads[thread];
        for (other, &known) in clock.iter().enumerate() {
            let last = self
                .lives
                .get(&(kind, number, other))
                .copied()
                .unwrap_or_default();
            self.has_race_of_objects |= last[1] > known || does == 1 && last[0] > known;
        }
        let now = clock[thread];
        self.lives.entry((kind, number, thread)).or_default()[does] = now;
    }

    fn access(&mut self, access: Access, thread: usize, reads: bool) {
        let kind = usize::from(access.is_write) << 1 | usize::from(!access.is_plain);
        for byte in access.bytes() {
            if reads && !access.is_plain {
                self.threads[thread] = join(&self.threads[thread], &self.released[byte]);
            }
            let clock = &self.threads[thread];
            for (other, last) in self.last[byte].iter().enumerate() {
                let races = |before: usize| {
                    let is_conflict = (before | kind) & 2 != 0 && before & kind & 1 == 0;
                    is_conflict && last[before] > clock[other]
                };
                self.has_race |= (0..4).any(races);
            }
            self.last[byte][thread][kind] = clock[thread];
            if access.is_write {
                self.released[byte] = match (access.is_plain, reads) {
                    (true, _) => vec![0; clock.len()],
                    (false, true) => join(&self.released[byte], clock),
                    (false, false) => clock.clone(),
                };
            }
        }
        if access.is_write && !access.is_plain {
            self.advance(thread);
        }
    }

    /// Begins a new segment. Its operations do not belong to the release that ended the last
    /// segment.
    fn advance(&mut self, thread: usize) {
        self.threads[thread][thread] += 1;
    }
}

fn join(one: &Clock, other: &Clock) -> Clock {
    let length = one.len().max(other.len());
    let at = |clock: &Clock, thread: usize| clock.get(thread).copied().unwrap_or_default();
    (0..length)
        .map(|thread| at(one, thread).max(at(other, thread)))
        .collect()
}
