//! Formats reports for other programs: code scanning, continuous integration, documents.
//!
//! Each function renders a [`report::Report`] or one of its executions. No function reads or writes
//! files.

#![forbid(unsafe_code)]

mod diagram;
mod dot;
mod github;
mod junit;
mod mermaid;
mod sarif;

pub use dot::dot;
pub use github::github;
pub use junit::junit;
pub use mermaid::mermaid;
pub use sarif::sarif;
