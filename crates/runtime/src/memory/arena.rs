//! The heap of one thread of a model. The names of its addresses do not depend on the schedule.
//!
//! Memory is allocated in order and is not reused within an execution. Memory is counted in
//! *windows* of 1 KiB. No object straddles windows unless it is larger than a window. The n-th
//! window of a thread has the same objects in every execution with the same past of the thread, so
//! (thread, n, offset) names an address. In the next execution, a span of windows is used from its
//! beginning again. If objects in the span are still alive (results that a test collects, a lazy
//! static), the span is used from the first window after these objects.

use crate::memory::region::{self, SPAN};
use explore::ThreadId;
use std::alloc::Layout;
use std::cell::Cell;
use std::num::NonZero;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

const WINDOW: usize = 1024;
const WINDOWS: usize = SPAN / WINDOW;

/// A span with fewer windows left than this is not used further.
const FEW: usize = 4;

/// The largest size of an object in the arena.
const LARGEST: usize = (WINDOWS - 1) * WINDOW;

/// The header of a span, which occupies its first window.
struct Header {
    /// The operating-system thread that owns the arena, or 0 if the arena no longer exists.
    owner: AtomicUsize,
    /// The number of objects allocated, minus those that the owner freed.
    live: AtomicU32,
    /// The number of objects that other threads freed.
    freed_elsewhere: AtomicU32,
    thread: ThreadId,
    /// The number, within the span, of the first window that this execution uses.
    first: u32,
    /// The number that is added to the offset of an address within the span to get its position, or
    /// `None` if the span is not in use.
    base: Option<NonZero<u64>>,
}

impl Header {
    /// Begins to use the span in this execution. Its first window that is used becomes the window
    /// `number` of the thread.
    fn begin(&mut self, number: u32, kind: Kind) {
        let kind = match kind {
            Kind::Objects => 1 << 42,
            Kind::Bytes => 1 << 43,
        };
        let windows = u64::from(number) << 10;
        self.base = NonZero::new((kind | windows) - u64::from(self.first) * WINDOW as u64);
    }
}

thread_local! {
    static MARK: Cell<u8> = const { Cell::new(0) };
}

/// Returns an address that is unique to this thread of the operating system.
#[inline(always)]
fn own_mark() -> usize {
    MARK.with(|mark| mark as *const Cell<u8> as usize)
}

/// The address and the length of a piece of memory.
pub(crate) type Span = (usize, usize);

/// The kind of objects in an arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Objects,
    /// Text and buffers. Output, and the times at which a library extends a buffer, differ between
    /// executions and must not move other objects.
    Bytes,
}

/// The heap of one thread.
pub(crate) struct Heap {
    objects: Arena,
    bytes: Arena,
    /// The number of objects in this execution that are too large for the arenas.
    large: u32,
}

impl Heap {
    pub(crate) fn new(thread: ThreadId) -> Heap {
        Heap {
            objects: Arena::new(thread, Kind::Objects),
            bytes: Arena::new(thread, Kind::Bytes),
            large: 0,
        }
    }

    /// Returns the arena for objects of this layout.
    #[inline(always)]
    pub(crate) fn arena(&mut self, layout: Layout) -> &mut Arena {
        match layout.align() {
            1 => &mut self.bytes,
            _ => &mut self.objects,
        }
    }

    /// Returns the number of the next object that is too large for the arenas.
    pub(crate) fn next_large(&mut self) -> u32 {
        self.large += 1;
        self.large
    }

    /// Adds the memory allocated in this execution to `spans`. Returns how many objects are alive.
    pub(crate) fn add_spans(&self, spans: &mut Vec<Span>) -> u32 {
        let (objects, bytes) = (self.objects.add_spans(spans), self.bytes.add_spans(spans));
        objects.wrapping_add(bytes)
    }

    /// Adds the memory allocated in this execution to `spans`, except for text and buffers.
    pub(crate) fn add_object_spans(&self, spans: &mut Vec<Span>) {
        self.objects.add_spans(spans);
    }

    /// Checks whether nothing has been allocated in this execution.
    pub(crate) fn is_unused(&self) -> bool {
        self.objects.used == 0 && self.bytes.used == 0 && self.large == 0
    }

