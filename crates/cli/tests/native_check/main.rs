//! C and C++ programs through the whole chain: the compilers of this machine behind `mazurka cc`, the runtime library,
//! `mazurka check`.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod aliases;
mod allocators;
mod annotations;
mod audit;
mod cancellation;
mod copies;
mod corpus;
mod cpp_library;
mod dead_values;
mod debugging;
mod effects;
mod endings;
mod enforcement;
mod fatalities;
mod header;
mod hooks;
mod hostile;
mod inputs;
mod library;
mod library_calls;
mod lifetimes;
mod locals;
mod many_threads;
mod names;
mod operations;
mod packages;
mod prevention;
mod random;
mod refusals;
mod releases;
mod reuse;
mod robust;
mod savepoints;
mod stack_sizes;
mod stacks;
mod state;
mod std_lock;
mod thread_ends;
mod times;
mod toolchain;
mod unhooked;
mod verdicts;
mod verification;
mod waits;
