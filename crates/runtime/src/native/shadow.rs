//! Data races on memory that is accessed by address, exact to the byte. Uses vector clocks as in
//! FastTrack (Flanagan and Freund, PLDI 2009).
//!
//! For each granule of eight bytes, this module keeps the accesses with which later accesses may
//! race. An access replaces an earlier access of the same thread, kind and bytes. It also replaces
//! an earlier access that it covers and is ordered after, because any access that races with the
//! earlier access also races with the later access.

use super::foreign::may_be_stack;
use super::ownership::Found;
use crate::engine::Engine;
use crate::trace::Shown;
use crate::trace::source::Spot;
use crate::watch::happens_before::Epoch;
use explore::{Access, ThreadId};
use report::{FailureKind, Restart};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Range;

const GRANULE: usize = 8;

/// The number of bytes that stand for a synchronization object. No object is smaller.
const OBJECT: usize = 4;

/// The accesses of the execution.
#[derive(Default)]
pub(crate) struct Shadow {
    granules: FxHashMap<usize, Granule>,
    execution: u64,
    /// The granules that have been accessed in this execution.
    touched: Vec<usize>,
}

#[derive(Default)]
struct Granule {
    touches: Vec<Touch>,
    execution: u64,
}

/// A copy of the granules that have been accessed in an execution.
pub(crate) type Saved = Vec<(usize, Vec<Touch>)>;

/// The maximum number of granules that a savepoint copies.
const MOST: usize = 256;

/// An access to bytes of a granule.
#[derive(Clone, Copy)]
pub(crate) struct Touch {
    epoch: Epoch,
    /// The accessed bytes. Bit i stands for byte i of the granule.
    bytes: u8,
    kind: Kind,
    code: usize,
    /// The number of the access in the recording, if the execution is recorded.
    recorded: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Read,
    Write,
    AtomicRead,
    AtomicWrite,
    /// A free of memory.
    Release,
    /// The return of the function whose local variables were in this memory. The touch has the
    /// place that the thread has reached since.
    Return,
    /// The end of the thread whose stack contained this memory.
    End,
    /// A use of a synchronization object.
    Use,
    Initialize,
    Destroy,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::AtomicRead => "atomic read",
            Kind::AtomicWrite => "atomic write",
            Kind::Release => "free",
            Kind::Return => "return from the function",
            Kind::End => "end",
            Kind::Use => "use",
            Kind::Initialize => "initialization",
            Kind::Destroy => "destruction",
        }
    }

    fn writes(self) -> bool {
        !matches!(self, Kind::Read | Kind::AtomicRead | Kind::Use)
    }

    /// Returns whether the lifetime of memory ends.
    fn ends_memory(self) -> bool {
        matches!(self, Kind::Release | Kind::Return | Kind::End)
    }

    /// Returns whether the lifetime of memory, or of an object in it, begins or ends.
    fn bounds_lifetime(self) -> bool {
        self.ends_memory() || matches!(self, Kind::Initialize | Kind::Destroy)
    }

    fn is_atomic(self) -> bool {
        matches!(self, Kind::AtomicRead | Kind::AtomicWrite | Kind::Use)
    }

    /// Returns whether the two accesses must be ordered. Where plain accesses are interleaved
    /// (`is_raced` is false), only an access that begins or ends a lifetime must be ordered with
    /// others.
    fn conflicts(self, other: Kind, is_raced: bool) -> bool {
        (is_raced || self.bounds_lifetime() || other.bounds_lifetime())
            && (self.writes() || other.writes())
            && !(self.is_atomic() && other.is_atomic())
    }
}

impl Shadow {
    /// Forgets the execution.
    pub(crate) fn clear(&mut self) {
        self.execution += 1;
        self.touched.clear();
    }

    /// Returns whether few enough granules have been accessed for a savepoint.
    pub(crate) fn is_small(&self) -> bool {
        self.touched.len() <= MOST
    }

