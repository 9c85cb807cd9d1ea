//! Sampling of executions for programs that are too large to be explored. Proves nothing.

mod generator;
mod pct;
mod walk;

pub use pct::Pct;
pub use walk::RandomWalk;
