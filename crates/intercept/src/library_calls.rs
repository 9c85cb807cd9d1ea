//! Reports the reads and writes of program memory by functions of the system's libraries. They
//! count as plain accesses of the calling thread.
//!
//! Calls to these functions from code with hooks arrive here first, through redirected *slots*
//! (`unknown_calls`): the words through which an image calls functions of other images. The
//! accesses are reported, then the function is called. Accesses that only the result shows, such as
//! the number of characters that `fgets` has read, are reported after the call. Copies are
//! performed here: if plain accesses are events, each word must be read right after the event of
//! its read.

pub(crate) mod by_number;
mod cpp;
mod entry;
mod formatted;
mod hidden;
pub(crate) mod last_call;
mod protected;
mod sorting;
mod spans;
mod table;
mod vectors;

pub(crate) use entry::enter;
pub(crate) use hidden::{begin, name_of};

use crate::gate;
use crate::hooks::{self, Call};
use crate::image;
use crate::{aliases, clock, heap, open_files, stream_locks};
use ::report::Omission;
use entry::Arguments;
use explore::OpKind;
use formatted::{Printing, Scanning};
use libc::{c_int, c_void};
use protected::{How, Use, Uses};
use runtime::native::{self, CHANGES_SYSTEM, Frame, HAS_CALLED_UNKNOWN};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{AcqRel, Relaxed},
};
use vectors::Vectors;

/// A range of memory: its address and its size in bytes.
type Span = (usize, usize);

/// An effect of a function on memory.
#[derive(Clone, Copy)]
pub(crate) enum Act {
    /// Reads this memory.
    Reads(fn(&Arguments) -> Span),
    /// Writes this memory.
    Writes(fn(&Arguments) -> Span),
    /// Copies, and does nothing else. `None` if nothing is to be copied, or if the function must be
    /// called because it detects an overflow and ends the program.
    Copies(fn(&Arguments) -> Option<Copy>),
    /// Reads arguments as specified by a format, and writes text.
    Prints(Printing),
    /// Reads text, and writes to arguments as specified by a format.
    Scans(Scanning),
    /// Reads these buffers.
    Gathers(Vectors),
    /// Writes these buffers. The result is the number of bytes.
    Scatters(Vectors),
    /// Sorts this memory with a comparison function of the program.
    Sorts(fn(&Arguments) -> Span),
    /// Writes memory that is known from the result.
    Results {
        written: fn(&Arguments, usize) -> Span,
        /// The most that the function writes. The span is empty if this is not known.
        most: fn(&Arguments) -> Span,
    },
}

/// A copy of bytes.
#[derive(Clone, Copy)]
pub(crate) struct Copy {
    to: usize,
    from: usize,
    length: usize,
    /// The result of the function.
    result: usize,
}

/// A function that is called through slots.
#[repr(C)]
pub(crate) struct Callee {
    function: usize,
    acts: &'static [Act],
    /// The state that the function uses atomically (see `protected`).
    uses: Vec<Uses>,
    /// Its name in reports.
    name: String,
    /// Its effects as a function of the C++ standard library.
    effects: Option<cpp::Effects>,
    /// Whether a call counts as a change by the thread, because its effects are unknown. (The await
    /// rule stops a thread that repeats a spin loop and changes nothing.)
    counts_as_effect: bool,
    /// Whether the function itself reports the state of the calling thread for the await rule.
    reports_state: bool,
}

impl Callee {
    /// Returns the callee for a function of this library or of another library.
    pub(crate) fn new(
        function: usize,
        Name { name, is_unknown }: Name,
        counts_as_effect: bool,
        is_ours: bool,
    ) -> Callee {
        let acts = acts(name).unwrap_or_default();
        let copies = acts.iter().any(|act| matches!(act, Act::Copies(_)));
        let uses = protected::uses(name, is_unknown);
        Callee {
            function,
            acts,
            name: match uses.is_empty() {
                true => String::new(),
                false => ::native::demangled(name),
            },
            uses,
            effects: cpp::effects(name),
            counts_as_effect,
            reports_state: is_ours || copies,
        }
    }

