//! Random sampling of executions, for programs that are too large to explore. Proves nothing.

pub(crate) mod generator;
mod pct;
mod walk;

pub use pct::Pct;
pub use walk::RandomWalk;
