//! State that the C library keeps for all threads.
//!
//! A word represents each state. If POSIX does not require a function to be thread-safe, its uses
//! of state are plain accesses to the word, which may race. Uses of protected state (`protected`)
//! are atomic accesses.

use super::Span;
use crate::gate::Own;
use crate::savepoint::is_confined_program;
use std::cell::UnsafeCell;

/// Words that represent state. In programs without savepoints, the word of a file or of the system
/// counts the changes of this state in the execution, because such state can be read without being
/// changed. All other words remain 0.
#[repr(C)]
struct Words(UnsafeCell<[u64; WORD_COUNT]>);

const WORD_COUNT: usize = 512;

// SAFETY: only the checker's one thread accesses the words, and only as the program's memory.
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
    /// The table of `hsearch`.
    Table,
    /// The result of `ecvt` and `fcvt`.
    Digits,
    /// The state of `getopt` besides its variables.
    Options,
    /// The result of `gethostbyname` and similar functions.
    Host,
    /// The state of functions for multibyte characters if the program does not pass a state.
    Shift,
}

fn word(number: usize) -> usize {
    (&raw const WORDS).addr() + 8 * number
}

impl Hidden {
    pub(super) fn span(self) -> Span {
        (word(self as usize), 8)
    }
}

/// Returns the name of the state that the word at an address represents.
pub(crate) fn name_of(address: usize) -> Option<&'static str> {
    let number = address.checked_sub(word(0))? / 8;
    match number {
        0 => Some("the rest of the text of strtok"),
        1 => Some("the result of localtime and gmtime"),
        2 => Some("the result of asctime"),
        3 => Some("the environment"),
        4 => Some("the state of drand48"),
        5 => Some("the table of hsearch"),
        6 => Some("the result of ecvt and fcvt"),
        7 => Some("the state of getopt"),
        8 => Some("the result of gethostbyname"),
        9 => Some("the state of a function for multibyte characters"),
        RANDOM => Some("the state of rand"),
        SYSTEM => Some("the state of the system"),
        HANDLERS => Some("the functions that run at the exit"),
        ABSENT_FILE | FILES..WORD_COUNT => Some("a file"),
        _ => None,
    }
}

/// Numbers of the words of protected state, and of the first word of a file.
const RANDOM: usize = 32;
const SYSTEM: usize = 33;
const ABSENT_FILE: usize = 34;
const HANDLERS: usize = 35;
const FILES: usize = 64;
pub(super) const FILE_COUNT: usize = WORD_COUNT - FILES;

/// Begins an execution. Words count changes only in programs without savepoints, so savepoints need
/// not copy them.
pub(crate) fn begin() {
    // SAFETY: only the checker's one thread accesses the words.
    unsafe { *WORDS.0.get() = [0; WORD_COUNT] };
    TIES.get().clear();
}

/// Pairs of words: a change of the second word's state also counts as a change of the first word's.
static TIES: Own<Vec<(usize, usize)>> = Own::new(Vec::new());

/// From now on, also counts changes of the second word's state in the first word. A call that uses
/// both states accesses only the first word; the two words are one object.
pub(super) fn count_with(first: usize, second: usize) {
    if !TIES.get().contains(&(first, second)) {
        TIES.get().push((first, second));
    }
}

/// Counts a change of this word's state in each word in which `count_with` has said to count it.
pub(super) fn count_change(word: usize) {
    for (first, _) in TIES.get().iter().filter(|(_, second)| *second == word) {
        let first = std::ptr::with_exposed_provenance_mut::<u64>(*first);
        // SAFETY: only the checker's one thread accesses the words.
        unsafe { *first += 1 };
    }
}

/// Checks whether the value of the word at this address counts changes. Programs with savepoints
/// cannot ask for the state of files and of the system.
pub(super) fn counts_changes(address: usize) -> bool {
    let number = address.wrapping_sub(word(0)) / 8;
    let is_asked_for = number == SYSTEM || (FILES..WORD_COUNT).contains(&number);
    is_asked_for && !is_confined_program()
}

pub(super) fn word_of_random() -> usize {
    word(RANDOM)
}

pub(super) fn word_of_system() -> usize {
    word(SYSTEM)
}

/// Returns the word of the list of functions that run at the exit (`atexit`).
pub(super) fn word_of_handlers() -> usize {
    word(HANDLERS)
}

/// Returns the word of all files that have no descriptor. No call changes it.
pub(super) fn word_of_absent_file() -> usize {
    word(ABSENT_FILE)
}

/// Returns the word of the file or stream with this number.
pub(super) fn word_of_file(number: usize) -> usize {
    word(FILES + number)
}