    /// Copies the accesses of the execution.
    pub(crate) fn save(&self, copy: &mut Saved) {
        copy.truncate(self.touched.len());
        for (index, &number) in self.touched.iter().enumerate() {
            let touches = &self.granules[&number].touches;
            match copy.get_mut(index) {
                Some((old, copied)) => {
                    *old = number;
                    copied.clone_from(touches);
                }
                None => copy.push((number, touches.clone())),
            }
        }
    }

    /// Restores a copy.
    pub(crate) fn restore(&mut self, copy: &Saved) {
        self.clear();
        for (number, touches) in copy {
            self.granule(*number).clone_from(touches);
        }
    }

    /// Records an access and returns true. If an access of another thread conflicts with it,
    /// whether ordered or not, records nothing and returns false.
    #[inline]
    fn record_unless_conflicting(&mut self, number: usize, touch: Touch, is_raced: bool) -> bool {
        let touches = self.granule(number);
        let mut same = None;
        for (index, earlier) in touches.iter().enumerate() {
            let is_own = earlier.epoch.thread == touch.epoch.thread;
            if is_own && earlier.kind == touch.kind && earlier.bytes == touch.bytes {
                same = Some(index);
            } else if !is_own
                && earlier.bytes & touch.bytes != 0
                && earlier.kind.conflicts(touch.kind, is_raced)
            {
                return false;
            }
        }
        // An access ordered after this access is also ordered after the earlier access of the
        // thread.
        match same {
            Some(index) => touches[index] = touch,
            None => touches.push(touch),
        }
        true
    }

    #[inline]
    fn granule(&mut self, number: usize) -> &mut Vec<Touch> {
        let execution = self.execution;
        let granule = self.granules.entry(number).or_default();
        if granule.execution != execution {
            granule.execution = execution;
            granule.touches.clear();
            self.touched.push(number);
        }
        &mut granule.touches
    }
}

impl Engine {
    /// Records that the running thread reads memory.
    pub(crate) fn shadow_read(&mut self, address: usize, length: usize, code: usize) {
        self.thread().life.code = code;
        self.shadow(address, length, Kind::Read);
    }

    /// Records that the running thread writes memory.
    pub(crate) fn shadow_write(&mut self, address: usize, length: usize, code: usize) {
        self.thread().life.code = code;
        self.shadow(address, length, Kind::Write);
    }

    /// Records that the running thread frees memory.
    pub(crate) fn shadow_release(&mut self, address: usize, length: usize, code: usize) {
        self.thread().life.code = code;
        self.shadow(address, length, Kind::Release);
    }

    /// Records that the lifetime of local variables in this memory has ended.
    pub(super) fn shadow_end(&mut self, memory: Range<usize>, how: Kind) {
        let within = memory.start / GRANULE..memory.end.div_ceil(GRANULE);
        let touched = self.guests.native.shadow.touched.iter().copied();
        let touched: Vec<usize> = touched.filter(|number| within.contains(number)).collect();
        for number in touched {
            let start = memory.start.max(number * GRANULE);
            let end = memory.end.min((number + 1) * GRANULE);
            self.shadow(start, end - start, how);
        }
    }

    /// Records that the running thread unmaps memory.
    pub(crate) fn shadow_unmap(&mut self, memory: Range<usize>, code: usize) {
        let within = memory.start / GRANULE..memory.end.div_ceil(GRANULE);
        let touched = self.guests.native.shadow.touched.iter().copied();
        let known = self.guests.native.ownership.granules().chain(touched);
        let known: BTreeSet<usize> = known.filter(|number| within.contains(number)).collect();
        for &number in &known {
            self.shadow_release(number * GRANULE, GRANULE, code);
        }
        for &number in &known {
            self.guests.native.shadow.granule(number).clear();
        }
    }

    /// Records that the running thread uses the synchronization object at the address.
    #[inline]
    pub(crate) fn shadow_use(&mut self, address: usize, code: usize) {
        self.shadow_object(address, Kind::Use, code);
    }

    /// Records that the running thread initializes the object at the address.
    pub(crate) fn shadow_initialize(&mut self, address: usize, code: usize) {
        self.shadow_object(address, Kind::Initialize, code);
    }

