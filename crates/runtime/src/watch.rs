//! Watchers of an execution: races, spin loops without progress, states, hidden synchronization.

pub(crate) mod await_rule;
pub(crate) mod footprint;
pub(crate) mod happens_before;
pub(crate) mod hidden;
pub(crate) mod seen;
pub(crate) mod snapshot;
pub(crate) mod undone;
