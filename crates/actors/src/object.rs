//! Concurrent objects as in ABS (Johnsen, Hähnle, Schäfer, Schlatte, Steffen, FMCO 2010) and as
//! checked by SYCO (Albert, Gómez-Zamalloa, Isabel, CC 2016).
//!
//! An [`Object`] has a state. A call of an object starts a *task* and returns a [`Future`] at once.
//! Tasks of one object take turns: a task has the object to itself from one *release point* to the
//! next, where any other task may continue. The code between two release points, a *segment*, is
//! one event, however long it is. So only the order of segments at one object matters.
//!
//! ```
//! use actors::object::Object;
//!
//! mazurka::model(|| {
//!     let account = Object::new(0);
//!     let deposit = account.call("deposit", |account| account.write(|balance| *balance += 100));
//!     let withdraw = account.call("withdraw", |account| {
//!         // await balance >= 60: no other task comes between the condition and the segment.
//!         account.write_when(|balance| *balance >= 60, |balance| *balance -= 60);
//!     });
//!     deposit.get();
//!     withdraw.get();
//!     account.read(|balance| assert_eq!(*balance, 40));
//! });
//! ```
//!
//! If a task checks the balance in one segment and withdraws in another, a second task may run
//! between the two:
//!
//! ```
//! use actors::object::Object;
//!
//! fn two_withdrawals() {
//!     let account = Object::new(100);
//!     let withdraw = || {
//!         account.call("withdraw", |account| {
//!             if account.read(|balance| *balance >= 60) {
//!                 account.write(|balance| *balance -= 60); // a release point comes before it
//!             }
//!         })
//!     };
//!     let both = [withdraw(), withdraw()];
//!     both.map(|task| task.get());
//!     account.read(|balance| assert!(*balance >= 0, "overdrawn"));
//! }
//!
//! # let found = std::panic::catch_unwind(|| {
//! mazurka::model(two_withdrawals); // panics, and shows how
//! # });
//! # assert!(found.is_err());
//! ```
//!
//! # Actions of a task
//!
//! * A *segment*: [`write`](Object::write), or [`read`](Object::read) if it only reads the state.
//!   Reads commute. All code after it, up to the next operation, belongs to the segment.
//! * *Await a condition*: [`write_when`](Object::write_when), [`read_when`](Object::read_when).
//!   Tasks whose conditions hold continue in any order. If the condition does not hold, the task
//!   stops for the rest of the execution. If the condition holds at the end of the execution, the
//!   execution counts as halted, and other executions schedule the task later. Otherwise there is a
//!   deadlock.
//! * *Await a future*: [`Future::get`].
//! * *Suspend*: every segment begins with a release point. A task that calls
//!   [`write`](Object::write) twice suspends itself in between.
//! * Create objects and call them.
//!
//! If a caller awaits the end of a call at once, the call needs no task: the caller may perform the
//! segments of the call.
//!
//! # Fields
//!
//! Tasks that access different fields are independent if each field is a separate object. A segment
//! that accesses several objects names all of them, its *access set*:
//!
//! ```
//! use actors::object::{AccessSet, Object};
//!
//! mazurka::model(|| {
//!     let (stock, sold) = (Object::new(3), Object::new(0));
//!     let fields = AccessSet((stock.clone(), sold));
//!     let counts = fields.clone();
//!     let sell = stock.call("sell", move |_| {
//!         fields.write(|(stock, sold)| {
//!             *stock -= 1;
//!             *sold += 1;
//!         });
//!     });
//!     let audit = counts.read(|(stock, sold)| stock + sold);
//!     assert_eq!(audit, 3);
//!     sell.get();
//! });
//! ```
//!
//! Once a segment has accessed several objects, these count as one object. The search starts again
//! when it first runs a segment with these objects. The type of a [`Task`] includes its access set.
//!
//! # Tasks as state machines
//!
//! A [`Task`] is a state machine with one step per segment. A system whose tasks are all state
//! machines can report its whole state, which context-sensitive algorithms compare. (The main
//! thread may be a closure: its behaviour depends on the values of its futures and segments, which
//! are reported.)
//!
//! ```
//! use actors::object::{Calls, Next, Object, Task};
//!
//! /// fib(n), by two more tasks.
//! #[derive(Clone, PartialEq, Eq, Hash)]
//! enum Fibonacci {
//!     Of(u32),
//!     Sum(u32),
//! }
//!
//! impl Task for Fibonacci {
//!     type Touches = Object<()>;
//!     type Output = u32;
//!
//!     fn method(&self) -> &'static str {
//!         "fibonacci"
//!     }
//!
//!     fn segment(&mut self, _: &mut (), calls: &mut Calls) -> Next<Fibonacci> {
//!         match *self {
//!             Fibonacci::Of(n @ 0..2) => Next::Done(n),
//!             Fibonacci::Of(n) => {
//!                 let smaller = [n - 1, n - 2];
//!                 let both = smaller.map(|n| calls.start(&Object::new(()), Fibonacci::Of(n)));
//!                 Next::after_all(&both, |task, both| *task = Fibonacci::Sum(both[0] + both[1]))
//!             }
//!             Fibonacci::Sum(sum) => Next::Done(sum),
//!         }
//!     }
//! }
//!
//! mazurka::model(|| {
//!     let result = Object::new(()).start(Fibonacci::Of(4));
//!     assert_eq!(result.get(), 3);
//! });
//! ```
//!
//! Tasks must share only objects and futures: anything else that two closures share (a cell, a
//! static) is not observed.
//!
//! Deviations from ABS: a task cannot keep its object while it waits for a future. (`get` in a
//! method of ABS blocks the object; here it releases the object, like `await`.) Delivery is
//! unordered: the calls of one caller may start in any order.

