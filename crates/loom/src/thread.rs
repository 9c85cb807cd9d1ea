//! Mirrors `loom::thread`, with additions from `std::thread`.

pub use mazurka::thread::{
    AccessError, Builder, JoinHandle, LocalKey, Result, Scope, ScopedJoinHandle, Thread, ThreadId,
    available_parallelism, current, panicking, park, park_timeout, scope, sleep,
    spawn_local as spawn, yield_now,
};
