//! What may be left out of a program in Rust that is verified.

use super::Checker;
use report::Omission;

impl Checker {
    /// Whether the program may be verified although its threads synchronise by what the model does not see: atomics and locks of
    /// `std`, parking_lot, `tokio::sync`. Interleavings are then left out: the verdict is `bounded` unless this is accepted, here
    /// or by `MAZURKA_ACCEPT=hidden` in the environment. The report tells it in any case.
    ///
    /// It is looked for in some executions, where two threads write to the same memory of the model and nothing that the model knows orders
    /// the two. What threads only read is not noticed, nor are `static`s and thread-locals of the standard library.
    pub fn accept_hidden(mut self, accepts: bool) -> Checker {
        self.accepted.retain(|&kind| kind != Omission::Hidden);
        self.accepted.extend(accepts.then_some(Omission::Hidden));
        self
    }
}

/// What `MAZURKA_ACCEPT` says of programs in Rust.
pub(super) fn by_environment() -> Vec<Omission> {
    let kinds = std::env::var("MAZURKA_ACCEPT").unwrap_or_default();
    let accepts = kinds.split(',').any(|kind| kind.trim() == "hidden");
    accepts.then_some(Omission::Hidden).into_iter().collect()
}