    /// Returns the values on which the call depends: its arguments, or the ranges of memory that it
    /// accesses.
    fn given(&self, arguments: &Arguments) -> [u128; 3] {
        let mut given = [0; 3];
        if let Some(effects) = self.effects {
            let word = |number| match number < effects.arguments() {
                true => arguments.word(number) as u128,
                false => 0,
            };
            return [0, 2, 4].map(|number| word(number) << 64 | word(number + 1));
        }
        let spans = self.acts.iter().filter_map(|act| match act {
            Act::Reads(span) | Act::Writes(span) | Act::Sorts(span) => Some(span(arguments)),
            Act::Copies(_)
            | Act::Prints(_)
            | Act::Scans(_)
            | Act::Gathers(_)
            | Act::Scatters(_)
            | Act::Results { .. } => None,
        });
        for (word, (address, length)) in given.iter_mut().zip(spans) {
            *word = (address as u128) << 64 | length as u128;
        }
        given
    }
}

/// A function by its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    pub(crate) name: &'static str,
    /// Whether the function may change more than memory of the program.
    pub(crate) is_unknown: bool,
}

impl Name {
    /// Checks whether calls are reported: for their accesses, or as events.
    pub(crate) fn is_reported(self) -> bool {
        acts(self.name).is_some() || self.is_event()
    }

    /// Checks whether calls are events even if plain accesses are not.
    pub(crate) fn is_event(self) -> bool {
        !protected::uses(self.name, self.is_unknown).is_empty()
    }
}

/// Returns the known effects of a function of the system's libraries on memory of the program.
fn acts(name: &str) -> Option<&'static [Act]> {
    static KNOWN: OnceLock<FxHashMap<&str, &[Act]>> = OnceLock::new();
    let rows = || table::TABLE.iter().flat_map(|table| table.iter());
    let names = || rows().flat_map(|(names, acts)| names.split(' ').map(|name| (name, *acts)));
    let known = KNOWN.get_or_init(|| names().collect()).get(name).copied();
    known.or_else(|| cpp::effects(name).map(|_| &[][..]))
}

/// Memory that no thread can write.
static CONSTANT: OnceLock<Vec<Range<usize>>> = OnceLock::new();

/// Whether plain accesses are events.
static ARE_EVENTS: AtomicBool = AtomicBool::new(false);

/// Starts reporting calls.
pub(crate) fn prepare(are_events: bool) {
    ARE_EVENTS.store(are_events, Relaxed);
    CONSTANT.get_or_init(image::constant_parts);
}

fn is_constant(address: usize) -> bool {
    let parts = CONSTANT.get().into_iter().flatten();
    parts.into_iter().any(|part| part.contains(&address))
}

/// Reports accesses of one call.
struct Reporter {
    call: Call,
    /// Whether the state of the thread has been reported.
    has_reported_state: bool,
    /// The values on which the call depends.
    given: [u128; 3],
    /// The word that represents the first state that the call has used (see `hidden`).
    first_word: Option<usize>,
}

impl Reporter {
    fn reads(&mut self, (address, length): Span) {
        if !is_program_memory(address) {
            return;
        }
        let pointer = std::ptr::with_exposed_provenance(address);
        // SAFETY: the function that the program calls reads this memory; the gate is open.
        unsafe {
            match self.has_reported_state {
                true => self.call.reads(pointer, length),
                false => self.call.reads_first(pointer, length, self.given),
            }
        }
        self.has_reported_state |= length > 0;
    }

    fn uses(&mut self, uses: Uses, arguments: &Arguments) {
        let frame = arguments.frame();
        match uses {
            Uses::State(state) => {
                if let Some(state) = state(arguments) {
                    self.performs(state, arguments);
                }
            }
            Uses::Stream { of, is_locked } => {
                let stream = of(arguments);
                let data = protected::data_of(stream);
                if is_locked && stream_locks::are_taken() {
                    stream_locks::pass(stream, frame);
                } else if let (true, Some(data)) = (is_locked, data) {
                    self.performs(data, arguments);
                }
                // Closing a stream frees its memory, so a later use is detected here.
                if !is_locked {
                    self.writes((stream, 4));
                } else if data.is_some() && gate::is_inside() {
                    let _closed = gate::close();
                    // SAFETY: the frame is that of the call.
                    let code = unsafe { (*frame).code() };
                    heap::check_object(stream, code);
                    native::use_at(stream, code);
                }
            }
        }
    }

    /// Performs a use of state. A call that uses several states takes effect as a whole, after its
    /// last use. So all states of one call count as one object, and two calls take effect in the
    /// order of their uses.
    fn performs(&mut self, state: Use, arguments: &Arguments) {
        let first = *self.first_word.get_or_insert(state.word);
        if first != state.word && gate::is_inside() {
            let _closed = gate::close();
            native::use_together(first, state.word);
        }
        performs(state, &arguments.callee().name, arguments.frame());
    }

