//! The root of a coroutine, which runs threads one after the other and catches their unwinding.

use crate::engine::clean;
use crate::engine::coroutine::{Root, Suspender};
use crate::engine::guest::Guest;
use crate::engine::perform::{self, TearDown};
use crate::engine::{Engine, Panic};
use crate::guests::Guests;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// Returns the code of the engine's coroutines.
pub(crate) fn of(engine: NonNull<Engine>) -> Root {
    Root {
        run: |engine, suspender| run(engine.cast(), suspender),
        engine: engine.cast(),
    }
}

/// Runs the threads that the engine assigns to this coroutine.
fn run(engine: NonNull<Engine>, suspender: &Suspender) {
    // SAFETY: the engine outlives its coroutines, and nothing else uses it while this coroutine
    // runs.
    let pointer = || unsafe { &mut *engine.as_ptr() };
    let set_control_words = || {
        if let Some(control_words) = pointer().control_words {
            control_words.set();
        }
    };
    loop {
        let job = pointer().take_job(suspender);
        if pointer().watch.stacks || pointer().names.has_wiped_stacks() {
            clean::clean(engine, clean::LEFT_BY_THREADS);
        }
        set_control_words();
        perform::leave(engine);
        let mut panic = catch(|| job.run());
        if Guests::has_locals(pointer()) {
            panic = catch(Guests::drop_locals).or(panic);
        }
        if pointer().is_end_polled() {
            catch(perform::end);
        }
        perform::enter_root();
        if panic.is_none() {
            // SAFETY: the engine outlives its coroutines. No reference to it is held here.
            unsafe { Guests::drop_statics(engine) };
        }
        set_control_words();
        pointer().finish(panic);
        suspender.suspend(());
    }
}

/// Runs the code. Returns the payload if the code panics, and otherwise `None`. A payload that ends
/// a thread without a panic is dropped.
#[inline(always)]
fn catch(code: impl FnOnce()) -> Option<Panic> {
    let panic = catch_unwind(AssertUnwindSafe(code)).err()?;
    let is_planned = panic.is::<TearDown>() || Guests::is_end_of_thread(&panic);
    (!is_planned).then_some(panic)
}
