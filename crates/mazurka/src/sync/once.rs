//! Like `std::sync::Once`.

use super::constructor::{constructor, named};
use runtime::{Born, Entry, Placed};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

/// Like `std::sync::Once`: the first thread to arrive initializes, and the others wait for it.
///
/// ```
/// use mazurka::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use mazurka::sync::{Arc, Once};
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let shared = Arc::new((Once::new(), AtomicU32::new(0)));
///     let initialize = |shared: &(Once, AtomicU32)| {
///         shared.0.call_once(|| {
///             shared.1.fetch_add(1, Relaxed);
///         });
///     };
///     let other = thread::spawn({
///         let shared = Arc::clone(&shared);
///         move || initialize(&shared)
///     });
///     initialize(&shared);
///     other.join().unwrap();
///     assert_eq!(shared.1.load(Relaxed), 1);
/// });
/// ```
pub struct Once(Placed<Born<runtime::Once>>);

/// Like `std::sync::OnceState`.
#[derive(Debug)]
pub struct OnceState {
    is_poisoned: bool,
    /// Makes the state `!Sync`, as in `std`.
    not_shared: PhantomData<Cell<()>>,
}

impl OnceState {
    /// Checks whether an earlier initializer panicked.
    pub fn is_poisoned(&self) -> bool {
        self.is_poisoned
    }
}

impl Once {
    constructor! {
        /// Creates a `Once`. A static starts with its initial value in each execution.
        pub fn new() -> Once {
            Once(Placed::new(Born::new(())))
        }
    }

    named!(|inner| inner);

    /// Calls `initialize`, unless the initialization has begun already. If another thread
    /// initializes, waits for it.
    ///
    /// # Panics
    ///
    /// Panics if an earlier initializer panicked.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, initialize: F) {
        call_once_force(self.0.get(), |state| match state.is_poisoned {
            true => panic!("Once instance has previously been poisoned"),
            false => initialize(),
        });
    }

    /// Like [`call_once`](Once::call_once), but also calls `initialize` if an earlier initializer
    /// panicked.
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, initialize: F) {
        call_once_force(self.0.get(), initialize);
    }

    /// Waits until another thread has initialized.
    ///
    /// # Panics
    ///
    /// Panics if the initializer panics, or if the last initializer panicked.
    #[track_caller]
    pub fn wait(&self) {
        let is_done = self.0.get().wait();
        assert!(is_done, "Once instance has previously been poisoned");
    }

    /// Waits until another thread has initialized, even if earlier initializers panic.
    #[track_caller]
    pub fn wait_force(&self) {
        self.0.get().wait_force();
    }

    /// Checks, without waiting, whether the initialization is complete.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.0.get().is_done()
    }
}

/// Calls `initialize`, unless the initialization is complete. If another thread is initializing,
/// first waits for that thread.
#[track_caller]
pub(super) fn call_once_force(once: &Born<runtime::Once>, initialize: impl FnOnce(&OnceState)) {
    let Entry::Initialize { after_failure } = once.enter() else {
        return;
    };
    let fails = Fails(once);
    initialize(&OnceState {
        not_shared: PhantomData,
        is_poisoned: after_failure,
    });
    std::mem::forget(fails);
    once.done();
}

/// Informs the model, when dropped, that the initializer panicked.
struct Fails<'o>(&'o Born<runtime::Once>);

impl Drop for Fails<'_> {
    fn drop(&mut self) {
        self.0.fail();
    }
}

impl Default for Once {
    #[track_caller]
    fn default() -> Once {
        Once::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}
