//! Changes to mappings (`mmap`, `munmap`, `mprotect`, `mremap`). Code or data of an image that is
//! unmapped or replaced cannot be restored, so programs that do this are refused. When the next
//! execution begins, the memory that this execution has mapped is unmapped, and data that it made
//! read-only becomes writable again.

use crate::gate::{Own, close, code, is_inside};
use crate::worker::refuse_now;
use crate::{aliases, image, library_calls, mappings, start, system_calls};
use libc::{c_int, c_long, c_void, off_t, size_t};
use report::Omission;
use runtime::native::{self, HAS_CALLED_UNKNOWN, leave_out, privately};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Pages of data whose protection the execution has changed.
static CHANGED: Own<Vec<Range<usize>>> = Own::new(Vec::new());

/// Memory that the execution has mapped and not unmapped.
static MAPPED: Own<Vec<Range<usize>>> = Own::new(Vec::new());

/// Refused changes to an image.
const UNMAPS: &str = "unmaps its own code or data";
const REPLACES: &str = "maps something else over its own code or data";
const CHANGES: &str = "changes the access permissions of its own code";

/// System calls that change mappings.
pub(crate) const CALLS: [c_long; 4] = [
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
];

/// Begins an execution: unmaps memory that was mapped after `main` began, and makes data writable.
pub(crate) fn begin() {
    aliases::begin();
    for pages in MAPPED.get().drain(..) {
        let arguments = [pages.start, pages.len(), 0, 0, 0, 0];
        // SAFETY: the program mapped this memory in an execution that is over.
        unsafe { system_calls::call(libc::SYS_munmap, arguments) };
        mappings::forget();
    }
    for pages in CHANGED.get().drain(..) {
        // SAFETY: pages of data of an image that the program has not unmapped.
        unsafe {
            system_calls::protect(pages.start, pages.end, libc::PROT_READ | libc::PROT_WRITE)
        };
    }
}

/// Returns the pages that contain a range of addresses given by the program.
fn pages(address: usize, length: usize) -> Range<usize> {
    let start = address & !4095;
    start
        ..address
            .saturating_add(length)
            .div_ceil(4096)
            .saturating_mul(4096)
}

/// Refuses a change of these pages if they belong to an image.
fn refuse_change_of_image(pages: &Range<usize>, does: &str, function: &str) {
    HAS_CALLED_UNKNOWN.store(true, Relaxed);
    if image::overlaps(pages) {
        refuse_now(&format!(
            "the program {does} ({function}): this cannot be undone"
        ));
    }
}

/// Handles a change of protection of these pages.
fn handle_protection(pages: &Range<usize>, access: c_int) {
    if image::overlaps_constants(pages, access) {
        refuse_change_of_image(pages, CHANGES, "mprotect");
    }
    HAS_CALLED_UNKNOWN.store(true, Relaxed);
    for (start, length) in image::parts() {
        let part = self::pages(start, length);
        let both = part.start.max(pages.start)..part.end.min(pages.end);
        if both.start < both.end {
            CHANGED.get().push(both);
        }
    }
}

/// Handles one of the system calls in [`CALLS`], which the program is about to make. The gate is
/// closed.
fn handle(number: c_long, arguments: [c_long; 6]) {
    let arise = privately(|| {
        check_call(number, arguments);
        aliases::arise(number, arguments)
    });
    if arise {
        let what = "accesses to memory that is mapped at two addresses (mmap of a file, mremap)";
        leave_out(Omission::Unseen, what);
    }
}

fn check_call(number: c_long, arguments: [c_long; 6]) {
    let [first, second, third, fourth, ..] = arguments;
    let known_pages = pages(first as usize, second as usize);
    match number {
        libc::SYS_munmap => refuse_change_of_image(&known_pages, UNMAPS, "munmap"),
        libc::SYS_mremap => refuse_change_of_image(&known_pages, UNMAPS, "mremap"),
        libc::SYS_mprotect => handle_protection(&known_pages, third as c_int),
        libc::SYS_mmap if fourth as c_int & libc::MAP_FIXED != 0 => {
            refuse_change_of_image(&known_pages, REPLACES, "mmap")
        }
        _ => {}
    }
}

/// Records that the running thread has changed the accesses that pages permit. This conflicts with
/// all accesses that were not permitted both before and after the change.
fn conflict_with_accesses(parts: &[(Range<usize>, c_int)], permits: c_int, code: usize) {
    for (pages, permitted) in parts {
        let permitted = permitted & permits;
        match permitted {
            _ if permitted & libc::PROT_WRITE != 0 => {}
            _ if permitted & libc::PROT_READ != 0 => {
                native::change_pages(pages.clone(), true, code)
            }
            _ => native::change_pages(pages.clone(), false, code),
        }
    }
}