    /// Ends the execution. Returns how many bytes cannot be reused because objects are still alive.
    #[inline]
    pub(crate) fn reset(&mut self) -> usize {
        self.large = 0;
        self.objects.reset() + self.bytes.reset()
    }

    /// Returns the addresses of the spans with live objects.
    pub(crate) fn spans_in_use(&self) -> impl Iterator<Item = usize> {
        let all = self.objects.all_spans().chain(self.bytes.all_spans());
        all.filter(|&&span| !is_empty(span))
            .map(|span| span.addr().get())
    }

    /// Treats the objects of all spans that are not kept as dead, between executions. Returns how
    /// many bytes are kept.
    pub(crate) fn take_back(&mut self, is_kept: impl Fn(usize) -> bool) -> usize {
        self.objects.take_back(&is_kept) + self.bytes.take_back(&is_kept)
    }
}

/// The part of a thread's heap for objects of one kind.
pub(crate) struct Arena {
    /// The address of the next object, up to `end`, the end of a window.
    next: usize,
    end: usize,
    thread: ThreadId,
    kind: Kind,
    /// The number of windows used in this execution.
    windows: u32,
    /// Spans in order of use. The spans before index `used` have been used in this execution.
    spans: Vec<NonNull<Header>>,
    used: usize,
    /// Spans that are full and still hold live objects.
    retired: Vec<NonNull<Header>>,
}

impl Arena {
    fn new(thread: ThreadId, kind: Kind) -> Arena {
        let (spans, retired) = (Vec::new(), Vec::new());
        Arena {
            next: 0,
            end: 0,
            thread,
            kind,
            windows: 0,
            spans,
            used: 0,
            retired,
        }
    }

    /// Returns memory for an object if it fits into the current window.
    #[inline]
    pub(crate) fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        // The next multiple of the alignment, which is a power of two.
        let start = (self.next + layout.align() - 1) & !(layout.align() - 1);
        if start + layout.size() > self.end {
            return None;
        }
        self.next = start + layout.size();
        let header = header_of(start);
        // SAFETY: the current window is in a span of this arena.
        let live = unsafe { &header.as_ref().live };
        live.store(live.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        NonNull::new(start as *mut u8)
    }

    /// Returns memory for an object that does not fit into the current window. Returns `None` if
    /// the object is too large or if there is no memory.
    #[cold]
    pub(crate) fn allocate_anew(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        if layout.size() > LARGEST || layout.align() > WINDOW {
            return None;
        }
        let needed = layout.size().div_ceil(WINDOW).max(1);
        let start = self.take_windows(needed)?;
        self.next = start;
        self.end = start + needed * WINDOW;
        self.windows += needed as u32;
        self.allocate(layout)
    }

    /// Returns the address of `needed` contiguous unused windows.
    fn take_windows(&mut self, needed: usize) -> Option<usize> {
        let room = if self.used == 0 {
            0
        } else {
            (SPAN - self.end % SPAN) % SPAN
        };
        if room >= needed * WINDOW {
            return Some(self.end);
        }
        while let Some(&span) = self.spans.get(self.used) {
            self.used += 1;
            // SAFETY: the spans of the list belong to this arena.
            let header = unsafe { &mut *span.as_ptr() };
            header.begin(self.windows, self.kind);
            if (WINDOWS - header.first as usize) >= needed {
                return Some(span.as_ptr() as usize + header.first as usize * WINDOW);
            }
        }
        let span = match self.retired.iter().position(|&span| is_empty(span)) {
            Some(index) => self.retired.swap_remove(index),
            None => region::take(|span| is_empty(span.cast()))?.cast::<Header>(),
        };
        let mut header = Header {
            owner: AtomicUsize::new(own_mark()),
            live: AtomicU32::new(0),
            freed_elsewhere: AtomicU32::new(0),
            thread: self.thread,
            first: 1,
            base: None,
        };
        header.begin(self.windows, self.kind);
        // SAFETY: the span belongs to this arena alone and is long enough.
        unsafe { span.write(header) };
        self.spans.push(span);
        self.used = self.spans.len();
        Some(span.as_ptr() as usize + WINDOW)
    }

    /// Extends an object in place if it is the last object and has room. Returns whether it was
    /// extended.
    pub(crate) fn extend(&mut self, address: usize, old: usize, new: usize) -> bool {
        let is_last = address + old == self.next && new <= self.end - address;
        if is_last {
            self.next = address + new;
        }
        is_last
    }

