//! Calls of functions whose effects nobody knows.
//!
//! The await rule sees what such a function does to the program's memory, but not what else it changes: positions in files,
//! what the C library remembers, masks of signals. So a call of a function of the system's libraries is an effect unless it
//! is known to be none. Each slot through which the program and its libraries call such a function is given a few instructions
//! that note the call and go on with the function.

use crate::image;
use libc::{c_int, c_void, size_t};
use runtime::native::HAS_CALLED_UNKNOWN;
use rustc_hash::FxHashMap;
use std::ffi::CStr;
use std::ops::Range;
use std::sync::OnceLock;

/// An image of the process, as the loader has it.
struct Image {
    base: usize,
    /// Its code.
    code: Vec<Range<usize>>,
    /// What the loader makes read-only when it is done.
    fixed: Range<usize>,
    dynamic: Option<usize>,
    /// Functions in there may have effects that are not known.
    has_unknown: bool,
    /// Its calls are those of the program.
    is_own: bool,
}

/// An entry of the dynamic section.
#[repr(C)]
#[derive(Clone, Copy)]
struct Entry {
    tag: u64,
    value: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

const JUMP_SLOT: u64 = 7;
const GLOBAL_DATA: u64 = 6;
const ADDRESS: u64 = 1;

const PAGE: usize = 4096;

/// Bytes of the instructions for one function.
const STEP: usize = 32;

/// Libraries of the system whose functions change nothing but memory.
const PURE: [&str; 2] = ["libm.", "libgcc_s."];

/// The instructions for all functions.
static STEPS: OnceLock<Range<usize>> = OnceLock::new();

/// Where in the instructions for a function its address is.
const BEHIND: usize = 20;

/// The function that is called at this address.
pub(crate) fn behind(address: usize) -> usize {
    let is_step = STEPS.get().is_some_and(|steps| steps.contains(&address));
    let function = (address + BEHIND) as *const usize;
    match is_step {
        // SAFETY: the address is that of the instructions for a function.
        true => unsafe { function.read_unaligned() },
        false => address,
    }
}

/// Notes such calls from here on. All slots are filled already.
pub(crate) fn note() -> Result<(), String> {
    let mut images: Vec<Image> = Vec::new();
    // SAFETY: the callback gets what it is given here.
    unsafe { libc::dl_iterate_phdr(Some(add_image), (&raw mut images).cast()) };
    let mut slots = Vec::new();
    for image in images.iter().filter(|image| image.is_own) {
        // SAFETY: the image is loaded, so that its dynamic section is as the ABI says.
        unsafe { find_slots(image, &mut slots) };
    }
    let is_unknown = |address: usize| {
        let mut unknown = images.iter().filter(|image| image.has_unknown);
        unknown.any(|image| image.code.iter().any(|part| part.contains(&address)))
    };
    // SAFETY: the slots are aligned words of loaded images.
    slots.retain(|&(slot, _)| is_unknown(unsafe { slot.read() }));
    if slots.is_empty() {
        return Ok(());
    }
    let steps = make_steps(slots.len())?;
    let mut known: FxHashMap<usize, usize> = FxHashMap::default();
    for (slot, fixed) in slots {
        // SAFETY: as above; the program does not run yet.
        unsafe {
            let function = slot.read();
            let next = steps + known.len() * STEP;
            let step = *known.entry(function).or_insert(next);
            write_step(step as *mut u8, function);
            let page = (slot.addr() & !(PAGE - 1)) as *mut c_void;
            if fixed {
                libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE);
            }
            slot.write(step);
            if fixed {
                libc::mprotect(page, PAGE, libc::PROT_READ);
            }
        }
    }
    STEPS.get_or_init(|| steps..steps + known.len() * STEP);
    let access = libc::PROT_READ | libc::PROT_EXEC;
    // SAFETY: the mapping is that of `make_steps`, with so many of them.
    unsafe { libc::mprotect(steps as *mut c_void, known.len() * STEP, access) };
    Ok(())
}

/// Memory for instructions.
fn make_steps(count: usize) -> Result<usize, String> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a fresh mapping.
    let steps = unsafe { libc::mmap(std::ptr::null_mut(), count * STEP, access, flags, -1, 0) };
    match steps == libc::MAP_FAILED {
        true => Err(std::io::Error::last_os_error().to_string()),
        false => Ok(steps.addr()),
    }
}

