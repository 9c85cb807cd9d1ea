//! Places in the source of the program under test.

use crate::engine::Engine;
use std::panic::Location;

/// A place in the source of the program under test, or of a library that it calls.
pub(crate) type Place = &'static Location<'static>;

impl Engine {
    /// `file:line:column`. None where the place is in a library: what drops a guard, say, stands at no line
    /// of the program.
    pub(crate) fn shown_place(&self, place: Place) -> Option<String> {
        let file = place.file();
        let own = file!().strip_suffix("source.rs");
        let mut libraries = [Some("/rustc/"), own, self.config.library]
            .into_iter()
            .flatten();
        let is_library = libraries.any(|library| file.starts_with(library));
        (!is_library).then(|| report::place(place))
    }
}
