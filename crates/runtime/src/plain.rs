//! Plain memory: accesses that must not race.

use crate::engine::{Engine, Place};
use crate::happens_before::Epoch;
use crate::perform::silently;
use crate::trace::Shown;
use report::FailureKind;
use std::panic::Location;

/// Finds data races at one piece of plain memory. No events: races are found by the order that C11
/// promises, whatever the interleaving.
#[derive(Debug)]
pub struct Plain {
    number: u32,
}

/// The accesses of a piece of memory that later ones must come after.
#[derive(Default)]
pub(crate) struct State {
    write: Option<Touch>,
    /// Reads since the write, the last one of each thread.
    reads: Vec<Touch>,
}

/// An access.
#[derive(Clone, Copy)]
struct Touch {
    epoch: Epoch,
    location: Place,
}

impl State {
    fn clear(&mut self) {
        self.write = None;
        self.reads.clear();
    }
}

impl Plain {
    /// New memory of the execution, written by its creator.
    #[inline]
    #[track_caller]
    #[allow(clippy::new_without_default, reason = "it needs a model")]
    pub fn new() -> Plain {
        let location = Location::caller();
        silently(|engine| {
            engine.look_for_races();
            let number = engine.plain.add(State::clear, State::default);
            engine.write_plain(number, location);
            Plain { number }
        })
    }

    /// It is read.
    #[track_caller]
    #[inline]
    pub fn read(&self) {
        let location = Location::caller();
        silently(|engine| engine.read_plain(self.number, location));
    }

    /// It is written.
    #[track_caller]
    #[inline]
    pub fn write(&self) {
        let location = Location::caller();
        silently(|engine| engine.write_plain(self.number, location));
    }
}

impl Engine {
    fn read_plain(&mut self, number: u32, location: Place) {
        let thread = self.running;
        let epoch = self.happens_before.now(thread);
        let state = self.plain.get_mut(number);
        let touch = Touch { epoch, location };
        match state
            .reads
            .iter_mut()
            .find(|read| read.epoch.thread == thread)
        {
            Some(read) => *read = touch,
            None => state.reads.push(touch),
        }
        if let Some(write) = state.write
            && !self.happens_before.knows(thread, write.epoch)
        {
            self.race(("write", write), ("read", touch));
        }
    }

    fn write_plain(&mut self, number: u32, location: Place) {
        let thread = self.running;
        let touch = Touch {
            epoch: self.happens_before.now(thread),
            location,
        };
        let state = self.plain.get_mut(number);
        let write = state.write.replace(touch);
        let reads = std::mem::take(&mut state.reads);
        let unknown = |clocks: &mut crate::happens_before::HappensBefore, touch: &Touch| {
            !clocks.knows(thread, touch.epoch)
        };
        if let Some(write) = write.filter(|write| unknown(&mut self.happens_before, write)) {
            self.race(("write", write), ("write", touch));
        }
        for read in &reads {
            if unknown(&mut self.happens_before, read) {
                self.race(("read", *read), ("write", touch));
            }
        }
        let state = self.plain.get_mut(number);
        state.reads = reads;
        state.reads.clear();
    }

    /// Two accesses that nothing orders.
    #[cold]
    fn race(&mut self, (first, earlier): (&str, Touch), (second, later): (&str, Touch)) {
        if self.is_tearing_down {
            return;
        }
        let message = format!(
            "data race: {} of {} at {} and {} of {} at {} are not ordered",
            first,
            self.thread_name(earlier.epoch.thread),
            earlier.location,
            second,
            self.thread_name(later.epoch.thread),
            later.location,
        );
        let location = Some(later.location.to_string());
        self.recorder.mark_failed();
        self.failures.push(Shown {
            kind: FailureKind::DataRace,
            message,
            location,
        });
    }
}
