//! C and C++ programs, seen from outside: how they are compiled for a check, the content of their
//! binaries, and the source-level names of their addresses.
//!
//! * [`Compiler`], [`Instrumented`] and [`Build`] run the user's own compiler, with hooks added.
//! * [`Binary`] reports whether a program can be checked.
//! * [`Names`] and [`Images`] translate its addresses to lines, functions, variables and values.
//! * [`is_confined`] checks whether a program changes only its memory, and [`has_unseen_writes`]
//!   whether functions that it calls may change that memory without a hook.
//! * [`unhooked`] finds accesses that no hook announces; [`Patch`] changes the code so that they
//!   are announced.
//! * [`Unseen`] reports which code a check does not see.
//! * [`Worker`] is the process in which a program checks itself, as an [`Order`] says; [`Debugger`]
//!   runs it in gdb.
//!
//! This crate neither prints nor checks: the runtime library checks, in the program's process.

#![forbid(unsafe_code)]

mod assembly;
mod binary;
mod build;
mod compiler;
mod confined;
mod debugger;
mod deferred_write;
mod foreign_recipe;
mod instrumentation;
mod invocation;
mod language;
mod libraries;
mod liveness;
mod memory_file;
mod names;
mod order;
mod patience;
mod result;
mod runtime_library;
mod scratch;
mod unhooked;
mod unseen;
mod unseen_writes;
mod worker;

pub use binary::{Binary, BinaryError, has_hooks, imports, is_by_clang};
pub use build::{Build, BuildError, Built};
pub use compiler::{Compiler, CompilerError, Environment, Family};
pub use confined::{address_of, is_confined, is_harmless, may_change_files, uses_thread_state};
pub use debugger::Debugger;
pub use deferred_write::slot_of_next_call;
pub use foreign_recipe::foreign_part;
pub use instrumentation::Instrumented;
pub use invocation::Invocation;
pub use language::Language;
pub use libraries::libraries;
pub use liveness::Dead;
pub use names::demangled;
pub use names::{
    Activation, Block, Content, Frame, Images, Memory, Names, NamesError, Registers, Variable,
    Waiting,
};
pub use order::reachable;
pub use patience::Patience;
pub use report::{Answer, ORDER, Order, Verify};
pub use result::reads_result;
pub use runtime_library::{RUNTIME_LIBRARY, RuntimeLibrary, RuntimeLibraryError};
pub use unhooked::{
    ANNOUNCE_SPACE, Access, Callee, Effect, Functions, Hook, Operand, Patch, Patches, Surroundings,
    TEMPORARY_SPACE, Unhooked, calls, unhooked,
};
pub use unseen::Unseen;
pub use unseen_writes::has_unseen_writes;
pub use worker::{Answers, Haste, Worker, end_with_parent, ending};
