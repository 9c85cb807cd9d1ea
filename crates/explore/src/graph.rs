//! Exploration of execution graphs (TruSt: Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL
//! 2022).
//!
//! A graph has the events of each thread in program order (po), for each read the write that it
//! reads from (rf), and for each object its writes in coherence order (co). The search grows one
//! graph event by event. An added read may read from any write that the memory model permits. An
//! added write may also be read by an earlier read, a *backward revisit*: the events that were
//! added after the read are removed, unless the write depends on them. Each consistent graph is
//! reached exactly once, because a revisit is made only if the removed events were added in the one
//! way that [`Graph::is_maximal`] describes.

mod backtrack;
mod clocks;
mod divided;
mod events;
mod frame;
mod memory_model;
mod psc;
mod revisit;
mod search;
mod walk;

pub use memory_model::{MemoryModel, UnknownMemoryModel};
pub use search::GraphSearch;
pub use walk::GraphWalk;
