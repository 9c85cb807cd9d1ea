//! The transition from a thread's code to the model and back, at every operation that the model
//! performs (*visible* operations).
//!
//! The code announces the operation: it tells the engine what is next. Then the coroutine suspends
//! itself until the model performs the operation, unless the thread may perform it at once. Then
//! the effect runs and the code continues.
//!
//! `current` points to the engine exactly while code of the program under test runs. The allocator
//! and the panic hook use it to find the engine, and operations use it to detect that they run
//! outside a model.

use crate::engine::Engine;
use crate::engine::clean::{LEFT_BY_CALLS, clean};
use crate::engine::control_words::ControlWords;
use crate::engine::current::{load, store};
use crate::engine::granularity::StepGranularity;
use crate::engine::guest::{Comparison, Guest};
use crate::engine::place::Place;
use crate::guests::{Guests, Wait};
use explore::{Bound, Halt, MemoryOrder, Op, Request};
use std::panic::{Location, resume_unwind};
use std::ptr::{self, NonNull};

/// The payload with which remaining threads are unwound after the end of the execution.
pub(crate) struct TearDown;

/// The maximum number of operations while a thread is unwound. A thread with more operations is
/// abandoned.
const MOST_TEAR_DOWN_OPERATIONS: u32 = 10_000;

/// Returns the engine if code of a program under test runs here.
#[inline(always)]
pub(crate) fn current() -> Option<NonNull<Engine>> {
    NonNull::new(load())
}

/// Checks whether the current execution, if there is one, is recorded for users.
pub(crate) fn is_recorded() -> bool {
    // SAFETY: the engine is alive while its threads run.
    current().is_some_and(|engine| unsafe { (*engine.as_ptr()).watch.records })
}

/// Leaves the code of the program under test. Returns the engine, and panics if there is none.
#[inline(always)]
#[track_caller]
fn enter() -> NonNull<Engine> {
    let Some(engine) = NonNull::new(load()) else {
        outside();
    };
    store(ptr::null_mut());
    engine
}

/// Returns to the code of the program under test.
#[inline(always)]
pub(crate) fn leave(engine: NonNull<Engine>) {
    store(engine.as_ptr());
}

