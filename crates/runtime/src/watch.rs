//! Watchers observe an execution. They detect data races, spin loops without progress and
//! synchronization outside the model, and compute states.

pub(crate) mod await_rule;
pub(crate) mod footprint;
pub(crate) mod happens_before;
pub(crate) mod hidden;
pub(crate) mod seen;
pub(crate) mod snapshot;
pub(crate) mod undone;
