//! The await rule: a thread whose spin loop makes no progress stops.
//!
//! At each hint, the thread's stack and registers are compared with those at its last hints.
//! Suppose that they are the same. Suppose also that since then the thread has only read, failed a
//! try, written values that were already there, or had effects that it has
//! [undone](crate::watch::undone) before other threads observed them. Then the thread would repeat
//! this until another thread writes a value that it reads, so the thread stops. The executions in
//! which it reads later are explored anyway. The values that it read are kept. If the thread would
//! read another value at the end of the execution, it is only halted. If not, its loop never ends,
//! which is a bug.
//!
//! If other threads have observed an effect before it was undone, the thread continues. Two threads
//! may observe each other's rounds forever, so the thread stops at a bound.
//!
//! A comparison of bytes must cover only the state of the thread. So its stack begins clean in each
//! execution, the remains of the model's own calls below the frames of the program are zeroed, and
//! registers that a switch leaves undefined are cleared.
//!
//! [`heap_changes`](crate::watch::heap_changes) finds writes to the heap between two hints. The
//! await rule exists only on x86-64. On other machines, these loops run into the bound on events.

use crate::engine::Engine;
use crate::engine::life::{Life, NotCopied, life};
use crate::watch::seen::Seen;
use crate::watch::undone::{Effects, is_of_lock};
use explore::{Access, EventId, Halt, ObjectId, OpKind, ThreadId};
use report::Restart;
use rustc_hash::FxHasher;
use std::collections::BTreeMap;
use std::hash::Hasher;

/// The maximum number of visits that are kept: the last visits, and an older visit for longer
/// rounds.
const MOST_VISITS: usize = 128;

/// The state of a thread at a hint.
#[derive(Clone, Default)]
struct Visit {
    /// The stack pointer.
    pointer: usize,
    /// The content of the stack from the stack pointer on, preceded by the registers.
    stack: Vec<u8>,
    /// The digest of `stack`.
    digest: u64,
    /// The number of effects that other threads had observed by then.
    noticed: u32,
    /// The number of observations that the thread had recorded by then.
    seen: usize,
    /// The number of locks that the thread had released by then.
    released: usize,
}

/// The result of comparing a thread at a hint with its earlier visits.
#[repr(u8)]
pub(crate) enum RoundResult {
    /// The state differs from all earlier states.
    Changed,
    /// The state is as before, and no other thread has observed an effect of the thread since then.
    NoProgress,
    /// The state has recurred too often, although other threads have observed effects of the
    /// thread.
    Observed,
}

life! {
    /// A record of a thread's actions since its last hint.
    pub(crate) struct Round {
        /// The part that only the rule at hints uses, which does not apply to native programs.
        pub(crate) at_hints: NotCopied<AtHints>,
        /// The number of rounds without progress after which the thread, being alone, continued.
        alone: u32,
        /// Whether the thread had an effect that cannot be undone: not just reads and failed tries.
        has_effect: bool,
        seen: Vec<Seen>,
        /// The lock that the thread did not get in a round of `std::lock`. It is kept until the
        /// beginning of the next round.
        pub(crate) missed: Option<Seen>,
    }
}

life! {
    /// The part of the record for the rule at hints.
    pub(crate) struct AtHints {
        /// The last visits of hints since the thread had an effect that was not undone.
        visits: Vec<Visit>,
        /// The number of hints that the thread has reached since that effect.
        hints: u32,
        /// The number of times that the state recurred after other threads had observed an effect.
        returns: u32,
        /// The thread's effects that can be undone.
        pub(crate) effects: Effects,
        /// The bytes of the heap that the thread has changed since then, with their values before
        /// and after.
        changed: BTreeMap<usize, (u8, u8)>,
        /// The number of heap objects that the thread has allocated, minus the number that it has
        /// freed.
        live: u32,
        /// The token that the thread waits for, or last waited for.
        token: Option<ObjectId>,
        /// The last event by which the thread gave this token to itself.
        gift: Option<EventId>,
        /// Whether the thread's last operation on the token gave the token to itself, or took a
        /// token that it had given to itself.
        wakes_itself: bool,
        /// Whether the token that the thread last gave was already there.
        gave_redundantly: bool,
    }
}