/// Performs a system call for the function of the same name. The C library is not called, because
/// allocators map memory before its functions can be found.
pub(crate) fn call(number: c_long, arguments: [usize; 6]) -> isize {
    let [first, second, third, fourth, ..] = arguments;
    let known_pages = pages(first, second);
    let moves_to = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // The system refuses an address within a page. A mapping that shrinks is moved only to an
    // address that the program has chosen.
    let gives_back = match number {
        _ if first % 4096 != 0 => 0..0,
        libc::SYS_mremap if fourth as c_int & moves_to == moves_to => known_pages.clone(),
        libc::SYS_mremap if third < second => pages(first.saturating_add(third), second - third),
        libc::SYS_mremap if fourth as c_int & libc::MREMAP_MAYMOVE != 0 => known_pages.clone(),
        libc::SYS_munmap => known_pages.clone(),
        _ => 0..0,
    };
    if number == libc::SYS_mmap
        && fourth as c_int & libc::MAP_ANONYMOUS == 0
        && !start::is_before_main()
    {
        library_calls::map_file(arguments[4] as c_int);
    }
    // The pages at an address that the program has chosen are replaced.
    let replaced = match number {
        _ if first % 4096 != 0 => 0..0,
        libc::SYS_mmap if fourth as c_int & libc::MAP_FIXED != 0 => known_pages.clone(),
        libc::SYS_mremap if fourth as c_int & libc::MREMAP_FIXED != 0 => pages(arguments[4], third),
        _ => 0..0,
    };
    let is_checked = is_inside() && !start::is_before_main();
    let mut parts = Vec::new();
    if is_inside() {
        let (code, _closed) = (code(), close());
        handle(number, arguments.map(|argument| argument as c_long));
        for gone in [&gives_back, &replaced] {
            if !gone.is_empty() {
                native::unmap(gone.start, gone.len(), code);
            }
        }
        if is_checked && number == libc::SYS_mprotect {
            parts = privately(|| mappings::permitted(&known_pages));
        }
    }
    // SAFETY: the caller makes the promises that the function requires.
    let result = unsafe { system_calls::call(number, arguments) };
    if !(-4095..0).contains(&result) {
        if is_checked {
            let (code, _closed) = (code(), close());
            if !replaced.is_empty() {
                native::change_pages(replaced, false, code);
            }
            conflict_with_accesses(&parts, third as c_int, code);
            privately(|| drop(parts));
            if number == libc::SYS_mmap {
                aliases::place(result as usize);
            }
            let result = result as usize;
            privately(|| match number {
                libc::SYS_munmap => record_mapping(&known_pages, 0..0),
                libc::SYS_mremap => record_mapping(&known_pages, pages(result, third)),
                libc::SYS_mmap => record_mapping(&pages(result, second), pages(result, second)),
                _ => {}
            });
        }
        return result;
    }
    // SAFETY: every thread has an errno.
    unsafe { *libc::__errno_location() = -result as c_int };
    -1
}

/// Records that the execution has unmapped some pages and then mapped others.
fn record_mapping(unmapped: &Range<usize>, mapped: Range<usize>) {
    mappings::forget();
    let rest = MAPPED.get().drain(..).flat_map(|mapping| {
        let before = mapping.start..mapping.end.min(unmapped.start);
        let behind = mapping.start.max(unmapped.end)..mapping.end;
        [before, behind]
    });
    let all = rest.chain([mapped]).filter(|pages| !pages.is_empty());
    let all = all.collect();
    *MAPPED.get() = all;
}

/// Turns an address returned by the system into a pointer.
fn mapped(address: isize) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

export! {
    placed fn munmap(address: *mut c_void, length: size_t) -> c_int {
        call(libc::SYS_munmap, [address.addr(), length, 0, 0, 0, 0]) as c_int
    }

    placed fn mprotect(address: *mut c_void, length: size_t, access: c_int) -> c_int {
        call(libc::SYS_mprotect, [address.addr(), length, access as usize, 0, 0, 0]) as c_int
    }

    placed fn mremap(address: *mut c_void, length: size_t, new_length: size_t, flags: c_int, to: *mut c_void) -> *mut c_void {
        let arguments = [address.addr(), length, new_length, flags as usize, to.addr(), 0];
        mapped(call(libc::SYS_mremap, arguments))
    }

    placed fn mmap(address: *mut c_void, length: size_t, access: c_int, flags: c_int, file: c_int, offset: off_t) -> *mut c_void {
        let arguments = [address.addr(), length, access as usize, flags as usize, file as usize, offset as usize];
        mapped(call(libc::SYS_mmap, arguments))
    }

    placed fn mmap64(address: *mut c_void, length: size_t, access: c_int, flags: c_int, file: c_int, offset: off_t) -> *mut c_void {
        let arguments = [address.addr(), length, access as usize, flags as usize, file as usize, offset as usize];
        mapped(call(libc::SYS_mmap, arguments))
    }
}
