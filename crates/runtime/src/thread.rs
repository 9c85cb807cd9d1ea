//! Threads: start, end, park and scope.

use crate::await_rule::Seen;
use crate::engine::{Engine, Job};
use crate::perform::{self, perform, silently, visible};
use crate::waiting::Wait;
use explore::{Request, ThreadId};
use objects::{Coarsening, Park, Thread};
use std::any::Any;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

/// What a thread panicked with.
pub type Panic = Box<dyn Any + Send + 'static>;

/// Starts a thread. What it gives to the one who joins it goes by the closure's captures; a panic
/// goes to the joiner, and is a failure if there is none.
#[inline(always)]
#[track_caller]
pub fn spawn(name: Option<String>, body: impl FnOnce() + 'static) -> ThreadId {
    spawn_at(Location::caller(), name, Box::new(body))
}

/// The same for a caller that knows where the program does it.
#[inline(always)]
pub fn spawn_at(
    location: &'static Location<'static>,
    name: Option<String>,
    body: Box<dyn FnOnce()>,
) -> ThreadId {
    let announce = |engine: &mut Engine| {
        let child = engine.upcoming_child(0);
        let op = Thread::SPAWN.on(engine.names.end(child));
        engine.announce(Request::plain(op), location);
    };
    visible(announce, |engine| {
        let child = engine.spawn(Job::Spawned(body), name);
        engine.record_thread(child, |name| format!("spawn() -> {name}"));
        child
    })
}

/// Waits for the end of a thread; `Err` if it panicked. Only once for each thread.
#[inline(always)]
#[track_caller]
pub fn join(thread: ThreadId) -> Result<(), Panic> {
    let op = silently(|engine| Thread::JOIN.on(engine.names.end(thread)));
    let mut panic = None;
    perform::wait(op, Wait::Join(thread), Location::caller(), |engine| {
        panic = engine.threads[thread.index()].panic.take();
        if panic.is_some() {
            engine.learns_of_panic();
        }
        let how = if panic.is_some() { " -> panicked" } else { "" };
        engine.record_thread(thread, |name| format!("{name}.join(){how}"));
    });
    panic.map_or(Ok(()), Err)
}

/// The child that the thread at hand starts next, after as many others.
pub fn upcoming_child(others: u32) -> ThreadId {
    silently(|engine| engine.upcoming_child(others))
}

/// Waits for the end of a thread, as often as one likes. A panic of the thread stays its own.
pub fn await_end(location: &'static Location<'static>, thread: ThreadId) {
    let op = silently(|engine| Thread::JOIN.on(engine.names.end(thread)));
    perform::wait(op, Wait::Join(thread), location, |engine| {
        engine.record_thread(thread, |name| format!("await {name}"));
    });
}

/// Whether a thread has ended, without waiting.
#[track_caller]
pub fn is_finished(thread: ThreadId) -> bool {
    let end = silently(|engine| {
        let end = engine.names.end(thread);
        engine.coarsen(end, Coarsening::Polled);
        end
    });
    perform(Thread::IS_FINISHED.on(end), Location::caller(), |engine| {
        let is_finished = engine.objects.ends[thread.index()].is_finished();
        if !is_finished {
            engine.see(Seen::Runs(thread));
        }
        engine.record(|_| format!("is_finished() -> {is_finished}"));
        is_finished
    })
}

/// The thread at hand.
pub fn current() -> ThreadId {
    silently(|engine| engine.running)
}

/// The name that a thread was given; the main thread is `main`.
pub fn name(thread: ThreadId) -> Option<String> {
    let name = silently(|engine| engine.threads[thread.index()].name.clone());
    name.or_else(|| (thread == ThreadId::MAIN).then(|| "main".to_owned()))
}

/// Whether a model runs here, so that operations are possible.
pub fn is_in_model() -> bool {
    perform::current().is_some()
}

/// Whether the execution is over, and the threads that are left are unwound.
pub fn is_over() -> bool {
    silently(|engine| engine.is_tearing_down)
}

/// Whether a panic is a failure even if somebody observes it.
pub fn panics_fail() -> bool {
    silently(|engine| engine.config.panics_fail)
}

/// The thread at hand serves others: that it waits for letters at the end is no deadlock.
pub fn serve() {
    silently(|engine| engine.thread().serves = true);
}

