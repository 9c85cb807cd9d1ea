//! The addresses of statics: the writable parts of the program and of its libraries, as they are
//! loaded.

#[cfg(target_os = "linux")]
pub(crate) mod enclosing;

use crate::engine::names::{Region, Site};
use explore::ThreadId;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

/// The static from which the distances of all others are measured. These distances are the same in
/// every process.
static ANCHOR: u8 = 0;

/// Returns the name of the address of a static.
pub(crate) fn site_of(address: usize) -> Site {
    // 44 bits: programs and libraries are loaded closer to each other than that.
    const BITS: usize = (1 << 44) - 1;
    let distance = address.wrapping_sub((&raw const ANCHOR).addr()) & BITS;
    Site {
        region: Region::Static,
        thread: ThreadId::MAIN,
        offset: distance as u64,
    }
}

/// Checks whether the address can be that of a static. If the address is unknown, the loaded parts
/// are read again.
pub(crate) fn contains(address: usize) -> bool {
    static PARTS: RwLock<Vec<Range<usize>>> = RwLock::new(Vec::new());
    let is_in = |parts: &[Range<usize>]| parts.iter().any(|part| part.contains(&address));
    if is_in(&PARTS.read().unwrap_or_else(PoisonError::into_inner)) {
        return true;
    }
    let mut parts = PARTS.write().unwrap_or_else(PoisonError::into_inner);
    *parts = writable_parts();
    is_in(&parts)
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn writable_parts() -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    // SAFETY: the callback gets the pointer to `parts`, which nothing else uses meanwhile.
    unsafe { libc::dl_iterate_phdr(Some(add_parts), (&raw mut parts).cast()) };
    parts
}

/// Adds the writable parts of an image to a list.
///
/// # Safety
///
/// Only `dl_iterate_phdr` may call this, with a pointer to the list as data.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
unsafe extern "C" fn add_parts(
    image: *mut libc::dl_phdr_info,
    _size: usize,
    parts: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the caller promises that the pointers refer to the description of an image with its
    // headers, and to the list.
    let (image, parts) = unsafe { (&*image, &mut *parts.cast::<Vec<Range<usize>>>()) };
    // SAFETY: as above.
    let headers =
        unsafe { std::slice::from_raw_parts(image.dlpi_phdr, usize::from(image.dlpi_phnum)) };
    for header in headers {
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 {
            let start = (image.dlpi_addr + header.p_vaddr) as usize;
            parts.push(start..start + header.p_memsz as usize);
        }
    }
    0
}

/// Returns the difference between the addresses of the program in memory and those in its file.
#[cfg(target_os = "linux")]
fn base() -> usize {
    /// Reads the base address of the first image, which is the program, and stops.
    ///
    /// # Safety
    ///
    /// Only `dl_iterate_phdr` may call this, with a pointer to a number as data.
    unsafe extern "C" fn take(
        image: *mut libc::dl_phdr_info,
        _size: usize,
        base: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: as promised by the caller.
        unsafe { *base.cast::<usize>() = (*image).dlpi_addr as usize };
        1
    }
    let mut base = 0_usize;
    // SAFETY: the callback gets the pointer to `base`, which nothing else uses meanwhile.
    unsafe { libc::dl_iterate_phdr(Some(take), (&raw mut base).cast()) };
    base
}

/// Returns the range of all addresses. Without information about loaded parts, all memory outside
/// of models counts as statics.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn writable_parts() -> Vec<Range<usize>> {
    vec![0..usize::MAX]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn writable_statics_are_distinguished_from_stack_and_heap() {
        static ZERO: AtomicU32 = AtomicU32::new(0);
        static SEVEN: AtomicU32 = AtomicU32::new(7);
        let (local, boxed) = (AtomicU32::new(0), Box::new(AtomicU32::new(0)));
        let is_static = |place: &AtomicU32| contains((&raw const *place).addr());
        assert!(is_static(&ZERO) && is_static(&SEVEN));
        assert!(!is_static(&local) && !is_static(&boxed));
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn statics_of_a_library_that_is_loaded_later_are_known() {
        let before = writable_parts();
        assert!(before.iter().all(|part| contains(part.start)));
        // SAFETY: this library belongs to the C library, and its constructors do nothing.
        let library = unsafe { libc::dlopen(c"libresolv.so.2".as_ptr(), libc::RTLD_NOW) };
        assert!(!library.is_null());
        let after = writable_parts();
        let added: Vec<_> = after.iter().filter(|part| !before.contains(part)).collect();
        assert!(!added.is_empty());
        assert!(added.iter().all(|part| contains(part.start)));
    }
}
