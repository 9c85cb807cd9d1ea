//! Accepts omissions: parts of the behaviour of a Rust program that its check leaves out.

use super::Checker;
use report::Omission;

impl Checker {
    /// Sets whether a program may be verified despite *hidden synchronization*: its threads
    /// synchronize through objects that Mazurka does not see, for example the atomics and locks of
    /// `std`, parking_lot or `tokio::sync`. The search then misses interleavings, so the verdict is
    /// `bounded`. With this option the verdict can be `verified`. For tests,
    /// `MAZURKA_ACCEPT=hidden` in the environment has the same effect. The report always mentions
    /// hidden synchronization.
    ///
    /// Mazurka examines some executions for hidden synchronization. In the model's memory, Mazurka
    /// finds it if two threads write to the same location and nothing in the model orders the
    /// writes. In other cases (in statics and thread-locals of `std`, and if one thread only reads
    /// what another writes), Mazurka finds it if a thread behaves differently when independent
    /// events are reordered. Mazurka misses it if the threads behave the same in both orders, for
    /// example if they lose updates of an atomic of `std` in a static.
    ///
    /// Harmless counters are also reported if two threads write them. Examples are reference counts
    /// (except those of `std::sync::Arc`) and data in thread-locals of `std`, which the threads of
    /// a model share.
    ///
    /// ```
    /// use mazurka::{Checker, Verdict, thread};
    /// use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    ///
    /// fn adds() {
    ///     let count = AtomicU32::new(0);
    ///     thread::scope(|scope| {
    ///         for _ in 0..2 {
    ///             scope.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst));
    ///         }
    ///     });
    /// }
    /// let report = Checker::new().check(adds);
    /// assert_eq!(report.verdict, Verdict::Bounded);
    /// assert!(report.bounds[0].contains("on the stack of main is written by T0"));
    /// let report = Checker::new().accept_hidden(true).check(adds);
    /// assert_eq!(report.verdict, Verdict::Verified);
    /// ```
    pub fn accept_hidden(mut self, accepts: bool) -> Checker {
        self.settings
            .accepted
            .retain(|&kind| kind != Omission::Hidden);
        self.settings
            .accepted
            .extend(accepts.then_some(Omission::Hidden));
        self
    }

    /// Accepts hidden synchronization if `MAZURKA_ACCEPT`, a list of kinds of omissions separated
    /// by commas, contains `hidden`. Other kinds have no effect.
    ///
    /// # Panics
    ///
    /// Panics if a kind does not exist.
    pub(crate) fn accept_by_environment(self) -> Checker {
        let kinds = std::env::var("MAZURKA_ACCEPT").unwrap_or_default();
        let names = kinds.split(',').map(str::trim);
        let accepts = |name: &str| match name.parse::<Omission>() {
            Ok(kind) => kind == Omission::Hidden,
            Err(error) => panic!(
                "MAZURKA_ACCEPT={kinds}: {error}; for programs in Rust only `hidden` is valid"
            ),
        };
        let accepts: Vec<bool> = names.filter(|name| !name.is_empty()).map(accepts).collect();
        self.accept_hidden(accepts.contains(&true))
    }
}
