//! Parts of an execution whose interleavings are left out, like those after loom's
//! `stop_exploring`. In these parts, no alternatives to an operation are tried: neither another
//! thread nor another choice. (An operation of these parts may still be moved before an earlier
//! operation of another thread, if the two race.)

use crate::engine::Engine;
use crate::engine::perform::silently;
use crate::rust::outside::outside;
use explore::Step;

/// Whether alternatives to the program's operations are tried.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Exploration {
    #[default]
    On,
    /// Off until the program calls [`explore()`].
    Off,
    /// Off until the end of the execution.
    OffForGood,
}

/// Stops trying alternatives to the operations from now on, whichever thread performs them.
#[track_caller]
pub fn stop_exploring() {
    change(Exploration::Off);
}

/// Resumes trying alternatives after [`stop_exploring`].
#[track_caller]
pub fn explore() {
    change(Exploration::On);
}

/// Stops exploring like [`stop_exploring`], until the end of the execution.
#[track_caller]
pub fn skip_branch() {
    change(Exploration::OffForGood);
}

#[track_caller]
fn change(to: Exploration) {
    outside!();
    silently(|engine| {
        if engine.guests.exploration != Exploration::OffForGood {
            engine.guests.exploration = to;
        }
    });
}

impl Engine {
    /// Checks whether alternatives to the step that is about to be performed are left out.
    #[inline(always)]
    pub(crate) fn leaves_out(&mut self, step: Step) -> bool {
        self.guests.exploration != Exploration::On && self.leaves_out_others(step)
    }

    #[cold]
    fn leaves_out_others(&mut self, step: Step) -> bool {
        let mut enabled = self.life.pending.iter().enumerate();
        let has_others = enabled.any(|(thread, pending)| {
            let others = u32::from(thread == step.thread.index());
            let ways = pending.enabled().map_or(0, |request| request.alternatives);
            ways > others
        });
        self.guests.has_left_out |= has_others;
        true
    }
}
