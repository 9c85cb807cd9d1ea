//! Writes to shared memory that no hook reports.
//!
//! In an audited execution every hook calls the checker. Between two calls, exactly one thread
//! runs. So if memory changes without a report, the change is an *unseen write* of that thread, by
//! a library without hooks, by generated code, or by the system. The write matters if another
//! thread accesses the same bytes and neither starts nor joins of threads order the two accesses. A
//! write that matters is reported as left out of the search.

use super::{FRAME, Frame};
use crate::engine::Engine;
use crate::engine::model::Model;
use crate::engine::perform::{current, silently};
use crate::engine::watch::Watch;
use explore::{Program, Schedule, ThreadId};
use report::{LeftOut, Omission};
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

const GRANULE: usize = 8;

/// The maximum number of bytes of memory that are compared at a time.
const LARGEST: usize = 1 << 20;

/// The number of bytes that may be copied and compared in one exploration.
const BUDGET: usize = 512 << 20;

/// The cost of a reported access, in bytes of the budget.
const ACCESS: usize = 512;

/// The number of reported writes that are remembered for each thread. So a compiler may move a
/// write past this number of hooks, and a function may report this number of writes in advance.
const REPORTED: usize = 32;

/// The maximum number of writes that are reported to the user.
const MOST_REPORTED: usize = 8;

/// Whether the program has called a library of the compiler or the system since the checker last
/// returned to the program, in an audited execution. The writes of such libraries count as
/// reported. (The compiler's libraries change only objects that are passed to them, and code with
/// hooks accesses these objects, too.)
pub static HAS_CALLED_LIBRARY: AtomicBool = AtomicBool::new(false);

/// The last call of such a library, if the checker has not been called since: the location of its
/// return address on the stack, and the return address itself. Otherwise, the location is 0.
static LIBRARY_CALL: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Records that the program is about to call a function of a library of the compiler or the system,
/// whose writes count as reported. The function may call the program back.
///
/// # Safety
///
/// `frame` must be the frame of the call.
pub unsafe fn enter_library(frame: *const Frame) {
    HAS_CALLED_LIBRARY.store(true, Relaxed);
    LIBRARY_CALL[0].store(return_address(frame), Relaxed);
    // SAFETY: as promised by the caller.
    LIBRARY_CALL[1].store(unsafe { (*frame).code() }, Relaxed);
}

/// Returns the location of the frame's return address on the stack.
fn return_address(frame: *const Frame) -> usize {
    frame.addr() + size_of::<Frame>() - size_of::<usize>()
}

/// The data of the audited execution.
pub(crate) struct Audit {
    /// The number of bytes that may still be copied and compared.
    budget: usize,
    /// The memory that the program may write, with its content on entry to the program. The list is
    /// empty while the checker runs.
    pieces: Vec<Range<usize>>,
    content: Vec<u8>,
    /// Indexed by thread.
    threads: Vec<Audited>,
    granules: FxHashMap<usize, Granule>,
    /// The unseen writes that have been reported to the user.
    reported: BTreeSet<String>,
}

#[derive(Default)]
struct Audited {
    /// The thread's vector clock by starts and joins. Entries beyond the end are 0.
    clock: Vec<u32>,
    /// The latest writes that the thread reported.
    reported: VecDeque<Range<usize>>,
    /// The code of the thread's last call of the checker, or of the function that the checker
    /// called last.
    code: usize,
    /// A library call that may not have returned: the location of its return address on the stack,
    /// and the return address itself.
    library_call: Option<(usize, usize)>,
}

impl Audited {
    /// Checks whether the thread is still in its library call, given the frame of its last call of
    /// the checker.
    fn is_in_library(&self, frame: *const Frame) -> bool {
        self.library_call.is_some_and(|(place, code)| {
            // SAFETY: the place is in the thread's stack, above the frame.
            return_address(frame) < place && unsafe { *(place as *const usize) } == code
        })
    }
}

#[derive(Default)]
struct Granule {
    /// Accesses that hooks reported.
    reported: Vec<Touch>,
    /// Unseen writes that do not matter yet.
    unseen: Vec<(Touch, Place)>,
}

/// An access to some bytes of a granule. Bit i stands for byte i.
#[derive(Clone, Copy)]
struct Touch {
    thread: ThreadId,
    /// The thread's own entry in its clock at the time of the access.
    number: u32,
    bytes: u8,
}

/// The code of the thread's last call of the checker before an unseen write, and of its first call
/// after the write.
type Place = [usize; 2];

impl Default for Audit {
    fn default() -> Audit {
        Audit {
            budget: BUDGET,
            pieces: Vec::new(),
            content: Vec::new(),
            threads: Vec::new(),
            granules: FxHashMap::default(),
            reported: BTreeSet::new(),
        }
    }
}

