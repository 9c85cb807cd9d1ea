//! The runtime library of checked C and C++ programs, `libmazurka_intercept.so`. A program compiled
//! with the hooks of `-fsanitize=thread` and linked with this library runs as usual, unless the
//! command `mazurka` requests in the environment that it be checked in its own process.
//!
//! * `gate`: whether the program's code or the checker's code runs.
//! * `hooks`, `atomics`: memory accesses that the compiler announces.
//! * `unhooked`: memory accesses that the compiler does not announce.
//! * `library_calls`: memory accesses by functions of the system's libraries.
//! * `threads`, `mutex`, …: library functions. They call the original function unless the program
//!   is checked.
//! * `enforced`: these functions for programs that run under a safe trace.
//! * `own_calls`, `own_memory`: separate the checker from the program and from the C library's
//!   state.
//! * `start`: replaces the program's `main`. `image` restores its memory between executions.

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
