//! The state of the system's libraries and of the dynamic linker, page by page.
//!
//! Most of these pages are never written. So they are write-protected until the first write to each of them, which is
//! caught as a signal; from then on the page is put back before each execution and is part of each savepoint. Some are
//! written now and then, and then are as before: they are protected again.

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
    /// By page: the number of executions that must have begun before it is protected again.
    protected_from: Vec<usize>,
}

/// A copy of what was written. Most of these pages are as they were at first.
#[derive(Default)]
pub(crate) struct Saved {
    bytes: Vec<u8>,
    /// Where they belong, by first address and length.
    places: Vec<(usize, usize)>,
}

/// Bytes of a page that was written, without what is left out.
#[derive(Clone, Copy)]
struct Piece<'a> {
    start: usize,
    /// What they held at first.
    content: &'a [u8],
}

static TRACKED: Own<Vec<Tracked>> = Own::new(Vec::new());

/// The pages that were written, each by its range and its page, in the order of their first writes. There is room for all.
static WRITTEN: Own<Vec<(usize, usize)>> = Own::new(Vec::new());

/// Thread-local memory of the thread that runs both the program and the checker. Its pages are never protected.
static OWN_BLOCK: Own<Range<usize>> = Own::new(0..0);

/// How many pages that is.
static OWN_PAGES: AtomicUsize = AtomicUsize::new(0);

/// What is not put back though it lies in these pages, in order.
static LEFT_OUT: Own<Vec<Range<usize>>> = Own::new(Vec::new());

/// The pieces of the pages that were written, in the order of `WRITTEN`. There is room for all.
static PIECES: Own<Vec<Piece<'static>>> = Own::new(Vec::new());

static IS_PROTECTED: AtomicBool = AtomicBool::new(false);

/// In a debugger, which would stop at each first write, nothing is protected.
static IS_DEBUGGED: AtomicBool = AtomicBool::new(false);

/// Executions that were run from the beginning.
static BEGUN: AtomicUsize = AtomicUsize::new(0);

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
                    protected_from: vec![0; (page - start) / PAGE],
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
    *OWN_BLOCK.get() = thread.clone();
    LEFT_OUT.get().push(thread.clone());
    let mut page = thread.start & !(PAGE - 1);
    while page < thread.end {
        note(page);
        page += PAGE;
    }
    OWN_PAGES.store(WRITTEN.get().len(), Relaxed);
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
            }
        }
    }
    LEFT_OUT.get().sort_by_key(|range| range.start);
}