impl Audit {
    fn begin(&mut self) {
        self.pieces.clear();
        self.threads.clear();
        self.granules.clear();
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Audited {
        if self.threads.len() <= thread.index() {
            self.threads
                .resize_with(thread.index() + 1, Audited::default);
        }
        &mut self.threads[thread.index()]
    }

    /// Records that `parent` starts a thread. `parent` is `None` for the main thread.
    pub(crate) fn started(&mut self, thread: ThreadId, parent: Option<ThreadId>) {
        let mut clock = Vec::new();
        if let Some(parent) = parent {
            clock.clone_from(&self.thread(parent).clock);
            self.thread(parent).clock[parent.index()] += 1;
        }
        if clock.len() <= thread.index() {
            clock.resize(thread.index() + 1, 0);
        }
        clock[thread.index()] = 1;
        self.thread(thread).clock = clock;
    }

    /// Records that `joiner` is ordered after the end of `thread`.
    pub(crate) fn joined(&mut self, joiner: ThreadId, thread: ThreadId) {
        let ended = self.thread(thread).clock.clone();
        let clock = &mut self.thread(joiner).clock;
        if clock.len() < ended.len() {
            clock.resize(ended.len(), 0);
        }
        for (entry, &other) in clock.iter_mut().zip(&ended) {
            *entry = (*entry).max(other);
        }
    }

    fn touch(&mut self, thread: ThreadId, bytes: u8) -> Touch {
        let clock = &self.thread(thread).clock;
        let number = clock.get(thread.index());
        Touch {
            thread,
            number: number.copied().unwrap_or_default(),
            bytes,
        }
    }

    /// Returns whether two accesses overlap and are not ordered by starts and joins.
    fn conflicts(&self, earlier: Touch, later: Touch) -> bool {
        let clock = &self.threads[later.thread.index()].clock;
        let known = clock.get(earlier.thread.index()).copied();
        earlier.thread != later.thread
            && earlier.bytes & later.bytes != 0
            && known.unwrap_or_default() < earlier.number
    }

    /// Records an access that a hook reports. Returns the unseen writes that matter because of this
    /// access.
    fn report(
        &mut self,
        thread: ThreadId,
        range: Range<usize>,
        writes: bool,
    ) -> Vec<(Range<usize>, Place)> {
        self.budget = self.budget.saturating_sub(ACCESS);
        let mut found = Vec::new();
        for (number, bytes) in granules(range.clone()) {
            let touch = self.touch(thread, bytes);
            let mut granule = self.granules.remove(&number).unwrap_or_default();
            granule.unseen.retain(|&(unseen, place)| {
                let conflicts = self.conflicts(unseen, touch);
                if conflicts {
                    found.push((bytes_of(number, unseen.bytes), place));
                }
                !conflicts
            });
            granule.record(touch);
            self.granules.insert(number, granule);
        }
        if writes {
            let reported = &mut self.thread(thread).reported;
            if reported.len() == REPORTED {
                reported.pop_front();
            }
            reported.push_back(range);
        }
        found
    }

    /// Checks whether an unseen write already matters. If not, records the write.
    fn write_unseen(&mut self, number: usize, touch: Touch, place: Place) -> bool {
        let mut granule = self.granules.remove(&number).unwrap_or_default();
        let unseen = granule.unseen.iter().map(|&(unseen, _)| unseen);
        let mut others = granule.reported.iter().copied().chain(unseen);
        let conflicts = others.any(|other| self.conflicts(other, touch));
        if !conflicts {
            let unseen = &mut granule.unseen;
            unseen.retain(|(old, _)| old.thread != touch.thread || old.bytes & !touch.bytes != 0);
            unseen.push((touch, place));
        }
        self.granules.insert(number, granule);
        conflicts
    }

    /// Returns the bytes of the granule at this address that changed without a report, bit i for
    /// byte i.
    fn unreported(&self, thread: ThreadId, address: usize, [old, new]: [&[u8]; 2]) -> u8 {
        let mut bytes = 0;
        for (index, _) in old.iter().zip(new).enumerate().filter(|(_, (a, b))| a != b) {
            let byte = address + index;
            let reported = &self.threads[thread.index()].reported;
            if !reported.iter().any(|range| range.contains(&byte)) {
                bytes |= 1 << (byte % GRANULE);
            }
        }
        bytes
    }

    /// Finds the unseen writes of the thread since its last call of the checker. Returns those that
    /// already matter, and records the others. Finds nothing if the thread has called a library of
    /// the compiler or the system.
    fn compare(&mut self, thread: ThreadId, place: Place) -> Vec<Range<usize>> {
        if HAS_CALLED_LIBRARY.load(Relaxed) {
            return Vec::new();
        }
        let mut found = Vec::new();
        let content = std::mem::take(&mut self.content);
        let mut rest = &content[..];
        for piece in std::mem::take(&mut self.pieces) {
            let (old, behind) = rest.split_at(piece.len());
            rest = behind;
            let start = std::ptr::with_exposed_provenance::<u8>(piece.start);
            // SAFETY: the memory existed when it was copied, and the program cannot unmap it
            // without a call.
            let new = unsafe { std::slice::from_raw_parts(start, piece.len()) };
            if old == new {
                continue;
            }
            let mut address = piece.start;
            while address < piece.end {
                let end = piece.end.min((address / GRANULE + 1) * GRANULE);
                let both =
                    [old, new].map(|content| &content[address - piece.start..end - piece.start]);
                let bytes = match both[0] == both[1] {
                    true => 0,
                    false => self.unreported(thread, address, both),
                };
                let number = address / GRANULE;
                if bytes != 0 {
                    let touch = self.touch(thread, bytes);
                    if self.write_unseen(number, touch, place) {
                        add_to(&mut found, bytes_of(number, bytes));
                    }
                }
                address = end;
            }
        }
        self.content = content;
        found
    }
}

impl Granule {
    fn record(&mut self, touch: Touch) {
        let same = |known: &&mut Touch| known.thread == touch.thread && known.bytes == touch.bytes;
        match self.reported.iter_mut().find(same) {
            Some(own) => *own = touch,
            None => self.reported.push(touch),
        }
    }
}

/// Adds a range of bytes. The range is merged with the last range if that ends in the granule
/// before.
fn add_to(found: &mut Vec<Range<usize>>, range: Range<usize>) {
    match found.last_mut() {
        Some(last) if (last.end - 1) / GRANULE + 1 == range.start / GRANULE => {
            last.end = range.end;
        }
        Some(_) | None => found.push(range),
    }
}

/// Returns the granules of a range, each with its bytes in the range.
fn granules(range: Range<usize>) -> impl Iterator<Item = (usize, u8)> {
    let numbers = range.start / GRANULE..range.end.div_ceil(GRANULE);
    numbers.map(move |number| {
        let bytes = number * GRANULE..(number + 1) * GRANULE;
        let touched = bytes.enumerate().filter(|(_, byte)| range.contains(byte));
        (
            number,
            touched.fold(0, |mask, (index, _)| mask | 1 << index),
        )
    })
}

/// Returns the range from the first to the last of these bytes of a granule.
fn bytes_of(number: usize, bytes: u8) -> Range<usize> {
    let start = number * GRANULE;
    start + bytes.trailing_zeros() as usize..start + GRANULE - bytes.leading_zeros() as usize
}

/// Records that code of the program has called the checker at this place, or has ended (`None`).
/// Call this function before the checker does anything. This function and the next two are called
/// only in audited executions.
pub fn leave_program(code: Option<usize>) {
    if current().is_some() {
        silently(|engine| engine.audit_segment(code.unwrap_or_default()));
    }
}

/// Records that the checker is about to call a function of the program.
pub fn call_program(function: usize) {
    if current().is_some() {
        silently(|engine| engine.guests.native.audit.thread(engine.running).code = function + 1);
    }
}

/// Records that the checker returns to code of the program.
pub fn enter_program() {
    if current().is_some() {
        silently(Engine::begin_audited_segment);
    }
}

impl Model {
    /// Repeats a schedule of accesses and searches for writes to shared memory that no hook
    /// reports. These writes are reported as left out of the search ([`Model::left_out`]). The
    /// audit ends early if the program takes another path this time or the budget is used up.
    pub fn audit(&mut self, schedule: &Schedule) {
        let engine = self.engine_mut();
        let Some(native) = engine.config.native else {
            return;
        };
        if engine.guests.native.audit.budget == 0 {
            return;
        }
        let before = (engine.watch, engine.guests.native.is_ordering);
        engine.watch_all_memory();
        engine.watch = Watch {
            races: true,
            audits: true,
            ..engine.watch
        };
        engine.guests.native.audit.begin();
        native.memory.audit(true);
        self.step_by_accesses();
        self.reset();
        for &step in schedule {
            let is_enabled = self.engine().is_enabled(step.thread);
            if !is_enabled
                || self.step(step).is_err()
                || self.engine().guests.native.audit.budget == 0
            {
                break;
            }
        }
        native.memory.audit(false);
        let engine = self.engine_mut();
        (engine.watch, engine.guests.native.is_ordering) = before;
        engine.guests.savepoints.forget();
    }
}

impl Model {
    /// Sets whether executions of native programs record the code that they reach, from the next
    /// execution on.
    pub fn mark_code(&mut self, is_on: bool) {
        if let Some(native) = self.engine().config.native {
            native.memory.mark_code(is_on);
            // Savepoints were made under the other setting.
            self.engine_mut().guests.savepoints.forget();
        }
    }

