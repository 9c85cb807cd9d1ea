//! Plain memory, whose accesses must not race.

use crate::engine::Engine;
use crate::engine::perform::{self, silently};
use crate::engine::place::Place;
use crate::rust::outside::outside;
use crate::trace::Shown;
use crate::watch::happens_before::Epoch;
use report::{FailureKind, Restart};
use std::cell::UnsafeCell;
use std::fmt;
use std::panic::Location;

/// A detector of data races at one piece of plain memory. Accesses are not events, because whether
/// two accesses race depends on the happens-before relation of C11 and not on the interleaving.
#[derive(Debug)]
pub struct Plain {
    /// The number of the memory in the engine.
    pub(crate) number: u32,
}

/// The accesses to a piece of memory after which later accesses must be ordered.
#[derive(Default)]
pub(crate) struct State {
    write: Option<Touch>,
    /// Reads since the write, the last one of each thread.
    reads: Vec<Touch>,
    /// Accesses in progress.
    lasting: Vec<Open>,
}

/// An access in progress (see [`Lasting`]).
#[derive(Clone, Copy)]
struct Open {
    number: u32,
    /// The number of operations that the thread had performed when the access began.
    operations: u32,
    touch: Touch,
}

/// A read or write of a thread, at a moment that its epoch records.
#[derive(Clone, Copy)]
struct Touch {
    epoch: Epoch,
    location: Place,
    kind: Kind,
    /// The number of the access in a recorded execution, otherwise 0.
    recorded: u32,
}

#[derive(Clone, Copy)]
enum Kind {
    Read,
    Write,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
        }
    }
}

impl State {
    fn clear(&mut self) {
        self.write = None;
        self.reads.clear();
        self.lasting.clear();
    }
}

/// An access that lasts until this value is dropped.
///
/// While it lasts, another access is a data race if at least one of the two is a write. If both
/// accesses are by the same thread, they violate Rust's aliasing rules.
// This value lies in frames of the program, which the await rule compares between the rounds of a
// loop. So it has no fields that differ in each round.
#[derive(Debug)]
pub struct Lasting {
    /// The number of the accessed memory.
    memory: u32,
    number: u32,
    /// Whether the end counts as an access, because the memory may be accessed up to the end.
    is_access_at_end: bool,
}

impl Lasting {
    /// Returns the same value, whose end no longer counts as an access: the owner reports each
    /// access instead.
    pub(crate) fn without_access_at_end(mut self) -> Lasting {
        self.is_access_at_end = false;
        self
    }

    /// Records an access to the memory.
    #[track_caller]
    pub(crate) fn access(&self) {
        let location = Location::caller();
        if perform::current().is_some() {
            silently(|engine| engine.access_again(self, location));
        }
    }
}

impl Drop for Lasting {
    #[inline]
    fn drop(&mut self) {
        // A guard that outlives its execution has nothing to report.
        if perform::current().is_some() {
            silently(|engine| engine.end_lasting(self));
        }
    }
}

#[cfg(feature = "enforce")]
impl Lasting {
    /// Creates an access that is not checked.
    fn outside() -> Lasting {
        Lasting {
            memory: u32::MAX,
            number: 0,
            is_access_at_end: false,
        }
    }
}

impl Plain {
    /// Creates memory that is not checked: a verified program has no data races.
    #[cfg(feature = "enforce")]
    fn outside() -> Plain {
        Plain { number: u32::MAX }
    }

    /// Creates memory of the execution, which counts as written by its creator.
    #[inline]
    #[track_caller]
    #[allow(clippy::new_without_default, reason = "`new` needs a model")]
    pub fn new() -> Plain {
        Plain::called("UnsafeCell", Location::caller())
    }

    /// Creates memory with the name of its type.
    #[inline]
    #[track_caller]
    pub(crate) fn called(kind: &str, location: Place) -> Plain {
        outside!(Plain::outside());
        silently(|engine| {
            engine.search_for_races();
            let number = engine.guests.plain.add(State::clear, State::default);
            engine.name_memory(number, kind, location);
            engine.write_plain(number, location);
            Plain { number }
        })
    }

    /// Records a read.
    #[track_caller]
    #[inline]
    pub fn read(&self) {
        outside!();
        let location = Location::caller();
        silently(|engine| engine.read_plain(self.number, location));
    }