    fn add_spans(&self, spans: &mut Vec<Span>) -> u32 {
        let mut live = 0_u32;
        for (index, &span) in self.spans[..self.used].iter().enumerate() {
            // SAFETY: the spans of the list belong to this arena.
            let header = unsafe { span.as_ref() };
            let freed = header.freed_elsewhere.load(Ordering::Relaxed);
            let header_live = header.live.load(Ordering::Relaxed);
            live = live.wrapping_add(header_live.wrapping_sub(freed));
            let start = span.as_ptr() as usize;
            let end = match index + 1 == self.used {
                true => self.next,
                false => start + SPAN,
            };
            let start = start + header.first as usize * WINDOW;
            spans.push((start, end.saturating_sub(start)));
        }
        live
    }

    fn all_spans(&self) -> impl Iterator<Item = &NonNull<Header>> {
        self.spans.iter().chain(&self.retired)
    }

    fn take_back(&mut self, is_kept: impl Fn(usize) -> bool) -> usize {
        let mut kept = 0;
        for &span in self.all_spans() {
            if is_kept(span.addr().get()) {
                kept += SPAN;
                continue;
            }
            // SAFETY: the spans of the lists belong to this arena, and nothing refers to their
            // objects.
            let header = unsafe { &mut *span.as_ptr() };
            header.live.store(0, Ordering::Relaxed);
            header.freed_elsewhere.store(0, Ordering::Relaxed);
            header.first = 1;
        }
        kept
    }

    #[inline]
    fn reset(&mut self) -> usize {
        match self.used {
            0 => 0,
            _ => self.begin_spans_anew(),
        }
    }

    fn begin_spans_anew(&mut self) -> usize {
        let mut left = 0;
        let used = self.used;
        let last = self.end;
        let mut index = 0;
        self.spans.retain(|&span| {
            index += 1;
            if index > used {
                return true;
            }
            let after = if index == used && last > span.as_ptr() as usize {
                (last - span.as_ptr() as usize) / WINDOW
            } else {
                WINDOWS
            };
            // SAFETY: the spans of the list belong to this arena.
            let header = unsafe { &mut *span.as_ptr() };
            header.base = None;
            let is_left = settle(header) > 0;
            if is_left {
                left += (after - header.first as usize) * WINDOW;
            }
            header.first = if is_left { after as u32 } else { 1 };
            let is_kept = WINDOWS - header.first as usize >= FEW;
            if !is_kept {
                self.retired.push(span);
            }
            is_kept
        });
        self.used = 0;
        self.next = 0;
        self.end = 0;
        self.windows = 0;
        left
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for &span in self.spans.iter().chain(&self.retired) {
            // SAFETY: the spans of the lists belong to this arena.
            let header = unsafe { &mut *span.as_ptr() };
            header.base = None;
            header.owner.store(0, Ordering::Relaxed);
            match settle(header) {
                0 => region::give_back(span.cast()),
                _ => region::leave_behind(span.cast()),
            }
        }
    }
}

/// Subtracts the objects that other threads freed. Returns the number of live objects.
fn settle(header: &Header) -> u32 {
    let freed = header.freed_elsewhere.swap(0, Ordering::Acquire);
    let live = header.live.load(Ordering::Relaxed) - freed;
    header.live.store(live, Ordering::Relaxed);
    live
}

/// Checks whether all objects of a span that has been used have been freed.
fn is_empty(span: NonNull<Header>) -> bool {
    // SAFETY: the span was used, so it has a header.
    let header = unsafe { span.as_ref() };
    header.live.load(Ordering::Relaxed) == header.freed_elsewhere.load(Ordering::Acquire)
}

#[inline(always)]
fn header_of(address: usize) -> NonNull<Header> {
    NonNull::new((address & !(SPAN - 1)) as *mut Header).expect("no span is at address 0")
}

/// Frees an object of the region.
///
/// # Safety
///
/// The address must be that of a live object that an arena allocated.
#[inline]
pub(crate) unsafe fn free(address: usize) {
    // SAFETY: the address is in a span, so there is a header.
    let header = unsafe { header_of(address).as_ref() };
    if header.owner.load(Ordering::Relaxed) == own_mark() {
        header
            .live
            .store(header.live.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    } else {
        header.freed_elsewhere.fetch_add(1, Ordering::Release);
    }
}

/// The position of an address in an arena: the thread that owns the heap, and an offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Position {
    pub(crate) thread: ThreadId,
    /// A number of 44 bits that identifies the address within the thread's heap.
    pub(crate) offset: u64,
}

