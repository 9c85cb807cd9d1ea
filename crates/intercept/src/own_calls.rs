//! Binds this library to functions of the system's libraries, even if the program has functions of
//! the same names.
//!
//! The dynamic linker looks up symbols in the program first. So if a program defines its own
//! `write`, `memcpy` or `getenv`, the checker would call this function. Before any code of the
//! checker runs, `bind` looks up the functions that it calls in the system's libraries, and writes
//! their addresses to this library's table of addresses. In a check, memory of the checker comes
//! from `own_memory`.
//!
//! `bind` itself must not call anything. It reads names byte by byte and with volatile accesses, so
//! that the compiler generates no calls to `memcmp` or `strlen`.

use crate::{mappings, own_memory, system_calls};
use std::ffi::{c_char, c_int};

#[used]
#[unsafe(link_section = ".init_array.00001")]
static BIND: unsafe extern "C" fn(c_int, *const usize, *const usize) = bind;

/// File names of the libraries whose functions are called.
const LIBRARIES: [&str; 6] = [
    "libc.so",
    "libgcc_s.so",
    "libm.so",
    "libpthread.so",
    "libdl.so",
    "ld-linux",
];

/// Tag of the dynamic linker's address in the auxiliary vector.
const AT_BASE: usize = 7;

const PT_DYNAMIC: u32 = 2;
const PT_GNU_RELRO: u32 = 0x6474_e552;
const DT_STRTAB: usize = 5;
const DT_SYMTAB: usize = 6;
const DT_RELA: usize = 7;
const DT_RELASZ: usize = 8;
const DT_PLTRELSZ: usize = 2;
const DT_JMPREL: usize = 23;
const DT_GNU_HASH: usize = 0x6fff_fef5;
const DT_VERSYM: usize = 0x6fff_fff0;
const R_64: u32 = 1;
const R_GLOB_DAT: u32 = 6;
const R_JUMP_SLOT: u32 = 7;
const FUNCTION: u8 = 2;
const INDIRECT_FUNCTION: u8 = 10;
const HIDDEN: u16 = 0x8000;

/// An entry of the dynamic linker's list of images.
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const u8,
    dynamic: *const usize,
    next: *const LinkMap,
}

#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    size: usize,
}

#[repr(C)]
struct Relocation {
    offset: usize,
    info: usize,
    addend: usize,
}

/// The tables of an image.
#[derive(Clone, Copy)]
struct Image {
    base: usize,
    strings: *const u8,
    symbols: *const Symbol,
    hash: *const u32,
    versions: *const u16,
    relocations: [(usize, usize); 2],
}

unsafe extern "C" fn bind(_count: c_int, _arguments: *const usize, environment: *const usize) {
    // SAFETY: the dynamic linker passes the environment. The auxiliary vector lies right behind the
    // environment. The tables of loaded images are valid.
    unsafe {
        let mut place = environment;
        let mut is_checked = false;
        while place.read() != 0 {
            is_checked |= begins_with(place.read() as *const u8, ORDER);
            place = place.add(1);
        }
        place = place.add(1);
        while place.read() != 0 && place.read() != AT_BASE {
            place = place.add(2);
        }
        let linker = place.add(1).read();
        if place.read() == 0 || linker == 0 {
            return;
        }
        let is_checked = is_checked && own_memory::reserve();
        let linker = Image::of(linker, dynamic_section(linker));
        // The second word of `_r_debug` points to the first `LinkMap`.
        let Some(debug) = linker.find(c"_r_debug".as_ptr().cast()) else {
            return;
        };
        let first = *((linker.base + debug.value) as *const *const LinkMap).add(1);
        let mut segment = first;
        while !segment.is_null() && !(*segment).has_code_of(bind as *const () as usize) {
            segment = (*segment).next;
        }
        if let Some(segment) = segment.as_ref() {
            bind_image(segment.base, segment.dynamic, first, is_checked);
        }
    }
}

/// Name of the order in the environment.
const ORDER: &str = native::ORDER;

/// Returns our function that replaces the C library's function of this name in a check, or 0.
fn replacement(name: *const u8) -> usize {
    // SAFETY: a name is a terminated string.
    let is = |other: &str| unsafe { begins_with(name, other) && name.add(other.len()).read() == 0 };
    if is("malloc") {
        own_memory::allocate as *const () as usize
    } else if is("calloc") {
        own_memory::allocate_zeroed as *const () as usize
    } else if is("realloc") {
        own_memory::reallocate as *const () as usize
    } else if is("free") {
        own_memory::free as *const () as usize
    } else if is("posix_memalign") {
        own_memory::allocate_at as *const () as usize
    } else if is("mmap") || is("mmap64") {
        mappings::map as *const () as usize
    } else {
        0
    }
}