    /// Records a write.
    #[track_caller]
    #[inline]
    pub fn write(&self) {
        outside!();
        let location = Location::caller();
        silently(|engine| engine.write_plain(self.number, location));
    }

    /// Records that the owner takes the memory. This conflicts only with accesses by other threads,
    /// not with other references of the same thread.
    #[track_caller]
    #[inline]
    pub fn take(&self) {
        outside!();
        let location = Location::caller();
        silently(|engine| {
            let touch = engine.touch(self.number, location, Kind::Write);
            engine.write_by(self.number, touch);
        });
    }

    /// Begins a read that lasts until the result is dropped.
    #[track_caller]
    #[inline]
    pub fn begin_read(&self) -> Lasting {
        outside!(Lasting::outside());
        let location = Location::caller();
        silently(|engine| engine.begin_lasting(self.number, location, Kind::Read))
    }

    /// Begins a write that lasts until the result is dropped.
    #[track_caller]
    #[inline]
    pub fn begin_write(&self) -> Lasting {
        outside!(Lasting::outside());
        let location = Location::caller();
        silently(|engine| engine.begin_lasting(self.number, location, Kind::Write))
    }
}

/// A plain variable, as in C, that threads share without synchronization. Two accesses that are
/// unordered and not both reads are a data race. The race is reported but does not really occur,
/// because the threads of a model take turns.
///
/// A variable belongs to the execution that created it. Its use elsewhere panics.
pub struct PlainCell<T> {
    plain: Plain,
    value: UnsafeCell<T>,
}

// SAFETY: the one thread of the operating system that runs the model copies values in and out,
// within a turn of a thread. The values are never borrowed. Accesses elsewhere panic before they
// touch the value.
unsafe impl<T: Copy + Send> Sync for PlainCell<T> {}

impl<T: Copy> PlainCell<T> {
    /// Creates a variable of the execution, which counts as written by its creator.
    #[inline]
    #[track_caller]
    pub fn new(value: T) -> PlainCell<T> {
        PlainCell {
            plain: Plain::called("PlainCell", Location::caller()),
            value: UnsafeCell::new(value),
        }
    }

    /// Reads the value.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> T {
        self.plain.read();
        // SAFETY: a copy within a turn, during which no other thread writes.
        unsafe { *self.value.get() }
    }

    /// Writes the value.
    #[inline]
    #[track_caller]
    pub fn set(&self, value: T) {
        self.plain.write();
        // SAFETY: a copy within a turn, during which no other thread has access.
        unsafe { *self.value.get() = value };
    }
}

impl<T> fmt::Debug for PlainCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlainCell").finish_non_exhaustive()
    }
}

impl Engine {
    /// Searches for data races from now on. The exploration restarts if it may have missed a race.
    pub(crate) fn search_for_races(&mut self) {
        if self.watch.races {
            return;
        }
        self.names.record_plain_memory();
        self.watch.races = true;
        self.guests.happens_before.clear();
        for &thread in &self.life.started {
            self.guests.happens_before.started(thread, None);
        }
        if self.life.started.len() > 1 {
            self.coarsen(Restart::PlainMemory);
        }
    }

    fn read_plain(&mut self, number: u32, location: Place) {
        let touch = self.touch(number, location, Kind::Read);
        self.check_lasting(number, touch);
        let thread = touch.epoch.thread;
        let state = self.guests.plain.get_mut(number);
        match state
            .reads
            .iter_mut()
            .find(|read| read.epoch.thread == thread)
        {
            Some(read) => *read = touch,
            None => state.reads.push(touch),
        }
        if let Some(write) = state.write {
            self.check_order(write, touch);
        }
    }

    fn write_plain(&mut self, number: u32, location: Place) {
        let touch = self.touch(number, location, Kind::Write);
        self.check_lasting(number, touch);
        self.write_by(number, touch);
    }

    fn write_by(&mut self, number: u32, touch: Touch) {
        let state = self.guests.plain.get_mut(number);
        let write = state.write.replace(touch);
        let mut reads = std::mem::take(&mut state.reads);
        for &earlier in write.iter().chain(&reads) {
            self.check_order(earlier, touch);
        }
        reads.clear();
        self.guests.plain.get_mut(number).reads = reads;
    }

