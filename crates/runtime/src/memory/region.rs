//! The part of the address space from which arenas take their spans.
//!
//! The process reserves this region once, so that one comparison distinguishes an arena's address
//! from other addresses. Only pages that are touched use physical memory. If the reservation fails,
//! models behave like models without the allocator.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The number of bytes of a span. Spans begin at multiples of it.
pub(crate) const SPAN: usize = 64 * 1024;

/// The number of bytes of the region.
pub(crate) const SIZE: usize = 16 << 30;

/// The address at which the region begins, or an unused address before the region is reserved.
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
    /// The address of the first span.
    pub(crate) start: usize,
    /// Addresses from here to `end` were never used.
    next: usize,
    end: usize,
    /// Addresses of spans without live objects that belong to no arena.
    pub(crate) free: Vec<usize>,
    /// Addresses of spans with live objects whose arena no longer exists.
    left: Vec<usize>,
}

/// Checks whether the address is in the region.
#[inline(always)]
pub(crate) fn contains(address: usize) -> bool {
    address.wrapping_sub(START.load(Ordering::Relaxed)) < SIZE
}

/// Returns the memory of one span, if there is any. `is_empty` decides whether a span left behind
/// can be reused. The memory keeps the content of its last use. Memory that was never used is zero.
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

/// Returns a span without live objects to the region.
pub(crate) fn give_back(span: NonNull<u8>) {
    SPANS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .free
        .push(span.as_ptr() as usize);
}

/// Leaves behind a span whose objects outlive its arena.
pub(crate) fn leave_behind(span: NonNull<u8>) {
    SPANS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .left
        .push(span.as_ptr() as usize);
}

/// Returns a copy of the list of spans.
pub(crate) fn spans() -> Spans {
    SPANS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Removes and returns the spans that were left behind. Nothing uses or frees these spans until
/// they are given back.
pub(crate) fn take_orphans() -> Vec<usize> {
    let mut spans = SPANS.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut spans.left)
}

/// Gives back spans that were left behind. Nothing may refer to the spans in `free`. Returns how
/// many spans remain left behind.
pub(crate) fn give_back_orphans(left: Vec<usize>, free: Vec<usize>) -> usize {
    let mut spans = SPANS.lock().unwrap_or_else(PoisonError::into_inner);
    spans.left.extend(left);
    spans.free.extend(free);
    spans.left.len()
}

impl Spans {
    /// Returns how many spans were ever used.
    pub(crate) fn count(&self) -> usize {
        (self.next - self.start) / SPAN
    }

    /// Returns the number of the span that contains an address from `start` on.
    pub(crate) fn number(&self, address: usize) -> usize {
        (address - self.start) / SPAN
    }

    /// Returns the address of a span.
    pub(crate) fn address(&self, number: usize) -> usize {
        self.start + number * SPAN
    }

    fn reserve(&mut self) {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh private mapping at an address chosen by the system.
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
