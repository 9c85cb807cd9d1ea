//! Places in the source of the program under test.

use crate::engine::place::Place;
use crate::engine::{Engine, Thread};
use explore::ThreadId;
use std::panic::Location;

/// The place of an event, or of the creation of an object, in an execution.
/// [`Model::place`](crate::Model::place) formats it for users.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Spot {
    /// A place in Rust source.
    Source(&'static Location<'static>),
    /// An address of code.
    Code(usize),
}

impl Thread {
    /// Returns the current place of the thread.
    pub(crate) fn spot(&self) -> Spot {
        match self.life.code {
            0 => Spot::Source(self.life.location),
            code => Spot::Code(code),
        }
    }
}

impl Engine {
    /// Returns the place of the running thread in the program's own source. Called only for
    /// executions that are shown to users.
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

    /// Records the place of the event that begins.
    #[cold]
    #[inline(never)]
    pub(crate) fn record_begin(&mut self, thread: ThreadId) {
        let spot = self.own_spot();
        if self.watch.samples {
            self.sample_event(spot);
        }
        if self.watch.records {
            self.guests.recorder.begin_event(thread, spot);
        }
    }

    /// Returns the place as `file:line:column` (in a native program `file:line`), or `None` if it
    /// is in a library or unknown.
    pub(crate) fn shown_spot(&self, spot: Spot) -> Option<String> {
        match (spot, self.config.native) {
            (Spot::Source(place), _) => self.shown_place(place),
            (Spot::Code(code), Some(native)) => native.source_map.place(code),
            (Spot::Code(_), None) => None,
        }
    }

    /// Returns the place for an operation of a trace, if it is known and the trace includes places.
    pub(crate) fn spot_in_trace(&self, spot: Spot) -> Option<String> {
        self.shown_spot(spot).filter(|_| self.config.locations)
    }

    /// Returns the current place of a thread for users, if known.
    pub(crate) fn shown_place_of(&self, thread: ThreadId) -> Option<String> {
        self.shown_spot(self.threads[thread.index()].spot())
    }

    /// Returns the place as `file:line:column`, or `None` if it is in a library. For example, the
    /// place at which a guard is dropped is in a library, because it has no line in the program.
    pub(crate) fn shown_place(&self, place: Place) -> Option<String> {
        let file = place.file();
        let folder = file!().strip_suffix("source.rs");
        let mut libraries = [Some("/rustc/"), folder, self.config.library]
            .into_iter()
            .flatten();
        let is_library = libraries.any(|library| file.starts_with(library));
        (!is_library).then(|| report::place(place))
    }
}
