//! The writable memory of the program and its libraries. This memory is saved when `main` begins,
//! and restored before each execution. `pages` does this for the memory of the system's libraries.

use crate::gate::{Own, thread_pointer};
use runtime::native::on_own_stack;
use std::ffi::{CStr, OsStr};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::OnceLock;

/// File name of this library.
const OWN: &str = "libmazurka_intercept.so";

/// The system's libraries for C.
const SYSTEM: [&str; 7] = [
    "libc.so",
    "ld-linux",
    "libm.so",
    "libpthread.so",
    "libgcc_s.so",
    "libdl.so",
    "linux-vdso",
];

/// Further libraries of the system. The kernel does not write to their state, so the pages of this
/// state can be write-protected (`pages`).
const PROTECTED: [&str; 2] = ["libatomic.so", "libstdc++.so"];

/// A part of the memory and its saved content.
struct Part {
    start: usize,
    content: Vec<u8>,
}

static PARTS: Own<Vec<Part>> = Own::new(Vec::new());

/// Saves the memory.
pub(crate) fn save() {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for_each(|info| {
        let file = file_of(info);
        let is_elsewhere = PROTECTED.iter().any(|name| file.starts_with(name));
        if !is_elsewhere && !is_of_system(info) && !is_own(info) {
            parts.extend(writable_segments(info));
        }
    });
    let saved = parts.into_iter().map(|(start, end)| Part {
        start,
        // SAFETY: a writable part of a loaded object.
        content: unsafe { std::slice::from_raw_parts(start as *const u8, end - start) }.to_vec(),
    });
    *PARTS.get() = saved.collect();
    *SEGMENTS.get() = segments();
    *FILES.get() = files_now();
    record_code();
}

/// The files of the images at the beginning of the program's `main`, and their code. They are not
/// queried again for each use, because a suspended thread of the program may hold the dynamic
/// linker's lock.
static FILES: Own<Vec<PathBuf>> = Own::new(Vec::new());
static CODE: Own<Vec<&'static [u8]>> = Own::new(Vec::new());

/// The memory of all images at the beginning of the program's `main`, with its protection.
static SEGMENTS: Own<Vec<(Range<usize>, libc::c_int)>> = Own::new(Vec::new());

fn segments() -> Vec<(Range<usize>, libc::c_int)> {
    let mut segments = Vec::new();
    for_each(|info| {
        let loaded = headers(info)
            .iter()
            .filter(|header| header.p_type == libc::PT_LOAD);
        segments.extend(loaded.map(|header| {
            let start = info.dlpi_addr as usize + header.p_vaddr as usize;
            let end = start + header.p_memsz as usize;
            let access = [
                (libc::PF_R, libc::PROT_READ),
                (libc::PF_W, libc::PROT_WRITE),
                (libc::PF_X, libc::PROT_EXEC),
            ];
            let has = access.iter().filter(|(flag, _)| header.p_flags & flag != 0);
            let access = has.fold(0, |all, (_, access)| all | access);
            (start & !4095..end.next_multiple_of(4096), access)
        }));
    });
    segments
}

/// Checks whether the pages overlap memory of an image.
pub(crate) fn overlaps(pages: &Range<usize>) -> bool {
    segments_in(pages).next().is_some()
}

/// Checks whether the pages overlap a segment of an image whose protection differs from `access`,
/// in a part that is not restored.
pub(crate) fn overlaps_constants(pages: &Range<usize>, access: libc::c_int) -> bool {
    let is_put_back = |segment: &Range<usize>| {
        let mut parts = PARTS.get().iter();
        parts.any(|part| {
            let start = pages.start.max(segment.start);
            part.start & !4095 <= start && start < part.start + part.content.len()
        })
    };
    segments_in(pages).any(|(segment, before)| access != *before && !is_put_back(segment))
}