mod access_set;
mod awaiting;
mod future;
mod task;

pub use access_set::{AccessSet, Parts};
pub use future::{Future, Value};
pub use task::{Awaited, Calls, Next, Task};

use awaiting::Awaiting;
use std::any::type_name;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// A type that can be the state of an object.
pub trait State: Clone + Eq + Hash + Send + 'static {}

impl<S: Clone + Eq + Hash + Send + 'static> State for S {}

/// A concurrent object with a state of type `S`. A clone is the same object.
pub struct Object<S> {
    shared: Arc<Shared<S>>,
}

struct Shared<S> {
    object: runtime::Object,
    state: Mutex<S>,
    /// Tasks that stopped at a condition of the object.
    awaiting: Mutex<Vec<Awaiting>>,
}

impl<S: State> Object<S> {
    /// Creates an object in the current execution.
    #[track_caller]
    pub fn new(state: S) -> Object<S> {
        let kind = || format!("Object<{}>", short(type_name::<S>()));
        let shared = Shared {
            object: runtime::Object::new(kind),
            state: Mutex::new(state),
            awaiting: Mutex::default(),
        };
        let object = Object {
            shared: Arc::new(shared),
        };
        let reported = Arc::clone(&object.shared);
        object
            .shared
            .object
            .report_state(move || reported.snapshot());
        object
    }

    /// Starts a task that runs `body`. Reports show it as `method`.
    #[track_caller]
    pub fn call<T: Value>(
        &self,
        method: &str,
        body: impl FnOnce(Object<S>) -> T + 'static,
    ) -> Future<T> {
        let object = self.clone();
        Future::start(method, move || body(object))
    }

    /// Starts a task that is a state machine.
    #[track_caller]
    pub fn start<T: Task<Touches = Object<S>>>(&self, task: T) -> Future<T::Output> {
        let method = task.method();
        Future::start(method, task::body(self, task, Location::caller()))
    }

    /// Performs one segment that may change the state.
    #[track_caller]
    pub fn write<R>(&self, segment: impl FnOnce(&mut S) -> R) -> R {
        access_set::write(self, segment)
    }

    /// Performs one segment that only reads the state. Reads commute.
    #[track_caller]
    pub fn read<R>(&self, segment: impl FnOnce(&S) -> R) -> R {
        access_set::read(self, segment)
    }

    /// Awaits the condition and performs a segment that may change the state, in one event.
    #[track_caller]
    pub fn write_when<R>(
        &self,
        condition: impl Fn(&S) -> bool + Clone + Send + 'static,
        segment: impl FnOnce(&mut S) -> R,
    ) -> R {
        access_set::write_when(self, condition, segment)
    }

    /// Awaits the condition and performs a segment that only reads the state, in one event.
    #[track_caller]
    pub fn read_when<R>(
        &self,
        condition: impl Fn(&S) -> bool + Clone + Send + 'static,
        segment: impl FnOnce(&S) -> R,
    ) -> R {
        access_set::read_when(self, condition, segment)
    }

    /// Locks the state for a segment.
    fn state(&self) -> MutexGuard<'_, S> {
        match self.shared.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            Err(TryLockError::WouldBlock) => panic!("{NESTED}"),
        }
    }
}

impl<S: State> Shared<S> {
    /// Returns a copy of the state; `None` in the middle of a segment.
    fn snapshot(&self) -> Option<S> {
        match self.state.try_lock() {
            Ok(state) => Some(state.clone()),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner().clone()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl<S> Object<S> {
    fn awaiting(&self) -> MutexGuard<'_, Vec<Awaiting>> {
        let awaiting = self.shared.awaiting.lock();
        awaiting.unwrap_or_else(PoisonError::into_inner)
    }
}

const NESTED: &str = "an operation inside the closure of a segment: a segment is one event, so calls, gets and other \
                      segments must come before or after it";

/// Removes the paths from the name of a type: `alloc::vec::Vec<u8>` becomes `Vec<u8>`.
fn short(name: &str) -> String {
    let mut short = String::new();
    for letter in name.chars() {
        short.push(letter);
        if short.ends_with("::") {
            let path = short
                .trim_end_matches(|letter: char| letter.is_alphanumeric() || "_:".contains(letter));
            short.truncate(path.len());
        }
    }
    short
}

impl<S> Clone for Object<S> {
    fn clone(&self) -> Object<S> {
        Object {
            shared: Arc::clone(&self.shared),
        }
    }
}

/// Compares the identity of the objects.
impl<S> PartialEq for Object<S> {
    fn eq(&self, other: &Object<S>) -> bool {
        self.shared.object == other.shared.object
    }
}

impl<S> Eq for Object<S> {}

impl<S> Hash for Object<S> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.shared.object.hash(hasher);
    }
}

impl<S> fmt::Debug for Object<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").finish_non_exhaustive()
    }
}
