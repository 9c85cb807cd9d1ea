//! What may be left out of a program in Rust that is verified.

use super::Checker;
use report::Omission;

impl Checker {
    /// Whether the program may be verified although its threads synchronise by what the model does not see: atomics and locks of
    /// `std`, parking_lot, `tokio::sync`. Interleavings are then left out: the verdict is `bounded` unless this is accepted, here
    /// or, of tests, by `MAZURKA_ACCEPT=hidden` in the environment. The report tells it in any case.
    ///
    /// It is looked for in some executions. In memory of the model, two threads that write to the same place are noticed if nothing that the
    /// model knows orders them. In the rest (statics and thread-locals of `std`, what is only read), it is noticed if a thread does something
    /// else when independent events come in another order. Not noticed is what changes nothing that threads do, such as an update of
    /// a static of `std` that may be lost.
    ///
    /// Counters that nothing depends on are noticed, too, if two threads write to them: reference counts other than those of `std::sync::Arc`,
    /// and what a thread-local of `std` refers to, which all threads of a model share.
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

    /// Accepts what `MAZURKA_ACCEPT` names: kinds with commas between them. Programs in Rust have only `hidden`.
    ///
    /// # Panics
    ///
    /// Panics if there is no such kind.
    pub(crate) fn accept_by_environment(self) -> Checker {
        let kinds = std::env::var("MAZURKA_ACCEPT").unwrap_or_default();
        let names = kinds.split(',').map(str::trim);
        let accepts = |name: &str| match name.parse::<Omission>() {
            Ok(kind) => kind == Omission::Hidden,
            Err(error) => panic!("MAZURKA_ACCEPT={kinds}: {error}; programs in Rust have `hidden`"),
        };
        let accepts: Vec<bool> = names.filter(|name| !name.is_empty()).map(accepts).collect();
        self.accept_hidden(accepts.contains(&true))
    }
}
