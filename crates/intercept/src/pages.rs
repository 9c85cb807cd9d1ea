//! The state of the system's libraries and of the dynamic linker, page by page.
//!
//! Most of these pages are never written. So they are write-protected until the first write to each of them, which is
//! caught as a signal; from then on the page is put back before each execution and is part of each savepoint.

use crate::gate::Own;
use crate::{heap, image, mappings, own_memory, system_calls};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

const PAGE: usize = 4096;

/// Memory of whole pages, and what it held when the program's `main` began.
struct Tracked {
    start: usize,
    content: Vec<u8>,
    /// By page: whether it was written.
    is_written: Vec<bool>,
}

static TRACKED: Own<Vec<Tracked>> = Own::new(Vec::new());

/// The pages that were written, each by its range and its page, in the order of their first writes. There is room for all.
static WRITTEN: Own<Vec<(usize, usize)>> = Own::new(Vec::new());

/// What is not put back though it lies in these pages.
static LEFT_OUT: Own<Vec<Range<usize>>> = Own::new(Vec::new());

static IS_PROTECTED: AtomicBool = AtomicBool::new(false);

/// Saves the pages: all memory that the process can write but that is put back otherwise, or is the checker's.
pub(crate) fn save() {
    let mut others: Vec<Range<usize>> = image::parts()
        .map(|(start, size)| start..start + size)
        .collect();
    others.extend(image::own_parts());
    others.extend(mappings::own());
    let (start, end) = own_memory::region();
    others.push(start..end);
    others.extend(heap::regions());
    // The thread pointer is that of the checker, too: `blocks` puts back what libraries have there.
    let thread = image::thread_block();
    let mut tracked = Vec::new();
    for mapping in mappings::writable() {
        let mut page = mapping.start;
        while page < mapping.end {
            let other_at = |page: usize| {
                let mut others = others.iter();
                others.find(|other| other.start < page + PAGE && page < other.end)
            };
            // Some of the others are huge.
            if let Some(other) = other_at(page) {
                page = other.end.next_multiple_of(PAGE);
                continue;
            }
            let start = page;
            while page < mapping.end && other_at(page).is_none() {
                page += PAGE;
            }
            if start < page {
                // SAFETY: the pages can be read.
                let content =
                    unsafe { std::slice::from_raw_parts(start as *const u8, page - start) };
                tracked.push(Tracked {
                    start,
                    content: content.to_vec(),
                    is_written: vec![false; (page - start) / PAGE],
                });
            }
        }
    }
    let pages = tracked
        .iter()
        .map(|tracked: &Tracked| tracked.is_written.len())
        .sum();
    *WRITTEN.get() = Vec::with_capacity(pages);
    *TRACKED.get() = tracked;
    LEFT_OUT.get().push(thread.clone());
    let mut page = thread.start & !(PAGE - 1);
    while page < thread.end {
        note(page);
        page += PAGE;
    }
}

/// What changes between here and the end of `does` is the checker's, and not put back.
pub(crate) fn leave_out(does: impl FnOnce()) {
    // What it writes is found by comparing: the pages are not protected yet.
    let before: Vec<Vec<u8>> = TRACKED
        .get()
        .iter()
        .map(|tracked| tracked.now().to_vec())
        .collect();
    does();
    for (tracked, before) in TRACKED.get().iter().zip(before) {
        let words = tracked.now().chunks_exact(8).zip(before.chunks_exact(8));
        for (index, _) in words.enumerate().filter(|(_, (now, before))| now != before) {
            let start = tracked.start + index * 8;
            if !LEFT_OUT.get().iter().any(|range| range.contains(&start)) {
                LEFT_OUT.get().push(start..start + 8);
                note(start);
            }
        }
    }
    LEFT_OUT.get().sort_by_key(|range| range.start);
}

/// From now on the first write to each page is noticed. In a debugger, which would stop at each of them, all pages count
/// as written.
pub(crate) fn protect(is_debugged: bool) {
    if IS_PROTECTED.swap(true, Relaxed) {
        return;
    }
    for (index, tracked) in TRACKED.get().iter().enumerate() {
        for page in 0..tracked.is_written.len() {
            let start = tracked.start + page * PAGE;
            if is_debugged {
                note(start);
            } else if !TRACKED.get()[index].is_written[page] {
                // SAFETY: writes to the page are let through by `admit`.
                unsafe { system_calls::protect(start, start + PAGE, libc::PROT_READ) };
            }
        }
    }
}

