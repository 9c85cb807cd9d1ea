//! C and C++ programs through the whole chain: the compilers of this machine behind `mazurka cc`, the runtime library,
//! `mazurka check`.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod cancellation;
mod corpus;
mod debugging;
mod enforcement;
mod fatalities;
mod library;
mod random;
mod refusals;
mod savepoints;
mod toolchain;
mod verification;
