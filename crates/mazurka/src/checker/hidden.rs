//! Whether it is looked for synchronisation that the model does not see.

use super::Checker;

/// Looks for it in tests if it is 1.
const VARIABLE: &str = "MAZURKA_HIDDEN";

impl Checker {
    /// Whether to look for synchronisation that the model does not see: atomics and locks of `std`, parking_lot, `tokio::sync`. The
    /// interleavings that they allow are left out, so a program that is found to use them is not verified: the verdict is `bounded`. If not
    /// given, it is not looked for; `MAZURKA_HIDDEN=1` in the environment looks in all tests.
    ///
    /// Some executions are watched: where two threads write to the same memory of the model and nothing that the model knows orders
    /// the two, this is reported with the memory, the threads and the places. Not noticed is what threads only read, what is in `static`s of the
    /// standard library, in text, buffers of bytes or blocks above 63 KiB, what a thread writes to its own stack, and what programs with actors do.
    /// Reported, too, are counters that nothing depends on, such as those of reference counts other than `std::sync::Arc`'s, and what a thread-local
    /// of the standard library refers to, which all threads of a model share.
    ///
    /// ```
    /// use mazurka::{Checker, Verdict, thread};
    /// use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    ///
    /// let report = Checker::new().look_for_hidden(true).check(|| {
    ///     let count = AtomicU32::new(0);
    ///     thread::scope(|scope| {
    ///         for _ in 0..2 {
    ///             scope.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst));
    ///         }
    ///     });
    /// });
    /// assert_eq!(report.verdict, Verdict::Bounded);
    /// assert!(report.bounds[0].contains("on the stack of main is written by T0"));
    /// ```
    pub fn look_for_hidden(mut self, looks: bool) -> Checker {
        self.looks_for_hidden = looks;
        self
    }

    /// As the environment says.
    ///
    /// # Panics
    ///
    /// Panics if it says anything but 0 and 1.
    pub(crate) fn look_by_environment(self) -> Checker {
        match std::env::var(VARIABLE).as_deref() {
            Err(_) | Ok("0" | "") => self,
            Ok("1") => self.look_for_hidden(true),
            Ok(other) => {
                panic!("{VARIABLE}={other}: 1 looks for hidden synchronisation, 0 does not")
            }
        }
    }
}