    fn access_plain(&mut self, number: u32, location: Place, kind: Kind) {
        match kind {
            Kind::Read => self.read_plain(number, location),
            Kind::Write => self.write_plain(number, location),
        }
    }

    fn begin_lasting(&mut self, memory: u32, location: Place, kind: Kind) -> Lasting {
        self.access_plain(memory, location, kind);
        let touch = self.touch(memory, location, kind);
        let operations = self.thread().life.operations;
        let lasting = &mut self.guests.plain.get_mut(memory).lasting;
        let numbers = lasting.iter().map(|open| open.number + 1);
        let number = numbers.max().unwrap_or(0);
        lasting.push(Open {
            number,
            operations,
            touch,
        });
        Lasting {
            memory,
            number,
            is_access_at_end: true,
        }
    }

    /// Records another access by the owner of an access in progress.
    fn access_again(&mut self, access: &Lasting, location: Place) {
        if let Some(open) = self.take_lasting(access) {
            self.access_plain(access.memory, location, open.touch.kind);
            self.guests.plain.get_mut(access.memory).lasting.push(open);
        }
    }

    fn take_lasting(&mut self, access: &Lasting) -> Option<Open> {
        let lasting = &mut self.guests.plain.get_mut(access.memory).lasting;
        let position = lasting
            .iter()
            .position(|open| open.number == access.number)?;
        Some(lasting.remove(position))
    }

    /// Ends an access in progress. The end counts as another access if `is_access_at_end` is set
    /// and the thread has performed an operation in between.
    fn end_lasting(&mut self, access: &Lasting) {
        let Some(Open {
            operations, touch, ..
        }) = self.take_lasting(access)
        else {
            return;
        };
        if access.is_access_at_end && self.thread().life.operations != operations {
            self.access_plain(access.memory, touch.location, touch.kind);
        }
    }

    /// Checks an access against the accesses in progress.
    #[inline]
    fn check_lasting(&mut self, number: u32, touch: Touch) {
        let lasting = &self.guests.plain.get_mut(number).lasting;
        let is_write = |kind| matches!(kind, Kind::Write);
        let conflicts = |other: &Touch| is_write(touch.kind) || is_write(other.kind);
        let conflict = lasting.iter().map(|open| open.touch).find(conflicts);
        if let Some(other) = conflict {
            self.race(other, touch);
        }
    }

    /// Records an access by the running thread.
    #[inline]
    fn touch(&mut self, number: u32, location: Place, kind: Kind) -> Touch {
        self.touches += 1;
        let recorded = match self.watch.records {
            true => self.record_touch(number, location, kind.name()),
            false => 0,
        };
        Touch {
            epoch: self.guests.happens_before.now(self.running),
            location,
            kind,
            recorded,
        }
    }

    #[inline]
    fn check_order(&mut self, earlier: Touch, later: Touch) {
        if !self
            .guests
            .happens_before
            .knows(later.epoch.thread, earlier.epoch)
        {
            self.race(earlier, later);
        }
    }

    /// Reports two unordered accesses. The report is the same for both orders of the accesses.
    #[cold]
    fn race(&mut self, earlier: Touch, later: Touch) {
        let threads = [earlier, later].map(|touch| touch.epoch.thread);
        if self.is_tearing_down || self.config.symmetry && self.tells_apart_by_race(threads) {
            return;
        }
        let mut accesses = [earlier, later].map(
            |Touch {
                 epoch,
                 location,
                 kind,
                 ..
             }| {
                let name = self.thread_name(epoch.thread);
                (self.shown_place(location), name, kind.name())
            },
        );
        accesses.sort();
        let [first, second] = accesses.clone().map(|(place, thread, kind)| {
            let place = place.map_or_else(String::new, |place| format!(" at {place}"));
            format!("{kind} of {thread}{place}")
        });
        let [_, (location, ..)] = accesses;
        self.guests
            .recorder
            .record_race(earlier.recorded, later.recorded);
        self.guests.failures.push(Shown {
            kind: FailureKind::DataRace,
            message: format!("data race: {first} and {second} are not ordered"),
            location,
            event: Some(self.event()),
        });
    }
}
