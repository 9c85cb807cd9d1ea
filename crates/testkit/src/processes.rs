//! Systems of processes that exchange messages: random systems, and their behaviour.
//!
//! `naive` defines the meaning of a system by whole steps on whole states. It does not depend on
//! how the front-end splits the steps.

mod naive;
mod program;

pub use naive::{Finals, finals};
pub use program::{Body, Statement, System};