    /// Records that the running thread destroys the object at the address.
    pub(crate) fn shadow_destroy(&mut self, address: usize, code: usize) {
        self.shadow_object(address, Kind::Destroy, code);
    }

    #[inline]
    fn shadow_object(&mut self, address: usize, kind: Kind, code: usize) {
        self.thread().life.code = code;
        self.shadow(address, OBJECT, kind);
    }

    /// Returns whether only the running thread is known to use this memory, so that a plain access
    /// needs no record.
    #[inline(always)]
    pub(crate) fn is_unshared(&self, address: usize, length: usize) -> bool {
        let granule = address / GRANULE;
        let fits = address % GRANULE + length <= GRANULE;
        let ownership = &self.guests.native.ownership;
        fits && ownership.is_own(granule, self.running)
    }

    /// Records an atomic access by the running thread in the ownership of its memory. Where races
    /// are searched for, other functions record the access as a touch instead.
    #[inline(always)]
    pub(crate) fn own_atomically(&mut self, address: usize, length: usize) {
        if !self.watch.races && !self.is_solo() {
            self.own_for(self.running, address, length, false);
        }
    }

    /// Records an access by this thread in the ownership of its memory.
    #[inline(always)]
    pub(super) fn own_for(
        &mut self,
        thread: ThreadId,
        address: usize,
        length: usize,
        is_plain: bool,
    ) {
        for granule in address / GRANULE..=(address + length - 1) / GRANULE {
            let ownership = &mut self.guests.native.ownership;
            if ownership.access(granule, thread, is_plain) == Found::NewlyShared {
                self.handle_shared_memory();
            }
        }
    }

    /// Returns whether the running thread is the main thread and all other threads have been
    /// joined. Its actions are then ordered after all past actions of other threads and before all
    /// their future actions.
    #[inline(always)]
    pub(super) fn is_solo(&self) -> bool {
        self.running == ThreadId::MAIN && self.guests.native.life.joined + 1 == self.started().len()
    }

    /// Prepares for executions that are recorded or audited, in which all memory is watched: they
    /// search for the data races of a native program, and take all synchronization by atomic
    /// accesses into account.
    pub(crate) fn watch_all_memory(&mut self) {
        self.watch.races |= self.guests.native.is_raced;
        self.guests.native.is_ordering = true;
    }

    /// Handles shared memory that no execution so far has watched.
    #[cold]
    fn handle_shared_memory(&mut self) {
        let executions = self.guests.savepoints.repeated;
        if !self.is_coarsened() && self.guests.native.ownership.restart(executions) {
            self.guests.native.watch_all();
        }
        self.guests.native.has_found_more_shared |= self.guests.native.ownership.is_of_slices();
        self.coarsen(Restart::SharedMemory);
        self.search_for_races();
    }

    /// Searches for races because an object begins or ends. Uses must be ordered with the beginning
    /// and end of their object even where plain accesses are interleaved. While there is only one
    /// thread, everything is ordered.
    pub(crate) fn search_for_lifetime_races(&mut self) {
        if !self.races_plain() && self.started().len() > 1 && !self.is_solo() {
            self.search_for_races();
        }
    }

    /// Records that the current event is an atomic access.
    pub(crate) fn shadow_atomic(&mut self, address: usize, length: usize, access: Access) {
        let kind = match access {
            Access::Write => Kind::AtomicWrite,
            Access::Read | Access::None => Kind::AtomicRead,
        };
        self.shadow(address, length, kind);
    }

