//! Tests of the checker: abstract programs, their brute force, and the laws of every algorithm.
//!
//! A [`Program`] is run in two ways: by [`Machine`], split into requests and waits as in
//! front-ends, and by [`direct`], where a blocking operation is one step. The [`Oracle`] naively
//! enumerates a machine's behaviour. The [`law`]s specify the traces that an algorithm must find.
//! [`suite`]s of random programs come from a seed; [`shrink`] makes a program that breaks a law
//! smaller. [`Program::c_source`] prints a program as C. A [`litmus`] test asks whether a memory
//! model allows a final state.

#![forbid(unsafe_code)]

pub mod c_program;
mod c_source;
mod code;
pub mod direct;
pub mod entry;
pub mod law;
pub mod litmus;
mod machine;
mod notation;
pub mod object_system;
mod oracle;
mod phase;
mod plan;
pub mod processes;
pub mod program;
pub mod random;
mod renamed;
pub mod shrink;
pub mod suite;
mod trace;
pub mod weak;

pub use c_source::NotInC;
pub use machine::{Final, Machine, Place};
pub use notation::NotAProgram;
pub use oracle::{Oracle, Refusal};
pub use program::Program;
pub use renamed::Renamed;
pub use trace::Key;
