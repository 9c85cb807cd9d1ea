//! Files from strangers: they run no command, are escaped in output, and cause no wrong results.
#![cfg(unix)]

mod checkpoints;
#[allow(dead_code, reason = "other tests use all of it")]
#[path = "../command/mod.rs"]
mod command;
mod random;
mod recipes;
mod stored;
mod texts;
