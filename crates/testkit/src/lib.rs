//! What checks the checker: abstract programs, their brute force, and the laws of every algorithm.
//!
//! A [`Program`] is run in two ways: by [`Machine`], split in requests and waits as the front-ends do it,
//! and by [`direct`], where a blocking operation is one step. The [`Oracle`] enumerates all that a
//! machine can do, naively. The [`law`]s say what an algorithm must find of it. [`suite`]s of random programs are
//! made from a seed, and one that breaks a law is made smaller by [`shrink`]. [`Program::c_source`] writes a program
//! in C, for front-ends that check C.

#![forbid(unsafe_code)]

pub mod c_program;
mod c_source;
mod code;
pub mod direct;
pub mod law;
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

pub use c_source::NotInC;
pub use machine::{Final, Machine, Place};
pub use notation::NotAProgram;
pub use oracle::{Oracle, Refusal};
pub use program::Program;
pub use renamed::Renamed;
pub use trace::Key;
