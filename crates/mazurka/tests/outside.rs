//! Use of Mazurka outside a model: the panic says what to do, and points to the line to change.

// With the feature `enforce` this use is allowed.
#![cfg(not(feature = "enforce"))]

use mazurka::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering::SeqCst, fence};
use mazurka::sync::{
    Arc, Barrier, Condvar, LazyLock, Mutex, Notify, Once, OnceLock, RwLock, Semaphore, mpsc,
};
use mazurka::{cell, future, hint, thread};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

thread_local! {
    static IS_NOTED: Cell<bool> = const { Cell::new(false) };
    /// File, line and message of the last recorded panic.
    static PANIC: RefCell<(String, u32, String)> = const { RefCell::new((String::new(), 0, String::new())) };
}

/// Installs a hook that records panics of threads with `IS_NOTED`, instead of printing them.
fn note_panics() {
    static INSTALLED: std::sync::Once = std::sync::Once::new();
    INSTALLED.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IS_NOTED.get() {
                return previous(info);
            }
            let place = info.location().expect("a panic has a place");
            let message = info.payload_as_str().unwrap_or_default().to_owned();
            PANIC.set((place.file().to_owned(), place.line(), message));
        }));
    });
}

/// Returns the panic message of the code, which must panic at this line of this file.
fn message_at(line: u32, code: impl FnOnce()) -> String {
    note_panics();
    IS_NOTED.set(true);
    let result = catch_unwind(AssertUnwindSafe(code));
    IS_NOTED.set(false);
    assert!(result.is_err(), "line {line} does not panic");
    let (file, found, message) = PANIC.take();
    let place = (file.as_str(), found);
    assert_eq!(place, (file!(), line), "{message}");
    message
}

/// Checks that the code panics at its line, and that the message asks for a model.
macro_rules! asks {
    ($code:expr) => {
        let message = message_at(line!(), || drop(Box::new($code)));
        assert!(
            message.contains("outside a model: wrap the code in mazurka::model(|| …)"),
            "{message}"
        );
    };
}

#[test]
fn atomic_variables_and_cells_name_the_line() {
    asks!(AtomicU32::new(0).load(SeqCst));
    asks!(AtomicU32::new(0).store(1, SeqCst));
    asks!(AtomicU32::new(0).fetch_add(1, SeqCst));
    asks!(AtomicU32::new(0).compare_exchange(0, 1, SeqCst, SeqCst));
    asks!(AtomicU32::new(0).fetch_update(SeqCst, SeqCst, |x| Some(x + 1)));
    asks!(AtomicBool::new(false).swap(true, SeqCst));
    asks!(AtomicPtr::<u32>::default().load(SeqCst));
    asks!(AtomicU32::new(0).named("count"));
    asks!(fence(SeqCst));
    asks!(cell::UnsafeCell::new(0));
    asks!(cell::Cell::new(0));
}

#[test]
fn locks_and_the_like_name_the_line() {
    asks!(Mutex::new(0).lock());
    asks!(Mutex::new(0).try_lock());
    asks!(Mutex::new(0).is_poisoned());
    asks!(Mutex::new(0).named("lock"));
    asks!(RwLock::new(0).read());
    asks!(RwLock::new(0).try_write());
    asks!(Condvar::new().notify_one());
    asks!(Barrier::new(1).wait());
    asks!(Once::new().call_once(|| ()));
    asks!(OnceLock::new().set(1));
    asks!(*LazyLock::new(|| 1));
    asks!(Semaphore::new(1).acquire());
    asks!(Notify::new().notify());
    asks!(Arc::new(1));
    asks!(mpsc::channel::<u32>());
    asks!(mpsc::sync_channel::<u32>(1));
}

#[test]
fn threads_and_tasks_name_the_line() {
    asks!(thread::spawn(|| ()));
    asks!(thread::Builder::new().spawn(|| ()));
    asks!(thread::scope(|_| ()));
    asks!(thread::current());
    asks!(thread::park());
    asks!(thread::park_timeout(Duration::ZERO));
    asks!(thread::yield_now());
    asks!(thread::sleep(Duration::ZERO));
    asks!(hint::spin_loop());
    asks!(future::block_on(async {}));
    asks!(future::spawn(async {}));
    asks!(future::AtomicWaker::new().wake());
}

#[test]
fn functions_that_need_a_model_name_the_line_outside_of_it() {
    mazurka::thread_local! {
        static OWN: u32 = 1;
    }
    asks!(mazurka::choose(2));
    asks!(mazurka::assume(false));
    asks!(mazurka::explore());
    asks!(mazurka::stop_exploring());
    asks!(mazurka::skip_branch());
    asks!(mazurka::Goal::new("reached").reach());
    asks!(OWN.with(|value| *value));
}
