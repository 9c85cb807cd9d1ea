//! The writable memory of the program, saved when its `main` begins, and put back before each execution.

use crate::gate::Own;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Libraries whose state is left alone: those that the checker itself uses, and that do not keep what the
/// program gives them.
const LEFT_ALONE: [&str; 8] = [
    "libmazurka_intercept.so",
    "libc.so",
    "ld-linux",
    "libm.so",
    "libpthread.so",
    "libgcc_s.so",
    "libdl.so",
    "linux-vdso",
];

/// A part of the memory, and what it held.
struct Part {
    start: usize,
    content: Vec<u8>,
}

static PARTS: Own<Vec<Part>> = Own::new(Vec::new());

/// Saves the memory.
pub(crate) fn save() {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    // SAFETY: the callback gets what it is given here.
    unsafe { libc::dl_iterate_phdr(Some(add_object), (&raw mut parts).cast()) };
    let saved = parts.into_iter().map(|(start, end)| Part {
        start,
        // SAFETY: a writable part of a loaded object.
        content: unsafe { std::slice::from_raw_parts(start as *const u8, end - start) }.to_vec(),
    });
    *PARTS.get() = saved.collect();
}

/// The writable memory, each part by its first address and its length.
pub(crate) fn parts() -> Vec<(usize, usize)> {
    let parts = PARTS.get().iter();
    parts.map(|part| (part.start, part.content.len())).collect()
}

/// The files of the images that the program's own state is in, itself first.
pub(crate) fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    // SAFETY: the callback gets what it is given here.
    unsafe { libc::dl_iterate_phdr(Some(add_file), (&raw mut files).cast()) };
    files
}

unsafe extern "C" fn add_file(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    data: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the loader passes what is valid, and our own data.
    let (info, files) = unsafe { (&*info, &mut *data.cast::<Vec<PathBuf>>()) };
    if !is_left_alone(info) {
        // SAFETY: a name is a string of C.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
        files.push(match name {
            b"" => PathBuf::from("/proc/self/exe"),
            name => PathBuf::from(OsStr::from_bytes(name)),
        });
    }
    0
}

/// Bytes of the writable memory.
pub(crate) fn size() -> usize {
    PARTS.get().iter().map(|part| part.content.len()).sum()
}

/// Puts the memory back.
pub(crate) fn restore() {
    for part in PARTS.get() {
        // SAFETY: the parts are writable memory of the program, of which no thread runs.
        unsafe {
            std::ptr::copy_nonoverlapping(
                part.content.as_ptr(),
                part.start as *mut u8,
                part.content.len(),
            );
        }
    }
}

/// Shows each part of the memory, until `look` has seen enough.
pub(crate) fn look(look: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    PARTS.get().iter().all(|part| {
        // SAFETY: the parts are writable memory of the program, of which no thread runs.
        look(unsafe { std::slice::from_raw_parts(part.start as *const u8, part.content.len()) })
    })
}

/// Copies the memory.
pub(crate) fn save_to(copy: &mut Vec<u8>) {
    copy.clear();
    for part in PARTS.get() {
        // SAFETY: the parts are writable memory of the program, of which no thread runs.
        copy.extend_from_slice(unsafe {
            std::slice::from_raw_parts(part.start as *const u8, part.content.len())
        });
    }
}

/// Puts back what was copied.
pub(crate) fn restore_from(mut copy: &[u8]) {
    for part in PARTS.get() {
        let (content, rest) = copy.split_at(part.content.len());
        // SAFETY: as above.
        unsafe {
            (part.start as *mut u8).copy_from_nonoverlapping(content.as_ptr(), content.len())
        };
        copy = rest;
    }
}

/// The part of an image that the code is in, and where in it.
pub(crate) fn code_around(code: usize) -> Option<(&'static [u8], usize)> {
    let mut search = (code, None);
    // SAFETY: the callback gets what it is given here.
    unsafe { libc::dl_iterate_phdr(Some(find_code), (&raw mut search).cast()) };
    search.1
}

/// What is looked for, and what was found.
type Search = (usize, Option<(&'static [u8], usize)>);

unsafe extern "C" fn find_code(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    data: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the loader passes what is valid, and our own data.
    let (info, (code, found)) = unsafe { (&*info, &mut *data.cast::<Search>()) };
    // SAFETY: the loader passes as many headers.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    for header in headers {
        let start = info.dlpi_addr as usize + header.p_vaddr as usize;
        let length = header.p_memsz as usize;
        let is_code = header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0;
        if is_code && (start..start + length).contains(code) {
            // SAFETY: code of an image that stays loaded.
            let bytes = unsafe { std::slice::from_raw_parts(start as *const u8, length) };
            *found = Some((bytes, *code - start));
        }
    }
    0
}

/// Libraries of compilers, which set themselves up.
const COMPILERS: [&str; 4] = [
    "libgcc_s.so",
    "libstdc++.so",
    "libc++abi.so",
    "libunwind.so",
];

/// Whether a library of a compiler has this address.
pub(crate) fn is_compilers(address: usize) -> bool {
    let mut search = (address, false);
    // SAFETY: the callback gets what it is given here.
    unsafe { libc::dl_iterate_phdr(Some(find_library), (&raw mut search).cast()) };
    search.1
}

unsafe extern "C" fn find_library(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    data: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the loader passes what is valid, and our own data.
    let (info, (address, found)) = unsafe { (&*info, &mut *data.cast::<(usize, bool)>()) };
    // SAFETY: a name is a string of C.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
    let file = name.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    if COMPILERS
        .iter()
        .any(|library| file.starts_with(library.as_bytes()))
    {
        // SAFETY: the loader passes as many headers.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        *found |= headers.iter().any(|header| {
            let start = info.dlpi_addr as usize + header.p_vaddr as usize;
            let length = header.p_memsz as usize;
            header.p_type == libc::PT_LOAD && (start..start + length).contains(address)
        });
    }
    0
}

/// Whether the image keeps its state from one execution to the next.
pub(crate) fn is_left_alone(info: &libc::dl_phdr_info) -> bool {
    // SAFETY: a name is a string of C.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy();
    let file = name.rsplit('/').next().unwrap_or_default();
    LEFT_ALONE.iter().any(|left| file.starts_with(left))
}

unsafe extern "C" fn add_object(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    data: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the loader passes what is valid, and our own data.
    let (info, parts) = unsafe { (&*info, &mut *data.cast::<Vec<(usize, usize)>>()) };
    if is_left_alone(info) {
        return 0;
    }
    // SAFETY: the loader passes as many headers.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let base = info.dlpi_addr as usize;
    let read_only = headers
        .iter()
        .find(|header| header.p_type == libc::PT_GNU_RELRO);
    let read_only_end = read_only.map_or(0, |header| {
        (base + header.p_vaddr as usize + header.p_memsz as usize) & !4095
    });
    for header in headers {
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 {
            let start = base + header.p_vaddr as usize;
            let end = start + header.p_memsz as usize;
            let start = match (start..end).contains(&read_only_end) {
                true => read_only_end,
                false => start,
            };
            parts.push((start, end));
        }
    }
    0
}