fn segments_in(pages: &Range<usize>) -> impl Iterator<Item = &'static (Range<usize>, libc::c_int)> {
    let segments = SEGMENTS.get().iter();
    segments.filter(move |(segment, _)| segment.start < pages.end && pages.start < segment.end)
}

/// Returns the address and the length of each part of the writable memory.
pub(crate) fn parts() -> impl Iterator<Item = (usize, usize)> {
    let parts = PARTS.get().iter();
    parts.map(|part| (part.start, part.content.len()))
}

/// Returns the memory of images that is read-only after the start.
pub(crate) fn constant_parts() -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for_each(|info| {
        for header in headers(info) {
            let start = info.dlpi_addr as usize + header.p_vaddr as usize;
            let end = start + header.p_memsz as usize;
            match header.p_type {
                libc::PT_LOAD if header.p_flags & libc::PF_W == 0 => parts.push(start..end),
                libc::PT_GNU_RELRO => parts.push(start..end & !4095),
                _ => {}
            }
        }
    });
    parts
}

/// Returns the writable memory of this library.
pub(crate) fn own_parts() -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for_each(|info| {
        if is_own(info) {
            parts.extend(writable_segments(info).map(|(start, end)| start..end));
        }
    });
    parts
}

/// Returns the thread-local memory of the calling thread, and the C library's thread descriptor
/// after it.
pub(crate) fn thread_block() -> Range<usize> {
    let mut start = thread_pointer();
    for_each(|info| {
        let block = info.dlpi_tls_data.addr();
        if block != 0 && block < start && thread_pointer() - block < 1 << 20 {
            start = block;
        }
    });
    /// A size that exceeds the thread descriptor in any version of the C library.
    const DESCRIPTION: u32 = 2432;
    // SAFETY: a valid name; the C library stores the size there for debuggers.
    let size = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_thread_db_sizeof_pthread".as_ptr()) };
    // SAFETY: as above.
    let size = unsafe { size.cast::<u32>().as_ref() };
    start..thread_pointer() + *size.unwrap_or(&DESCRIPTION) as usize
}

/// Returns the files of the program and its libraries, the program first. The system's libraries
/// for C and this library are left out.
pub(crate) fn files() -> &'static [PathBuf] {
    if FILES.get().is_empty() {
        *FILES.get() = files_now();
    }
    FILES.get()
}

/// Checks whether the program or one of its libraries calls one of these functions.
pub(crate) fn calls_any(functions: &[&str]) -> bool {
    let calls = |file: &PathBuf| functions.iter().any(|name| native::imports(file, name));
    on_own_stack(|| files().iter().any(calls))
}

fn files_now() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for_each(|info| {
        if !is_of_system(info) && !is_own(info) {
            // SAFETY: a name is a terminated string.
            let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
            files.push(match name {
                b"" => PathBuf::from("/proc/self/exe"),
                name => PathBuf::from(OsStr::from_bytes(name)),
            });
        }
    });
    files
}

/// Returns the size of the writable memory in bytes.
pub(crate) fn size() -> usize {
    PARTS.get().iter().map(|part| part.content.len()).sum()
}

/// Restores the memory.
pub(crate) fn restore() {
    for part in PARTS.get() {
        // SAFETY: the parts are writable memory of the program, and no thread of the program runs.
        unsafe {
            std::ptr::copy_nonoverlapping(
                part.content.as_ptr(),
                part.start as *mut u8,
                part.content.len(),
            );
        }
    }
}

/// Passes each part of the memory to `visit`, until it returns false.
pub(crate) fn visit(visit: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    PARTS.get().iter().all(|part| {
        // SAFETY: the parts are writable memory of the program, and no thread of the program runs.
        visit(unsafe { std::slice::from_raw_parts(part.start as *const u8, part.content.len()) })
    })
}

/// Copies the memory.
pub(crate) fn save_to(copy: &mut Vec<u8>) {
    copy.clear();
    for part in PARTS.get() {
        // SAFETY: the parts are writable memory of the program, and no thread of the program runs.
        copy.extend_from_slice(unsafe {
            std::slice::from_raw_parts(part.start as *const u8, part.content.len())
        });
    }
}

