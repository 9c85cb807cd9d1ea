//! The reductions of the depth-first [`Search`](crate::search::Search), each in its own file.

mod classic;
mod context_sensitive;
mod exhaustive;
mod few_preemptions;
mod initials;
mod optimal;
mod sleep;
mod source;
mod wakeup_tree;

pub use classic::Classic;
pub use context_sensitive::ContextSensitive;
pub(crate) use context_sensitive::SleepSequence;
pub use exhaustive::Exhaustive;
pub use few_preemptions::FewPreemptions;
pub use optimal::Optimal;
pub use sleep::Sleep;
pub use source::Source;
