//! Mirrors `loom::alloc`.

pub use mazurka::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc};
