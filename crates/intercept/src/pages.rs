//! The state of the system's libraries and of the dynamic linker, page by page.
//!
//! Most of these pages are never written. So each page is write-protected until its first write,
//! which raises a signal. From then on the page is restored before each execution, and is part of
//! each savepoint (a copy of the state of an execution). Some pages are rarely written and regain
//! their content. These pages are protected again.

use crate::gate::Own;
use crate::{heap, image, mappings, own_memory, system_calls};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

const PAGE: usize = 4096;

/// Memory of whole pages, and its content when the program's `main` began.
struct Tracked {
    start: usize,
    content: Vec<u8>,
    /// Whether each page was written.
    is_written: Vec<bool>,
    /// For each page, the number of executions that must have begun before the page is protected
    /// again.
    protected_from: Vec<usize>,
}

/// A copy of the written pages. Most parts of these pages still have their initial content, and are
/// not copied.
#[derive(Default)]
pub(crate) struct Saved {
    bytes: Vec<u8>,
    /// First address and length of each copied part.
    places: Vec<(usize, usize)>,
}

/// A part of a written page that is restored. Parts in [`LEFT_OUT`] are not.
#[derive(Clone, Copy)]
struct Piece<'a> {
    start: usize,
    /// Its initial content.
    content: &'a [u8],
}

static TRACKED: Own<Vec<Tracked>> = Own::new(Vec::new());

/// The written pages in the order of their first writes, with room for all pages. Each page is
/// given by the index of its memory in `TRACKED` and the number of the page in this memory.
static WRITTEN: Own<Vec<(usize, usize)>> = Own::new(Vec::new());

/// Thread-local memory of the thread that runs program and checker. Its pages stay writable.
static OWN_BLOCK: Own<Range<usize>> = Own::new(0..0);

/// Number of the pages in [`OWN_BLOCK`].
static OWN_PAGES: AtomicUsize = AtomicUsize::new(0);

/// Ascending ranges that are not restored, in the pages of [`OWN_BLOCK`].
static LEFT_OUT: Own<Vec<Range<usize>>> = Own::new(Vec::new());

/// The pieces of the written pages, in the order of `WRITTEN`. The capacity suffices for all.
static PIECES: Own<Vec<Piece<'static>>> = Own::new(Vec::new());

static IS_PROTECTED: AtomicBool = AtomicBool::new(false);

/// Whether a debugger runs. A debugger would stop at each first write, so nothing is protected.
static IS_DEBUGGED: AtomicBool = AtomicBool::new(false);

/// Number of executions that were run from the beginning.
static BEGUN: AtomicUsize = AtomicUsize::new(0);

/// Saves the pages: all writable memory of the process that is not restored in another way, and is
/// not the checker's.
pub(crate) fn save() {
    let mut others: Vec<Range<usize>> = image::parts()
        .map(|(start, size)| start..start + size)
        .collect();
    others.extend(image::own_parts());
    others.extend(mappings::own());
    let (start, end) = own_memory::region();
    others.push(start..end);
    others.extend(heap::regions());
    // The memory at the thread pointer also belongs to the checker: `blocks` restores the state of
    // libraries there.
    let thread = image::thread_block();
    let mut tracked = Vec::new();
    for mapping in mappings::writable() {
        let mut page = mapping.start;
        while page < mapping.end {
            let other_at = |page: usize| {
                let mut others = others.iter();
                others.find(|other| other.start < page + PAGE && page < other.end)
            };
            // Some of the other mappings are huge.
            if let Some(other) = other_at(page) {
                page = other.end.next_multiple_of(PAGE);
                continue;
            }
            let start = page;
            while page < mapping.end && other_at(page).is_none() {
                page += PAGE;
            }
            if start < page {
                // SAFETY: the pages are readable.
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
        record_written(page);
        page += PAGE;
    }
    OWN_PAGES.store(WRITTEN.get().len(), Relaxed);
}

/// Runs `does`. Excludes the words that `does` changes from restoring, because they belong to the
/// checker.
pub(crate) fn leave_out(does: impl FnOnce()) {
    // The writes of `does` are found by comparison, because the pages are not protected yet.
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

/// Protects the pages, so that the first write to each page is detected. In a debugger, which would
/// stop at each first write, all pages count as written.
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
                record_written(start);
            } else if !TRACKED.get()[index].is_written[page] {
                // SAFETY: `admit` permits writes to the page.
                unsafe { system_calls::protect(start, start + PAGE, libc::PROT_READ) };
            }
        }
    }
    cut_all();
}

