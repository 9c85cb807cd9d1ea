//! Records the order of events. For each event, its thread notes two numbers from a shared counter,
//! one before and one after the event. If an event has waited for another event, its first number
//! is greater than the second number of the other event, whatever the reason for the wait.

use crate::blocking::Latched;
use crate::failure;
use crate::thread::{self, Thread};
use report::{Inputs, Recorded, Recording};
use std::path::Path;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, SeqCst},
};

/// The notes of a thread.
#[derive(Default)]
pub(crate) struct Own {
    /// The numbers before and after each event; the second is 0 while the event lasts.
    events: Vec<(u64, u64)>,
    /// Length of `events`. Written by the owner, so that other threads can read it.
    length: AtomicU64,
}

/// The threads whose notes are kept beyond their ends.
static KEPT: Latched<Vec<&'static Thread>> = Latched::new(Vec::new());

static IS_ON: AtomicBool = AtomicBool::new(false);
static CLOCK: AtomicU64 = AtomicU64::new(1);

/// Greatest number of events of a thread that can be recorded. More events would require a larger
/// vector, but another thread may read the vector at the end of the process.
const MOST: usize = 1 << 20;

pub(crate) fn begin(is_on: bool) {
    IS_ON.store(is_on, Relaxed);
}

pub(crate) fn is_on() -> bool {
    IS_ON.load(Relaxed)
}

/// Discards all notes when the safe trace is restarted, because only the events since the last
/// restart are written.
pub(crate) fn again(main: &Thread) {
    // SAFETY: this is the calling thread.
    let record = unsafe { &mut *main.record.get() };
    record.length.store(0, SeqCst);
    record.events.clear();
    let others = KEPT.with(|kept| {
        let is_other = |other: &mut &'static Thread| !std::ptr::eq(*other, main);
        kept.extract_if(.., is_other).collect::<Vec<_>>()
    });
    others.into_iter().for_each(thread::release);
}

/// Keeps the notes of the thread beyond its end.
pub(crate) fn keep(thread: &'static Thread) {
    if is_on() {
        thread.hold();
        KEPT.with(|kept| kept.push(thread));
    }
}

/// Discards the notes of a thread whose memory is used again.
pub(crate) fn forget(thread: &Thread) {
    // SAFETY: the thread has not begun, and no other thread can refer to it.
    unsafe { *thread.record.get() = Own::default() };
}

/// Notes that an event of the calling thread begins. The thread no longer waits.
#[inline]
pub(crate) fn begun(thread: &Thread) {
    if IS_ON.load(Relaxed) {
        // SAFETY: this is the calling thread.
        let record = unsafe { &mut *thread.record.get() };
        if record.events.capacity() == 0 {
            record.events.reserve_exact(MOST);
        }
        if record.events.len() == MOST {
            failure::fail("a thread performs too many events to be recorded; run without --record");
        }
        record.events.push((CLOCK.fetch_add(1, SeqCst), 0));
        record.length.store(record.events.len() as u64, SeqCst);
    }
}

/// Notes that the calling thread has performed its most recent event. The event is not published
/// yet.
#[inline]
pub(crate) fn ended(thread: &Thread) {
    if IS_ON.load(Relaxed) {
        // SAFETY: this is the calling thread.
        let record = unsafe { &mut *thread.record.get() };
        if let Some((_, behind)) = record.events.last_mut().filter(|(_, behind)| *behind == 0) {
            *behind = CLOCK.fetch_add(1, SeqCst);
        }
    }
}

/// Writes the notes. Threads may still run: their later notes are left out.
pub(crate) fn write(path: &Path, inputs: &Inputs, program_checksum: &str) {
    let threads = KEPT.with(|kept| kept.clone());
    let mut threads: Vec<Recorded> = threads.into_iter().map(recorded).collect();
    threads.sort_by(|a, b| a.path.cmp(&b.path));
    let recording = Recording {
        program_checksum: program_checksum.to_owned(),
        inputs: inputs.clone(),
        threads,
    };
    if let Err(error) = recording.save(path) {
        failure::say(&error.to_string());
    }
}

fn recorded(thread: &'static Thread) -> Recorded {
    // SAFETY: the vector does not move once it has events. Its first `length` entries are complete,
    // except that the second number of the last entry may change. This number is read as one word.
    let events = unsafe {
        let record = thread.record.get();
        let length = (*record).length.load(Acquire) as usize;
        let first = (*record).events.as_ptr();
        (0..length)
            .map(|index| first.add(index).read_volatile())
            .collect()
    };
    Recorded {
        path: thread.name(),
        events,
    }
}
