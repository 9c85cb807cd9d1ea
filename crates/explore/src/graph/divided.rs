//! Splits off parts of a search. The remaining branches of a frame depend only on the graph at the
//! frame, so another search can explore them. The oldest frame has the largest part.

use super::frame::{Frame, Left};
use super::search::GraphSearch;
use crate::strategy::{Part, Strategy};
use std::collections::VecDeque;

impl Frame {
    /// Returns the number of branches that are left, as far as known.
    pub(super) fn remaining(&self) -> usize {
        match &self.left {
            Left::Sources { positions, .. } => positions.len(),
            Left::Choices {
                next, alternatives, ..
            } => alternatives.saturating_sub(*next) as usize,
            // The revisits and the next alternative are one branch until they are known.
            Left::Write {
                positions,
                reads: None,
                ..
            } => positions.len() + 1,
            Left::Write {
                reads: Some(reads),
                write,
                ..
            } => reads.len() + usize::from(write.has_next_alternative()),
            Left::Revisit {
                positions,
                write,
                alternatives,
                ..
            } => positions.len() + alternatives.saturating_sub(write.choice + 1) as usize,
        }
    }

    /// Removes all remaining branches. Only the current branch is left.
    fn finish(&mut self) {
        match &mut self.left {
            Left::Sources { positions, .. } => positions.clear(),
            Left::Choices {
                next, alternatives, ..
            } => *next = *alternatives,
            Left::Write {
                write,
                positions,
                reads,
            } => {
                positions.clear();
                *reads = Some(Default::default());
                write.alternatives = write.choice + 1;
            }
            Left::Revisit {
                positions,
                write,
                alternatives,
                ..
            } => {
                positions.clear();
                *alternatives = write.choice + 1;
            }
        }
    }
}

impl GraphSearch {
    /// Estimates how much of the search is done: each frame splits the search evenly among its
    /// branches.
    pub(super) fn fraction_done(&self) -> f64 {
        if !self.has_begun {
            return 0.0;
        }
        self.frames.iter().rev().fold(1.0, |inner, frame| {
            let done = f64::from(frame.done);
            (done + inner) / (done + 1.0 + frame.remaining() as f64)
        })
    }

    /// Gives away the branches of the oldest frame that has any left.
    pub(super) fn oldest_part(&mut self) -> Option<Part> {
        let mut whole = 1.0;
        for position in 0..self.frames.len() {
            let frame = &self.frames[position];
            let remaining = frame.remaining() as f64;
            let branches = f64::from(frame.done) + 1.0 + remaining;
            if remaining > 0.0 {
                let part = self.part_at(position);
                self.frames[position].finish();
                if part.clone().backtrack() {
                    let (saved, share) = (part.save(), whole * remaining / branches);
                    return Some(Part { saved, share });
                }
            }
            whole /= branches;
        }
        None
    }

    /// Returns the search of the frame's remaining branches.
    fn part_at(&self, position: usize) -> GraphSearch {
        let frame = &self.frames[position];
        // A later revisit may have removed events from the graph in which the frame was created.
        let (mut graph, mut execution) = (self.graph.clone(), self.execution.clone());
        let later = self.frames[position + 1..].iter().rev();
        for (steps, removed) in later.filter_map(Frame::revisit) {
            graph.truncate(steps);
            execution.put_back(removed.cut.first, &removed.tail);
            graph.restore(removed.cut.clone());
        }
        let mut part = GraphSearch {
            graph,
            execution,
            frames: vec![frame.clone()],
            forced: VecDeque::new(),
            current: None,
            initial: self.initial.clone(),
            ..*self
        };
        part.truncate(frame.steps);
        part
    }
}
