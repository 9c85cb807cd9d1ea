//! Systems of processes that talk by messages: random ones, and all that they can do.
//!
//! `naive` says what such a system means, in whole steps on whole states, with nothing of how the
//! front-end splits them.

mod naive;
mod program;

pub use naive::{Finals, finals};
pub use program::{Body, Statement, System};
