//! What the function of a test returns.

use std::fmt::Debug;

/// What a test may return: nothing, or a `Result` whose `Err` is a failure.
pub trait Returned {
    /// Panics where it is a failure.
    #[track_caller]
    fn expect(self);
}

impl Returned for () {
    fn expect(self) {}
}

impl<T: Returned, E: Debug> Returned for Result<T, E> {
    #[track_caller]
    fn expect(self) {
        match self {
            Ok(value) => value.expect(),
            Err(error) => panic!("the test returned an error: {error:?}"),
        }
    }
}
