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
    silently(|engine| {
        if !engine.goals.iter().any(|goal| goal.name == name) {
            engine.goals.push(Goal {
                name: name.to_owned(),
                location: report::place(location),
                is_reached: false,
            });
        }
    });
}

/// The execution at hand has come to the goal.
#[track_caller]
pub fn reach(name: &str) {
    outside!();
    silently(|engine| {
        if !engine.is_tearing_down && !engine.is_run_out {
            engine.reach(name);
        }
    });
}

impl Engine {
    #[track_caller]
    fn reach(&mut self, name: &str) {
        let mut goals = self.goals.iter_mut();
        if let Some(goal) = goals.find(|goal| goal.name == name) {
            goal.is_reached = true;
        }
    }
}
