//! As `loom::future`.

pub use mazurka::future::{AtomicWaker, block_on};
