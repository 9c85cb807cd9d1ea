//! Return types of test functions.

use std::fmt::Debug;

/// Types that a test may return: nothing, or a `Result` whose `Err` is a failure.
pub trait Returned {
    /// Panics if the value is a failure.
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
