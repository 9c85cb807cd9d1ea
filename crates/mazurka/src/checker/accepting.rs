//! What may be left out of a program in Rust that is verified.

use super::Checker;
use report::Omission;

impl Checker {
    /// Whether the program may be verified although its threads synchronise by what the model does not see: atomics and locks of
    /// `std`, parking_lot, `tokio::sync`. Interleavings are then left out: the verdict is `bounded` unless this is accepted, here
    /// or, of tests, by `MAZURKA_ACCEPT=hidden` in the environment. The report tells it in any case.
    ///
    /// It is looked for in some executions, where two threads write to the same memory of the model and nothing that the model knows orders
    /// the two. Not noticed is what threads only read, what is in `static`s and thread-locals of the standard library, in text or buffers of
    /// bytes, or beyond the first MiB, and what programs with actors do.
    pub fn accept_hidden(mut self, accepts: bool) -> Checker {
        self.accepted.retain(|&kind| kind != Omission::Hidden);
        self.accepted.extend(accepts.then_some(Omission::Hidden));
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