/// A write to this address failed. Whether it can be tried again, since the page can be written now. Other threads of the
/// checker may be here, too, and may have let the page through since the write failed.
pub(crate) fn admit(address: usize) -> bool {
    static IS_LOCKED: AtomicBool = AtomicBool::new(false);
    /// The address that was here last, and how often in a row.
    static LAST: AtomicUsize = AtomicUsize::new(0);
    static REPEATS: AtomicUsize = AtomicUsize::new(0);
    /// What fails more often is no write that was let through: a jump into data, say.
    const MOST_REPEATS: usize = 64;
    if !IS_PROTECTED.load(Relaxed) {
        return false;
    }
    while IS_LOCKED.swap(true, Acquire) {
        std::hint::spin_loop();
    }
    let start = address & !(PAGE - 1);
    let is_new = note(address);
    if is_new {
        // SAFETY: the page was writable before `protect`.
        unsafe { system_calls::protect(start, start + PAGE, libc::PROT_READ | libc::PROT_WRITE) };
    }
    let repeats = match LAST.swap(address, Relaxed) == address {
        true => REPEATS.load(Relaxed) + 1,
        false => 0,
    };
    REPEATS.store(repeats, Relaxed);
    IS_LOCKED.store(false, Release);
    is_new || repeats < MOST_REPEATS && is_written(address)
}

/// Whether the page with this address is known to be written.
fn is_written(address: usize) -> bool {
    TRACKED.get().iter().any(|tracked| {
        let page = address.wrapping_sub(tracked.start) / PAGE;
        tracked.is_written.get(page) == Some(&true)
    })
}

/// Notes that the page with this address is written; whether that is new.
fn note(address: usize) -> bool {
    for (index, tracked) in TRACKED.get().iter_mut().enumerate() {
        let page = address.wrapping_sub(tracked.start) / PAGE;
        if let Some(is_written) = tracked.is_written.get_mut(page)
            && !std::mem::replace(is_written, true)
        {
            WRITTEN.get().push((index, page));
            return true;
        }
    }
    false
}

impl Tracked {
    fn now(&self) -> &[u8] {
        // SAFETY: the pages can be read.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.content.len()) }
    }
}

/// The pages that were written, with what they held at first.
fn written() -> impl Iterator<Item = (usize, &'static [u8])> {
    let tracked = TRACKED.get();
    WRITTEN.get().iter().map(|&(index, page)| {
        let range = &tracked[index];
        let content = &range.content[page * PAGE..(page + 1) * PAGE];
        (range.start + page * PAGE, content)
    })
}

/// The memory of the pages that were written, each by its first address and its length.
pub(crate) fn parts() -> impl Iterator<Item = (usize, usize)> {
    written().map(|(start, content)| (start, content.len()))
}

/// Writes a page, but for what is left out of it.
fn put(start: usize, content: &[u8]) {
    let mut from = start;
    let end = start + content.len();
    let left_out = LEFT_OUT.get();
    let first = left_out.partition_point(|range| range.end <= start);
    for range in left_out[first..].iter().chain(std::iter::once(&(end..end))) {
        let to = range.start.clamp(from, end);
        // SAFETY: the page can be written; no thread of the program runs.
        unsafe {
            let source = content.as_ptr().add(from - start);
            (from as *mut u8).copy_from_nonoverlapping(source, to - from);
        }
        from = range.end.clamp(to, end);
        if range.start >= end {
            break;
        }
    }
}

/// Bytes of the pages that were written.
pub(crate) fn size() -> usize {
    WRITTEN.get().len() * PAGE
}

/// The pages as an execution finds them.
pub(crate) fn restore() {
    for (start, content) in written() {
        put(start, content);
    }
}

/// Copies the pages.
pub(crate) fn save_to(copy: &mut Vec<u8>) {
    copy.clear();
    for (start, content) in written() {
        // SAFETY: the page can be read; no thread of the program runs.
        copy.extend_from_slice(unsafe {
            std::slice::from_raw_parts(start as *const u8, content.len())
        });
    }
}

/// Puts back what was copied. Pages that were written first after that are as at the start.
pub(crate) fn restore_from(copy: &[u8]) {
    let mut copies = copy.chunks_exact(PAGE);
    for (start, content) in written() {
        put(start, copies.next().unwrap_or(content));
    }
}
