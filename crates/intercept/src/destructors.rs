//! Functions that images (the program and its libraries) register for the end of the process
//! (`__attribute__((destructor))`).

use crate::image;
use crate::threads::Destructor;
use std::ffi::{CStr, OsStr};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// An entry of the dynamic section.
#[repr(C)]
struct Entry {
    tag: i64,
    value: u64,
}

const END: i64 = 0;
/// `DT_FINI_ARRAY` and `DT_FINI_ARRAYSZ`.
const FUNCTIONS: i64 = 26;
const SIZE: i64 = 28;

/// Name of the function that the compiler adds to each image. It is the first function without a
/// priority, and frees nothing.
const OF_COMPILERS: &str = "__do_global_dtors_aux";

/// Returns the functions of the program and its libraries. The last function runs first.
pub(crate) fn of_images() -> Vec<Destructor> {
    let mut images: Vec<Vec<Destructor>> = Vec::new();
    image::for_each(|info| {
        if !image::is_of_system(info) && !image::is_own(info) {
            images.push(of_image(info));
        }
    });
    // The loader runs the program's functions before those of the libraries, and the functions of
    // an image from the last to the first.
    images.into_iter().rev().flatten().collect()
}

fn of_image(info: &libc::dl_phdr_info) -> Vec<Destructor> {
    let base = info.dlpi_addr as usize;
    let mut headers = image::headers(info).iter();
    let Some(header) = headers.find(|header| header.p_type == libc::PT_DYNAMIC) else {
        return Vec::new();
    };
    let (mut start, mut size) = (0, 0);
    let mut entry = (base + header.p_vaddr as usize) as *const Entry;
    // SAFETY: the dynamic section of a loaded image ends with an entry of this tag.
    while let Entry { tag, value } = unsafe { &*entry }
        && *tag != END
    {
        match *tag {
            FUNCTIONS => start = base + *value as usize,
            SIZE => size = *value as usize,
            _ => {}
        }
        // SAFETY: as above.
        entry = unsafe { entry.add(1) };
    }
    let count = size / size_of::<usize>();
    // The function of the compiler always exists.
    if count <= 1 {
        return Vec::new();
    }
    // SAFETY: the loader has stored the addresses of functions there.
    let functions = unsafe { std::slice::from_raw_parts(start as *const usize, count) };
    let known = native::address_of(&file(info), OF_COMPILERS);
    let of_compilers = known.map_or(functions[0], |address| base + address as usize);
    let of_program = functions
        .iter()
        .filter(|&&function| function != of_compilers);
    // SAFETY: the functions have no argument and no result; an argument is harmless in the ABI.
    let functions =
        of_program.map(|&function| unsafe { mem::transmute::<usize, Destructor>(function) });
    functions.collect()
}

fn file(info: &libc::dl_phdr_info) -> std::path::PathBuf {
    // SAFETY: a name is a terminated string.
    match unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes() {
        b"" => "/proc/self/exe".into(),
        name => Path::new(OsStr::from_bytes(name)).to_owned(),
    }
}