/// Restores the memory from a copy.
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

/// Returns the part of an image that contains the code, and the offset of the code in this part.
/// Returns `None` if no image contains the code.
pub(crate) fn code_around(code: usize) -> Option<(&'static [u8], usize)> {
    let is_around = |part: &&&[u8]| part.as_ptr_range().contains(&(code as *const u8));
    let part = match CODE.get().iter().find(is_around) {
        Some(part) => part,
        None => {
            // Images may have been loaded since the last lookup.
            record_code();
            CODE.get().iter().find(is_around)?
        }
    };
    Some((part, code - part.as_ptr().addr()))
}

fn record_code() {
    let parts = CODE.get();
    parts.clear();
    for_each(|info| {
        let is_code = |header: &&libc::Elf64_Phdr| {
            header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0
        };
        parts.extend(headers(info).iter().filter(is_code).map(|header| {
            let start = info.dlpi_addr as usize + header.p_vaddr as usize;
            // SAFETY: code of an image that stays loaded.
            unsafe { std::slice::from_raw_parts(start as *const u8, header.p_memsz as usize) }
        }));
    });
}

/// Libraries of compilers. They initialize their own state.
const COMPILERS: [&str; 5] = [
    "libgcc_s.so",
    "libstdc++.so",
    "libc++.so",
    "libc++abi.so",
    "libunwind.so",
];

/// Checks whether the address is in a library of a compiler.
pub(crate) fn is_compilers(address: usize) -> bool {
    is_in(address, is_of_compiler)
}

/// Checks whether the address is in a library of a compiler or of the system.
pub(crate) fn is_in_library(address: usize) -> bool {
    is_in_linker(address) || is_in(address, |info| is_of_compiler(info) || is_of_system(info))
}

/// Checks whether the code is in the dynamic linker. While the linker runs, a thread of the program
/// may hold its lock, so the images cannot be listed.
fn is_in_linker(code: usize) -> bool {
    static LINKER: OnceLock<Range<usize>> = OnceLock::new();
    let linker = LINKER.get_or_init(|| {
        // SAFETY: the call only queries a number.
        let base = unsafe { libc::getauxval(libc::AT_BASE) } as usize;
        if base == 0 {
            return 0..0;
        }
        // SAFETY: the image of the linker begins with its header, and stays loaded.
        unsafe {
            let header = &*std::ptr::with_exposed_provenance::<libc::Elf64_Ehdr>(base);
            let first = base + header.e_phoff as usize;
            loaded(first, usize::from(header.e_phnum), |_| base)
        }
    });
    linker.contains(&code)
}

/// Checks whether the address is in the image of the program, without libraries.
pub(crate) fn is_in_program(address: usize) -> bool {
    static PROGRAM: OnceLock<Range<usize>> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        // SAFETY: the calls only query numbers. The program's headers stay loaded.
        unsafe {
            let [first, count] = [libc::AT_PHDR, libc::AT_PHNUM].map(|of| libc::getauxval(of));
            let first = first as usize;
            // The program headers contain their own offset from the base (`PT_PHDR`).
            let base = |headers: &[libc::Elf64_Phdr]| {
                let own = |header: &&libc::Elf64_Phdr| header.p_type == libc::PT_PHDR;
                let offset = headers.iter().find(own).map(|own| own.p_vaddr as usize);
                offset.map_or(0, |offset| first - offset)
            };
            loaded(first, count as usize, base)
        }
    });
    program.contains(&address)
}

