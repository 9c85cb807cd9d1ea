//! Detects a thread of a Rust model that runs without performing an operation. The thread is in an
//! endless loop, computes for a long time, or spins on a variable that is not part of the model. No
//! other thread can change this variable meanwhile, because only one thread runs at a time.
//!
//! Detection adds no cost to operations. The watchdog sends a signal to a thread that has used some
//! CPU time. The handler compares the model's progress with that at the previous signal.

use crate::engine::Engine;
use crate::engine::current;
use std::cell::Cell;
use std::fs;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::Duration;

/// A snapshot of a model's progress, which changes with every operation and every switch to another
/// thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Progress {
    /// The address of the engine.
    engine: usize,
    /// The number of times that a thread of the model was run.
    resumes: u64,
    events: u32,
    /// The number of operations of the running thread.
    operations: u32,
    /// The number of accesses to plain memory.
    touches: u64,
}

thread_local! {
    /// The progress at a signal, and the CPU time of this thread when this progress was first seen.
    static SEEN: Cell<Option<(Progress, Duration)>> = const { Cell::new(None) };
}

/// The address range of the C library, unless it is linked statically.
static LIBRARY: OnceLock<Option<Range<usize>>> = OnceLock::new();

/// Finds the C library before the first signal, because a signal handler must not read files.
pub(crate) fn install() {
    LIBRARY.get_or_init(|| {
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let library = mapping(&maps, libc::malloc as *const () as usize)?;
        let function = install as *const () as usize;
        (!library.contains(&function)).then_some(library)
    });
}

/// Returns the mapping that contains an address.
fn mapping(maps: &str, address: usize) -> Option<Range<usize>> {
    let range = |line: &str| {
        let (start, end) = line.split_once(' ')?.0.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        Some(number(start)?..number(end)?)
    };
    let mut ranges = maps.lines().filter_map(range);
    ranges.find(|range| range.contains(&address))
}

/// Checks whether the running thread has made no progress for as long as the model's patience, and
/// may be stopped at `instruction`. The signal handler calls this after it has interrupted the
/// thread there.
pub(crate) fn is_endless(engine: &Engine, instruction: usize) -> bool {
    // The checker's code runs, so the program is not in an endless loop. Forget the snapshot,
    // because another model may reach an equal one later.
    if current::load().is_null() {
        SEEN.set(None);
        return false;
    }
    let progress = Progress {
        engine: std::ptr::from_ref(engine).addr(),
        resumes: engine.resumes,
        events: engine.life.events,
        operations: engine
            .threads
            .get(engine.running.index())
            .map_or(0, |thread| thread.life.operations),
        touches: engine.touches,
    };
    let now = cpu_time();
    let since = match SEEN.get() {
        Some((seen, since)) if seen == progress => since,
        Some(_) | None => {
            SEEN.set(Some((progress, now)));
            now
        }
    };
    // Within the C library, the thread may hold a lock, for example that of the heap, and must not
    // be stopped.
    let is_in_library = LIBRARY
        .get()
        .and_then(Option::as_ref)
        .is_some_and(|library| library.contains(&instruction));
    now.saturating_sub(since) >= engine.config.patience && !is_in_library
}

/// Returns the CPU time of the calling thread.
fn cpu_time() -> Duration {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: the call fills the structure, for which zero is valid.
    let time = unsafe {
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr());
        time.assume_init()
    };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mapping_of_an_address_is_found() {
        let maps = "1000-2000 r--p 00000000 00:00 0\n2000-3000 r-xp 00001000 00:00 0 [vdso]\n";
        assert_eq!(mapping(maps, 0x2fff), Some(0x2000..0x3000));
        assert_eq!(mapping(maps, 0x3000), None);
    }
}