    /// Records an access by the running thread, and handles earlier accesses that race with it.
    fn shadow(&mut self, address: usize, length: usize, kind: Kind) {
        if self.watch.sees_all() {
            self.audit_access(address, length, kind.writes());
        } else if self.is_solo() {
            return;
        }
        if self.is_ignored(kind) {
            return;
        }
        if may_be_stack(address)
            && let Some(owner) = self.owner_of_stack(address)
            && owner != self.running
        {
            self.shares_locals(owner, address, length);
        }
        let end = address + length;
        let mut start = address;
        while start < end {
            let number = start / GRANULE;
            let stop = end.min((number + 1) * GRANULE);
            if self.is_shared(number, kind) {
                let bytes = (0xff_u16 >> (GRANULE - (stop - start)) << (start % GRANULE)) as u8;
                let touch = Touch {
                    epoch: self.guests.happens_before.now(self.running),
                    bytes,
                    kind,
                    code: self.thread().life.code,
                    recorded: 0,
                };
                self.shadow_granule(number, touch);
            }
            start = stop;
        }
    }

    /// Returns whether the program's annotations exclude this access.
    #[inline(always)]
    fn is_ignored(&self, kind: Kind) -> bool {
        let annotations = &self.guests.native.life.objects.annotations;
        match kind {
            Kind::Read => annotations.ignore(self.running, false),
            Kind::Write => annotations.ignore(self.running, true),
            Kind::AtomicRead
            | Kind::AtomicWrite
            | Kind::Release
            | Kind::Return
            | Kind::End
            | Kind::Use
            | Kind::Initialize
            | Kind::Destroy => false,
        }
    }

    /// Records an access in the ownership of its granule. Returns whether the access may race with
    /// others. If the access is the first that shows that its granule is shared, returns false,
    /// because the search then starts again.
    fn is_shared(&mut self, number: usize, kind: Kind) -> bool {
        if self.watch.sees_all() {
            return true;
        }
        let ownership = &mut self.guests.native.ownership;
        let found = ownership.access(number, self.running, !kind.is_atomic());
        if found == Found::NewlyShared {
            self.handle_shared_memory();
        }
        found == Found::Shared
    }

    fn shadow_granule(&mut self, number: usize, touch: Touch) {
        let is_raced = self.guests.native.is_raced;
        if !self.watch.records
            && self
                .guests
                .native
                .shadow
                .record_unless_conflicting(number, touch, is_raced)
        {
            return;
        }
        let mut touch = touch;
        if self.watch.records {
            touch.recorded =
                self.record_native_touch(number * GRANULE, touch.bytes, touch.kind.name());
        }
        let mut touches = std::mem::take(self.guests.native.shadow.granule(number));
        touches.retain(|earlier| {
            let overlaps = earlier.bytes & touch.bytes != 0;
            let is_ordered = self
                .guests
                .happens_before
                .knows(touch.epoch.thread, earlier.epoch);
            if overlaps && !is_ordered && earlier.kind.conflicts(touch.kind, is_raced) {
                self.handle_race(*earlier, touch, number);
            }
            // If this access covers an earlier access and is ordered after it, then every access
            // that races with the earlier access also races with this access.
            let is_replaced = earlier.bytes & !touch.bytes == 0
                && is_ordered
                && (earlier.kind == touch.kind || touch.kind == Kind::Write);
            !is_replaced
        });
        touches.push(touch);
        *self.guests.native.shadow.granule(number) = touches;
    }

    /// Handles two accesses that are not known to be ordered.
    #[cold]
    fn handle_race(&mut self, earlier: Touch, later: Touch, number: usize) {
        let both = earlier.bytes & later.bytes;
        let address = number * GRANULE + both.trailing_zeros() as usize;
        if self
            .guests
            .native
            .life
            .objects
            .annotations
            .is_benign(address)
        {
            return;
        }
        if self.guests.native.is_ordering {
            self.native_race(earlier, later, number);
        } else {
            self.order_atomics();
        }
    }

    /// Makes synchronization by atomic accesses count for races from now on, because the
    /// synchronization considered so far does not order two events. The exploration starts again.
    pub(super) fn order_atomics(&mut self) {
        self.names.order_atomics();
        self.guests.native.is_ordering = true;
        self.coarsen(Restart::AtomicOrder);
    }

