//! Splits off parts of a search. The unexplored children of an execution depend only on the events
//! that they keep and on their plans, so another search can explore them. The oldest frame has the
//! largest part.

use super::{Frame, Parsimonious};
use crate::strategy::{Part, Strategy};
use std::mem;

/// Gives away the unexplored children of the oldest frame that has any.
pub(super) fn give_away(search: &mut Parsimonious) -> Option<Part> {
    // Two searches have no parts: one that defers children, because their order spans the whole
    // search, and one that is about to start again.
    if search.deferred.is_some() || search.compared.is_refuted() {
        return None;
    }
    let has_children = |frame: &Frame| !frame.children.is_empty();
    let oldest = search.frames.iter().position(has_children)?;
    let mut record = search.record.clone();
    let newer = search.frames[oldest + 1..].iter().rev();
    for (at, replaced) in newer.flat_map(|frame| frame.replaced.iter().rev()) {
        record.restore(*at, &mut replaced.clone());
    }
    let mut children = mem::take(&mut search.frames[oldest].children);
    record.truncate(children.last()?.kept);
    let size = |child: &super::Child| child.share * child.number();
    let share: f64 = children.iter().map(size).sum();
    for child in &mut children {
        child.share /= share.max(f64::MIN_POSITIVE);
    }
    search.done += share;
    let frame = Frame {
        children,
        ..Frame::default()
    };
    let part = Parsimonious {
        record,
        frames: vec![frame],
        compared: search.compared.clone(),
        contended: search.contended.clone(),
        analysed: search.analysed,
        has_begun: true,
        ..Parsimonious::new()
    };
    Some(Part {
        saved: part.save(),
        share,
    })
}
