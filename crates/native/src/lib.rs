//! C and C++ programs, seen from outside: how they are compiled for a check, what their binaries
//! contain, and the source-level names of their addresses.
//!
//! A *hook* is a call that the compiler inserts before a memory access (`-fsanitize=thread`). The
//! *runtime library* (`intercept`) implements the hooks. It checks the program in the program's own
//! process, as an [`Order`] from the command says.
//!
//! * [`Compiler`], [`Instrumented`] and [`Build`] run the user's own compiler, with hooks added.
//! * [`Binary`] reports whether a program can be checked.
//! * [`Names`] and [`Images`] translate its addresses to lines, functions, variables and values.
//! * [`is_confined`] checks whether a program changes only its own memory. [`has_unseen_writes`]
//!   checks whether functions that the program calls may change this memory without a hook.
//! * [`unhooked`] finds accesses that no hook announces. [`Patch`] redirects them to code that
//!   does.
//! * [`Unseen`] reports which code a check does not see.
//! * [`Worker`] is the process in which a program is checked. [`Debugger`] runs this process in
//!   gdb.
//!
//! This crate neither prints nor checks.

#![forbid(unsafe_code)]

mod assembly;
mod binary;
mod build;
mod compiler;
mod compiler_process;
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
pub use compiler_process::Stops;
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
pub use worker::{Answers, EarlyEnd, Worker, end_with_parent, ending};
