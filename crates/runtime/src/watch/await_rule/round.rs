//! What a thread has done since its last effect: the visits of the places at which it might begin
//! a round, its states there, and its observations.
//!
//! A thread makes a *visit* when it reaches a spin hint in a Rust program, or a place that reads in
//! machine code. If it has the state of an earlier visit, the events in between are a *round*
//! without effect. The front-ends decide what belongs to the state, and which visits are kept.

use super::hints::AtHints;
use super::own_token::OwnToken;
use crate::engine::life::Life;
use crate::native::{AtPlaces, Foreign, HAS_CALLED_UNKNOWN};
use crate::watch::seen::Seen;
use crate::watch::undone::Effects;
use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::sync::atomic::Ordering::Relaxed;

/// The record of a thread's actions since its last effect.
#[derive(Default)]
pub(crate) struct Round {
    pub(crate) visits: Vec<Visit>,
    /// The states of the visits, with the same indices. Entries beyond the last visit are kept to
    /// reuse their memory.
    pub(crate) states: Vec<Vec<u8>>,
    /// Whether the thread has had an effect since the last visit.
    pub(super) has_effect: bool,
    /// Whether changes of memory are found by comparison, until the thread's next effect.
    pub(crate) is_watched: bool,
    /// The number of plain reads, which are not events, since the thread's last effect and its last
    /// read that was an event.
    pub(crate) plain_reads: u32,
    /// Whether there may be visits by plain reads.
    pub(crate) has_plain_visits: bool,
    /// The thread's observations. If the thread has stopped, only those of its last round.
    pub(crate) seen: Vec<Seen>,
    /// The lock that the thread did not get in a round of `std::lock`. It is kept until the
    /// beginning of the next round.
    pub(crate) missed: Option<Seen>,
    pub(crate) at_places: AtPlaces,
    pub(crate) foreign: Foreign,
    /// The thread's effects that can be undone.
    pub(crate) effects: Effects,
    // Only Rust programs use the rest. It is not copied, because only native programs have
    // savepoints.
    pub(crate) at_hints: AtHints,
    pub(crate) token: OwnToken,
}

/// A visit of a place by a thread.
#[derive(Clone, Copy, Default)]
pub(crate) struct Visit {
    /// The stack pointer at a hint, or the code at a place that reads.
    pub(crate) place: usize,
    /// The digest of the kept state ([`mark_of`]), the start of its stack if the state is raw, or 0
    /// if no state is kept.
    pub(crate) mark: u64,
    /// The number of observations made before the visit.
    pub(crate) seen: u32,
    /// At a hint, the number of effects that other threads had observed by then.
    pub(crate) observed: u32,
    /// The number of locks that the thread had released by then.
    pub(crate) released: u32,
    /// At a place without an event, the number of visits that `returns_to` has handled since the
    /// last effect. It includes this visit, and later visits that were only counted.
    pub(crate) rounds: u32,
    /// Whether the visit is by a plain read, which is not an event.
    pub(crate) is_plain: bool,
    /// Whether the dead parts of the kept state have not been cleared yet.
    pub(crate) is_raw: bool,
}

/// Records that the effects of unknown functions are taken into account. Models in Rust, which may
/// run in parallel, never set the flag, so it is written only if it is set.
#[inline(always)]
pub(super) fn forget_unknown_calls() {
    if HAS_CALLED_UNKNOWN.load(Relaxed) {
        HAS_CALLED_UNKNOWN.store(false, Relaxed);
    }
}

/// Returns the mark of a state, which is not 0. It is a digest of the registers and the innermost
/// frames, in which most states differ.
pub(crate) fn mark_of(state: &[u8]) -> u64 {
    const INNERMOST: usize = 160;
    let mut hasher = FxHasher::default();
    hasher.write(&state[..state.len().min(INNERMOST)]);
    hasher.finish() | 1
}

impl Life for Round {
    fn new() -> Round {
        Round::default()
    }

    fn begin(&mut self) {
        self.has_effect = true;
        self.plain_reads = 0;
        self.visits.clear();
        self.seen.clear();
        self.missed = None;
        self.at_places.begin();
        self.foreign.begin();
        self.at_hints.begin();
        self.effects.begin();
        self.token.begin();
    }