/// Returns the memory of an image with these program headers.
///
/// # Safety
///
/// The headers must be loaded.
unsafe fn loaded(
    first: usize,
    count: usize,
    base: impl FnOnce(&[libc::Elf64_Phdr]) -> usize,
) -> Range<usize> {
    let first = std::ptr::with_exposed_provenance::<libc::Elf64_Phdr>(first);
    // SAFETY: as promised by the caller.
    let headers = unsafe { std::slice::from_raw_parts(first, count) };
    let base = base(headers);
    let loads = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD);
    let ends = loads
        .clone()
        .map(|header| (header.p_vaddr + header.p_memsz) as usize);
    let starts = loads.map(|header| header.p_vaddr as usize);
    base + starts.min().unwrap_or(0)..base + ends.max().unwrap_or(0)
}

/// Checks whether the address is in an image for which `counts` is true.
fn is_in(address: usize, counts: fn(&libc::dl_phdr_info) -> bool) -> bool {
    let mut is_found = false;
    for_each(|info| {
        let has_address = |header: &libc::Elf64_Phdr| {
            let start = info.dlpi_addr as usize + header.p_vaddr as usize;
            let length = header.p_memsz as usize;
            header.p_type == libc::PT_LOAD && (start..start + length).contains(&address)
        };
        is_found |= counts(info) && headers(info).iter().any(has_address);
    });
    is_found
}

/// Returns the memory of the loaded libraries of compilers.
pub(crate) fn compiler_libraries() -> Vec<Range<usize>> {
    let mut libraries = Vec::new();
    for_each(|info| {
        if is_of_compiler(info) {
            let first = info.dlpi_phdr.expose_provenance();
            // SAFETY: the loader provides the headers.
            let memory =
                unsafe { loaded(first, info.dlpi_phnum.into(), |_| info.dlpi_addr as usize) };
            libraries.push(memory);
        }
    });
    libraries
}

/// Calls `visit` for each image of the process.
pub(crate) fn for_each<F: FnMut(&libc::dl_phdr_info)>(mut visit: F) {
    unsafe extern "C" fn callback<F: FnMut(&libc::dl_phdr_info)>(
        info: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        visit: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the loader passes a valid description, and the closure that it was given.
        unsafe { (*visit.cast::<F>())(&*info) };
        0
    }
    // SAFETY: the closure has the type that the callback expects, and outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(callback::<F>), (&raw mut visit).cast()) };
}

/// Returns the program headers of an image.
pub(crate) fn headers(info: &libc::dl_phdr_info) -> &[libc::Elf64_Phdr] {
    // SAFETY: the loader provides the number of headers.
    unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) }
}

fn is_of_compiler(info: &libc::dl_phdr_info) -> bool {
    let file = file_of(info);
    COMPILERS.iter().any(|library| file.starts_with(library))
}

/// Returns the file name of an image without its folder.
fn file_of(info: &libc::dl_phdr_info) -> String {
    // SAFETY: a name is a terminated string.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy();
    name.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Checks whether the image is a system library for C.
pub(crate) fn is_of_system(info: &libc::dl_phdr_info) -> bool {
    let file = file_of(info);
    SYSTEM.iter().any(|name| file.starts_with(name))
}

/// Checks whether the image is this library.
pub(crate) fn is_own(info: &libc::dl_phdr_info) -> bool {
    file_of(info).starts_with(OWN)
}

/// Returns the start and the end of each writable part of an image.
fn writable_segments(info: &libc::dl_phdr_info) -> impl Iterator<Item = (usize, usize)> {
    let headers = headers(info);
    let base = info.dlpi_addr as usize;
    let read_only = headers
        .iter()
        .find(|header| header.p_type == libc::PT_GNU_RELRO);
    let read_only_end = read_only.map_or(0, |header| {
        (base + header.p_vaddr as usize + header.p_memsz as usize) & !4095
    });
    headers.iter().filter_map(move |header| {
        let is_writable = header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0;
        let start = base + header.p_vaddr as usize;
        let end = start + header.p_memsz as usize;
        let is_divided = (start..end).contains(&read_only_end);
        is_writable.then_some((if is_divided { read_only_end } else { start }, end))
    })
}