unsafe fn bind_image(base: usize, dynamic: *const usize, first: *const LinkMap, is_checked: bool) {
    // SAFETY: as in `bind`.
    unsafe {
        let image = Image::of(base, dynamic);
        let (start, end) = read_only_part(base);
        system_calls::protect(start, end, libc::PROT_READ | libc::PROT_WRITE);
        let mut table = 0;
        while table < 2 {
            let (start, size) = if table == 0 {
                image.relocations[0]
            } else {
                image.relocations[1]
            };
            let mut at = start;
            while at < start.wrapping_add(size) {
                image.bind(&*(at as *const Relocation), first, is_checked);
                at = at.wrapping_add(size_of::<Relocation>());
            }
            table += 1;
        }
        system_calls::protect(start, end, libc::PROT_READ);
    }
}

impl LinkMap {
    /// Checks whether code is in this image.
    unsafe fn has_code_of(&self, code: usize) -> bool {
        // SAFETY: a loaded image begins with its header.
        unsafe {
            let (mut header, mut left) = program_headers(self.header());
            while left > 0 {
                let start = self.base.wrapping_add((*header).p_vaddr as usize);
                if (*header).p_type == libc::PT_LOAD
                    && code.wrapping_sub(start) < (*header).p_memsz as usize
                {
                    return true;
                }
                header = header.add(1);
                left -= 1;
            }
            false
        }
    }

    /// Returns the address of the image's header, which is at its base. Returns 0 for an executable
    /// at a fixed address.
    unsafe fn header(&self) -> usize {
        self.base
    }
}

unsafe fn program_headers(image: usize) -> (*const libc::Elf64_Phdr, usize) {
    let header = image as *const libc::Elf64_Ehdr;
    // SAFETY: the image and its header are loaded. An executable at a fixed address has base 0,
    // where there is no header.
    unsafe {
        if image == 0 {
            return (std::ptr::null(), 0);
        }
        let headers = image.wrapping_add((*header).e_phoff as usize);
        (
            headers as *const libc::Elf64_Phdr,
            (*header).e_phnum as usize,
        )
    }
}

unsafe fn part(image: usize, kind: u32) -> (usize, usize) {
    // SAFETY: as above.
    unsafe {
        let (mut header, mut left) = program_headers(image);
        while left > 0 {
            if (*header).p_type == kind {
                let start = image.wrapping_add((*header).p_vaddr as usize);
                return (start, start.wrapping_add((*header).p_memsz as usize));
            }
            header = header.add(1);
            left -= 1;
        }
        (0, 0)
    }
}

unsafe fn dynamic_section(image: usize) -> *const usize {
    // SAFETY: as above.
    unsafe { part(image, PT_DYNAMIC).0 as *const usize }
}

/// Returns the pages that the dynamic linker has made read-only.
unsafe fn read_only_part(image: usize) -> (usize, usize) {
    // SAFETY: as above.
    let (start, end) = unsafe { part(image, PT_GNU_RELRO) };
    (start & !4095, end & !4095)
}

/// Checks whether a terminated string begins with `beginning`.
#[inline(always)]
unsafe fn begins_with(text: *const u8, beginning: &str) -> bool {
    let mut index = 0;
    while index < beginning.len() {
        // SAFETY: `index` is less than the length of `beginning`. The loop stops at the end of
        // `text`, because the byte that ends `text` differs from the expected byte.
        unsafe {
            let expected = beginning.as_ptr().add(index).read_volatile();
            if text.add(index).read_volatile() != expected {
                return false;
            }
        }
        index += 1;
    }
    true
}

/// Checks whether two terminated strings are equal.
unsafe fn are_equal(one: *const u8, other: *const u8) -> bool {
    let mut index = 0;
    loop {
        // SAFETY: no byte after the end of either string is read.
        unsafe {
            let byte = one.add(index).read_volatile();
            if byte != other.add(index).read_volatile() {
                return false;
            }
            if byte == 0 {
                return true;
            }
        }
        index += 1;
    }
}

/// Checks whether the file of an image is one of the system's libraries.
unsafe fn is_library(path: *const u8) -> bool {
    let mut name = path;
    let mut at = path;
    // SAFETY: a path is a terminated string.
    unsafe {
        while at.read_volatile() != 0 {
            if at.read_volatile() == b'/' {
                name = at.add(1);
            }
            at = at.add(1);
        }
        let mut index = 0;
        while index < LIBRARIES.len() {
            if begins_with(name, *LIBRARIES.as_ptr().add(index)) {
                return true;
            }
            index += 1;
        }
    }
    false
}

