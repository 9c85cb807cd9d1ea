//! Standard streams of C++. By the standard, threads may share them without data races
//! ([iostream.objects.overview]). But library code changes them without locks. So accesses to their
//! bytes are ignored.

use crate::gate::Own;
use crate::image;
use std::ffi::CStr;
use std::ops::Range;

/// The streams of libstdc++ and of libc++, with their sizes.
const ALL: [(&CStr, usize); 16] = [
    (c"_ZSt3cin", 280),
    (c"_ZSt4wcin", 280),
    (c"_ZSt4cout", 272),
    (c"_ZSt4cerr", 272),
    (c"_ZSt4clog", 272),
    (c"_ZSt5wcout", 272),
    (c"_ZSt5wcerr", 272),
    (c"_ZSt5wclog", 272),
    (c"_ZNSt3__13cinE", 168),
    (c"_ZNSt3__14wcinE", 168),
    (c"_ZNSt3__14coutE", 160),
    (c"_ZNSt3__14cerrE", 160),
    (c"_ZNSt3__14clogE", 160),
    (c"_ZNSt3__15wcoutE", 160),
    (c"_ZNSt3__15wcerrE", 160),
    (c"_ZNSt3__15wclogE", 160),
];

/// The addresses of the streams in the program.
static KNOWN: Own<Vec<Range<usize>>> = Own::new(Vec::new());

/// The memory of the libraries of compilers.
static LIBRARIES: Own<Vec<Range<usize>>> = Own::new(Vec::new());

/// Finds the streams of the loaded libraries, before any execution: a lookup changes the dynamic
/// linker's state, and a failing lookup allocates memory of the C library.
pub(crate) fn find() {
    *LIBRARIES.get() = image::compiler_libraries();
    let files = image::files();
    let is_loaded = |library: &str| {
        let mut names = files.iter().filter_map(|file| file.file_name()?.to_str());
        names.any(|name| name.starts_with(library))
    };
    let libraries = [("_ZSt", "libstdc++.so"), ("_ZNSt3__1", "libc++.so")];
    for (prefix, _) in libraries.iter().filter(|(_, library)| is_loaded(library)) {
        let stream = ALL
            .iter()
            .filter(|(name, _)| name.to_bytes().starts_with(prefix.as_bytes()));
        for (name, size) in stream {
            // SAFETY: a name is a terminated string.
            let start = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.addr();
            if start != 0 {
                KNOWN.get().push(start..start + size);
            }
        }
    }
}

/// Checks whether the address is in a library of a compiler.
pub(crate) fn is_of_library(address: usize) -> bool {
    let mut libraries = LIBRARIES.get().iter();
    libraries.any(|library| library.contains(&address))
}

/// Checks whether the address is in a standard stream.
#[inline]
pub(crate) fn contains(address: usize) -> bool {
    let mut known = KNOWN.get().iter();
    known.any(|stream| stream.contains(&address))
}