/// Handles a failed write. Returns true if the page is writable now, so that the write can be
/// repeated. Other threads of the checker may also be here, and may have made the page writable
/// since the failure.
pub(crate) fn admit(address: usize) -> bool {
    static IS_LOCKED: AtomicBool = AtomicBool::new(false);
    /// The last address for which this was called, and the number of repetitions.
    static LAST: AtomicUsize = AtomicUsize::new(0);
    static REPEATS: AtomicUsize = AtomicUsize::new(0);
    /// If a failure is repeated more often, it is not a first write to a page but, for example, a
    /// jump into data.
    const MOST_REPEATS: usize = 64;
    if !IS_PROTECTED.load(Relaxed) {
        return false;
    }
    while IS_LOCKED.swap(true, Acquire) {
        std::hint::spin_loop();
    }
    let start = address & !(PAGE - 1);
    let is_new = record_written(address);
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

/// Checks whether the page with this address is known to be written.
fn is_written(address: usize) -> bool {
    TRACKED.get().iter().any(|tracked| {
        let page = address.wrapping_sub(tracked.start) / PAGE;
        tracked.is_written.get(page) == Some(&true)
    })
}

/// Records that the page with this address is written. Returns true if the page is tracked and was
/// not recorded as written before.
fn record_written(address: usize) -> bool {
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
        // SAFETY: the pages are readable.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.content.len()) }
    }
}

/// Returns the written pages with their initial content.
fn written() -> impl Iterator<Item = (usize, &'static [u8])> {
    let tracked = TRACKED.get();
    WRITTEN.get().iter().map(|&(index, page)| {
        let range = &tracked[index];
        let content = &range.content[page * PAGE..(page + 1) * PAGE];
        (range.start + page * PAGE, content)
    })
}

/// Returns the first address and the length of each written page.
pub(crate) fn parts() -> impl Iterator<Item = (usize, usize)> {
    written().map(|(start, content)| (start, content.len()))
}

/// Returns the size in bytes of the restored parts of the written pages.
pub(crate) fn size() -> usize {
    PIECES.get().iter().map(|piece| piece.content.len()).sum()
}

/// Restores the pages for the beginning of an execution.
pub(crate) fn restore() {
    let begun = BEGUN.fetch_add(1, Relaxed) + 1;
    if !IS_DEBUGGED.load(Relaxed) {
        settle(begun);
    }
    changed().for_each(Piece::put);
}

/// Returns the pieces that differ from their initial content.
fn changed() -> impl Iterator<Item = &'static Piece<'static>> {
    PIECES.get().iter().filter(|piece| piece.is_changed())
}

/// Returns the pieces that the current execution has changed so far. Returns nothing if no pages
/// except those of [`OWN_BLOCK`] were written. The dynamic linker has data in these pages, but
/// changes it only together with data in other pages.
fn changed_so_far() -> impl Iterator<Item = &'static Piece<'static>> {
    let may_differ = WRITTEN.get().len() > OWN_PAGES.load(Relaxed);
    may_differ.then(changed).into_iter().flatten()
}

/// Makes the C library's lists of threads (which are in [`LEFT_OUT`]) writable, before the checker
/// starts a thread of the system. The C library blocks all signals when it writes to these lists,
/// so the writes must not fail.
pub(crate) fn open_lists_of_threads() {
    if IS_PROTECTED.load(Relaxed) {
        LEFT_OUT
            .get()
            .iter()
            .for_each(|range| _ = admit(range.start));
    }
}

/// Protects written pages that have their initial content again, except pages that were recently
/// protected and written again.
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
        // If the page is written again, it remains writable until twice as many executions have
        // begun.
        range.protected_from[page] = 2 * begun;
        // SAFETY: `admit` permits writes to the page.
        unsafe { system_calls::protect(start, start + PAGE, libc::PROT_READ) };
        false
    });
    if WRITTEN.get().len() < before {
        cut_all();
    }
}

/// Checks whether the page that begins here overlaps the checker's thread-local memory.
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

/// Restores the pages from a copy. All other pages get their initial content.
pub(crate) fn restore_from(copy: &Saved) {
    changed_so_far().for_each(Piece::put);
    let mut bytes = &copy.bytes[..];
    for &(start, length) in &copy.places {
        let (content, rest) = bytes.split_at(length);
        // SAFETY: the page is writable, or `admit` makes it so; no thread of the program runs.
        unsafe { (start as *mut u8).copy_from_nonoverlapping(content.as_ptr(), length) };
        bytes = rest;
    }
}

impl Piece<'_> {
    fn now(&self) -> &[u8] {
        // SAFETY: the page is readable; no thread of the program runs.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.content.len()) }
    }

    /// Checks whether the piece differs from its initial content.
    fn is_changed(&self) -> bool {
        self.now() != self.content
    }

    fn put(&self) {
        let (content, length) = (self.content.as_ptr(), self.content.len());
        // SAFETY: the page is writable; no thread of the program runs.
        unsafe { (self.start as *mut u8).copy_from_nonoverlapping(content, length) };
    }
}

/// Computes the pieces of all written pages.
fn cut_all() {
    PIECES.get().clear();
    written().for_each(|(start, content)| PIECES.get().extend(pieces(start, content)));
}

/// Returns those parts of the page at `start` that are restored.
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
