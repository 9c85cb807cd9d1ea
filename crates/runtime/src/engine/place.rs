//! Places in the source of the program under test.

use std::panic::Location;

/// A place in the source of the program under test, or of a library that it calls.
pub(crate) type Place = &'static Location<'static>;
