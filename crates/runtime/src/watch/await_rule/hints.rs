//! The await rule at the hints of Rust programs.
//!
//! A spin hint marks a spin loop, so states are compared at every hint. A state is the stack with
//! the registers. Effects that the thread has [undone](crate::watch::undone) before other threads
//! observed them do not count. If other threads have observed an effect before it was undone, the
//! thread continues. Two threads may observe each other's rounds forever, so the thread stops at a
//! bound.
//!
//! The compared bytes must depend only on the state of the thread. So its stack begins clean in
//! each execution, the remains of the model's own calls below the frames of the program are zeroed,
//! and registers that a switch leaves undefined are cleared.
//!
//! The rule at hints exists only on x86-64. On other machines, these loops run into the bound on
//! events.

use super::round::{Round, Visit, mark_of};
use crate::engine::Engine;
use crate::engine::life::{Life, life};
use report::Restart;
use std::collections::BTreeMap;

/// The maximum number of visits that are kept: the last visits, and an older visit for longer
/// rounds.
const MOST_VISITS: usize = 128;

/// The result of comparing a thread at a hint with its earlier visits.
#[repr(u8)]
pub(crate) enum RoundResult {
    /// The state differs from all earlier states.
    Changed,
    /// The state is as before, and the thread has had no effect since then.
    NoProgress,
    /// The state has recurred too often, although other threads have observed effects of the
    /// thread.
    TooMany,
}

life! {
    /// The part of the record for the rule at hints.
    pub(crate) struct AtHints {
        /// The number of hints that the thread has reached since its last effect that was not
        /// undone.
        hints: u32,
        /// The number of times that the state recurred after other threads had observed an effect.
        returns: u32,
        /// The number of times that the thread continued after a round without progress, because it
        /// was alone.
        alone: u32,
        /// The bytes of the heap that the thread has changed since the last hint, with their values
        /// before and after.
        changed: BTreeMap<usize, (u8, u8)>,
        /// The number of heap objects that the thread has allocated, minus the number that it has
        /// freed.
        live: u32,
    }
}

impl AtHints {
    /// Records that the thread has changed a byte of the heap, with its values before and after.
    /// Differences that other threads have made since the thread's last change do not count,
    /// because a count of readers or shares depends on the order of independent events.
    pub(crate) fn changes(&mut self, address: usize, before: u8, after: u8) {
        let (first, last) = self.changed.entry(address).or_insert((before, before));
        *first = first.wrapping_add(before.wrapping_sub(*last));
        *last = after;
    }

    /// Adds to the number of heap objects that the thread has allocated but not freed.
    pub(crate) fn makes(&mut self, live: u32) {
        self.live = self.live.wrapping_add(live);
    }

    /// Checks whether the heap differs from its state at the last hint because of the thread.
    pub(crate) fn has_changed_heap(&self) -> bool {
        self.live != 0 || self.changed.values().any(|(before, after)| before != after)
    }
}

impl Round {
    /// Compares the state of a thread at a hint with those of its earlier visits. `stack` is its
    /// stack from `pointer` on. `most` is the number of times that a state may recur.
    fn arrive(&mut self, pointer: usize, stack: &[u8], most: u32) -> RoundResult {
        if !self.effects.are_undone() || self.at_hints.has_changed_heap() {
            self.has_effect = true;
        }
        let at_hints = &mut self.at_hints;
        if self.has_effect {
            self.effects.begin();
            (at_hints.returns, at_hints.hints) = (0, 0);
        }
        at_hints.hints += 1;
        at_hints.changed.clear();
        at_hints.live = 0;
        self.forget_before_effect();
        let observed = self.effects.observed();
        let mark = mark_of(stack);
        if let Some(index) = self.find(pointer, mark, stack) {
            let visit = self.visits[index];
            if visit.observed == observed {
                self.effects.forget_releases(visit.released as usize);
                self.keep_round(index);
                return RoundResult::NoProgress;
            }
            self.at_hints.returns += 1;
            self.forget(index);
        } else if self.visits.len() == MOST_VISITS {
            // As in Brent's cycle detection, the oldest visit is kept twice as long each time, so
            // that it finally lies in the cycle, however long a round is.
            match self.at_hints.hints.is_power_of_two() {
                true => self.visits.clear(),
                false => self.forget(1),
            }
        }
        self.is_watched = true;
        let visit = Visit {
            place: pointer,
            mark,
            observed,
            released: self.effects.released().len() as u32,
            ..Visit::default()
        };
        let state = self.keep(self.visits.len(), visit);
        state.clear();
        state.extend_from_slice(stack);
        match self.at_hints.returns > most {
            true => RoundResult::TooMany,
            false => RoundResult::Changed,
        }
    }
}

impl Engine {
    /// Applies the await rule to the running thread, which is at a hint.
    ///
    /// # Safety
    ///
    /// `pointer` must be an address in the stack of the running thread, and nothing may write above
    /// it.
    pub(crate) unsafe fn arrive(&mut self, pointer: usize) -> RoundResult {
        // SAFETY: as promised by the caller.
        let stack = unsafe { self.stack_from(pointer) };
        if stack.is_empty() {
            return RoundResult::Changed;
        }
        self.watch_reads();
        self.end_segment();
        let most = self.config.conditions.observed_rounds();
        let result = self.thread().life.guests.round.arrive(pointer, stack, most);
        if matches!(result, RoundResult::NoProgress) {
            self.made_no_progress();
        }
        self.begin_segment();
        result
    }

    /// From now on, the stacks of threads begin clean and observations are recorded. Neither was
    /// the case in executions so far, so the exploration starts again.
    fn watch_reads(&mut self) {
        if !self.watch.stacks {
            self.names.record_hint();
            self.watch.reads = true;
            self.watch.stacks = true;
            self.coarsen(Restart::Hint);
        }
    }

    /// Checks whether the running thread continues after a round without effect. The thread
    /// continues if it has joined all other threads, so that it can only wait for time to pass. (It
    /// is not enough that the other threads have ended, because in an equivalent execution they may
    /// end later.)
    #[cold]
    pub(crate) fn waits_for_time(&mut self) -> bool {
        let most = self.config.waits_alone;
        let is_alone =
            self.life.live == 1 && self.guests.native.life.joined + 1 >= self.started().len();
        let at_hints = &mut self.thread().life.guests.round.at_hints;
        let continues = is_alone && at_hints.alone < most;
        at_hints.alone += u32::from(continues);
        continues
    }
}
