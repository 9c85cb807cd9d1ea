//! Runs a closure and the threads that it starts as stackful coroutines, one visible operation at a
//! time, under [`explore::Program`].
//!
//! [`Model`] is the program. The mirrors of the standard library are built from the other types,
//! which announce an operation, wait until the model performs it, and do not depend on the
//! exploration. Objects of these types belong to the execution that created them. Only its threads
//! may use them; other uses panic.
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
//! The caller (`#[track_caller]`) determines the name and the place of an operation in a trace.

#![cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    allow(
        dead_code,
        reason = "stacks are compared, and traps caught, on x86-64 Linux only"
    )
)]

mod allocator;
mod arc;
mod arena;
mod atomic;
mod await_rule;
mod barrier;
mod born;
mod cell;
mod channel;
mod choice;
mod condvar;
mod control_words;
mod coroutine;
mod current;
mod deciding;
mod end_of_statics;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod endless_loop;
mod engine;
mod exploration;
mod failure;
mod final_state;
mod footprint;
mod goal;
mod grain;
mod happens_before;
mod heap;
mod heap_changes;
mod hidden;
mod hint;
mod image;
mod lazy;
mod local;
mod look;
mod mailbox;
mod model;
mod mutex;
mod names;
mod naming;
pub mod native;
mod notify;
mod object;
mod once;
mod outside;
mod own_stack;
mod owner;
mod panic_count;
mod panic_hook;
mod perform;
mod plain;
mod pointer;
mod poison;
mod pool;
#[cfg(all(
    target_os = "linux",
    target_arch = "x86_64",
    target_env = "gnu",
    not(target_feature = "crt-static")
))]
mod process_exit;
mod reclaim;
mod recorder;
mod region;
mod repetition;
mod residents;
mod root;
mod rwlock;
mod scope;
mod seen;
mod semaphore;
mod settle;
mod shared;
mod snapshot;
mod source;
mod stack;
mod state;
mod step;
mod tear_down;
mod thread;
mod token;
mod trace;
mod trap;
mod undone;
mod waiting;
mod watchdog;

pub use allocator::ModelAllocator;
pub use arc::{Arc, Weak};
pub use atomic::{Atomic, Real, Value, fence};
pub use barrier::{Arrival, Barrier};
pub use cell::Cell;
pub use channel::{Channel, ReceiveError, SendError};
pub use choice::{assume, choose, spurious};
pub use condvar::Condvar;
pub use engine::ACCESSES;
pub use exploration::{explore, skip_branch, stop_exploring};
pub use explore::{Access, Fingerprint, ObjectId, ThreadId};
pub use failure::Wanted;
pub use goal::{goal, reach};
pub use heap::{Track, alloc, alloc_zeroed, dealloc};
pub use hidden::{Beginning, Difference, in_object};
pub use hint::{hint, unreachable_unchecked, yields};
pub use lazy::Lazy;
pub use local::{AccessError, LocalKey};
pub use look::Look;
pub use mailbox::{Mailbox, Network, Policy, Posted, tell, tell_contents};
pub use model::{Config, Model};
pub use mutex::{Mutex, expire};
pub use names::{Names, UnknownThread};
pub use naming::{call_thread, note};
pub use notify::Notify;
pub use object::{Object, segment, segment_at};
pub use objects::{
    Coarsening, Condition, Delivery, Directory, Related, Relations, Signalled, Signals, Strength,
    Unregistered,
};
pub use once::{Entry, Once};
pub use outside::{is_outside, modify_outside, pause};
pub use panic_hook::contained;
pub use plain::{Lasting, Plain, PlainCell};
pub use pointer::{ConstPtr, MutPtr};
pub use poison::Poison;
pub use recorder::kind_of_object;
pub use rwlock::{Place, RwLock};
pub use scope::{Scope, scope};
pub use semaphore::Semaphore;
pub use settle::{Born, Inborn, Placed, Settle, Settling};
pub use shared::shared_words;
pub use snapshot::{
    Opaque, forget, learn, operations, tell_state, tell_state_of, tell_state_of_part,
};
pub use source::Spot;
pub use state::State;
pub use thread::{
    Handle, Panic, ask_for_stack, await_end, call_at, current, is_finished, is_in_model, is_over,
    join, name, panicking, panics_fail, park, park_here, park_here_for, park_timed, place, serve,
    spawn, spawn_at, stand_at, unpark, upcoming_child,
};
pub use trace::{Described, Shown, Trace};
