//! The corpus: the programs that every algorithm runs, with their expected results.
//!
//! Each program has a directory `corpus/<name>/` with `program.rs`, written with Mazurka's `sync`
//! and `thread`, and `expect.toml`: its verdict and, for some sizes, its number of traces and
//! published results. A directory may have a program in C or C++ instead or in addition, see
//! [`native`]. [`all`] lists the Rust programs; [`parse`] reads `NAME:SIZE` as on the command line.
//!
//! ```
//! let instance = corpus::parse("lastzero:5").unwrap();
//! assert_eq!(instance.expected().unwrap().executions, 64);
//! let report = mazurka::Checker::new().check(instance.program());
//! assert_eq!(report.executions, 64);
//! ```

#![forbid(unsafe_code)]

mod entry;
mod expectation;
mod name;
pub mod native;
mod programs;
mod project;

pub use entry::{Entry, Instance, Parameter};
pub use expectation::{
    ContextSensitive, Expectation, Expected, Published, SizeExpectation, Tested,
};
pub(crate) use mazurka::cell::PlainCell as Plain;
pub use name::{NameError, parse};
pub use project::{Project, ProjectProgram, projects};

/// Returns all programs, in alphabetical order.
pub fn all() -> &'static [Entry] {
    programs::ALL
}

/// Returns the program of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    all().iter().find(|entry| entry.name == name)
}