/// Ends the code of a thread, regardless of how it ended.
pub(crate) fn enter_root() {
    store(ptr::null_mut());
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside() -> ! {
    panic!(
        "an operation of mazurka is used outside a model: wrap the code in mazurka::model(|| …), and create the \
         objects that it uses inside the model"
    )
}

/// Performs an operation that is possible in any state.
#[inline(always)]
#[track_caller]
pub(crate) fn perform<R>(op: Op, location: Place, effect: impl FnOnce(&mut Engine) -> R) -> R {
    visible(
        |engine| engine.announce(Request::plain(op), location),
        effect,
    )
}

/// Performs an atomic access or a fence with this ordering.
#[inline(always)]
#[track_caller]
pub(crate) fn perform_ordered<R>(
    op: Op,
    order: MemoryOrder,
    location: Place,
    effect: impl FnOnce(&mut Engine) -> R,
) -> R {
    // The ordering is usually a constant, so only one of the two branches remains in the compiled
    // code.
    if !order.is_weaker() {
        return perform(op, location, effect);
    }
    let announce = |engine: &mut Engine| {
        let mut request = Request {
            order,
            ..Request::plain(op)
        };
        engine.process_ordering(&mut request, Some(location));
        engine.announce(request, location);
    };
    visible(announce, effect)
}

/// Announces and performs an operation.
///
/// `effect` must not run code of the program under test.
#[inline(always)]
#[track_caller]
pub(crate) fn visible<R>(
    announce: impl FnOnce(&mut Engine),
    effect: impl FnOnce(&mut Engine) -> R,
) -> R {
    let continues = |engine: &mut Engine| {
        announce(engine);
        engine.runs_on()
    };
    perform_when(continues, effect)
}

/// Performs an operation without an access. It commutes with every other operation, so it is a
/// separate step only if every operation is a step.
#[inline(always)]
#[track_caller]
pub(crate) fn commuting<R>(
    announce: impl FnOnce(&mut Engine),
    effect: impl FnOnce(&mut Engine) -> R,
) -> R {
    let continues = |engine: &mut Engine| match engine.granularity {
        StepGranularity::Operations => {
            announce(engine);
            false
        }
        StepGranularity::Accesses => {
            let continues = engine.begin_part();
            if !continues {
                engine.halt(Halt::Bound(Bound::Events));
            }
            continues
        }
    };
    perform_when(continues, effect)
}

/// Performs an operation: at once if `continues` returns true, and otherwise when the model resumes
/// the thread. [`perform_in_tear_down`] describes operations during the tear-down.
#[inline(always)]
#[track_caller]
pub(crate) fn perform_when<R>(
    continues: impl FnOnce(&mut Engine) -> bool,
    effect: impl FnOnce(&mut Engine) -> R,
) -> R {
    let engine = enter();
    // SAFETY: the engine is alive while its threads run. The references end before each switch.
    unsafe {
        if !(*engine.as_ptr()).is_tearing_down {
            reach(engine, continues);
        }
        let has_caught = (*engine.as_ptr()).is_tearing_down && perform_in_tear_down(engine);
        let result = effect(&mut *engine.as_ptr());
        end_effect(engine);
        leave(engine);
        if has_caught {
            resume_unwind(Box::new(TearDown));
        }
        result
    }
}

/// Waits until the running thread may perform the effect of its operation. If `continues` returns
/// true, that is at once. Otherwise the thread switches to the model and back.
///
/// # Safety
///
/// The conditions are those of [`switch`].
#[inline(always)]
unsafe fn reach(engine: NonNull<Engine>, continues: impl FnOnce(&mut Engine) -> bool) {
    // SAFETY: as promised by the caller.
    unsafe {
        if continues(&mut *engine.as_ptr()) {
            if (*engine.as_ptr()).watch.compares {
                Guests::compare(&mut *engine.as_ptr(), Comparison::BeforeEffect);
            }
            forget_registers();
        } else {
            switch(engine);
        }
    }
}

/// Ends an operation after its effect.
///
/// # Safety
///
/// The engine must be alive, and nothing else may use it.
#[inline(always)]
unsafe fn end_effect(engine: NonNull<Engine>) {
    // SAFETY: as promised by the caller.
    unsafe {
        if (*engine.as_ptr()).watch.records_effects() {
            Guests::end_effect(&mut *engine.as_ptr());
        }
        if (*engine.as_ptr()).watch.stacks {
            clean(engine, LEFT_BY_CALLS);
        }
    }
}

/// Waits until the object grants `wait`, that is, permits the thread to continue. `then` runs after
/// that.
#[inline(always)]
#[track_caller]
pub(crate) fn wait(op: Op, wait: Wait, location: Place, then: impl FnOnce(&mut Engine)) {
    let engine = enter();
    // SAFETY: as in `perform_when`.
    unsafe {
        if !(*engine.as_ptr()).is_tearing_down {
            reach(engine, |engine| {
                let is_over = engine.is_over_at_once(wait);
                if !is_over {
                    engine.announce_wait(op, wait, location);
                }
                is_over
            });
        }
        if (*engine.as_ptr()).is_tearing_down {
            perform_in_tear_down(engine);
            while !(*engine.as_ptr()).life.objects.is_granted(wait) {
                Guests::lose_destructor(&mut *engine.as_ptr());
                switch(engine);
            }
        } else {
            (*engine.as_ptr()).end_wait(wait);
        }
        then(&mut *engine.as_ptr());
        end_effect(engine);
    }
    leave(engine);
}

/// Uses the engine without performing an event.
#[inline(always)]
#[track_caller]
pub(crate) fn silently<R>(effect: impl FnOnce(&mut Engine) -> R) -> R {
    let engine = enter();
    // SAFETY: as in `perform_when`.
    let result = effect(unsafe { &mut *engine.as_ptr() });
    leave(engine);
    result
}

/// Stops the thread permanently. Returns only in destructors that run during the tear-down.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn halt(why: Halt) {
    let engine = enter();
    // SAFETY: as in `perform_when`.
    unsafe {
        if !(*engine.as_ptr()).is_tearing_down {
            (*engine.as_ptr()).halt(why);
            switch(engine);
        }
        perform_in_tear_down(engine);
        if Guests::is_dropping_statics(&*engine.as_ptr()) {
            Guests::lose_destructor(&mut *engine.as_ptr());
            loop {
                switch(engine);
            }
        }
    }
    leave(engine);
}