/// Instructions that set the flag and jump to the function. They change no register but `r11`, which no argument is in.
///
/// # Safety
///
/// So much can be written there.
unsafe fn write_step(step: *mut u8, function: usize) {
    let mut code = [0xcc_u8; STEP];
    code[..2].copy_from_slice(&[0x49, 0xbb]); // mov r11, flag
    code[2..10].copy_from_slice(&HAS_CALLED_UNKNOWN.as_ptr().addr().to_le_bytes());
    code[10..14].copy_from_slice(&[0x41, 0xc6, 0x03, 0x01]); // mov byte [r11], 1
    code[14..20].copy_from_slice(&[0xff, 0x25, 0, 0, 0, 0]); // jmp [rip]
    code[BEHIND..BEHIND + 8].copy_from_slice(&function.to_le_bytes());
    // SAFETY: as promised by the caller.
    unsafe { step.copy_from_nonoverlapping(code.as_ptr(), STEP) };
}

/// The slots of an image that hold addresses of functions of other images that are not known to be harmless, and whether they are read-only.
///
/// # Safety
///
/// The image is loaded.
unsafe fn find_slots(image: &Image, slots: &mut Vec<(*mut usize, bool)>) {
    let Some(dynamic) = image.dynamic else {
        return;
    };
    let mut tables = FxHashMap::default();
    let mut entry = dynamic as *const Entry;
    // SAFETY: the section ends with an entry of tag 0.
    unsafe {
        while (*entry).tag != 0 {
            tables.insert((*entry).tag, (*entry).value as usize);
            entry = entry.add(1);
        }
    }
    // The loader has added the base to addresses, but for some images.
    let address = |tag: u64| {
        let found = tables.get(&tag).copied()?;
        Some(if found < image.base {
            found + image.base
        } else {
            found
        })
    };
    let (Some(names), Some(symbols)) = (address(5), address(6)) else {
        return;
    };
    for (table, size) in [(7, 8), (23, 2)] {
        let (Some(start), Some(&size)) = (address(table), tables.get(&size)) else {
            continue;
        };
        let count = size / size_of::<Relocation>();
        // SAFETY: the table is as long as that; symbols and names are where it says.
        unsafe {
            let relocations = std::slice::from_raw_parts(start as *const Relocation, count);
            for relocation in relocations {
                let symbol = (symbols as *const Symbol).add((relocation.info >> 32) as usize);
                let is_function = matches!((*symbol).info & 0xf, 0 | 2 | 10);
                let is_slot = match relocation.info & 0xffff_ffff {
                    JUMP_SLOT => true,
                    GLOBAL_DATA | ADDRESS => is_function && relocation.addend == 0,
                    _ => false,
                };
                let name = CStr::from_ptr((names + (*symbol).name as usize) as *const _);
                if is_slot && (*symbol).section == 0 && !is_known(name) {
                    let slot = image.base + relocation.offset as usize;
                    slots.push((slot as *mut usize, image.fixed.contains(&slot)));
                }
            }
        }
    }
}

/// Whether the function of this name, which is not one of ours, changes nothing but memory.
fn is_known(name: &CStr) -> bool {
    const OF_THREADS: [&str; 6] = ["cnd_", "mtx_", "pthread_", "sem_", "thrd_", "tss_"];
    let name = name.to_str().unwrap_or_default();
    let changes_threads = OF_THREADS.iter().any(|prefix| name.starts_with(prefix))
        && !["attr", "_self", "_equal"]
            .iter()
            .any(|part| name.contains(part));
    native::is_harmless(name) && !changes_threads
}

unsafe extern "C" fn add_image(
    info: *mut libc::dl_phdr_info,
    _size: size_t,
    data: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes what is valid, and our own data.
    let (info, images) = unsafe { (&*info, &mut *data.cast::<Vec<Image>>()) };
    // SAFETY: the loader passes as many headers.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let base = info.dlpi_addr as usize;
    let range = |header: &libc::Elf64_Phdr| {
        let start = base + header.p_vaddr as usize;
        start..start + header.p_memsz as usize
    };
    let of_kind = |kind| {
        headers
            .iter()
            .find(|header| header.p_type == kind)
            .map(range)
    };
    let code = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0);
    let code: Vec<Range<usize>> = code.map(range).collect();
    let is_own = !image::is_of_system(info) && !image::is_own(info);
    // SAFETY: a name is a string of C.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy();
    let file = name.rsplit('/').next().unwrap_or_default();
    let is_ours = code
        .iter()
        .any(|part| part.contains(&(note as *const () as usize)));
    let is_pure = PURE.iter().any(|pure| file.starts_with(pure));
    let fixed = of_kind(libc::PT_GNU_RELRO).unwrap_or_default();
    images.push(Image {
        base,
        code,
        fixed: fixed.start..fixed.end & !(PAGE - 1),
        dynamic: of_kind(libc::PT_DYNAMIC).map(|part| part.start),
        has_unknown: !is_own && !is_ours && !is_pure,
        is_own,
    });
    0
}
