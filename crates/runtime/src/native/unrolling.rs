//! The bound on loop rounds (`--unroll`). A loop is identified by the places in it that read. A
//! thread stops when it reaches one of these places in a round beyond the bound.
//!
//! The count starts again whenever a loop is entered, as far as this can be detected. The count of
//! an inner loop starts again in each round of an outer loop that passes a place that reads before
//! the inner loop. The counts in a function start again in each call if the compiler inserts hooks
//! at the beginning of functions. Otherwise, they start again in calls from other places, if
//! functions keep frame pointers.

use super::places::Frame;
use crate::engine::Engine;
use crate::engine::life::life;
use crate::engine::perform;
use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::sync::atomic::AtomicBool;

/// Whether there is a bound, so that hooks must report the beginnings of functions.
pub static IS_BOUNDED: AtomicBool = AtomicBool::new(false);

life! {
    /// The rounds of the loops that the thread is in.
    pub(crate) struct Rounds {
        /// The loops around the thread's position, outermost first.
        loops: Vec<Round>,
    }
}

/// The rounds of one loop, identified by a place, the depth of the stack and the calls.
#[derive(Clone, Copy)]
struct Round {
    code: usize,
    /// The size of the stack in bytes ([`Engine::depth_of`]).
    depth: usize,
    /// A digest of the calls that lead here, as far as they are known.
    calls: u64,
    /// The number of rounds so far.
    count: u32,
}

impl Rounds {
    /// Counts a round at a place. `stack` is the stack of the thread: it begins with a [`Frame`],
    /// or is empty if it is unknown. Returns whether the round is beyond the bound `most`.
    pub(super) fn count(&mut self, code: usize, depth: usize, stack: &[u8], most: u32) -> bool {
        let calls = calls(stack);
        let is_here =
            |round: &Round| (round.code, round.depth, round.calls) == (code, depth, calls);
        match self.loops.iter().rposition(is_here) {
            // Entries for later places belong to the previous round.
            Some(index) => self.loops.truncate(index + 1),
            None => self.loops.push(Round {
                code,
                depth,
                calls,
                count: 0,
            }),
        }
        let round = self.loops.last_mut().expect("the place has a round");
        round.count += 1;
        round.count > most
    }

    /// Records that a function begins with a stack of this depth. Loops at this depth or deeper
    /// were in functions that have returned, so they are forgotten.
    fn enter(&mut self, depth: usize) {
        self.loops.retain(|round| round.depth < depth);
    }
}

/// Returns a digest of the return addresses on a stack that begins with a frame, as far as
/// functions keep frame pointers.
fn calls(stack: &[u8]) -> u64 {
    /// The index of the frame pointer among the registers of a frame.
    const RBP: usize = 4;
    const MOST: usize = 64;
    const WORD: usize = size_of::<usize>();
    let start = stack.as_ptr().addr();
    let word = |offset: usize| {
        let bytes = stack.get(offset..offset.checked_add(WORD)?)?;
        Some(usize::from_ne_bytes(bytes.try_into().ok()?))
    };
    let mut hasher = FxHasher::default();
    let (mut offset, mut next) = (0, word(RBP * WORD));
    for _ in 0..MOST {
        let Some(pointer) = next.and_then(|pointer| pointer.checked_sub(start)) else {
            break;
        };
        let Some(caller) = word(pointer.saturating_add(WORD)).filter(|_| pointer > offset) else {
            break;
        };
        hasher.write_usize(caller);
        offset = pointer;
        next = word(pointer);
    }
    hasher.finish()
}

/// Records that a function of the program begins, with this frame at the top of its stack.
pub fn enter_function(frame: *const Frame) {
    perform::silently(|engine| {
        let depth = engine.depth_of(frame);
        engine
            .thread()
            .life
            .guests
            .round
            .at_places
            .rounds
            .enter(depth);
    });
}

impl Engine {
    /// Returns the number of bytes from this frame to the top of the running thread's stack. If the
    /// program runs on a stack that it has allocated itself, only the difference of two results is
    /// meaningful.
    #[inline]
    pub(super) fn depth_of(&self, frame: *const Frame) -> usize {
        self.stack_top().wrapping_sub(frame.addr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks whether a thread stops at the last of these places, and at none before. Each place
    /// has a depth of the stack. Place 0 is the beginning of a function.
    fn is_cut(places: &[(usize, usize)], most: u32) -> bool {
        let mut rounds = Rounds::default();
        let cuts = places.iter().map(|&(code, depth)| match code {
            0 => {
                rounds.enter(depth);
                false
            }
            code => rounds.count(code, depth, &vec![0; depth], most),
        });
        let cuts: Vec<bool> = cuts.collect();
        let (last, others) = cuts.split_last().expect("there is at least one place");
        assert!(!others.contains(&true), "{places:?}");
        *last
    }

    #[test]
    fn a_loop_is_cut_after_its_rounds_and_an_inner_one_begins_anew() {
        let (outer, inner, deep, call) = ((1, 64), (2, 64), (2, 96), (0, 64));
        assert!(!is_cut(&[inner, inner], 2));
        assert!(is_cut(&[inner, inner, inner], 2));
        assert!(!is_cut(&[outer, inner, inner, outer, inner, inner], 2));
        assert!(is_cut(&[outer, inner, outer, inner, outer], 2));
        assert!(!is_cut(&[inner, deep, inner, deep], 2));
        assert!(!is_cut(&[call, inner, inner, call, inner, inner], 2));
        assert!(is_cut(
            &[(3, 32), call, inner, (3, 32), call, inner, (3, 32)],
            2
        ));
    }
}
