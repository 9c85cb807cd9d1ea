//! Choices and assumptions.

use crate::engine::Engine;
use crate::engine::perform::{self, visible};
use crate::rust::outside::outside;
use explore::{Access, Halt, ObjectId, Op, OpKind, Request};
use std::panic::Location;

/// Returns any number below `alternatives`. The exploration tries all of them.
#[track_caller]
pub fn choose(alternatives: u32) -> u32 {
    assert!(
        alternatives > 0,
        "choose(0): there is nothing to choose from"
    );
    outside!(enforce::choose(alternatives));
    let location = Location::caller();
    let op = Op {
        kind: OpKind::Choose,
        access: Access::None,
        object: ObjectId::NONE,
    };
    let choice = visible(
        |engine: &mut Engine| {
            engine.announce(
                Request {
                    alternatives,
                    ..Request::plain(op)
                },
                location,
            );
        },
        |engine| {
            let choice = engine.choice.min(alternatives - 1);
            engine.record(|_| format!("choose({alternatives}) -> {choice}"));
            choice
        },
    );
    crate::learn(&choice);
    choice
}

/// Chooses whether an operation fails or wakes up spuriously. Returns true if it does. The
/// configuration limits how often this happens in each thread.
#[inline]
#[track_caller]
pub fn spurious() -> bool {
    outside!(false);
    let is_possible = perform::silently(|engine| {
        engine.config.conditions.spurious > engine.thread().life.spurious
    });
    let happens = is_possible && choose(2) == 1;
    if happens {
        perform::silently(|engine| engine.thread().life.spurious += 1);
    }
    happens
}

/// Stops the thread permanently if the condition does not hold. This is not a bug. With the feature
/// `enforce` and outside of a model, ends the process with a message instead.
#[inline]
#[track_caller]
pub fn assume(condition: bool) {
    if !condition {
        #[cfg(feature = "enforce")]
        if crate::is_outside() {
            enforce::fail("an assumption of the program does not hold in this run");
        }
        perform::halt(Halt::Assume);
    }
}
