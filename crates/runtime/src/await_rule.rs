//! The await rule: a thread whose spin loop makes no progress stops.
//!
//! At each hint the thread's stack and registers are compared with those of its last hints. If they
//! are the same, and the thread has only read, failed a try, written values that were there already or done what it has
//! [undone](crate::undone) before others noticed it, it would
//! repeat that until another thread writes what it reads. The executions in which it reads later are explored anyway. What
//! it read is kept. If it would read another value at the end of the execution, the thread is only
//! halted; otherwise its loop never ends, which is a bug.
//!
//! If others have noticed an effect before it was undone, the thread goes on. Two threads may notice each other's rounds for
//! ever, so it stops at a bound.
//!
//! A comparison of bytes must not see what is no state of the thread: its stack begins clean in each
//! execution, what the model's own calls leave below the frames of the program is cleaned away, and
//! registers that a switch leaves undefined are cleared.
//!
//! Writes to the heap between two hints are found by [`heap_changes`](crate::heap_changes). On other machines
//! than x86-64 there is no rule, and such loops run into the bound on events.

use crate::engine::Engine;
use crate::seen::Seen;
use crate::undone::{Effects, is_of_lock};
use explore::{Access, EventId, Halt, ObjectId, OpKind, ThreadId};
use rustc_hash::FxHasher;
use std::collections::BTreeMap;
use std::hash::Hasher;

/// How many visits of hints are kept: the last ones, and an older one for longer rounds.
const MOST_VISITS: usize = 128;

/// A thread at a hint.
#[derive(Default)]
struct Visit {
    /// The stack pointer.
    pointer: usize,
    /// What was on the stack from there on, registers first.
    stack: Vec<u8>,
    /// Of what was on the stack.
    digest: u64,
    /// How many effects others had noticed by then.
    noticed: u32,
    /// What the thread had learnt by then.
    seen: usize,
    /// How many locks it had given back by then.
    released: usize,
}

/// What the thread that comes to a hint has found out.
#[repr(u8)]
pub(crate) enum Lap {
    /// It is not where it was.
    GoesOn,
    /// It is where it was, and nobody has noticed what it has done since.
    IsVain,
    /// It is where it was, too often, but others have noticed what it did.
    IsNoticed,
}

/// What a thread has done since its last hint.
#[derive(Default)]
pub(crate) struct Round {
    /// The last hints, since the thread has had an effect that was not undone.
    visits: Vec<Visit>,
    /// How many hints it has come to since.
    hints: u32,
    /// How often it has come to where it was, but others have noticed what it did.
    returns: u32,
    /// How many rounds were in vain that went on nevertheless.
    alone: u32,
    /// Whether the thread did anything but to read or fail a try, which cannot be undone.
    has_effect: bool,
    /// What it did that can be undone.
    pub(crate) effects: Effects,
    /// The bytes of the heap that the thread has changed since, with their values before and after.
    changed: BTreeMap<usize, (u8, u8)>,
    /// How many more objects of the heap it has made than freed.
    live: u32,
    /// The token that the thread waits for, or waited for last.
    token: Option<ObjectId>,
    /// The last event by which the thread gave this token to itself.
    gift: Option<EventId>,
    /// Whether the thread's last operation on the token gave it to itself, or took what it had given itself.
    wakes_itself: bool,
    /// Whether the token that the thread gave last was there already.
    gives_in_vain: bool,
    seen: Vec<Seen>,
    /// The lock that the thread did not get in a round of `std::lock`, from then on to the beginning of the next one.
    pub(crate) missed: Option<Seen>,
}

impl Round {
    /// Nothing has been done.
    pub(crate) fn clear(&mut self) {
        self.visits.clear();
        (self.returns, self.hints) = (0, 0);
        self.alone = 0;
        // Clearing an empty tree costs a call, and this runs for each thread of each execution.
        if !self.changed.is_empty() {
            self.changed.clear();
        }
        self.live = 0;
        self.effects.clear();
        self.token = None;
        self.gift = None;
        self.seen.clear();
        self.missed = None;
    }

