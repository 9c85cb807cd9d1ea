//! Threads: start, end, park and scope.

mod handle;
#[cfg(feature = "enforce")]
pub(crate) mod system;

pub use handle::{Handle, park_here, park_here_for};

use crate::engine::kin::Code;
use crate::engine::panic_count;
use crate::engine::perform::{self, commuting, perform, silently};
use crate::engine::{Engine, Job, Panic};
use crate::rust::choice::spurious;
use crate::rust::outside::outside;
use crate::rust::pools::Wait;
use crate::watch::seen::Seen;
use explore::{ObjectId, Request, ThreadId};
use objects::{Coarsening, Park, Thread};
use std::panic::Location;

/// Starts a thread. The thread returns its results through the closure's captures. A panic is
/// passed to the thread that joins this thread. It is a failure if no thread does.
#[inline(always)]
#[track_caller]
pub fn spawn(name: Option<String>, body: impl FnOnce() + 'static) -> ThreadId {
    spawn_at(Location::caller(), name, Box::new(body))
}

/// Requests a stack of at least the given number of bytes for the running thread's next child.
#[track_caller]
pub fn ask_for_stack(bytes: usize) {
    outside!(system::ask_for_stack(bytes));
    silently(|engine| engine.thread().life.stack_of_child = bytes);
}

/// Records what the next child of the current thread runs, so that the search can recognize twins.
/// Threads whose results may differ have no twins.
#[inline]
#[track_caller]
pub fn will_run<T, F: FnOnce() -> T>(body: &F) {
    if is_in_model() && size_of::<T>() == 0 && !std::mem::needs_drop::<T>() {
        silently(|engine| {
            if engine.config.symmetry {
                engine.will_run(Code::of(body));
            }
        });
    }
}

/// The code that a thread runs.
pub(crate) type Body = Box<dyn FnOnce()>;

/// Starts a thread at the given place of the program; see [`spawn`].
#[inline(always)]
#[track_caller]
pub fn spawn_at(
    location: &'static Location<'static>,
    name: Option<String>,
    body: Box<dyn FnOnce()>,
) -> ThreadId {
    start(location, name, body, |_, body| body)
}

/// Starts a thread that performs a call of an object. Traces show this call as a message to the
/// thread.
pub fn call_at(
    location: &'static Location<'static>,
    method: &str,
    body: Box<dyn FnOnce()>,
) -> ThreadId {
    let child = spawn_at(location, Some(method.to_owned()), body);
    silently(|engine| {
        engine.record_thread(child, |name| format!("call {name}"));
        if engine.watch.records {
            let event = engine.event();
            engine.guests.recorder.record_call_of(child, event);
        }
    });
    child
}

/// Starts a thread. `admit` is called with the new thread and `body`, and returns the code that the
/// thread runs.
#[inline(always)]
#[track_caller]
pub(crate) fn start(
    location: &'static Location<'static>,
    name: Option<String>,
    body: Body,
    admit: impl FnOnce(ThreadId, Body) -> Body,
) -> ThreadId {
    let announce = |engine: &mut Engine| {
        let child = engine.upcoming_child(0);
        let op = Thread::SPAWN.on(engine.names.end(child));
        engine.announce(Request::plain(op), location);
    };
    let child = commuting(announce, |engine| {
        let child = engine.spawn(location, name, |child| Job::Spawned(admit(child, body)));
        engine.record_thread(child, |name| format!("spawn() -> {name}"));
        child
    });
    if silently(|engine| engine.children_go_first) {
        perform::let_others_run();
    }
    child
}

/// Waits for the end of a thread. Returns its panic as `Err`. Only one join is allowed per thread.
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

/// Returns the child that the current thread will start after this many further children.
#[track_caller]
pub fn upcoming_child(others: u32) -> ThreadId {
    silently(|engine| engine.upcoming_child(others))
}

/// Waits for the end of a thread, which is allowed any number of times. If the thread panics, the
/// panic is the failure, and the wait never ends.
pub fn await_end(location: &'static Location<'static>, thread: ThreadId) {
    let op = silently(|engine| Thread::JOIN.on(engine.names.end(thread)));
    perform::wait(op, Wait::Return(thread), location, |engine| {
        engine.record_thread(thread, |name| format!("await {name}"));
        if engine.watch.records {
            engine.guests.recorder.record_return_of(thread);
        }
    });
}

/// Checks whether a thread has ended, without waiting.
#[track_caller]
pub fn is_finished(thread: ThreadId) -> bool {
    let end = silently(|engine| {
        let end = engine.names.end(thread);
        engine.coarsen_object(end, Coarsening::Polled);
        if engine.config.symmetry {
            engine.tell_apart(thread);
        }
        end
    });
    perform(Thread::IS_FINISHED.on(end), Location::caller(), |engine| {
        let is_finished = engine.life.objects.ends[thread.index()].is_finished();
        if !is_finished {
            engine.see(Seen::Runs(thread));
        }
        engine.record(|_| format!("is_finished() -> {is_finished}"));
        is_finished
    })
}

/// Returns the current thread.
#[track_caller]
#[inline]
pub fn current() -> ThreadId {
    silently(|engine| engine.running)
}

/// Returns the name that a thread was given, or `None` if it has no name. The name of the main
/// thread is `main`.
#[track_caller]
pub fn name(thread: ThreadId) -> Option<String> {
    let name = silently(|engine| engine.threads[thread.index()].life.name.clone());
    name.or_else(|| (thread == ThreadId::MAIN).then(|| "main".to_owned()))
}

