//! Which order happened: each thread notes for each event a number before and one behind it, from a counter that all
//! share. Between the end of one event and the beginning of another that waited for it the counter has grown,
//! whatever made it wait.

use crate::blocking::Latched;
use crate::failure;
use crate::thread::{self, Thread};
use report::{Inputs, Recorded, Recording};
use std::path::Path;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, SeqCst},
};

/// What a thread has noted.
#[derive(Default)]
pub(crate) struct Own {
    /// Event by event: the numbers before and behind it; 0 behind the last one while it lasts.
    events: Vec<(u64, u64)>,
    /// Written by the owner, so that others see how far it has come.
    length: AtomicU64,
}

/// Those that have recorded something.
static KEPT: Latched<Vec<&'static Thread>> = Latched::new(Vec::new());

static IS_ON: AtomicBool = AtomicBool::new(false);
static CLOCK: AtomicU64 = AtomicU64::new(1);

/// A thread's events that fit before its memory would have to move, which whoever writes at the end may be reading.
const MOST: usize = 1 << 20;

pub(crate) fn begin(is_on: bool) {
    IS_ON.store(is_on, Relaxed);
}

pub(crate) fn is_on() -> bool {
    IS_ON.load(Relaxed)
}

/// The program begins once more: of its runs the last one is written.
pub(crate) fn again(main: &Thread) {
    // SAFETY: the thread is the calling one.
    let own = unsafe { &mut *main.record.get() };
    own.length.store(0, SeqCst);
    own.events.clear();
    let others = KEPT.with(|kept| {
        let is_other = |other: &mut &'static Thread| !std::ptr::eq(*other, main);
        kept.extract_if(.., is_other).collect::<Vec<_>>()
    });
    others.into_iter().for_each(thread::release);
}

/// What the thread notes is wanted beyond its end.
pub(crate) fn keep(thread: &'static Thread) {
    if is_on() {
        thread.hold();
        KEPT.with(|kept| kept.push(thread));
    }
}

/// What the thread noted is not wanted any more.
pub(crate) fn forget(thread: &Thread) {
    // SAFETY: the thread has not begun, and nobody else can name it.
    unsafe { *thread.record.get() = Own::default() };
}

/// The calling thread's event begins: all its waiting is over.
#[inline]
pub(crate) fn begun(thread: &Thread) {
    if IS_ON.load(Relaxed) {
        // SAFETY: the thread is the calling one.
        let own = unsafe { &mut *thread.record.get() };
        if own.events.capacity() == 0 {
            own.events.reserve_exact(MOST);
        }
        if own.events.len() == MOST {
            failure::fail("a thread performs too many events to be recorded; run without --record");
        }
        own.events.push((CLOCK.fetch_add(1, SeqCst), 0));
        own.length.store(own.events.len() as u64, SeqCst);
    }
}

/// Its last event has been performed, and nobody has been told yet.
#[inline]
pub(crate) fn ended(thread: &Thread) {
    if IS_ON.load(Relaxed) {
        // SAFETY: the thread is the calling one.
        let own = unsafe { &mut *thread.record.get() };
        if let Some((_, behind)) = own.events.last_mut().filter(|(_, behind)| *behind == 0) {
            *behind = CLOCK.fetch_add(1, SeqCst);
        }
    }
}

/// Writes what was noted. Threads may still run: what they note from here on is left out.
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
    // SAFETY: the vector does not move once it has events, and the first `length` of them are complete but for the
    // end of the last one, which is read as one word.
    let events = unsafe {
        let own = thread.record.get();
        let length = (*own).length.load(Acquire) as usize;
        let first = (*own).events.as_ptr();
        (0..length)
            .map(|index| first.add(index).read_volatile())
            .collect()
    };
    Recorded {
        path: thread.name(),
        events,
    }
}