    /// Whether changes of the heap matter: the thread has come to a hint, and has had no effect since.
    pub(crate) fn is_watched(&self) -> bool {
        !self.visits.is_empty() && !self.has_effect
    }

    /// The thread has changed a byte of the heap that had this value. What others have added since its last change does not count:
    /// a count of readers or shares depends on the order of independent events.
    pub(crate) fn changes(&mut self, address: usize, before: u8, after: u8) {
        let (first, last) = self.changed.entry(address).or_insert((before, before));
        *first = first.wrapping_add(before.wrapping_sub(*last));
        *last = after;
    }

    /// The thread has made so many more objects of the heap than it has freed.
    pub(crate) fn makes(&mut self, live: u32) {
        self.live = self.live.wrapping_add(live);
    }

    /// The thread is the one that waits for this token.
    pub(crate) fn owns(&mut self, token: ObjectId) {
        self.token = Some(token);
        self.gift = None;
    }

    /// Whether this is the token that the thread waits for, or waited for last.
    pub(crate) fn waits_for(&self, token: ObjectId) -> bool {
        self.token == Some(token)
    }

    /// Whether the thread has given the token that it waits for to itself.
    pub(crate) fn has_gift(&self) -> bool {
        self.gift.is_some()
    }

    /// The thread gives this token, by the event. `was_given`: the token was there already.
    pub(crate) fn gives(&mut self, token: ObjectId, event: EventId, was_given: bool) {
        self.gives_in_vain = was_given;
        if self.waits_for(token) {
            self.gift = Some(event);
            self.wakes_itself = true;
        }
    }

    /// The thread begins to wait for this token, which was given by the event if it is there. Whether the thread gave it to itself.
    pub(crate) fn takes(&mut self, token: ObjectId, given: Option<EventId>) -> bool {
        let gift = self.gift.take();
        self.wakes_itself = given.is_some() && self.token == Some(token) && given == gift;
        self.token = Some(token);
        self.wakes_itself
    }

    /// Whether the thread has left the heap otherwise than it was at the last hint.
    pub(crate) fn has_changed_heap(&self) -> bool {
        self.live != 0 || self.changed.values().any(|(before, after)| before != after)
    }

    /// Becomes like the other.
    #[inline]
    pub(crate) fn copy(&mut self, other: &Round) {
        self.alone = other.alone;
        self.has_effect = other.has_effect;
        self.missed = other.missed;
        self.seen.clear();
        self.seen.extend_from_slice(&other.seen);
    }

    /// The thread did something else than to read or fail a try.
    pub(crate) fn take_effect(&mut self) {
        self.has_effect = true;
    }

    pub(crate) fn has_effect(&self) -> bool {
        self.has_effect
    }

    pub(crate) fn set_effect(&mut self, has_effect: bool) {
        self.has_effect = has_effect;
    }

    /// What the thread learnt in the round in vain that it ends with.
    pub(crate) fn learnt(&mut self, seen: &[Seen]) {
        self.seen.clear();
        self.seen.extend_from_slice(seen);
    }

    /// What was learnt since the last hint.
    fn recently_seen(&self) -> &[Seen] {
        let start = self.visits.last().map_or(0, |visit| visit.seen);
        &self.seen[start..]
    }

    /// The thread comes to a hint, at a stack with this content from `pointer` on.
    fn arrive(&mut self, pointer: usize, stack: &[u8], most: u32) -> Lap {
        if self.has_effect || !self.effects.are_undone() || self.has_changed_heap() {
            self.visits.clear();
            self.seen.clear();
            self.effects.clear();
            (self.returns, self.hints) = (0, 0);
        }
        self.hints += 1;
        self.has_effect = false;
        self.changed.clear();
        self.live = 0;
        let mut hasher = FxHasher::default();
        hasher.write(stack);
        let digest = hasher.finish();
        let is_here = |visit: &Visit| {
            visit.pointer == pointer && visit.digest == digest && visit.stack == stack
        };
        let known = self.visits.iter().rposition(is_here);
        if let Some(index) = known {
            let mut visit = self.visits.remove(index);
            if visit.noticed == self.effects.noticed() {
                self.seen.drain(..visit.seen);
                self.effects.forget_releases(visit.released);
                (visit.seen, visit.released) = (0, 0);
                self.visits = vec![visit];
                return Lap::IsVain;
            }
            self.returns += 1;
        } else if self.visits.len() == MOST_VISITS {
            // The first one stays twice as long each time, so that it lies in the loop at last, however long a round is (Brent).
            match self.hints.is_power_of_two() {
                true => self.visits.clear(),
                false => drop(self.visits.remove(1)),
            }
        }
        self.visits.push(Visit {
            pointer,
            stack: stack.to_vec(),
            digest,
            noticed: self.effects.noticed(),
            seen: self.seen.len(),
            released: self.effects.released().len(),
        });
        match self.returns > most {
            true => Lap::IsNoticed,
            false => Lap::GoesOn,
        }
    }
}