    #[inline]
    fn copy(&mut self, other: &Round) {
        self.has_effect = other.has_effect;
        self.is_watched = other.is_watched;
        self.plain_reads = other.plain_reads;
        self.has_plain_visits = other.has_plain_visits;
        // After an effect, there is no earlier visit to return to.
        if !other.has_effect {
            self.visits.clear();
            // There are few visits, so a loop costs less than a call.
            other
                .visits
                .iter()
                .for_each(|&visit| self.visits.push(visit));
            for (index, visit) in other.visits.iter().enumerate() {
                if visit.mark != 0 {
                    let kept = self.room_for_state(index);
                    kept.clear();
                    kept.extend_from_slice(&other.states[index]);
                }
            }
            self.seen.copy(&other.seen);
        }
        self.missed = other.missed;
        self.at_places.copy(&other.at_places);
        self.foreign.copy(&other.foreign);
        self.effects.copy(&other.effects);
    }
}

impl Round {
    /// Records that the thread had an effect: it did more than read, fail a try, or write a value
    /// that is already there.
    #[inline(always)]
    pub(crate) fn take_effect(&mut self) {
        self.set_effect(true);
        self.at_places.take_sure_effect();
    }

    /// Checks whether the thread has had an effect since the last visit.
    #[inline(always)]
    pub(crate) fn has_effect(&self) -> bool {
        self.has_effect
    }

    #[inline(always)]
    pub(crate) fn set_effect(&mut self, has_effect: bool) {
        self.has_effect = has_effect;
        self.plain_reads = 0;
    }

    /// Checks whether changes of memory matter: the thread might return to an earlier state, and
    /// has had no effect since that state.
    #[inline(always)]
    pub(crate) fn is_watched(&self) -> bool {
        self.is_watched && !self.has_effect
    }

    /// Forgets everything from before the thread's last effect.
    #[inline(always)]
    pub(crate) fn forget_before_effect(&mut self) {
        if self.has_effect | HAS_CALLED_UNKNOWN.load(Relaxed) {
            forget_unknown_calls();
            self.has_effect = false;
            self.is_watched = false;
            self.visits.clear();
            self.seen.clear();
            self.foreign.forget();
            self.at_places.comes_back_to = None;
            self.effects.forget_locks();
        }
    }

    /// Checks whether the thread has visited this place since it last took a lock that it still
    /// holds.
    #[inline(always)]
    pub(crate) fn knows(&self, place: usize) -> bool {
        let first = self.effects.first_visit();
        let mut visits = self.visits[first..].iter();
        visits.any(|visit| visit.place == place)
    }

    /// Returns the index of the visit of this place in this state, since the thread last took a
    /// lock that it still holds.
    pub(crate) fn find(&self, place: usize, mark: u64, state: &[u8]) -> Option<usize> {
        let first = self.effects.first_visit();
        let mut visits = self.visits.iter().enumerate().skip(first);
        let same = visits.find(|&(index, visit)| {
            visit.place == place && visit.mark == mark && self.states[index] == state
        });
        same.map(|(index, _)| index)
    }

    /// Returns the index of the thread's last visit of this place, since it last took a lock that
    /// it still holds.
    pub(crate) fn find_last(&self, place: usize) -> Option<usize> {
        let first = self.effects.first_visit();
        let mut visits = self.visits[first..].iter();
        let last = visits.rposition(|visit| visit.place == place);
        last.map(|index| first + index)
    }

    /// Records a visit at this index, and replaces an existing visit there. Returns the buffer for
    /// its state.
    pub(crate) fn keep(&mut self, index: usize, visit: Visit) -> &mut Vec<u8> {
        let seen = self.seen.len() as u32;
        let visit = Visit { seen, ..visit };
        match self.visits.get_mut(index) {
            Some(old) => *old = visit,
            None => self.visits.push(visit),
        }
        self.room_for_state(index)
    }

    fn room_for_state(&mut self, visit: usize) -> &mut Vec<u8> {
        if self.states.len() <= visit {
            self.states.resize_with(visit + 1, Vec::new);
        }
        &mut self.states[visit]
    }

    /// Forgets a visit with its state.
    pub(crate) fn forget(&mut self, index: usize) {
        let end = self.visits.len().min(self.states.len());
        self.visits.remove(index);
        if index < end {
            self.states[index..end].rotate_left(1);
        }
    }

    /// Keeps only the round without effect that began at the visit with this index.
    pub(crate) fn keep_round(&mut self, index: usize) {
        self.states.swap(0, index);
        let visit = self.visits[index];
        self.visits.clear();
        self.visits.push(Visit {
            seen: 0,
            released: 0,
            ..visit
        });
        self.seen.drain(..visit.seen as usize);
    }

    /// Keeps only these observations, because the thread stops until one of them changes.
    pub(crate) fn keep_seen(&mut self, seen: Vec<Seen>) {
        self.has_effect = true;
        self.forget_before_effect();
        self.seen = seen;
    }
}
