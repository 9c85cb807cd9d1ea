//! Places in the source of the program under test.

use crate::engine::{Engine, Thread};
use explore::ThreadId;
use std::panic::Location;

/// A place in the source of the program under test, or of a library that it calls.
pub(crate) type Place = &'static Location<'static>;

/// Where something of an execution stands. [`Model::place`](crate::Model::place) tells it to people.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Spot {
    /// A place in Rust.
    Source(&'static Location<'static>),
    /// An address of code.
    Code(usize),
}

impl Thread {
    /// Where the thread is.
    pub(crate) fn spot(&self) -> Spot {
        match self.code {
            0 => Spot::Source(self.location),
            code => Spot::Code(code),
        }
    }
}

impl Engine {
    /// Where the thread that runs is, in the program's own source. Asked only where an execution is shown.
    #[cold]
    pub(crate) fn own_spot(&mut self) -> Spot {
        let spot = self.thread().spot();
        match (spot, self.config.native) {
            (Spot::Code(code), Some(native)) => {
                Spot::Code(native.source_map.caller(code, self.stack_top()))
            }
            (Spot::Source(_), _) | (Spot::Code(_), None) => spot,
        }
    }

    /// `file:line`, as far as that is known.
    pub(crate) fn shown_spot(&self, spot: Spot) -> Option<String> {
        match (spot, self.config.native) {
            (Spot::Source(place), _) => self.shown_place(place),
            (Spot::Code(code), Some(native)) => native.source_map.place(code),
            (Spot::Code(_), None) => None,
        }
    }

    /// The same for an operation of a trace, if that is to tell places.
    pub(crate) fn spot_in_trace(&self, spot: Spot) -> Option<String> {
        self.shown_spot(spot).filter(|_| self.config.locations)
    }

    /// Where a thread is.
    pub(crate) fn shown_place_of(&self, thread: ThreadId) -> Option<String> {
        self.shown_spot(self.threads[thread.index()].spot())
    }

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
