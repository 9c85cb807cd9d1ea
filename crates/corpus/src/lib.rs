//! The corpus: the programs that every algorithm runs, with what must come out.
//!
//! Each program has a directory `corpus/<name>/` with `program.rs`, written against Mazurka's `sync` and
//! `thread`, and `expect.toml`: its verdict and, for some sizes, how many traces it has and what was
//! published about it. A directory may have a program in C or C++ instead or besides, see [`native`].
//! [`all`] lists the Rust programs, [`parse`] reads `NAME:SIZE` as the command line has it.
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

/// All programs, in alphabetical order.
pub fn all() -> &'static [Entry] {
    programs::ALL
}

/// The program of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    all().iter().find(|entry| entry.name == name)
}