impl Engine {
    /// Whether the thread that runs goes on after a round without effect: it has joined all others, so it can only wait for
    /// time to pass. (That others have ended would not do: in an equivalent execution they may end later.)
    #[cold]
    pub(crate) fn waits_for_time(&mut self) -> bool {
        let most = self.config.waits_alone;
        let is_alone = self.live == 1 && self.native.joined + 1 >= self.born().len();
        let round = &mut self.thread().round;
        let goes_on = is_alone && round.alone < most;
        round.alone += u32::from(goes_on);
        goes_on
    }

    /// The thread that runs is at a hint.
    ///
    /// # Safety
    ///
    /// `pointer` is an address in the stack of the thread that runs, and nobody writes above it.
    pub(crate) unsafe fn arrive(&mut self, pointer: usize) -> Lap {
        self.look_at_reads();
        self.end_heap_segment();
        let top = self.stack_top();
        // SAFETY: the bytes between the stack pointer and the top of the stack are initialised as far
        // as a comparison of their content goes, and nobody writes them meanwhile.
        let stack = unsafe { std::slice::from_raw_parts(pointer as *const u8, top - pointer) };
        let most = self.config.noticed_rounds;
        let lap = self.thread().round.arrive(pointer, stack, most);
        if matches!(lap, Lap::IsVain) {
            self.was_idle();
        }
        self.begin_heap_segment();
        lap
    }

    /// From now on the stacks of threads begin clean, and what threads read is known. The executions
    /// so far had neither, so that the exploration starts again.
    fn look_at_reads(&mut self) {
        if !self.watch.stacks {
            self.names.meet_hint();
            self.watch.reads = true;
            self.watch.stacks = true;
            self.is_coarsened = true;
        }
    }

    /// The thread that runs learnt this, without changing anything.
    #[cold]
    pub(crate) fn see(&mut self, seen: Seen) {
        if self.config.native.is_some() {
            if self.thread().laps.learn(seen) {
                self.wipe_stacks();
            }
        } else if self.watch.reads {
            let round = &mut self.thread().round;
            let is_own = matches!(seen, Seen::Value(object, _) if round.effects.is_written(object));
            if !is_own && !round.recently_seen().contains(&seen) {
                round.seen.push(seen);
            }
        }
    }

    /// The thread that runs changed something by an operation that might have changed nothing.
    pub(crate) fn take_effect(&mut self) {
        let thread = self.thread();
        thread.round.take_effect();
        thread.laps.take_effect();
    }

    /// The running thread has performed an operation, and returns to code of the program, which may come to a hint before the
    /// step is over.
    #[cold]
    pub(crate) fn end_effect(&mut self) {
        if self.watch.compares {
            self.compare_after_effect();
        }
        if !self.watch.reads {
            return;
        }
        if self.is_in_event && self.config.native.is_none() {
            self.note_effect(self.running);
        }
        self.begin_segment();
    }

    /// Notes whether the event of the thread changed anything.
    pub(crate) fn note_effect(&mut self, thread: ThreadId) {
        if !self.is_effect_noted {
            self.is_effect_noted = true;
            self.watch_effect(thread);
        }
    }

