//! Goals: what some execution has to come to.
//!
//! They are no part of an execution: a goal that was reached once stays so. Runs beside the exploration count,
//! since they are executions of the program; what is run after the end of one does not.

use crate::engine::Engine;
use crate::outside::outside;
use crate::perform::silently;
use report::Goal;
use std::panic::Location;

/// There is a goal of this name.
#[track_caller]
pub fn goal(name: &str) {
    outside!();
    let location = Location::caller();
    silently(|engine| engine.declare_goal(name, |_| report::place(location)));
}

/// The execution at hand has come to the goal.
#[track_caller]
pub fn reach(name: &str) {
    outside!();
    silently(|engine| engine.reach(name));
}

impl Engine {
    /// There is a goal of this name; `location` is asked for at the first time.
    pub(crate) fn declare_goal(
        &mut self,
        name: &str,
        location: impl FnOnce(&mut Engine) -> String,
    ) {
        if !self.goals.iter().any(|goal| goal.name == name) {
            let location = location(self);
            self.goals.push(Goal {
                name: name.to_owned(),
                location,
                is_reached: false,
            });
        }
    }

    /// The execution at hand has come to the goal, unless it has ended already.
    pub(crate) fn reach(&mut self, name: &str) {
        if self.is_tearing_down || self.is_run_out {
            return;
        }
        let mut goals = self.goals.iter_mut();
        if let Some(goal) = goals.find(|goal| goal.name == name) {
            goal.is_reached = true;
        }
    }
}
