//! Synchronization objects, shared by all front-ends.
//!
//! An operation that may block is split into two operations. The *request* is always enabled and
//! takes a place in the order of its object. The *wait* has no access and is enabled once the place
//! is *granted*. A grant is not a step: whether a place is granted depends only on the events so
//! far. A granted place stays granted. So no thread disables an operation of another thread, and
//! waits never race. An order that no schedule can reverse (unlock → the wait that it grants) is a
//! *synchronization edge*.
//!
//! Each object is a state machine without values or threads. A front-end performs an event, reports
//! it to the machine, and polls `is_granted` for waiting threads. `clear` resets the machine for
//! the next execution and keeps the allocations of its collections. The [`Form`]s of an object are
//! the operations that a front-end announces for it. An object has one or more *parts*. Each
//! operation refers to one part, and operations on different parts do not conflict. A *try* is an
//! operation that fails instead of waiting, like `try_lock`. The macro [`objects!`] lists all
//! [`Object`]s, for engines and tests.
//!
//! ```
//! use explore::{EventId, ThreadId};
//! use objects::{Mutex, Object};
//!
//! let mut mutex = Mutex::default();
//! let first = mutex.request(ThreadId(0));
//! let second = mutex.request(ThreadId(1));
//! assert!(mutex.is_granted(first) && !mutex.is_granted(second));
//! mutex.unlock(first, EventId(2));
//! assert!(mutex.is_granted(second));
//! ```

#![forbid(unsafe_code)]

mod barrier;
mod channel;
mod coarsening;
mod condvar;
mod directory;
mod form;
mod mailbox;
mod mutex;
mod network;
mod object;
mod once;
mod order;
mod park;
mod relations;
mod rwlock;
mod semaphore;
mod signals;
mod thread;

pub use barrier::Barrier;
pub use channel::{Capacity, Channel, ChannelWait, Received, Sent};
pub use coarsening::Coarsening;
pub use condvar::Condvar;
pub use directory::{Directory, Unregistered};
pub use form::Form;
pub use mailbox::Mailbox;
pub use mutex::{Condition, Mutex};
pub use network::{Delivery, Network, Routes};
pub use object::Object;
pub use once::{Once, OnceWait};
pub use order::Ticket;
pub use park::Park;
pub use relations::{Related, Relations};
pub use rwlock::RwLock;
pub use semaphore::Semaphore;
pub use signals::{Signalled, Signals, Strength};
pub use thread::Thread;

/// Calls a macro with the list of object types. Each entry is a name for the collection of all
/// objects of a type, and the type.
#[macro_export]
macro_rules! objects {
    ($then:ident) => {
        $then! {
            mutexes: Mutex,
            rwlocks: RwLock,
            condvars: Condvar,
            semaphores: Semaphore,
            barriers: Barrier,
            onces: Once,
            channels: Channel,
            notifies: Park,
            networks: Network,
        }
    };
}
