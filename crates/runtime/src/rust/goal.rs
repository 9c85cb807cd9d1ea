//! Goals: states that at least one execution must reach.
//!
//! Goals do not belong to one execution: a goal that was reached once stays reached. It may also be
//! reached in an execution that does not belong to the exploration, but not by code that runs after
//! the end of an execution (destructors of unwound threads).

use crate::engine::Engine;
use crate::engine::perform::silently;
use crate::rust::outside::outside;
use report::Goal;
use std::panic::Location;

/// Declares a goal of this name.
#[track_caller]
pub fn goal(name: &str) {
    outside!();
    let location = Location::caller();
    silently(|engine| engine.declare_goal(name, |_| report::place(location)));
}

/// Records that the current execution has reached the goal. Ignores a name that was not declared.
#[track_caller]
pub fn reach(name: &str) {
    outside!();
    silently(|engine| engine.reach(name));
}

impl Engine {
    /// Declares a goal of this name. `location` is called at the first declaration.
    pub(crate) fn declare_goal(
        &mut self,
        name: &str,
        location: impl FnOnce(&mut Engine) -> String,
    ) {
        if !self.guests.goals.iter().any(|goal| goal.name == name) {
            let location = location(self);
            self.guests.goals.push(Goal {
                name: name.to_owned(),
                location,
                is_reached: false,
            });
        }
    }

    /// Records that the current execution, unless it has already ended, has reached the goal.
    pub(crate) fn reach(&mut self, name: &str) {
        if self.is_tearing_down || self.is_run_out {
            return;
        }
        let mut goals = self.guests.goals.iter_mut();
        if let Some(goal) = goals.find(|goal| goal.name == name) {
            goal.is_reached = true;
        }
    }
}