/// From now on the first write to each page is noticed. In a debugger, which would stop at each of them, all pages count
/// as written.
pub(crate) fn protect(is_debugged: bool) {
    if IS_PROTECTED.load(Relaxed) {
        return;
    }
    let pages: usize = TRACKED
        .get()
        .iter()
        .map(|tracked| tracked.is_written.len())
        .sum();
    *PIECES.get() = Vec::with_capacity(pages + LEFT_OUT.get().len());
    IS_PROTECTED.store(true, Relaxed);
    IS_DEBUGGED.store(is_debugged, Relaxed);
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
    cut_all();
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
            if IS_PROTECTED.load(Relaxed) {
                let content = &tracked.content[page * PAGE..(page + 1) * PAGE];
                PIECES
                    .get()
                    .extend(pieces(tracked.start + page * PAGE, content));
            }
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

/// Bytes of the pages that were written.
pub(crate) fn size() -> usize {
    PIECES.get().iter().map(|piece| piece.content.len()).sum()
}

/// The pages as an execution finds them.
pub(crate) fn restore() {
    let begun = BEGUN.fetch_add(1, Relaxed) + 1;
    if !IS_DEBUGGED.load(Relaxed) {
        settle(begun);
    }
    changed().for_each(Piece::put);
}

/// The pieces that an execution has changed.
fn changed() -> impl Iterator<Item = &'static Piece<'static>> {
    PIECES.get().iter().filter(|piece| piece.is_changed())
}

/// The pieces that the execution at hand may have changed so far, and has. What the dynamic linker keeps in the pages of the
/// thread-local memory it changes only together with other data of its own.
fn changed_so_far() -> impl Iterator<Item = &'static Piece<'static>> {
    let may_differ = WRITTEN.get().len() > OWN_PAGES.load(Relaxed);
    may_differ.then(changed).into_iter().flatten()
}

/// The checker is about to start a thread of the system. The C library blocks all signals where it notes that, so its
/// writes must not fail.
pub(crate) fn open_lists_of_threads() {
    if IS_PROTECTED.load(Relaxed) {
        LEFT_OUT
            .get()
            .iter()
            .for_each(|range| _ = admit(range.start));
    }
}

/// Protects those of the written pages again that are as at the start, unless they were written again soon the last time.
fn settle(begun: usize) {
    let before = WRITTEN.get().len();
    let tracked = TRACKED.get();
    WRITTEN.get().retain(|&(index, page)| {
        let range = &mut tracked[index];
        let start = range.start + page * PAGE;
        let content = &range.content[page * PAGE..(page + 1) * PAGE];
        let may_be = range.protected_from[page] <= begun && !is_of_own_block(start);
        if !may_be || pieces(start, content).any(|piece| piece.is_changed()) {
            return true;
        }
        range.is_written[page] = false;
        // If it is written again, it stays writable until twice as many executions have begun.
        range.protected_from[page] = 2 * begun;
        // SAFETY: writes to the page are let through by `admit`.
        unsafe { system_calls::protect(start, start + PAGE, libc::PROT_READ) };
        false
    });
    if WRITTEN.get().len() < before {
        cut_all();
    }
}

/// Whether the checker's thread-local memory reaches into the page that begins here.
fn is_of_own_block(start: usize) -> bool {
    let block = OWN_BLOCK.get();
    block.start < start + PAGE && start < block.end
}

/// Copies the pages.
pub(crate) fn save_to(copy: &mut Saved) {
    copy.bytes.clear();
    copy.places.clear();
    for piece in changed_so_far() {
        copy.bytes.extend_from_slice(piece.now());
        copy.places.push((piece.start, piece.content.len()));
    }
}

/// Puts back what was copied. The rest is as at the start.
pub(crate) fn restore_from(copy: &Saved) {
    changed_so_far().for_each(Piece::put);
    let mut bytes = &copy.bytes[..];
    for &(start, length) in &copy.places {
        let (content, rest) = bytes.split_at(length);
        // SAFETY: the page can be written, or its protection lets the write through; no thread of the program runs.
        unsafe { (start as *mut u8).copy_from_nonoverlapping(content.as_ptr(), length) };
        bytes = rest;
    }
}

impl Piece<'_> {
    fn now(&self) -> &[u8] {
        // SAFETY: the page can be read; no thread of the program runs.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.content.len()) }
    }

    /// Whether it differs from what it held at first.
    fn is_changed(&self) -> bool {
        self.now() != self.content
    }

    fn put(&self) {
        let (content, length) = (self.content.as_ptr(), self.content.len());
        // SAFETY: the page can be written; no thread of the program runs.
        unsafe { (self.start as *mut u8).copy_from_nonoverlapping(content, length) };
    }
}

/// The pieces of all pages that were written.
fn cut_all() {
    PIECES.get().clear();
    written().for_each(|(start, content)| PIECES.get().extend(pieces(start, content)));
}

/// What is put back of the page that begins here.
fn pieces<'a>(start: usize, content: &'a [u8]) -> impl Iterator<Item = Piece<'a>> {
    let end = start + content.len();
    let left_out = LEFT_OUT.get();
    let first = left_out.partition_point(|range| range.end <= start);
    let within = left_out[first..]
        .iter()
        .take_while(move |range| range.start < end);
    let mut from = start;
    let gaps = within
        .cloned()
        .chain(std::iter::once(end..end))
        .map(move |range| {
            let gap = from..range.start.max(from);
            from = range.end.min(end);
            gap
        });
    gaps.filter(|gap| !gap.is_empty()).map(move |gap| Piece {
        start: gap.start,
        content: &content[gap.start - start..gap.end - start],
    })
}
