//! The part of the address space that arenas take their spans from.
//!
//! Reserved once for the process, so that one comparison tells an arena's address from others; memory
//! is used only where it is touched. Without it, models work as they do without the allocator.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes of a span, which begins at a multiple of it.
pub(crate) const SPAN: usize = 64 * 1024;

pub(crate) const SIZE: usize = 16 << 30;

/// Where the region begins; before it is reserved an address that nothing has.
static START: AtomicUsize = AtomicUsize::new(NOWHERE);
const NOWHERE: usize = 1 << 63;

static SPANS: Mutex<Spans> = Mutex::new(Spans {
    start: 0,
    next: 0,
    end: 0,
    free: Vec::new(),
    left: Vec::new(),
});

/// The spans of the region.
#[derive(Clone)]
pub(crate) struct Spans {
    /// The address of the first one.
    pub(crate) start: usize,
    /// Addresses from here to `end` were never used.
    next: usize,
    end: usize,
    /// Addresses of spans without live objects, which no arena has.
    pub(crate) free: Vec<usize>,
    /// Addresses of spans whose arena is gone, with objects that are alive.
    left: Vec<usize>,
}

/// Whether the address is in the region.
#[inline(always)]
pub(crate) fn contains(address: usize) -> bool {
    address.wrapping_sub(START.load(Ordering::Relaxed)) < SIZE
}

/// Memory of one span, if there is any; `is_empty` tells of a span left behind whether it can be used
/// again. Its content is what was left in it, zero if nothing was.
pub(crate) fn take(is_empty: impl Fn(NonNull<u8>) -> bool) -> Option<NonNull<u8>> {
    let mut spans = SPANS.lock().unwrap_or_else(PoisonError::into_inner);
    if spans.end == 0 {
        spans.reserve();
    }
    if spans.free.is_empty() {
        let left = std::mem::take(&mut spans.left);
        for address in left {
            let list = match NonNull::new(address as *mut u8).is_some_and(&is_empty) {
                true => &mut spans.free,
                false => &mut spans.left,
            };
            list.push(address);
        }
    }
    if let Some(address) = spans.free.pop() {
        return NonNull::new(address as *mut u8);
    }
    let address = spans.next;
    if address + SPAN > spans.end {
        return None;
    }
    spans.next += SPAN;
    NonNull::new(address as *mut u8)
}

/// Gives a span back that has no live objects.
pub(crate) fn give_back(span: NonNull<u8>) {
    SPANS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .free
        .push(span.as_ptr() as usize);
}

/// Leaves a span behind whose objects live longer than its arena.
pub(crate) fn leave_behind(span: NonNull<u8>) {
    SPANS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .left
        .push(span.as_ptr() as usize);
}

/// A copy of what is known of spans.
pub(crate) fn spans() -> Spans {
    SPANS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The spans that were left behind: nobody else uses or frees them until they are given back.
pub(crate) fn take_orphans() -> Vec<usize> {
    let mut spans = SPANS.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut spans.left)
}

/// Gives spans back that were left behind; of some it is known that nothing refers to them. Gives how many are left.
pub(crate) fn give_back_orphans(left: Vec<usize>, free: Vec<usize>) -> usize {
    let mut spans = SPANS.lock().unwrap_or_else(PoisonError::into_inner);
    spans.left.extend(left);
    spans.free.extend(free);
    spans.left.len()
}

impl Spans {
    /// How many were ever used.
    pub(crate) fn count(&self) -> usize {
        (self.next - self.start) / SPAN
    }

    /// The number of the span that an address from `start` on is in.
    pub(crate) fn number(&self, address: usize) -> usize {
        (address - self.start) / SPAN
    }

    /// Where a span is.
    pub(crate) fn address(&self, number: usize) -> usize {
        self.start + number * SPAN
    }

    fn reserve(&mut self) {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh private mapping at an address of the system's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), SIZE, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            (self.start, self.next) = (usize::MAX - SPAN, usize::MAX - SPAN);
            self.end = 1;
            return;
        }
        let start = start as usize;
        self.start = start.next_multiple_of(SPAN);
        self.next = self.start;
        self.end = start + SIZE;
        START.store(start, Ordering::Relaxed);
    }
}