    fn writes(&mut self, (address, length): Span) {
        if is_program_memory(address) {
            // SAFETY: the function that the program calls writes this memory; the gate is open.
            unsafe {
                self.call
                    .writes(std::ptr::with_exposed_provenance(address), length);
            }
        }
    }
}

/// Functions that do not access the content of a file.
const OF_DESCRIPTORS: [&str; 15] = [
    "close", "dup2", "dup3", "fclose", "fcntl", "fcntl64", "fileno", "flock", "fstat", "fstat64",
    "fseek", "ftell", "lseek", "lseek64", "mmap",
];

/// Reports that the program is about to map the file of this descriptor.
pub(crate) fn map_file(descriptor: c_int) {
    uses("mmap", || Some(protected::file(descriptor)));
}

/// Reports that the program is about to register a function for its exit.
pub(crate) fn register_handler() {
    uses("atexit", || {
        protected::changes_of(hidden::word_of_handlers())
    });
}

/// Reports that the program is about to ask whether these descriptors are ready, in one event.
pub(crate) fn ask(name: &str, descriptors: impl FnOnce() -> Vec<c_int>) {
    uses(name, || protected::together(descriptors, How::Reads));
}

/// Returns whether plain accesses are events.
pub(crate) fn are_plain_accesses_events() -> bool {
    ARE_EVENTS.load(Relaxed)
}

/// Performs and reports a use of protected state, if the program is checked or enforced.
fn uses(name: &str, state: impl FnOnce() -> Option<Use>) {
    if (gate::is_inside() || enforce::is_thread_enforced())
        && let Some(state) = state()
    {
        performs(state, name, gate::frame());
    }
}

/// Performs and reports a use of protected state by the function of this name.
fn performs(state: Use, name: &str, frame: *const Frame) {
    perform(state, frame);
    if !gate::is_inside() {
        return;
    }
    let _closed = gate::close();
    let is_of_data = !OF_DESCRIPTORS.contains(&name);
    if let Some(descriptor) = state.descriptor.filter(|_| is_of_data)
        && aliases::has_file_of(descriptor)
    {
        let what =
            "accesses to a mapped file through its descriptor (mmap together with read or write)";
        native::leave_out(Omission::Unseen, what);
    }
    native::record_call(|| {
        let call = if name.ends_with(')') { "" } else { "()" };
        let verb = match state.how {
            How::Reads => "reads",
            How::Changes(_) => "uses",
        };
        let state = hidden::name_of(state.word).unwrap_or("state");
        format!("{name}{call} {verb} {state}")
    });
}

/// Performs a use of protected state.
fn perform(Use { word, how, .. }: Use, frame: *const Frame) {
    if !gate::is_inside() {
        // The next hook that the thread calls reports the end of the use.
        return enforce::begin(match how {
            How::Reads => OpKind::Load,
            How::Changes(_) => OpKind::ReadModifyWrite,
        });
    }
    let state = std::ptr::with_exposed_provenance_mut::<u64>(word);
    let _closed = gate::close();
    // SAFETY: the word represents the state; the frame is that of the call.
    unsafe {
        match how {
            How::Reads => {
                native::load_within(state, Relaxed, frame);
            }
            How::Changes(order) => {
                // A thread that repeats a read until the state changes sees that it has changed.
                let counts = hidden::counts_changes(word);
                let change = |value: u64| value + u64::from(counts);
                native::modify_within(state, ("call", order), (*frame).code(), change);
                if counts {
                    hidden::count_change(word);
                }
                if order == AcqRel {
                    clock::acquire(word);
                    clock::release(word);
                }
                native::take_effect();
                if word == hidden::word_of_system() {
                    open_files::change();
                    CHANGES_SYSTEM.store(true, Relaxed);
                }
            }
        }
    }
}

fn is_program_memory(address: usize) -> bool {
    address != 0 && !is_constant(address) && !gate::is_errno(address)
}

/// Begins a call whose writes are reported when it has returned. Until then, they count as reported.
fn begin_write_before_report(frame: *const Frame) {
    if gate::is_inside() {
        // This compares the memory that the program has changed so far.
        drop(gate::close());
        // SAFETY: the frame is that of the call.
        unsafe { native::enter_library(frame) };
    }
}

