//! The execution environment of safe traces (Metzler, Saissi, Bokor, Suri, "Safe execution of concurrent programs by
//! enforcement of scheduling constraints"): real threads, which wait before an event until the events have happened that
//! were verified to come first. Behind the verified prefix they run free.
//!
//! A front-end says when a thread is about to perform an event ([`begin`]) and when it has ([`end`]); events are numbered
//! per thread exactly as in a search. What blocks is in [`blocking`]: it publishes its place before it waits, as the model
//! does, so that enforcement adds no deadlock: whoever a thread waits for has only to take a place.
//!
//! * `order`: what the command tells the process. `plan`: where threads stop, from the file.
//! * `own`: what a thread counts, in thread-local memory that hooks reach by three instructions.
//! * `gate`: how far each thread is, and waiting for it. `thread`: from its start to its end. `threads`: all of
//!   them. `path`: what it is called.
//! * `process`: start and end of programs that are not begun by another front-end.
//! * `follow`: takes over relaxed versions of the file, and tells when nothing moves.
//!
//! Deviation: the paper knows an event's end; for a plain access there is no hook behind it, so that its end is published
//! at the next hook. That can only delay others.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

pub mod blocking;
mod delay;
mod enforcement;
mod failure;
mod follow;
mod gate;
mod order;
mod own;
mod path;
mod plan;
mod process;
mod recorder;
mod thread;
mod threads;

pub use enforcement::{choose, input, leave, off, record, start};
pub use failure::fail;
pub use order::{ENFORCE, Order};
pub use own::{
    OWN_COUNT, OWN_NEXT, OWN_STEP, begin, counts_plain, end, fence, internally, is_internal,
    is_thread_enforced, plain_read, plain_write, publish, slow_exit, slow_read, slow_write,
};
pub use plan::{Plan, PlanError};
pub use process::{is_enforced, start_as_told, take_variable};
pub use report::INPUT;
pub use thread::{Child, adopt, again, end_thread, upcoming};
