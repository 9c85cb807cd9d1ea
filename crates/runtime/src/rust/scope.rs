//! Threads that borrow from the thread that starts them.

#[cfg(feature = "enforce")]
mod outside;

use crate::engine::granularity::StepGranularity;
use crate::engine::perform::{self, silently};
use crate::rust::outside::outside;
use crate::rust::pools::Wait;
use crate::rust::thread::{Body, Handle, start};
use explore::ThreadId;
use objects::Thread;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::io;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

/// A list of threads, which is short in nearly all programs.
type Threads = SmallVec<[ThreadId; 16]>;

/// Threads that may borrow everything that outlives `'scope`, as in `std::thread::scope`. The
/// threads are started while [`scope`] runs for this value.
///
/// ```
/// use runtime::{Config, Model, Scope, scope};
///
/// let mut model = Model::new(Config::default(), || {
///     let number = std::cell::Cell::new(1);
///     let threads = Scope::default();
///     scope(&threads, || {
///         threads.spawn(None, || number.set(2));
///     });
///     assert_eq!(number.get(), 2);
/// });
/// # let mut strategy = explore::Algorithm::Optimal.strategy(explore::Options::default());
/// # explore::explore(&mut model, &mut strategy, &mut ()).unwrap();
/// # assert_eq!(explore::Program::outcome(&model), explore::Outcome::Completed);
/// ```
#[derive(Default)]
pub struct Scope<'scope> {
    /// The threads that are not joined, or `None` before and after [`scope`] runs.
    threads: RefCell<Option<Threads>>,
    /// The threads that are not joined, outside of models.
    #[cfg(feature = "enforce")]
    outside: outside::Threads,
    scope: PhantomData<&'scope mut &'scope ()>,
}

// SAFETY: the threads of a model take turns, and no borrow of the list is held while another thread
// runs.
unsafe impl Sync for Scope<'_> {}

/// Runs `body`, which may start threads in the scope, and joins the threads that `body` has not
/// joined. If `body` panics, continues its panic. Otherwise panics with "a scoped thread panicked"
/// if one of the threads that it joins panicked. Also panics if it already runs for this scope.
#[track_caller]
pub fn scope<'scope, R>(scope: &'scope Scope<'scope>, body: impl FnOnce() -> R) -> R {
    outside!(scope.outside.scope(body));
    let before = scope.threads.replace(Some(Threads::new()));
    assert!(before.is_none(), "a scope is opened inside itself");
    let result = catch_unwind(AssertUnwindSafe(body));
    let location = Location::caller();
    silently(|engine| engine.begin_joining(scope.threads.borrow().as_deref().unwrap_or_default()));
    // Threads of the scope may start more threads.
    let mut ended = Threads::new();
    while let Some(thread) = scope.next_to_join() {
        await_scoped(thread, location);
        ended.push(thread);
        scope.join_ended(&mut ended);
    }
    // Panics are checked when all threads have ended, so that the result does not depend on the
    // order of the joins.
    let has_panicked = silently(|engine| {
        engine.end_joining();
        let panics = ended
            .iter()
            .map(|thread| engine.threads[thread.index()].panic.take());
        panics.flatten().count() > 0
    });
    scope.threads.replace(None);
    match result {
        Err(panic) => resume_unwind(panic),
        Ok(_) if has_panicked => panic!("a scoped thread panicked"),
        Ok(result) => result,
    }
}

/// Waits for the end of a thread that may have been joined before.
#[track_caller]
fn await_scoped(thread: ThreadId, location: &'static Location<'static>) {
    let op = silently(|engine| Thread::JOIN.on(engine.names.end(thread)));
    perform::wait(op, Wait::Join(thread), location, |engine| {
        let has_panicked = engine.threads[thread.index()].panic.is_some();
        let how = if has_panicked { " -> panicked" } else { "" };
        engine.record_thread(thread, |name| format!("{name}.join(){how}"));
    });
}

impl<'scope> Scope<'scope> {
    /// Starts a thread of the scope like [`Scope::spawn`], also outside of a model.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot start a thread, outside of a model.
    ///
    /// # Panics
    ///
    /// Panics unless [`scope`] runs for this scope.
    #[inline(always)]
    #[track_caller]
    pub fn start(
        &'scope self,
        name: Option<String>,
        body: impl FnOnce() + Send + 'scope,
    ) -> io::Result<Handle> {
        outside!(self.outside.spawn(name, Box::new(body)));
        Ok(Handle::Model(self.spawn(name, body)))
    }

    /// Starts a thread of the scope.
    ///
    /// # Panics
    ///
    /// Panics unless [`scope`] runs for this scope.
    #[track_caller]
    pub fn spawn(&'scope self, name: Option<String>, body: impl FnOnce() + 'scope) -> ThreadId {
        let body: Box<dyn FnOnce() + 'scope> = Box::new(body);
        // SAFETY: the body runs only if the scope is open when the thread starts. `'scope` outlasts
        // the call of `scope`, which does not return or unwind before the thread has ended and has
        // dropped its captures. If the execution ends earlier, threads are unwound before the
        // threads that started them. Everything that outlives `'scope` belongs to a thread that,
        // directly or indirectly, started the other threads of the scope.
        let body: Body = unsafe { std::mem::transmute(body) };
        let mut refused = None;
        let thread = start(
            Location::caller(),
            name,
            body,
            |thread, body| match &mut *self.threads.borrow_mut() {
                Some(threads) => {
                    threads.push(thread);
                    body
                }
                None => {
                    refused = Some(body);
                    Box::new(|| ())
                }
            },
        );
        assert!(
            refused.is_none(),
            "a thread is started in a scope that is not open"
        );
        thread
    }

    /// Joins threads that have ended without a step for each join, the youngest first. Stops at the
    /// first thread for which this is not possible.
    #[track_caller]
    fn join_ended(&self, ended: &mut Threads) {
        let mut threads = self.threads.borrow_mut();
        let threads = threads.as_mut().expect("a scope that joins is open");
        silently(|engine| {
            while let Some(&thread) = threads.last()
                && engine.joins_at_once(thread)
            {
                threads.pop();
                ended.push(thread);
            }
        });
    }

    /// Removes a thread that is not joined from the list and returns it, or returns `None` if all
    /// are joined. Joins commute, so their order is free. Traces for users
    /// (`StepGranularity::Operations`) show the joins in the order of the spawns. A search
    /// (`StepGranularity::Accesses`) begins with the youngest thread, because this is faster: it is
    /// usually the last thread to end.
    #[track_caller]
    fn next_to_join(&self) -> Option<ThreadId> {
        let mut threads = self.threads.borrow_mut();
        let threads = threads.as_mut()?;
        match silently(|engine| engine.granularity) {
            StepGranularity::Accesses => threads.pop(),
            StepGranularity::Operations => (!threads.is_empty()).then(|| threads.remove(0)),
        }
    }
}