/// Reports the accesses of the call. Returns true if the function has already been performed and
/// must not be called. In this case the arguments contain its result.
///
/// # Safety
///
/// The caller must be [`enter`], for a call of the program.
unsafe extern "C-unwind" fn report(arguments: &mut Arguments) -> bool {
    let callee = arguments.callee();
    if callee.counts_as_effect {
        HAS_CALLED_UNKNOWN.store(true, Relaxed);
    }
    if !gate::is_inside() && !enforce::is_thread_enforced() {
        return false;
    }
    // SAFETY: the errno of the running thread.
    let errno = unsafe { *libc::__errno_location() };
    let are_events = ARE_EVENTS.load(Relaxed);
    let mut reporter = Reporter {
        call: Call::of(arguments.frame()),
        has_reported_state: callee.reports_state,
        given: callee.given(arguments),
        first_word: None,
    };
    let mut is_done = false;
    for uses in &callee.uses {
        reporter.uses(*uses, arguments);
    }
    if let Some(effects) = callee.effects {
        effects.report(arguments, &mut reporter);
        // The function's other writes, such as those to memory that it allocates, count as
        // reported.
        // SAFETY: the frame is that of the call.
        unsafe { native::enter_library(arguments.frame()) };
    }
    if gate::is_inside() {
        // Recorded only after the events of this call, because other threads may call libraries
        // during these events. SAFETY: the frame is that of the call.
        unsafe { last_call::record(arguments.frame(), !callee.uses.is_empty()) };
    }
    for act in callee.acts {
        match act {
            Act::Reads(span) => reporter.reads(span(arguments)),
            Act::Writes(span) => reporter.writes(span(arguments)),
            Act::Copies(copy) => {
                if let Some(copy) = copy(arguments) {
                    let to = std::ptr::with_exposed_provenance_mut::<c_void>(copy.to);
                    let from = std::ptr::with_exposed_provenance(copy.from);
                    // SAFETY: the arguments are those of the program's call.
                    unsafe { hooks::copy(to, from, copy.length) };
                    arguments.set_result(copy.result);
                    is_done = true;
                }
            }
            Act::Prints(printing) => {
                printing.report(arguments, &mut reporter);
            }
            Act::Scans(scanning) => {
                begin_write_before_report(arguments.frame());
                // SAFETY: the errno of the running thread.
                unsafe { *libc::__errno_location() = errno };
                let result = scanning.perform(arguments, &mut reporter);
                arguments.set_result(result as usize);
                return true;
            }
            Act::Gathers(buffers) => {
                let buffers = buffers(arguments);
                reporter.reads(vectors::array(buffers));
                vectors::spans(buffers, usize::MAX).for_each(|span| reporter.reads(span));
            }
            Act::Scatters(buffers) => {
                let buffers = buffers(arguments);
                reporter.reads(vectors::array(buffers));
                if are_events {
                    vectors::spans(buffers, usize::MAX).for_each(|span| reporter.writes(span));
                }
                begin_write_before_report(arguments.frame());
                // SAFETY: the arguments are those of the program's call, and so is the errno.
                let (result, error) = unsafe {
                    *libc::__errno_location() = errno;
                    (arguments.call(), *libc::__errno_location())
                };
                reporter.call.restore_frame();
                if !are_events {
                    vectors::spans(buffers, spans::count(result))
                        .for_each(|span| reporter.writes(span));
                }
                // SAFETY: the errno of the running thread.
                unsafe { *libc::__errno_location() = error };
                arguments.set_result(result);
                return true;
            }
            Act::Sorts(span) => {
                let span = span(arguments);
                reporter.reads(span);
                // SAFETY: the arguments are those of the program's call; the gate is open.
                if are_events && unsafe { sorting::sort(arguments, span, &mut reporter) } {
                    is_done = true;
                } else {
                    reporter.writes(span);
                }
            }
            Act::Results { written, most } => {
                if are_events {
                    reporter.writes(most(arguments));
                }
                begin_write_before_report(arguments.frame());
                // SAFETY: the arguments are those of the program's call, and so is the errno.
                let result = unsafe {
                    *libc::__errno_location() = errno;
                    arguments.call()
                };
                // SAFETY: the errno of the running thread.
                let error = unsafe { *libc::__errno_location() };
                reporter.call.restore_frame();
                if !are_events || most(arguments).1 == 0 {
                    reporter.writes(written(arguments, result));
                }
                // SAFETY: the errno of the running thread.
                unsafe { *libc::__errno_location() = error };
                arguments.set_result(result);
                return true;
            }
        }
    }
    // SAFETY: the errno of the running thread.
    unsafe { *libc::__errno_location() = errno };
    is_done
}
