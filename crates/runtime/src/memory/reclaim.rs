//! Reclaims memory that abandoned executions have left behind, if nothing refers to it. No code
//! frees this memory.
//!
//! A test may keep values of an execution, for example in a static of `std` or in the captures of
//! its closure. So when executions have left much memory behind, all writable memory of the process
//! is searched for words that are addresses in the spans in question (64 KiB each), as in a
//! conservative garbage collector. Spans to which no word refers are treated as empty from then on.
//! Spans that a kept span refers to are kept, too.
//!
//! On systems other than Linux, and without the [allocator](crate::ModelAllocator), memory leaks.

use crate::engine::Engine;
use crate::memory::arena::Span;
use crate::memory::region::{self, SPAN, Spans};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The number of bytes left behind that justify a search.
const ENOUGH: usize = 32 << 20;

/// A process with more memory than this is not searched.
const MOST: usize = 16 << 30;

/// The number of bytes that one call reads.
const PIECE: usize = 1 << 20;

const PAGE: usize = 4096;

/// The number of bytes left behind since the last search.
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// The number of bytes left behind that trigger a search. It is at least the amount that the last
/// search had to keep, so that searches do not become frequent.
static LIMIT: AtomicUsize = AtomicUsize::new(ENOUGH);

/// Adds bytes that an execution has left behind. Returns whether memory should be reclaimed now.
#[inline]
pub(crate) fn is_due(bytes: usize) -> bool {
    bytes > 0 && LEFT.fetch_add(bytes, Relaxed) + bytes >= LIMIT.load(Relaxed)
}

impl Engine {
    /// Reclaims memory that executions left in arenas of this model and of models that no longer
    /// exist. No thread of the model is left.
    #[cold]
    pub(crate) fn reclaim(&mut self) {
        let orphans = region::take_orphans();
        let heaps = || self.threads.iter().map(|thread| &thread.guests.heap);
        let spans = heaps().flat_map(|heap| heap.spans_in_use());
        let fibres = self.threads.iter().map(|thread| &thread.fibre);
        let stacks: Vec<Span> = fibres.map(|fibre| (fibre.lowest(), fibre.room())).collect();
        let mut search = Search::new(spans.chain(orphans.iter().copied()));
        // If the memory cannot be searched, everything counts as referred to.
        let is_searched = search.run(&stacks).is_ok();
        let is_kept = |span: usize| !is_searched || search.is_kept(span);
        let mut kept = 0;
        for thread in &mut self.threads {
            kept += thread.guests.heap.take_back(is_kept);
        }
        let (left, free) = orphans.into_iter().partition(|&span| is_kept(span));
        kept += SPAN * region::give_back_orphans(left, free);
        LEFT.store(0, Relaxed);
        LIMIT.store(ENOUGH.max(kept), Relaxed);
    }
}

/// The state of a span in a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mark {
    /// The span is in use and cannot be reclaimed.
    InUse,
    /// The span contains no objects.
    Free,
    /// No word that refers to the span has been found so far.
    Candidate,
    /// A word refers to the span.
    Kept,
}

/// A search for words that refer to spans.
struct Search {
    spans: Spans,
    /// The marks of all spans of the region that were ever used.
    marks: Vec<Mark>,
    /// The numbers of kept spans whose words have not been searched yet.
    found: Vec<usize>,
    buffer: Vec<u8>,
}

impl Search {
    fn new(candidates: impl Iterator<Item = usize>) -> Search {
        let spans = region::spans();
        let mut marks = vec![Mark::InUse; spans.count()];
        for &free in &spans.free {
            marks[spans.number(free)] = Mark::Free;
        }
        for candidate in candidates {
            marks[spans.number(candidate)] = Mark::Candidate;
        }
        Search {
            spans,
            marks,
            found: Vec::new(),
            buffer: vec![0; PIECE],
        }
    }

    fn is_kept(&self, span: usize) -> bool {
        self.marks[self.spans.number(span)] == Mark::Kept
    }

    /// Searches all memory of the process except for these pieces.
    fn run(&mut self, without: &[Span]) -> io::Result<()> {
        let memory = File::open("/proc/self/mem")?;
        let buffer = (self.buffer.as_ptr().addr(), self.buffer.len());
        let region = (self.spans.start, region::SIZE);
        let mut without = [without, &[buffer, region]].concat();
        without.sort_unstable();
        let mut pieces = Vec::new();
        for (mut start, end) in writable(&fs::read_to_string("/proc/self/maps")?) {
            for &(hole, length) in &without {
                if hole < end && hole + length > start {
                    pieces.push((start, hole.max(start)));
                    start = end.min(hole + length);
                }
            }
            pieces.push((start, end));
        }
        if pieces.iter().map(|(start, end)| end - start).sum::<usize>() > MOST {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        for (start, end) in pieces {
            self.search(&memory, start, end);
        }
        for number in 0..self.marks.len() {
            if self.marks[number] == Mark::InUse {
                self.search_span(&memory, number);
            }
        }
        while let Some(number) = self.found.pop() {
            self.search_span(&memory, number);
        }
        Ok(())
    }

    fn search_span(&mut self, memory: &File, number: usize) {
        let start = self.spans.address(number);
        self.search(memory, start, start + SPAN);
    }

    /// Marks the spans that words in a piece of memory refer to.
    fn search(&mut self, memory: &File, mut start: usize, end: usize) {
        let mut buffer = std::mem::take(&mut self.buffer);
        while start < end {
            let length = PIECE.min(end - start);
            let read = memory.read_at(&mut buffer[..length], start as u64);
            // Memory that is unmapped meanwhile refers to nothing.
            let read = read.unwrap_or(0);
            for word in buffer[..read].chunks_exact(size_of::<usize>()) {
                let word = usize::from_ne_bytes(word.try_into().expect("a chunk is a word"));
                if region::contains(word) {
                    self.mark_span_of(word);
                }
            }
            start += match read {
                0 => PAGE,
                read => read,
            };
        }
        self.buffer = buffer;
    }

    /// Marks the span of an address that a word may refer to.
    fn mark_span_of(&mut self, address: usize) {
        // The address of a span's header does not count, because the lists of spans contain it.
        if address.is_multiple_of(SPAN) || address < self.spans.start {
            return;
        }
        let number = self.spans.number(address);
        if let Some(mark @ Mark::Candidate) = self.marks.get_mut(number) {
            *mark = Mark::Kept;
            self.found.push(number);
        }
    }
}

/// Returns the ranges of writable memory.
fn writable(maps: &str) -> impl Iterator<Item = (usize, usize)> {
    maps.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (start, end) = words.next()?.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        let is_writable = words.next()?.starts_with("rw");
        is_writable.then_some((number(start)?, number(end)?))
    })
}