/// Checks whether the caller runs in a model, so that operations are possible.
pub fn is_in_model() -> bool {
    perform::current().is_some()
}

/// Checks whether the execution is over and the remaining threads are unwound.
pub fn is_over() -> bool {
    outside!(false);
    silently(|engine| engine.is_tearing_down)
}

/// Checks whether a panic is a failure even if another thread observes it. With the feature
/// `enforce`, returns false outside of a model.
pub fn panics_fail() -> bool {
    outside!(false);
    silently(|engine| engine.config.conditions.panics_fail)
}

/// Marks the current thread as a server. If the thread still waits for letters at the end of the
/// execution, this is not a deadlock.
pub fn serve() {
    silently(|engine| engine.thread().life.guests.serves = true);
}

/// Sets the place that traces show for operations of the current thread at mailboxes and states.
/// Without this setting, traces show the place of the call. Returns the previous setting.
#[track_caller]
pub fn stand_at(
    location: Option<&'static Location<'static>>,
) -> Option<&'static Location<'static>> {
    outside!(location);
    silently(|engine| std::mem::replace(&mut engine.thread().life.place, location))
}

/// Returns the place that traces show for an operation at a mailbox or state called from here.
#[track_caller]
pub fn place(caller: &'static Location<'static>) -> &'static Location<'static> {
    outside!(caller);
    silently(|engine| engine.thread().life.place).unwrap_or(caller)
}

/// Checks whether the current thread is unwinding because of a panic or the end of the execution.
#[track_caller]
pub fn panicking() -> bool {
    outside!(std::thread::panicking());
    std::thread::panicking() && (panic_count::IS_OWN || silently(|engine| engine.is_unwinding()))
}

/// Waits for the park token of the current thread.
#[track_caller]
pub fn park() {
    let location = Location::caller();
    if spurious() {
        park_some_time(location);
        return;
    }
    let (thread, token, own_round) = request_token(location);
    perform::wait(
        Park::WAIT.on(token),
        Wait::Unpark(thread),
        location,
        |engine| {
            // The await rule stops loops whose rounds have no effect. For this rule, a wait for a
            // token that the thread gave to itself does not count as an effect, unlike other waits.
            if let Some(had_effect) = own_round {
                engine.thread().life.guests.round.set_effect(had_effect);
            }
        },
    );
}

/// Waits for the park token with a time limit. Returns whether the thread got the token.
#[track_caller]
pub fn park_timed() -> bool {
    let is_granted = park_some_time(Location::caller());
    if !is_granted {
        crate::rust::mutex::expire();
    }
    is_granted
}

#[track_caller]
fn park_some_time(location: &'static Location<'static>) -> bool {
    let (thread, token, _) = request_token(location);
    perform(Park::RESOLVE.on(token), location, |engine| {
        let is_granted = engine.life.objects.parks[thread.index()].resolve();
        if is_granted {
            if engine.watch.races {
                engine.guests.happens_before.parked(thread);
            }
            engine.follows_weakly(Wait::Unpark(thread));
        }
        engine.record(|_| match is_granted {
            true => "park_timeout(): unparked in time".to_owned(),
            false => "park_timeout(): not unparked in time".to_owned(),
        });
        is_granted
    })
}

/// Requests the park token of the current thread. Returns the thread and the token. The last result
/// is `None` unless the thread gave the token to itself. Then it tells whether the thread has had
/// an effect so far in its current round of a loop (see `watch/await_rule.rs`).
// Not inlined: the await rule compares the program's frames between the rounds of a loop, and the
// numbers of events differ in each round.
#[inline(never)]
#[track_caller]
fn request_token(location: &'static Location<'static>) -> (ThreadId, ObjectId, Option<bool>) {
    let (thread, token) = silently(|engine| (engine.running, engine.names.park(engine.running)));
    let own_round = perform(Park::REQUEST.on(token), location, |engine| {
        let park = &mut engine.life.objects.parks[thread.index()];
        let given = park.given();
        park.request();
        let round = &mut engine.thread().life.guests.round;
        round
            .token
            .takes(token, given)
            .then_some(round.has_effect())
    });
    (thread, token, own_round)
}

/// Gives a thread its park token.
// Not inlined: the await rule compares the program's frames between the rounds of a loop, and the
// numbers of events differ in each round.
#[inline(never)]
#[track_caller]
pub fn unpark(thread: ThreadId) {
    let token = silently(|engine| {
        if engine.config.symmetry {
            engine.tell_apart(thread);
        }
        engine.names.park(thread)
    });
    perform(Park::UNPARK.on(token), Location::caller(), |engine| {
        let event = engine.event();
        let park = &mut engine.life.objects.parks[thread.index()];
        let was_given = park.given().is_some();
        park.unpark(event);
        let is_own = thread == engine.running;
        let round = &mut engine.thread().life.guests.round;
        if is_own && !round.token.waits_for(token) {
            round.token.owns(token);
        }
        round.token.gives(token, event, was_given);
        if was_given {
            engine.see(Seen::Unparked(thread));
        }
        if engine.watch.races {
            engine.guests.happens_before.unparks(engine.running, thread);
        }
        let name = engine.thread_name(thread);
        engine.record(|_| format!("{name}.unpark()"));
    });
}