    #[cold]
    fn watch_effect(&mut self, thread: ThreadId) {
        let op = self.op;
        if op.access == Access::Write {
            if self.values.len() <= op.object.index() {
                self.values.resize(op.object.index() + 1, None);
            }
            self.values[op.object.index()] = Some(self.after);
        }
        if !self.undoes() {
            return;
        }
        self.note_access(thread);
        self.note_publication(thread);
        let may_change_nothing = match op.kind {
            OpKind::Load
            | OpKind::Fence
            | OpKind::IsFinished
            | OpKind::OnceGet
            | OpKind::MutexTryPlace
            | OpKind::MutexTryResult
            | OpKind::TryRead
            | OpKind::TryWrite
            | OpKind::SemaphoreTryPlace
            | OpKind::SemaphoreTryResult
            | OpKind::SendTryPlace
            | OpKind::SendTryResult
            | OpKind::ReceiveTryPlace
            | OpKind::ReceiveTryResult
            | OpKind::ClosedCheck
            | OpKind::LetterLook
            | OpKind::StateRead => true,
            OpKind::CompareExchange | OpKind::Store | OpKind::ReadModifyWrite => {
                if self.before != self.after {
                    self.note_write(thread);
                }
                true
            }
            OpKind::Unpark | OpKind::ParkRequest | OpKind::ParkWait | OpKind::ParkResolve => {
                let round = &self.threads[thread.index()].round;
                let is_in_vain = op.kind == OpKind::Unpark && round.gives_in_vain;
                is_in_vain || round.wakes_itself && round.waits_for(op.object)
            }
            // Locks count when they are given back.
            kind => is_of_lock(kind),
        };
        if !may_change_nothing {
            self.threads[thread.index()].round.has_effect = true;
        }
    }

    /// Whether an await-halted thread could go on by now: what it awaits holds, or it would learn
    /// something else in its round.
    pub(crate) fn goes_on(&self, id: ThreadId) -> bool {
        let thread = &self.threads[id.index()];
        if let Some(condition) = thread.condition {
            return condition.holds;
        }
        let mut seen = thread.round.seen.iter();
        seen.any(|&seen| !self.is_still(seen)) || self.is_overtaken(id)
    }

    pub(crate) fn is_still(&self, seen: Seen) -> bool {
        let objects = &self.objects;
        match seen {
            Seen::Value(object, token) => match self.values.get(object.index()) {
                Some(&Some(now)) => now == token,
                Some(None) | None => true,
            },
            Seen::Memory {
                address,
                length,
                digest,
            } => {
                // SAFETY: the program has read it, and its memory stays until the execution is put back.
                let now = unsafe { crate::native::digest_at(address, length) };
                now == digest
            }
            Seen::Locked(number) => objects.mutexes.get(number).order.holder().is_some(),
            Seen::Held(number) => objects
                .rwlocks
                .get(number)
                .clone()
                .try_write(ThreadId::MAIN)
                .is_none(),
            Seen::Written(number) => objects
                .rwlocks
                .get(number)
                .clone()
                .try_read(ThreadId::MAIN)
                .is_none(),
            Seen::NoPermit(number) => objects.semaphores.get(number).available() == 0,
            Seen::Permits(number, permits) => objects.semaphores.get(number).available() == permits,
            Seen::NoMessage(number) => {
                let mut channel = objects.channels.get(number).clone();
                let ticket = channel.receive_request(EventId(0));
                !channel.is_receive_over(ticket)
            }
            Seen::NoRoom(number) => {
                let mut channel = objects.channels.get(number).clone();
                let ticket = channel.send_request(EventId(0));
                ticket.is_some_and(|ticket| !channel.is_send_over(ticket))
            }
            Seen::Letters(number, count) => objects.mailboxes.get(number).order.count() == count,
            Seen::NotDone(number) => !objects.onces.get(number).order.is_done(),
            Seen::Shares(number, count) => self.owned.get(number).shares == count,
            Seen::WeakShares(number, count) => self.owned.get(number).weak_shares == count,
            Seen::Runs(thread) => !objects.ends[thread.index()].is_finished(),
            Seen::Unparked(thread) => objects.parks[thread.index()].given().is_some(),
            Seen::Notified(number) => objects.notifies.get(number).given().is_some(),
        }
    }
}

/// A thread that went round in vain.
pub(crate) const HALT: Halt = Halt::Await;