    /// Returns the lines with hooks that no recorded execution has reached, as `file:line`. For
    /// programs in Rust, the list is empty.
    pub fn unreached(&self) -> Vec<String> {
        let native = self.engine().config.native;
        native.map_or_else(Vec::new, |native| native.memory.unreached())
    }
}

impl Engine {
    fn is_enabled(&self, thread: ThreadId) -> bool {
        let pending = self.life.pending.get(thread.index());
        pending.is_some_and(|pending| pending.enabled().is_some())
    }

    /// Records an access by the running thread that a hook reports.
    #[cold]
    #[inline(never)]
    pub(super) fn audit_access(&mut self, address: usize, length: usize, writes: bool) {
        if !self.watch.audits {
            return;
        }
        let range = address..address + length;
        let thread = self.running;
        for (range, place) in self.guests.native.audit.report(thread, range, writes) {
            self.report_unseen(range, place);
        }
    }

    fn begin_audited_segment(&mut self) {
        if !self.is_audited() {
            return;
        }
        let Some(native) = self.config.native else {
            return;
        };
        let mut audit = std::mem::take(&mut self.guests.native.audit);
        audit.pieces.clear();
        audit.content.clear();
        let mut copy = |piece: &[u8]| {
            let room = LARGEST - audit.content.len();
            let piece = &piece[..piece.len().min(room)];
            let start = piece.as_ptr().expose_provenance();
            audit.pieces.push(start..start + piece.len());
            audit.content.extend_from_slice(piece);
            audit.content.len() < LARGEST
        };
        native.memory.visit_shared(&mut copy);
        for &id in self.started().iter().filter(|&&id| id != self.running) {
            // SAFETY: the thread is suspended, and the slice is not kept.
            copy(unsafe { self.threads[id.index()].fibre.in_use() });
        }
        // SAFETY: only the system thread that runs the program writes `FRAME`.
        let frame = unsafe { FRAME };
        let audited = audit.thread(self.running);
        let is_in_library = audited.is_in_library(frame);
        if !is_in_library {
            audited.library_call = None;
        }
        HAS_CALLED_LIBRARY.store(is_in_library, Relaxed);
        audit.budget = audit.budget.saturating_sub(2 * audit.content.len());
        self.guests.native.audit = audit;
    }