impl Round {
    /// Checks whether changes of the heap matter: the thread has reached a hint and has had no
    /// effect since.
    pub(crate) fn is_watched(&self) -> bool {
        !self.at_hints.0.visits.is_empty() && !self.has_effect
    }

    /// Records that the thread has changed a byte of the heap, with its values before and after.
    /// Differences that other threads have made since the thread's last change do not count,
    /// because a count of readers or shares depends on the order of independent events.
    pub(crate) fn changes(&mut self, address: usize, before: u8, after: u8) {
        let (first, last) = self
            .at_hints
            .0
            .changed
            .entry(address)
            .or_insert((before, before));
        *first = first.wrapping_add(before.wrapping_sub(*last));
        *last = after;
    }

    /// Adds to the number of heap objects that the thread has allocated but not freed.
    pub(crate) fn makes(&mut self, live: u32) {
        self.at_hints.0.live = self.at_hints.0.live.wrapping_add(live);
    }

    /// Records that the thread waits for this token.
    pub(crate) fn owns(&mut self, token: ObjectId) {
        self.at_hints.0.token = Some(token);
        self.at_hints.0.gift = None;
    }

    /// Checks whether the thread waits for this token, or last waited for it.
    pub(crate) fn waits_for(&self, token: ObjectId) -> bool {
        self.at_hints.0.token == Some(token)
    }

    /// Checks whether the thread has given the token that it waits for to itself.
    pub(crate) fn has_gift(&self) -> bool {
        self.at_hints.0.gift.is_some()
    }

    /// Records that the thread gives this token by `event`. `was_given` is true if the token was
    /// already there.
    pub(crate) fn gives(&mut self, token: ObjectId, event: EventId, was_given: bool) {
        self.at_hints.0.gave_redundantly = was_given;
        if self.waits_for(token) {
            self.at_hints.0.gift = Some(event);
            self.at_hints.0.wakes_itself = true;
        }
    }

    /// Records that the thread begins to wait for this token. `given` is the event that gave the
    /// token, if the token is there. Returns whether the thread gave the token to itself.
    pub(crate) fn takes(&mut self, token: ObjectId, given: Option<EventId>) -> bool {
        let gift = self.at_hints.0.gift.take();
        self.at_hints.0.wakes_itself =
            given.is_some() && self.at_hints.0.token == Some(token) && given == gift;
        self.at_hints.0.token = Some(token);
        self.at_hints.0.wakes_itself
    }

    /// Checks whether the heap differs from its state at the last hint because of the thread.
    pub(crate) fn has_changed_heap(&self) -> bool {
        self.at_hints.0.live != 0
            || self
                .at_hints
                .0
                .changed
                .values()
                .any(|(before, after)| before != after)
    }

    /// Records that the thread had an effect: it did more than read or fail a try.
    pub(crate) fn take_effect(&mut self) {
        self.has_effect = true;
    }

    pub(crate) fn has_effect(&self) -> bool {
        self.has_effect
    }

    pub(crate) fn set_effect(&mut self, has_effect: bool) {
        self.has_effect = has_effect;
    }

    /// Records the thread's observations in its last round, which made no progress.
    pub(crate) fn learnt(&mut self, seen: &[Seen]) {
        self.seen.clear();
        self.seen.extend_from_slice(seen);
    }

    /// Returns the observations since the last hint.
    fn recently_seen(&self) -> &[Seen] {
        let start = self.at_hints.0.visits.last().map_or(0, |visit| visit.seen);
        &self.seen[start..]
    }

