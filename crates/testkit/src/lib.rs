//! Tests of the checker: abstract programs, the brute-force enumeration of their behaviour, and the
//! laws of every algorithm.
//!
//! A [`Program`] is run in two ways. [`Machine`] splits a blocking operation into a request and a
//! wait, as front-ends do (the *split semantics*). [`direct`] performs a blocking operation in one
//! step (the *direct semantics*). The [`Oracle`] naively enumerates a machine's behaviour, and the
//! [`law`]s specify the traces that an algorithm must find. A [`suite`] generates random programs
//! from a seed. If a program breaks a law, [`shrink`] makes it smaller. [`Program::c_source`]
//! prints a program as C. A [`litmus`] test asks whether a memory model allows a final state.

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
