//! The panic hook. It records panics of Rust programs inside a model without printing them: the
//! report shows those that are failures.

use crate::engine::guest::Guest;
use crate::engine::perform;
use crate::engine::{CaughtPanic, Engine};
use crate::guests::Guests;

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::ptr::NonNull;
use std::sync::Once;

thread_local! {
    /// Whether [`contained`] runs. It catches panics of the checker, so the hook does not print
    /// them.
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Returns the result of `work`, or `None` if it panics. `work` must panic only if a file that it
/// relies on is inconsistent.
pub fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    install();
    let before = IS_CONTAINED.replace(true);
    // Values that the work has changed are not used afterwards.
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    IS_CONTAINED.set(before);
    result.ok()
}

/// Installs a hook in front of the existing hook, once per process.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| match perform::current() {
            // A program in machine code does not panic, so the checker has panicked.
            Some(engine) if is_native(engine) => previous(info),
            Some(_) => record_panic(info),
            None if IS_CONTAINED.get() => {}
            None => previous(info),
        }));
    });
}

fn is_native(engine: NonNull<Engine>) -> bool {
    // SAFETY: the engine is alive while its threads run, and this thread runs.
    unsafe { (*engine.as_ptr()).config.native.is_some() }
}

fn record_panic(info: &PanicHookInfo<'_>) {
    perform::silently(|engine| {
        let payload = info.payload();
        let message = match (
            payload.downcast_ref::<&str>(),
            payload.downcast_ref::<String>(),
        ) {
            (Some(text), _) => (*text).to_owned(),
            (None, Some(text)) => text.clone(),
            (None, None) => "a panic with a value that is not text".to_owned(),
        };
        let location = info.location().map_or_else(String::new, report::place);
        Guests::panicked(engine);
        engine.thread().caught_panic = Some(CaughtPanic { message, location });
    });
}
