//! Files of strangers: they run no command, reach no terminal as they are, and lead nothing astray.
#![cfg(unix)]

mod checkpoints;
#[allow(dead_code, reason = "other tests use all of it")]
#[path = "../command/mod.rs"]
mod command;
mod random;
mod recipes;
mod stored;
mod texts;
