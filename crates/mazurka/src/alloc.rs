//! Like `std::alloc` and `loom::alloc`: memory that is never freed, or freed twice, is a failure.
//!
//! ```
//! use mazurka::alloc::{Layout, alloc, dealloc};
//! use mazurka::{Checker, FailureKind};
//!
//! let report = Checker::new().check(|| {
//!     let layout = Layout::new::<u64>();
//!     unsafe { dealloc(alloc(layout), layout) };
//!     unsafe { alloc(layout) };
//! });
//! assert_eq!(report.errors[0].kind, FailureKind::Leak);
//! ```

pub use runtime::{Track, alloc, alloc_zeroed, dealloc};
pub use std::alloc::{Layout, LayoutError, handle_alloc_error};
