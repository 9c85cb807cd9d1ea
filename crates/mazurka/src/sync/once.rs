//! As `std::sync::Once`.

use runtime::Entry;
use std::fmt;

/// As `std::sync::Once`: the first who comes initialises, the others wait for it.
///
/// ```
/// use mazurka::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use mazurka::sync::{Arc, Once};
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let shared = Arc::new((Once::new(), AtomicU32::new(0)));
///     let initialise = |shared: &(Once, AtomicU32)| {
///         shared.0.call_once(|| {
///             shared.1.fetch_add(1, Relaxed);
///         });
///     };
///     let other = thread::spawn({
///         let shared = Arc::clone(&shared);
///         move || initialise(&shared)
///     });
///     initialise(&shared);
///     other.join().unwrap();
///     assert_eq!(shared.1.load(Relaxed), 1);
/// });
/// ```
pub struct Once(runtime::Once);

/// As `std::sync::OnceState`.
#[derive(Debug)]
pub struct OnceState {
    is_poisoned: bool,
}

impl OnceState {
    /// Whether an initialiser panicked before.
    pub fn is_poisoned(&self) -> bool {
        self.is_poisoned
    }
}

impl Once {
    /// A new once of the execution.
    #[track_caller]
    pub fn new() -> Once {
        Once(runtime::Once::new())
    }

    /// Initialises, or waits for the one who does.
    ///
    /// # Panics
    ///
    /// If an initialiser panicked before.
    #[track_caller]
    pub fn call_once(&self, initialise: impl FnOnce()) {
        let Entry::Initialise { after_failure } = self.0.enter() else {
            return;
        };
        self.initialise(|| match after_failure {
            true => panic!("Once instance has previously been poisoned"),
            false => initialise(),
        });
    }

    /// Initialises, also if an initialiser panicked before, or waits for the one who does.
    #[track_caller]
    pub fn call_once_force(&self, initialise: impl FnOnce(&OnceState)) {
        let Entry::Initialise { after_failure } = self.0.enter() else {
            return;
        };
        self.initialise(|| {
            initialise(&OnceState {
                is_poisoned: after_failure,
            })
        });
    }

    /// Whether it is initialised.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.0.is_done()
    }

    #[track_caller]
    fn initialise(&self, initialise: impl FnOnce()) {
        let fails = Fails(&self.0);
        initialise();
        std::mem::forget(fails);
        self.0.done();
    }
}

/// Tells the model that the initialiser panicked.
struct Fails<'o>(&'o runtime::Once);

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
