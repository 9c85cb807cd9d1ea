//! Runs a closure and the threads that it starts as an [`explore::Program`]. Each thread is a
//! stackful coroutine, and a step runs one thread up to its next visible operation.
//!
//! [`Model`] is the program. A front-end builds its *mirrors*, the types that replace those of the
//! standard library, from the other types of this crate. Most methods of these types *announce* an
//! operation: they tell the model the thread's next operation, and wait until the model performs
//! it. An object belongs to the execution that created it, and only the threads of this execution
//! may use it. An operation outside a model panics.
//!
//! ```
//! use explore::{Algorithm, Options, Outcome, Program, explore};
//! use runtime::{Atomic, Config, Model, join, spawn};
//! use std::rc::Rc;
//! use std::sync::atomic::Ordering::SeqCst;
//!
//! let mut model = Model::new(Config::default(), || {
//!     let x = Rc::new(Atomic::new(0u32).settled());
//!     let other = Rc::clone(&x);
//!     let thread = spawn(None, move || other.store(1, SeqCst));
//!     assert!(x.load(SeqCst) <= 1);
//!     join(thread).unwrap();
//! });
//! let mut strategy = Algorithm::Optimal.strategy(Options::default());
//! explore(&mut model, &mut strategy, &mut ()).unwrap();
//! assert_eq!(model.outcome(), Outcome::Completed);
//! ```
//!
//! Traces show operations with the place of the caller (`#[track_caller]`), and name objects after
//! the place where they were created.

#![cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    allow(
        dead_code,
        reason = "stacks are compared, and traps caught, on x86-64 Linux only"
    )
)]

#[cfg(not(unix))]
compile_error!("mazurka needs Unix: use Linux, or WSL on Windows");

mod config;
mod engine;
mod guests;
mod memory;
pub mod native;
mod rust;
mod trace;
mod watch;

pub use config::{ACCESSES, Config};
pub use engine::Panic;
pub use engine::model::Model;
pub use engine::names::{Names, UnknownThread};
pub use engine::panic_hook::contained;
pub use explore::{Access, Fingerprint, ObjectId, ThreadId};
pub use memory::allocator::ModelAllocator;
pub use objects::{
    Coarsening, Condition, Delivery, Directory, Related, Relations, Signalled, Signals, Strength,
    Unregistered,
};
pub use rust::alloc::{Track, alloc, alloc_zeroed, dealloc};
pub use rust::arc::{Arc, Weak};
pub use rust::atomic::{Atomic, Real, Value, fence};
pub use rust::barrier::{Arrival, Barrier};
pub use rust::cell::Cell;
pub use rust::channel::{Channel, ReceiveError, SendError};
pub use rust::choice::{assume, choose, spurious};
pub use rust::condvar::Condvar;
pub use rust::exploration::{explore, skip_branch, stop_exploring};
pub use rust::goal::{goal, reach};
pub use rust::hint::{hint, unreachable_unchecked, yields};
pub use rust::lazy::Lazy;
pub use rust::local::{AccessError, LocalKey};
pub use rust::mailbox::{Mailbox, Network, Policy, Posted, describe, report_contents};
pub use rust::mutex::{Mutex, expire};
pub use rust::naming::{call_thread, note};
pub use rust::notify::Notify;
pub use rust::object::{Object, segment, segment_at};
pub use rust::once::{Entry, Once};
pub use rust::outside::{is_outside, modify_outside, pause};
pub use rust::plain::{Lasting, Plain, PlainCell};
pub use rust::pointer::{ConstPtr, MutPtr};
pub use rust::poison::Poison;
pub use rust::rwlock::{Place, RwLock};
pub use rust::scope::{Scope, scope};
pub use rust::semaphore::Semaphore;
pub use rust::settle::{Born, Inborn, Placed, Settle, Settling};
pub use rust::shared::shared_words;
pub use rust::state::State;
pub use rust::strengthening::{Site, Written};
pub use rust::sync;
pub use rust::thread::{
    Handle, ask_for_stack, await_end, call_at, current, is_finished, is_in_model, is_over, join,
    name, panicking, panics_fail, park, park_here, park_here_for, park_timed, place, serve, spawn,
    spawn_at, stand_at, unpark, upcoming_child, will_run,
};
pub use trace::failure::Wanted;
pub use trace::recorder::kind_of_object;
pub use trace::sampling::Sample;
pub use trace::source::Spot;
pub use trace::{Described, Shown, Trace};
pub use watch::hidden::{Beginning, Difference, in_object};
pub use watch::snapshot::{
    Opaque, forget, learn, operations, report_state, report_state_of, report_state_of_part,
};
