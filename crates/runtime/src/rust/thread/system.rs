//! Threads outside of models. They are threads of the system, and know their place in the tree of
//! spawns if the program is enforced.

use super::Panic;
use crate::rust::local::drop_locals;
use enforce::Child;
use enforce::blocking::{Deadline, Token};
use explore::OpKind;
use std::cell::{Cell, OnceCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, thread};

/// A thread of the system.
pub struct SystemThread {
    number: u64,
    name: Option<String>,
    token: Token,
    /// The place of the thread in the enforced tree of spawns, or `None` if the thread is not
    /// enforced.
    child: Option<Child>,
    end: Mutex<End>,
    has_ended: Condvar,
}

/// Whether and how a thread has ended.
#[derive(Default)]
struct End {
    /// Whether the thread has ended.
    is_there: bool,
    /// The payload of the thread's panic, until a thread joins it.
    panic: Option<Panic>,
}

/// The number of the next thread.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static CURRENT: OnceCell<Arc<SystemThread>> = const { OnceCell::new() };
    /// The requested stack size of the next thread that this thread starts.
    static STACK: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Requests a stack of at least the given number of bytes for the current thread's next child.
pub(crate) fn ask_for_stack(bytes: usize) {
    STACK.set(Some(bytes));
}

impl SystemThread {
    fn new(name: Option<String>, child: Option<Child>) -> Arc<SystemThread> {
        Arc::new(SystemThread {
            number: NUMBERS.fetch_add(1, Relaxed),
            name,
            token: Token::new(),
            child,
            end: Mutex::default(),
            has_ended: Condvar::new(),
        })
    }

    /// Starts a thread.
    pub(crate) fn spawn(
        name: Option<String>,
        body: Box<dyn FnOnce() + Send>,
    ) -> io::Result<Arc<SystemThread>> {
        let child = enforce::upcoming();
        enforce::publish();
        let started = SystemThread::new(name, child);
        let mut builder = thread::Builder::new();
        if let Some(name) = &started.name {
            builder = builder.name(name.clone());
        }
        if let Some(bytes) = STACK.take() {
            builder = builder.stack_size(bytes);
        }
        let running = Arc::clone(&started);
        match builder.spawn(move || running.run(body)) {
            Ok(_detached) => Ok(started),
            Err(error) => {
                started.child.as_ref().inspect(|child| child.fails());
                Err(error)
            }
        }
    }

    /// Returns the current thread, even if other code has started it.
    pub(crate) fn current() -> Arc<SystemThread> {
        let known = || {
            let name = thread::current().name().map(str::to_owned);
            SystemThread::new(name, None)
        };
        CURRENT.with(|current| Arc::clone(current.get_or_init(known)))
    }

    fn run(self: Arc<SystemThread>, body: Box<dyn FnOnce() + Send>) {
        if let Some(child) = &self.child {
            enforce::adopt(child);
        }
        CURRENT.with(|current| _ = current.set(Arc::clone(&self)));
        let outcome = catch_unwind(AssertUnwindSafe(body));
        let dropped = catch_unwind(AssertUnwindSafe(drop_locals));
        enforce::end_thread();
        let mut end = self.end();
        end.is_there = true;
        end.panic = outcome.and(dropped).err();
        self.has_ended.notify_all();
    }

    fn end(&self) -> MutexGuard<'_, End> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of the thread. The first call returns the payload if the thread panicked.
    pub(crate) fn join(&self) -> Result<(), Panic> {
        enforce::publish();
        let is_under_way = |end: &mut End| !end.is_there;
        let ended = self.has_ended.wait_while(self.end(), is_under_way);
        let mut end = ended.unwrap_or_else(PoisonError::into_inner);
        end.panic.take().map_or(Ok(()), Err)
    }

    /// Checks whether the thread has performed its last event.
    pub(crate) fn is_finished(&self) -> bool {
        enforce::begin(OpKind::IsFinished);
        let is_finished = match &self.child {
            Some(child) => child.has_ended(),
            None => self.end().is_there,
        };
        enforce::end();
        is_finished
    }

    /// Waits for the park token of the thread, which is the current thread.
    pub(crate) fn park(&self) {
        self.token.take();
    }

    /// Waits for the park token with a time limit.
    pub(crate) fn park_for(&self, limit: Duration) {
        self.token.take_until(Deadline::after(limit));
    }

    pub(crate) fn unpark(&self) {
        self.token.give();
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns a number that is unique in the process.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}