    /// Returns the place of an access, in the program's own source if the execution is recorded.
    fn place_of(&self, touch: Touch) -> Option<String> {
        let recorded = self.guests.recorder.touches.get(touch.recorded as usize);
        let recorded = recorded.filter(|_| self.watch.records);
        let spot = recorded.map_or(Spot::Code(touch.code), |(_, recorded)| recorded.location);
        self.shown_spot(spot)
    }

    /// Returns the place in a library or its headers that performs the access, if the shown place
    /// is the program's call.
    fn within(&self, touch: Touch) -> Option<String> {
        let recorded = self.guests.recorder.touches.get(touch.recorded as usize);
        let (_, recorded) = recorded.filter(|_| self.watch.records)?;
        match recorded.location {
            Spot::Code(own) if own != touch.code => self.shown_spot(Spot::Code(touch.code)),
            Spot::Code(_) | Spot::Source(_) => None,
        }
    }

    /// Reports two unordered accesses. The failure is the same whichever of them comes first.
    #[cold]
    fn native_race(&mut self, earlier: Touch, later: Touch, number: usize) {
        let Some(native) = self.config.native else {
            return;
        };
        let threads = [earlier, later].map(|touch| touch.epoch.thread);
        if self.config.symmetry && self.tells_apart_by_race(threads) {
            return;
        }
        let both = earlier.bytes & later.bytes;
        let address = number * GRANULE + both.trailing_zeros() as usize;
        let kinds = [earlier.kind, later.kind];
        let name = match kinds.contains(&Kind::Return) || kinds.contains(&Kind::End) {
            // Another function may have used the memory since.
            true => "a local variable".to_owned(),
            false => native
                .source_map
                .variable(address, both.count_ones() as usize),
        };
        let mut accesses = [earlier, later].map(|touch| {
            let thread = self.thread_name(touch.epoch.thread);
            let (place, within) = match touch.kind {
                Kind::End => (None, None),
                Kind::Read
                | Kind::Write
                | Kind::AtomicRead
                | Kind::AtomicWrite
                | Kind::Release
                | Kind::Return
                | Kind::Use
                | Kind::Initialize
                | Kind::Destroy => (self.place_of(touch), self.within(touch)),
            };
            (place, thread, touch.kind, within)
        });
        accesses.sort();
        let location = accesses[1].0.clone();
        let other_location = accesses[0].0.clone();
        let [first, second] = accesses.map(|(place, thread, kind, within)| {
            let (by, at) = match kind {
                Kind::Return => ("by", "before"),
                Kind::End => ("of", "at"),
                Kind::Read
                | Kind::Write
                | Kind::AtomicRead
                | Kind::AtomicWrite
                | Kind::Release
                | Kind::Use
                | Kind::Initialize
                | Kind::Destroy => ("by", "at"),
            };
            let place = place.map_or_else(String::new, |place| format!(" {at} {place}"));
            let within = within.map_or_else(String::new, |within| format!(" (in {within})"));
            format!("{} {by} {thread}{place}{within}", kind.name())
        });
        let is_use_after_free = earlier.kind.ends_memory() || later.kind.ends_memory();
        let what = if kinds.contains(&Kind::Return) {
            format!("use after return of {name}")
        } else if kinds.contains(&Kind::End) {
            format!("use of {name} after its thread has ended")
        } else if is_use_after_free {
            format!("use after free of {name}")
        } else {
            format!("data race of {name}")
        };
        let shown = Shown {
            kind: match is_use_after_free {
                true => FailureKind::UseAfterFree,
                false => FailureKind::DataRace,
            },
            message: format!("{what}: {first} and {second} are not ordered"),
            location,
            event: Some(self.event()),
        };
        if self.guests.failures.may_suppress() {
            let mut names = self.functions_of_stack(later.code);
            let native = self.config.native.iter();
            names.extend(native.flat_map(|native| native.source_map.functions(earlier.code)));
            names.extend(other_location);
            names.push(name);
            if self.guests.failures.suppresses(&shown, &names) {
                return;
            }
        }
        self.guests
            .recorder
            .record_race(earlier.recorded, later.recorded);
        self.guests.failures.push(shown);
    }
}