/// Whether the thread at hand is unwinding by a panic (or by the end of the execution).
pub fn panicking() -> bool {
    std::thread::panicking() && silently(|engine| engine.is_unwinding())
}

/// Waits for the park token of the thread at hand.
#[track_caller]
pub fn park() {
    let location = Location::caller();
    let (thread, token) = request_token(location);
    perform::wait(Park::WAIT.on(token), Wait::Park(thread), location, |_| ());
}

/// The same for some time; whether it got the token.
#[track_caller]
pub fn park_timed() -> bool {
    let location = Location::caller();
    let (thread, token) = request_token(location);
    let is_granted = perform(Park::RESOLVE.on(token), location, |engine| {
        let is_granted = engine.objects.parks[thread.index()].resolve();
        if is_granted && engine.watch.races {
            engine.happens_before.parked(thread);
        }
        engine.record(|_| match is_granted {
            true => "park_timeout(): unparked in time".to_owned(),
            false => "park_timeout(): not unparked in time".to_owned(),
        });
        is_granted
    });
    if !is_granted {
        crate::mutex::expire();
    }
    is_granted
}

fn request_token(location: &'static Location<'static>) -> (ThreadId, explore::ObjectId) {
    let (thread, token) = silently(|engine| (engine.running, engine.names.park(engine.running)));
    perform(Park::REQUEST.on(token), location, |engine| {
        engine.objects.parks[thread.index()].request();
    });
    (thread, token)
}

/// Gives a thread its park token.
#[track_caller]
pub fn unpark(thread: ThreadId) {
    let token = silently(|engine| engine.names.park(thread));
    perform(Park::UNPARK.on(token), Location::caller(), |engine| {
        let event = engine.event();
        engine.objects.parks[thread.index()].unpark(event);
        if engine.watch.races {
            engine.happens_before.unparks(engine.running, thread);
        }
        let name = engine.thread_name(thread);
        engine.record(|_| format!("{name}.unpark()"));
    });
}

/// Threads that may borrow from the one that starts them, as in `std::thread::scope`.
pub struct Scope<'scope, 'env: 'scope> {
    threads: RefCell<Vec<ThreadId>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

// SAFETY: the threads of a model take turns, and no borrow of the list is held while another runs.
unsafe impl Sync for Scope<'_, '_> {}

/// Runs `body`, which may start threads in the scope, and joins those that it has not joined. Panics
/// with "a scoped thread panicked" if one of these did.
#[track_caller]
pub fn scope<'env, R>(body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> R {
    let scope = Scope {
        threads: RefCell::default(),
        scope: PhantomData,
        env: PhantomData,
    };
    let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    let location = Location::caller();
    let mut has_panicked = false;
    let mut next = 0;
    loop {
        // Threads of the scope may start more of them.
        let Some(thread) = scope.threads.borrow().get(next).copied() else {
            break;
        };
        next += 1;
        has_panicked |= join_scoped(thread, location);
    }
    match result {
        Err(panic) => resume_unwind(panic),
        Ok(_) if has_panicked => panic!("a scoped thread panicked"),
        Ok(result) => result,
    }
}

/// Waits for the end of a thread that was perhaps joined before; whether it panicked unseen.
fn join_scoped(thread: ThreadId, location: &'static Location<'static>) -> bool {
    let op = silently(|engine| Thread::JOIN.on(engine.names.end(thread)));
    let mut has_panicked = false;
    perform::wait(op, Wait::Join(thread), location, |engine| {
        has_panicked = engine.threads[thread.index()].panic.take().is_some();
        let how = if has_panicked { " -> panicked" } else { "" };
        engine.record_thread(thread, |name| format!("{name}.join(){how}"));
    });
    has_panicked
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread of the scope.
    #[track_caller]
    pub fn spawn(&'scope self, name: Option<String>, body: impl FnOnce() + 'scope) -> ThreadId {
        let body: Box<dyn FnOnce() + 'scope> = Box::new(body);
        // SAFETY: `scope` returns or unwinds only after the thread has ended and has dropped what it
        // captured. If the execution ends before, the younger threads are unwound before older ones.
        let body: Box<dyn FnOnce() + 'static> = unsafe { std::mem::transmute(body) };
        let thread = spawn_at(Location::caller(), name, body);
        self.threads.borrow_mut().push(thread);
        thread
    }
}