impl Image {
    unsafe fn of(base: usize, dynamic: *const usize) -> Image {
        let (mut strings, mut symbols, mut hash, mut versions) = (0, 0, 0, 0);
        let (mut table, mut size, mut calls, mut calls_size) = (0, 0, 0, 0);
        let mut entry = dynamic;
        // SAFETY: the table ends with a zero.
        unsafe {
            while entry.read() != 0 {
                let mut value = entry.add(1).read();
                let kind = entry.read();
                // Some versions of the linker relocate addresses in its own tables, others do not.
                if kind != DT_RELASZ && kind != DT_PLTRELSZ && value < base {
                    value = value.wrapping_add(base);
                }
                match kind {
                    DT_STRTAB => strings = value,
                    DT_SYMTAB => symbols = value,
                    DT_GNU_HASH => hash = value,
                    DT_VERSYM => versions = value,
                    DT_RELA => table = value,
                    DT_RELASZ => size = value,
                    DT_JMPREL => calls = value,
                    DT_PLTRELSZ => calls_size = value,
                    _ => {}
                }
                entry = entry.add(2);
            }
        }
        Image {
            base,
            strings: strings as *const u8,
            symbols: symbols as *const Symbol,
            hash: hash as *const u32,
            versions: versions as *const u16,
            relocations: [(table, size), (calls, calls_size)],
        }
    }

    /// Returns the symbol of this name that the image defines, in its default version.
    unsafe fn find(&self, name: *const u8) -> Option<&Symbol> {
        if self.hash.is_null() {
            return None;
        }
        // SAFETY: the tables have the format of GNU hashes.
        unsafe {
            let mut hash: u32 = 5381;
            let mut at = name;
            while at.read_volatile() != 0 {
                hash = hash
                    .wrapping_mul(33)
                    .wrapping_add(u32::from(at.read_volatile()));
                at = at.add(1);
            }
            let buckets = self.hash.read();
            let first_symbol = self.hash.add(1).read();
            let bloom_words = self.hash.add(2).read() as usize;
            if buckets == 0 {
                return None;
            }
            let bucket_table = self.hash.add(4 + 2 * bloom_words);
            let chains = bucket_table.add(buckets as usize);
            let mut index = bucket_table
                .add((hash.wrapping_rem(buckets)) as usize)
                .read();
            if index < first_symbol {
                return None;
            }
            loop {
                let found = chains.add(index.wrapping_sub(first_symbol) as usize).read();
                let symbol = &*self.symbols.add(index as usize);
                let is_default = self.versions.is_null()
                    || self.versions.add(index as usize).read() & HIDDEN == 0;
                if found | 1 == hash | 1
                    && symbol.section != 0
                    && is_default
                    && are_equal(self.strings.add(symbol.name as usize), name)
                {
                    return Some(symbol);
                }
                if found & 1 == 1 {
                    return None;
                }
                index = index.wrapping_add(1);
            }
        }
    }

    /// If this relocation is for a function of a system library, writes the address of that
    /// function or, in a check, of our replacement.
    unsafe fn bind(&self, relocation: &Relocation, first: *const LinkMap, is_checked: bool) {
        let kind = relocation.info as u32;
        if kind != R_64 && kind != R_GLOB_DAT && kind != R_JUMP_SLOT {
            return;
        }
        // SAFETY: the tables of the image are valid, and the dynamic linker has written to the
        // relocated word.
        unsafe {
            let symbol = &*self.symbols.add(relocation.info >> 32);
            let name = self.strings.add(symbol.name as usize);
            let mut address = if is_checked { replacement(name) } else { 0 };
            let mut map = first;
            while address == 0 && !map.is_null() {
                if is_library((*map).name) {
                    address = Image::of((*map).base, (*map).dynamic).function(name);
                }
                map = (*map).next;
            }
            if address != 0 {
                let place = self.base.wrapping_add(relocation.offset) as *mut usize;
                place.write(address.wrapping_add(relocation.addend));
            }
        }
    }

    /// Returns the address of a function that the image defines, or 0.
    unsafe fn function(&self, name: *const u8) -> usize {
        // SAFETY: as for `find`; an indirect function returns the address of the actual function.
        unsafe {
            let Some(symbol) = self.find(name) else {
                return 0;
            };
            let address = self.base.wrapping_add(symbol.value);
            match symbol.info & 15 {
                FUNCTION => address,
                INDIRECT_FUNCTION => {
                    let resolve: extern "C" fn() -> usize =
                        std::mem::transmute(address as *const c_char);
                    resolve()
                }
                _ => 0,
            }
        }
    }
}
