//! The deterministic memory of a model: its heap, and the statics of the program.

pub(crate) mod allocate;
pub(crate) mod allocator;
pub(crate) mod arena;
pub(crate) mod image;
pub(crate) mod reclaim;
pub(crate) mod region;
pub(crate) mod residents;
pub(crate) mod value_id;