/// Returns the position of an address in an arena, if it was allocated in this execution.
#[inline]
pub(crate) fn position_of(address: usize) -> Option<Position> {
    if !region::contains(address) {
        return None;
    }
    // SAFETY: pointers that the program holds point into spans that were used, so there is a
    // header, and the region is never unmapped. At worst the name is that of another object.
    let header = unsafe { header_of(address).as_ref() };
    let distance = address % SPAN;
    if distance < header.first as usize * WINDOW {
        return None;
    }
    Some(Position {
        thread: header.thread,
        offset: header.base?.get() + distance as u64,
    })
}

/// Checks whether an address is in an arena and was allocated in an earlier execution.
pub(crate) fn outlives(address: usize) -> bool {
    region::contains(address) && position_of(address).is_none()
}

/// Returns the name of an address in an arena, if it was allocated in this execution.
pub(crate) fn name_of(address: usize) -> Option<u64> {
    let position = position_of(address)?;
    Some(1 << 63 | u64::from(position.thread.0) << 44 | position.offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Layout = Layout::new::<[u64; 5]>();

    fn allocate(arena: &mut Arena, layout: Layout) -> usize {
        let memory = arena
            .allocate(layout)
            .or_else(|| arena.allocate_anew(layout));
        memory.expect("there is memory").as_ptr() as usize
    }

    fn free(address: usize) {
        // SAFETY: each test frees an object that it has allocated, once.
        unsafe { super::free(address) };
    }

    #[test]
    fn addresses_are_the_same_in_the_next_execution() {
        let mut arena = Arena::new(ThreadId(3), Kind::Objects);
        let first: Vec<usize> = (0..5000).map(|_| allocate(&mut arena, SMALL)).collect();
        first.iter().for_each(|&address| free(address));
        arena.reset();
        let second: Vec<usize> = (0..5000).map(|_| allocate(&mut arena, SMALL)).collect();
        assert_eq!(first, second);
        second.iter().for_each(|&address| free(address));
    }

    #[test]
    fn names_are_the_same_although_objects_live_on() {
        let large = Layout::from_size_align(5000, 64).expect("it is a layout");
        let layout = |number: u32| {
            if number.is_multiple_of(7) {
                large
            } else {
                SMALL
            }
        };
        let mut arena = Arena::new(ThreadId(3), Kind::Objects);
        let names = |arena: &mut Arena, keep: u32| -> Vec<Option<u64>> {
            let addresses: Vec<usize> = (0..60).map(|n| allocate(arena, layout(n))).collect();
            let names = addresses.iter().map(|&address| name_of(address)).collect();
            for (&address, number) in addresses.iter().zip(0..) {
                if number != keep {
                    free(address);
                }
            }
            arena.reset();
            names
        };
        let first = names(&mut arena, 100);
        assert!(first.iter().all(Option::is_some));
        for keep in 0..20 {
            assert_eq!(names(&mut arena, keep), first);
        }
    }

    #[test]
    fn new_objects_do_not_overlap_objects_that_are_still_alive() {
        let mut arena = Arena::new(ThreadId(3), Kind::Objects);
        let mut kept = Vec::new();
        for _ in 0..1000 {
            let addresses: Vec<usize> = (0..30).map(|_| allocate(&mut arena, SMALL)).collect();
            assert!(addresses.iter().all(|address| !kept.contains(address)));
            addresses[1..].iter().for_each(|&address| free(address));
            kept.push(addresses[0]);
            arena.reset();
        }
        assert!(arena.spans.len() + arena.retired.len() < 70);
        kept.iter().for_each(|&address| free(address));
    }

    #[test]
    fn an_object_that_another_thread_freed_is_no_longer_alive() {
        let mut arena = Arena::new(ThreadId(3), Kind::Objects);
        let address = allocate(&mut arena, SMALL);
        std::thread::spawn(move || free(address))
            .join()
            .expect("it does not panic");
        arena.reset();
        assert_eq!(allocate(&mut arena, SMALL), address);
        free(address);
    }
}