/// Stops the thread permanently. The effect sets the thread's final state.
#[track_caller]
pub(crate) fn stop(effect: impl FnOnce(&mut Engine)) -> ! {
    let engine = enter();
    // SAFETY: as in `perform_when`.
    unsafe {
        effect(&mut *engine.as_ptr());
        (*engine.as_ptr()).abandon_running();
        loop {
            switch(engine);
        }
    }
}

/// Performs the end of a thread as an event.
#[cold]
#[track_caller]
pub(crate) fn end() {
    let end = silently(|engine| engine.names.end(engine.running));
    let op = objects::Thread::END.on(end);
    perform(op, Location::caller(), Guests::record_end);
}

/// Runs the threads that are ready to continue in this step, such as new threads, to their next
/// operations before the running thread continues.
#[cold]
pub(crate) fn let_others_run() {
    let engine = enter();
    // SAFETY: as in `perform_when`.
    unsafe {
        if !(*engine.as_ptr()).is_tearing_down {
            let thread = (*engine.as_ptr()).running;
            (*engine.as_ptr()).is_ready(thread);
            switch(engine);
        }
    }
    leave(engine);
}

/// Suspends the coroutine until the model resumes it.
///
/// # Safety
///
/// The calling code must run in a coroutine of the engine and must not hold a reference to the
/// engine.
#[inline(always)]
unsafe fn switch(engine: NonNull<Engine>) {
    // SAFETY: the engine is alive, and there is no reference to it.
    unsafe {
        if (*engine.as_ptr()).watch.reads {
            Guests::suspend(&mut *engine.as_ptr());
        }
    }
    // SAFETY: the suspender is that of the running coroutine, and only this code suspends it. Only
    // native programs have control words, and their process has one model.
    unsafe {
        let suspender = (*engine.as_ptr()).suspender;
        if let Some(checkers) = (*engine.as_ptr()).control_words {
            let words = ControlWords::now();
            checkers.replace(words);
            let kept = Guests::keep(&mut *engine.as_ptr());
            (*suspender).suspend(());
            Guests::resume(kept);
            words.set_after(checkers);
        } else {
            (*suspender).suspend(());
        }
    }
    forget_registers();
}

/// Zeroes what the model's calls have left on the stack below the caller's frame.
#[inline(never)]
pub(crate) fn clean_after_calls() {
    if let Some(engine) = current() {
        clean(engine, LEFT_BY_CALLS);
    }
}

/// Zeroes what the model's calls have left on the stack, after the first use of an object in an
/// execution. Which thread uses the object first depends on the schedule, but the content of the
/// stacks must not.
#[cold]
#[inline(never)]
pub(crate) fn clean_after_first_use() {
    if current().is_some() && silently(|engine| engine.watch.stacks) {
        clean_after_calls();
    }
}

/// Zeroes the registers that may hold values of the model after a switch, because the await rule
/// compares registers.
#[inline(always)]
fn forget_registers() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the registers are declared as overwritten.
    unsafe {
        std::arch::asm!(
            "xor r12d, r12d", "xor r13d, r13d", "xor r14d, r14d", "xor r15d, r15d",
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
            options(nomem, nostack),
        );
    }
}

/// Handles an operation during the tear-down. The first operation of a thread starts its unwinding,
/// unless a panic unwinds the thread already. Later operations come from destructors and take
/// effect without a switch. Operations of destructors of statics also take effect without a switch,
/// and unwind no thread.
///
/// Returns whether the thread has caught the unwinding payload, so that it must be unwound again
/// after the operation. (A catch is not detected while another panic unwinds the thread, too.)
///
/// # Safety
///
/// The conditions are those of [`switch`].
#[cold]
#[inline(never)]
unsafe fn perform_in_tear_down(engine: NonNull<Engine>) -> bool {
    // SAFETY: the engine is alive and nothing else uses it.
    if unsafe { Guests::is_dropping_statics(&*engine.as_ptr()) } {
        return false;
    }
    // SAFETY: as above.
    let thread = unsafe { (*engine.as_ptr()).thread() };
    thread.life.tear_down_operations += 1;
    if thread.life.tear_down_operations > MOST_TEAR_DOWN_OPERATIONS {
        loop {
            // SAFETY: as promised by the caller. The model does not resume the thread any more.
            unsafe { switch(engine) };
        }
    }
    let is_panicking = std::thread::panicking();
    let unwinds_already = thread.caught_panic.is_some() && is_panicking;
    if thread.life.tear_down_operations == 1 && !unwinds_already {
        leave(engine);
        resume_unwind(Box::new(TearDown));
    }
    !is_panicking
}
