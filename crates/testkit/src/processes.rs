//! Systems of processes that exchange messages: random systems, and their behaviour.
//!
//! `naive` defines the meaning of a system in whole steps on whole states, independent of how the
//! front-end splits them.

mod naive;
mod program;

pub use naive::{Finals, finals};
pub use program::{Body, Statement, System};