    fn audit_segment(&mut self, code: usize) {
        if !self.is_audited() {
            return;
        }
        let thread = self.running;
        let audit = &mut self.guests.native.audit;
        let call = LIBRARY_CALL[0].swap(0, Relaxed);
        if call != 0 {
            audit.thread(thread).library_call = Some((call, LIBRARY_CALL[1].load(Relaxed)));
        }
        let place = [
            std::mem::replace(&mut audit.thread(thread).code, code),
            code,
        ];
        for range in audit.compare(thread, place) {
            self.report_unseen(range, place);
        }
    }

    fn is_audited(&self) -> bool {
        self.watch.audits && !self.is_tearing_down && self.guests.native.audit.budget > 0
    }

    /// Reports an unseen write that matters, unless many have been reported or the memory belongs
    /// to a system library.
    fn report_unseen(&mut self, range: Range<usize>, place: Place) {
        let Some(native) = self.config.native else {
            return;
        };
        if self.guests.native.audit.reported.len() >= MOST_REPORTED
            || native.memory.is_of_system(range.start)
        {
            return;
        }
        let name = native.source_map.variable(range.start, range.len());
        // The name must not contain byte numbers, because the write may have left some bytes
        // unchanged.
        let name = name.split(" (byte").next().unwrap_or_default();
        let places: Vec<String> = place
            .iter()
            .filter_map(|&code| native.source_map.place(code))
            .collect();
        let place = match &places[..] {
            [first, second] if first != second => format!(" between {first} and {second}"),
            [place, ..] => format!(" at {place}"),
            [] => String::new(),
        };
        let what = format!(
            "{name}, which threads share, is written{place} by code without hooks, such as a library's or the system's: \
             this write is not explored; compile that code with `mazurka cc` if it is yours"
        );
        if self.guests.native.audit.reported.insert(what.clone()) {
            let mut left_out = self.guests.left_out.borrow_mut();
            left_out.insert(LeftOut::new(Omission::Unseen, what));
        }
    }
}
