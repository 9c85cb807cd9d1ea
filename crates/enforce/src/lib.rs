//! Runs programs under safe traces (Metzler, Saissi, Bokor, Suri, "Safe execution of concurrent
//! programs by enforcement of scheduling constraints"): before an event, a real thread waits until
//! the events that come first in the verified order have happened. After the verified prefix the
//! threads run freely.
//!
//! A safe trace is a file with *cases*: verified prefixes, each for certain inputs. A front-end
//! reports when a thread is about to perform an event ([`begin`]) and when the thread has performed
//! the event ([`end`]). These calls are the *hooks*. Events are numbered per thread exactly as in a
//! search. Blocking objects are in [`blocking`]. Like the model, they publish that a thread has
//! taken its place before the thread waits. So enforcement adds no deadlock: other threads wait for
//! a thread only until it has taken its place.
//!
//! * `order`: what the command tells the process. `plan`: where threads stop, from the file.
//! * `own`: a thread's counters, in thread-local memory that hooks reach with three instructions.
//! * `gate`: the progress of each thread, and waits for this progress. `thread`: a thread from its
//!   start to its end. `threads`: all threads. `path`: their names.
//! * `process`: start and end of programs that no other front-end starts.
//! * `follow`: takes over relaxed versions of the file, and reports a program without progress.
//!
//! Difference from the paper: in the paper, the end of each event is known. Here no hook follows a
//! plain access, so the end of the access is published at the next hook. This can only delay other
//! threads.

#![cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    allow(
        dead_code,
        reason = "traces are read everywhere, and enforced on x86-64 Linux only"
    )
)]

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod blocking;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod delay;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod enforcement;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod failure;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod follow;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod gate;
mod order;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod own;
mod path;
mod plan;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod process;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod recorder;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod thread;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod threads;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use enforcement::{choose, input, leave, off, record, start};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use failure::fail;
pub use order::{ENFORCE, Order};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use own::{
    OWN_COUNT, OWN_NEXT, OWN_STEP, begin, counts_plain, end, fence, internally, is_internal,
    is_thread_enforced, plain_read, plain_write, publish, slow_exit, slow_read, slow_write,
};
pub use plan::{Plan, PlanError};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use process::{is_enforced, start_from_environment, take_variable};
pub use report::INPUT;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use thread::{Child, adopt, again, end_thread, upcoming};