    /// Compares a thread at a hint, with this stack from `pointer` on, with its earlier visits.
    fn arrive(&mut self, pointer: usize, stack: &[u8], most: u32) -> RoundResult {
        if self.has_effect || !self.at_hints.0.effects.are_undone() || self.has_changed_heap() {
            self.at_hints.0.visits.clear();
            self.seen.clear();
            self.at_hints.0.effects.begin();
            (self.at_hints.0.returns, self.at_hints.0.hints) = (0, 0);
        }
        self.at_hints.0.hints += 1;
        self.has_effect = false;
        self.at_hints.0.changed.clear();
        self.at_hints.0.live = 0;
        let mut hasher = FxHasher::default();
        hasher.write(stack);
        let digest = hasher.finish();
        let is_here = |visit: &Visit| {
            visit.pointer == pointer && visit.digest == digest && visit.stack == stack
        };
        let known = self.at_hints.0.visits.iter().rposition(is_here);
        if let Some(index) = known {
            let mut visit = self.at_hints.0.visits.remove(index);
            if visit.noticed == self.at_hints.0.effects.noticed() {
                self.seen.drain(..visit.seen);
                self.at_hints.0.effects.forget_releases(visit.released);
                (visit.seen, visit.released) = (0, 0);
                self.at_hints.0.visits = vec![visit];
                return RoundResult::NoProgress;
            }
            self.at_hints.0.returns += 1;
        } else if self.at_hints.0.visits.len() == MOST_VISITS {
            // The first visit is kept twice as long each time, so that the first visit finally lies
            // in the loop, however long a round is (Brent).
            match self.at_hints.0.hints.is_power_of_two() {
                true => self.at_hints.0.visits.clear(),
                false => drop(self.at_hints.0.visits.remove(1)),
            }
        }
        self.at_hints.0.visits.push(Visit {
            pointer,
            stack: stack.to_vec(),
            digest,
            noticed: self.at_hints.0.effects.noticed(),
            seen: self.seen.len(),
            released: self.at_hints.0.effects.released().len(),
        });
        match self.at_hints.0.returns > most {
            true => RoundResult::Observed,
            false => RoundResult::Changed,
        }
    }
}

impl Engine {
    /// Checks whether the running thread continues after a round without effect. The thread
    /// continues if it has joined all other threads, so that it can only wait for time to pass. (It
    /// is not enough that the other threads have ended, because in an equivalent execution they may
    /// end later.)
    #[cold]
    pub(crate) fn waits_for_time(&mut self) -> bool {
        let most = self.config.waits_alone;
        let is_alone = self.life.live == 1 && self.native.life.joined + 1 >= self.started().len();
        let round = &mut self.thread().life.round;
        let goes_on = is_alone && round.alone < most;
        round.alone += u32::from(goes_on);
        goes_on
    }

    /// Applies the await rule to the running thread, which is at a hint.
    ///
    /// # Safety
    ///
    /// `pointer` must be an address in the stack of the running thread, and nothing may write above
    /// it.
    pub(crate) unsafe fn arrive(&mut self, pointer: usize) -> RoundResult {
        self.look_at_reads();
        self.end_heap_segment();
        let top = self.stack_top();
        // SAFETY: the bytes between the stack pointer and the top of the stack are initialised as
        // far as a comparison of their content needs, and nothing writes them meanwhile.
        let stack = unsafe { std::slice::from_raw_parts(pointer as *const u8, top - pointer) };
        let most = self.config.noticed_rounds;
        let result = self.thread().life.round.arrive(pointer, stack, most);
        if matches!(result, RoundResult::NoProgress) {
            self.made_no_progress();
        }
        self.begin_heap_segment();
        result
    }

    /// Makes the stacks of threads begin clean and observations be recorded from now on. The
    /// executions so far had neither property, so the exploration starts again.
    fn look_at_reads(&mut self) {
        if !self.watch.stacks {
            self.names.meet_hint();
            self.watch.reads = true;
            self.watch.stacks = true;
            self.coarsen(Restart::Hint);
        }
    }

