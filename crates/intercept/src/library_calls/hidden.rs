//! State that the C library keeps for all threads: what POSIX does not protect, and what it does.
//!
//! Where POSIX says that a function need not be thread-safe, its uses of such state are plain accesses of a word that stands
//! for it, and race. Where the library has a lock, uses are atomic, and their order is explored.

use super::Span;
use super::entry::Arguments;
use libc::FILE;
use rustc_hash::FxHashMap;
use std::cell::UnsafeCell;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{self, AcqRel, Relaxed};

/// Words that stand for state. Their values stay 0.
#[repr(C)]
struct Words(UnsafeCell<[u64; WORD_COUNT]>);

const WORD_COUNT: usize = 512;

// SAFETY: the words are accessed by the checker's one thread, and only as the program's memory.
unsafe impl Sync for Words {}

static WORDS: Words = Words(UnsafeCell::new([0; WORD_COUNT]));

/// State that is not protected.
#[derive(Clone, Copy)]
pub(super) enum Hidden {
    /// The rest of the text of `strtok`.
    Token,
    /// The results of `localtime` and `gmtime`.
    Time,
    /// The result of `asctime`.
    Text,
    Environment,
    /// The numbers of `drand48`.
    Numbers,
}

fn word(number: usize) -> usize {
    (&raw const WORDS).addr() + 8 * number
}

impl Hidden {
    pub(super) fn span(self) -> Span {
        (word(self as usize), 8)
    }
}

/// What the word at an address stands for.
pub(crate) fn name_of(address: usize) -> Option<&'static str> {
    let number = address.checked_sub(word(0))? / 8;
    match number {
        0 => Some("the rest of the text of strtok"),
        1 => Some("the result of localtime and gmtime"),
        2 => Some("the result of asctime"),
        3 => Some("the environment"),
        4 => Some("the state of drand48"),
        FIRST_PROTECTED => Some("the state of rand"),
        5..DESCRIPTORS => Some("the mask of new files"),
        DESCRIPTORS..STREAMS => Some("the position of a descriptor"),
        STREAMS..WORD_COUNT => Some("a stream"),
        _ => None,
    }
}

/// What stands for protected state: its address, and how its uses are ordered.
type Protected = (usize, Ordering);

const FIRST_PROTECTED: usize = 16;
/// Where the words of descriptors and those of streams begin.
const DESCRIPTORS: usize = 64;
const STREAMS: usize = 256;

fn random(_: &Arguments) -> Option<Protected> {
    Some((word(FIRST_PROTECTED), Relaxed))
}

fn mask(_: &Arguments) -> Option<Protected> {
    Some((word(FIRST_PROTECTED + 1), Relaxed))
}

/// The position of a descriptor. What is written to the standard ones cannot be read by the program.
fn descriptor(arguments: &Arguments) -> Option<Protected> {
    let descriptor = arguments.word(0) as u32 as usize;
    (descriptor > 2).then(|| {
        (
            word(DESCRIPTORS + descriptor % (STREAMS - DESCRIPTORS)),
            AcqRel,
        )
    })
}

/// A stream, likewise.
fn stream<const NUMBER: usize>(arguments: &Arguments) -> Option<Protected> {
    unsafe extern "C" {
        static stdin: *mut FILE;
        static stdout: *mut FILE;
        static stderr: *mut FILE;
    }
    let stream = arguments.word(NUMBER);
    // SAFETY: the C library has set them.
    let standard = unsafe { [stdin, stdout, stderr] }.map(<*mut FILE>::addr);
    let number = STREAMS + stream / 16 % (WORD_COUNT - STREAMS);
    (stream != 0 && !standard.contains(&stream)).then(|| (word(number), AcqRel))
}

pub(super) type Use = fn(&Arguments) -> Option<Protected>;

const USES: [(&str, Use); 7] = [
    ("rand random srand srandom initstate setstate", random),
    ("umask", mask),
    (
        "read __read_chk write lseek lseek64 readv writev",
        descriptor,
    ),
    (
        "fprintf vfprintf __fprintf_chk __vfprintf_chk fscanf vfscanf __isoc99_fscanf fgetc getc _IO_getc fseek fseeko ftell ftello rewind \
          fflush feof ferror clearerr getw",
        stream::<0>,
    ),
    ("fputc putc _IO_putc fputs ungetc putw fgetwc", stream::<1>),
    ("fgets getline", stream::<2>),
    ("fwrite fread getdelim __getdelim __fgets_chk", stream::<3>),
];

/// What use a function makes of protected state.
pub(super) fn used(name: &str) -> Option<Use> {
    static KNOWN: OnceLock<FxHashMap<&str, Use>> = OnceLock::new();
    let rows = || USES.iter();
    let names =
        || rows().flat_map(|(names, used)| names.split_whitespace().map(|name| (name, *used)));
    KNOWN.get_or_init(|| names().collect()).get(name).copied()
}
