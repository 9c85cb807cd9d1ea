//! The runtime library of C and C++ programs, `libmazurka_intercept.so`. Programs are compiled with
//! the hooks of `-fsanitize=thread` and linked with this library. A program runs as usual unless
//! the command `mazurka` has put an *order* into its environment. With an order for a check, this
//! library explores the executions of the program in the program's own process. With an order for
//! enforcement, the program runs under a safe trace (`enforced`).
//!
//! * `gate`: records whether the program's code or the checker's code runs.
//! * `hooks`, `atomics`: memory accesses that the compiler announces.
//! * `unhooked`: memory accesses that the compiler does not announce.
//! * `library_calls`: memory accesses by functions of the system's libraries.
//! * `threads`, `mutex`, …: replace functions of the C library. Outside a check, they call the
//!   original function.
//! * `enforced`: the same functions for programs that run under a safe trace.
//! * `own_calls`, `own_memory`: separate the checker from the program and from the C library's
//!   state.
//! * `start`: replaces the program's `main`. `image`: restores the program's memory between
//!   executions.
//!
//! Terms:
//!
//! * *Checker*: Mazurka's code in the process of the program.
//! * *Image*: the program's executable file or a shared library, as loaded into the process.
//! * *Hook*: a function of this library that the program calls, mostly because the compiler
//!   inserted the call before a memory access.
//! * *Frame*: the registers and the return address at a call to this library
//!   (`runtime::native::Frame`). The return address is named `code`. It is the place of the call in
//!   reports.
//! * *Event*: an operation whose order with the operations of other threads is explored. Plain (not
//!   atomic) accesses are events only with `--plain sc`.
//! * *Await rule*: stops a thread whose spin loop makes no progress. The rule compares the thread's
//!   states and must know each *effect*, that is, each change that the thread makes.
//! * *Savepoint*: a copy of the program's state in the middle of an execution, from which later
//!   executions continue. Only *confined* programs, which change nothing but their memory, have
//!   savepoints.
//! * *Omission*: something that the search leaves out and that the report names.
//! * *Audited execution*: an execution in which the runtime looks for writes that no hook reports.

#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

#[macro_use]
mod export;
mod gate;
#[macro_use]
mod real;

mod aliases;
mod allocator;
mod annotations;
mod arguments;
mod atomics;
mod attributes;
mod audit;
mod barrier;
mod block_numbers;
mod blocks;
mod callers;
mod cancel;
mod chance;
mod clock;
mod condvar;
mod copies;
mod dead_values;
mod destructors;
mod early_locks;
mod ending;
mod enforced;
mod futex;
mod heap;
mod hooks;
mod image;
mod input;
mod inputs;
mod keys;
mod large_atomics;
mod leaks;
mod library_calls;
mod lifetime;
mod limits;
mod make_ready;
mod malloc;
mod mappings;
mod mutex;
mod new_delete;
mod once;
mod open_files;
mod own_calls;
mod own_failure;
mod own_memory;
mod pages;
mod poll;
mod reached;
mod refused;
mod remapping;
mod robust;
mod rwlock;
mod savepoint;
mod semaphore;
mod shared_exceptions;
mod signals;
mod source_map;
mod spin;
mod standard_streams;
mod start;
mod static_cpp;
mod stream_locks;
mod system_calls;
mod system_state;
mod threads;
mod tries;
mod unhooked;
mod unknown_calls;
mod verifier;
mod volatile;
mod watch;
mod worker;
