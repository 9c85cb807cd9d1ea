//! Splits off parts of a search. The remaining children of an execution depend only on the
//! execution and on which of its children were explored, so another search can explore them. The
//! oldest frame has the largest part.

use super::Parsimonious;
use crate::strategy::{Part, Strategy};

/// Gives away the remaining children of the oldest frame that has any.
pub(super) fn give_away(search: &mut Parsimonious) -> Option<Part> {
    // Two searches have no parts: one that defers children, because their order spans the whole
    // search, and one that is about to start again.
    if search.deferred.is_some() || search.compared.is_refuted() {
        return None;
    }
    let mut whole = 1.0;
    for position in 0..search.frames.len() {
        let frame = &search.frames[position];
        let (before, after) = frame.cursor.progress();
        if !frame.is_exhausted {
            let part = part_at(search, position);
            // No other frame reads this suffix, because all older frames are exhausted.
            let frame = &mut search.frames[position];
            frame.is_exhausted = true;
            frame.suffix.clear();
            if let Some(saved) = part {
                let share = whole * (1.0 - after);
                return Some(Part { saved, share });
            }
        }
        whole *= after - before;
    }
    None
}

/// Returns the search of the frame's remaining children, if there are any.
fn part_at(search: &Parsimonious, position: usize) -> Option<Vec<u8>> {
    let mut part = Parsimonious {
        record: search.record.clone(),
        compared: search.compared.clone(),
        contended: search.contended.clone(),
        analysed: search.analysed,
        has_begun: true,
        ..Parsimonious::new()
    };
    for frame in search.frames[position..].iter().rev() {
        if !frame.is_exhausted {
            part.ascend(frame.clone());
        }
    }
    part.spare.clear();
    let saved = part.save();
    part.next_child().map(|_| saved)
}