    /// Records an observation that the running thread made without changing anything.
    #[cold]
    pub(crate) fn see(&mut self, seen: Seen) {
        if self.config.native.is_some() {
            if self.thread().life.visits.learn(seen) {
                self.wipe_stacks();
            }
        } else if self.watch.reads {
            let round = &mut self.thread().life.round;
            let is_own = matches!(seen, Seen::Value(object, _) if round.at_hints.0.effects.is_written(object));
            if !is_own && !round.recently_seen().contains(&seen) {
                round.seen.push(seen);
            }
        }
    }

    /// Records that an operation that might have changed nothing has changed something.
    pub(crate) fn take_effect(&mut self) {
        let thread = self.thread();
        thread.life.round.take_effect();
        thread.life.visits.take_effect();
    }

    /// Ends an operation of the running thread. The thread returns to code of the program, which
    /// may reach a hint before the step is over.
    #[cold]
    pub(crate) fn end_effect(&mut self) {
        if self.watch.compares {
            self.compare_after_effect();
        }
        if !self.watch.reads {
            return;
        }
        if self.life.is_in_event && self.config.native.is_none() {
            self.note_effect(self.running);
        }
        self.begin_segment();
    }

    /// Records whether the event of the thread changed anything.
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
            if self.life.values.len() <= op.object.index() {
                self.life.values.resize(op.object.index() + 1, None);
            }
            self.life.values[op.object.index()] = Some(self.after);
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
            | OpKind::StateRead
            | OpKind::ObjectRead => true,
            OpKind::CompareExchange | OpKind::Store | OpKind::ReadModifyWrite => {
                if self.before != self.after {
                    self.note_write(thread);
                }
                true
            }
            OpKind::Unpark | OpKind::ParkRequest | OpKind::ParkWait | OpKind::ParkResolve => {
                let round = &self.threads[thread.index()].life.round;
                let is_in_vain = op.kind == OpKind::Unpark && round.at_hints.0.gave_redundantly;
                is_in_vain || round.at_hints.0.wakes_itself && round.waits_for(op.object)
            }
            // Locks count at their release.
            kind => is_of_lock(kind),
        };
        if !may_change_nothing {
            self.threads[thread.index()].life.round.has_effect = true;
        }
    }

    /// Checks whether a thread that the await rule halted could continue now: its condition holds,
    /// or the thread would observe a different value in its round.
    pub(crate) fn goes_on(&self, id: ThreadId) -> bool {
        let thread = &self.threads[id.index()];
        if let Some(condition) = thread.life.condition {
            return condition.holds;
        }
        let mut seen = thread.life.round.seen.iter();
        seen.any(|&seen| !self.is_still(seen)) || self.is_overtaken(id)
    }

    pub(crate) fn is_still(&self, seen: Seen) -> bool {
        let objects = &self.life.objects;
        match seen {
            Seen::Value(object, token) => match self.life.values.get(object.index()) {
                Some(&Some(now)) => now == token,
                Some(None) | None => true,
            },
            Seen::Memory {
                address,
                length,
                digest,
            } => {
                // SAFETY: the program has read this memory, which stays until the execution is
                // reset.
                let now = unsafe { crate::native::digest_at(address, length) };
                now == digest
            }
            Seen::Locked(number) => objects.mutexes.get(number).holder().is_some(),
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
            Seen::NotDone(number) => !objects.onces.get(number).is_done(),
            Seen::Shares(number, count) => self.owned.get(number).shares == count,
            Seen::WeakShares(number, count) => self.owned.get(number).weak_shares == count,
            Seen::Runs(thread) => !objects.ends[thread.index()].is_finished(),
            Seen::Unparked(thread) => objects.parks[thread.index()].given().is_some(),
            Seen::Notified(number) => objects.notifies.get(number).given().is_some(),
        }
    }
}

/// The reason why a thread stops after a round without progress.
pub(crate) const HALT: Halt = Halt::Await;
