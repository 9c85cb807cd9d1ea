//! Redirects the program's calls to functions of the system's libraries, if the functions have
//! unknown effects or access memory of the program (`library_calls`).
//!
//! The await rule detects changes to the program's memory by these functions, but not other
//! changes: positions in files, state of the C library, signal masks. So a call to a function of
//! the system's libraries counts as an effect unless it is known not to have one. An image calls
//! functions of other images through *slots*: words that contain the addresses of the functions.
//! If calls to a function are redirected, its slot gets the address of a *stub* instead: a few
//! instructions that record the call and jump to the function. Accesses are reported only if the
//! calling code has hooks.

use crate::image;
use crate::library_calls::{self, Callee, Name};
use crate::stream_locks;
use libc::c_void;
use runtime::native::HAS_CALLED_UNKNOWN;
use rustc_hash::FxHashMap;
use std::ffi::CStr;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

/// An image of the process, as the loader describes it.
struct Image {
    base: usize,
    /// Ranges of its code.
    code: Vec<Range<usize>>,
    /// Range that the loader makes read-only after relocation.
    fixed: Range<usize>,
    dynamic: Option<usize>,
    /// Whether its functions may have unknown effects.
    has_unknown: bool,
    /// Whether its calls are those of the program.
    is_own: bool,
    /// Whether the image is this library.
    is_ours: bool,
    /// Whether it is a standard library of C++, whose calls also count as those of the program.
    is_cpp: bool,
}

impl Image {
    fn has_code(&self, address: usize) -> bool {
        self.code.iter().any(|part| part.contains(&address))
    }
}

/// A word through which an image calls a function of another image.
struct Slot {
    place: *mut usize,
    name: &'static CStr,
    is_read_only: bool,
    /// Whether the image has hooks, or the C++ library uses files or the system through the slot.
    is_hooked: bool,
}

impl Slot {
    fn is_hook(&self) -> bool {
        self.name.to_bytes().starts_with(b"__tsan_")
    }

    /// Checks whether calls are events because the function is known to use state of the C library
    /// or of the system (`protected`).
    fn is_event(&self) -> bool {
        let name = |name| Name {
            name,
            is_unknown: false,
        };
        self.name.to_str().is_ok_and(|text| name(text).is_event())
    }

    /// Returns the address in the slot.
    fn function(&self) -> usize {
        // SAFETY: an aligned word of a loaded image.
        unsafe { self.place.read() }
    }

    /// # Safety
    ///
    /// The program must not run.
    unsafe fn fill(&self, function: usize) {
        let page = (self.place.addr() & !(PAGE - 1)) as *mut c_void;
        // SAFETY: an aligned word of a loaded image, and the page of this word.
        unsafe {
            if self.is_read_only {
                libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE);
            }
            self.place.write(function);
            if self.is_read_only {
                libc::mprotect(page, PAGE, libc::PROT_READ);
            }
        }
    }
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

const COPY: u64 = 5;
const JUMP_SLOT: u64 = 7;
const GLOBAL_DATA: u64 = 6;
const ADDRESS: u64 = 1;

const PAGE: usize = 4096;

/// Size in bytes of a stub.
const STUB: usize = 48;

/// Libraries of the system whose functions change nothing but memory.
const PURE: [&str; 2] = ["libm.", "libgcc_s."];

/// Standard libraries of C++.
const CPP: [&str; 2] = ["libstdc++.", "libc++."];

/// Addresses of the stubs of all functions.
static STUBS: OnceLock<Range<usize>> = OnceLock::new();

/// Offset of the function's address in a stub.
const FUNCTION_OFFSET: usize = 20;

/// Returns the function that a call of this address reaches, even if the address is that of a stub.
pub(crate) fn target_of(address: usize) -> usize {
    let is_stub = STUBS.get().is_some_and(|stubs| stubs.contains(&address));
    let function = (address + FUNCTION_OFFSET) as *const usize;
    match is_stub {
        // SAFETY: the address is that of the instructions for a function.
        true => unsafe { function.read_unaligned() },
        false => address,
    }
}

/// Redirects calls for a check, and starts to record and report them. The loader has already filled
/// all slots.
pub(crate) fn record_calls(are_events: bool) -> Result<(), String> {
    redirect(true, are_events)
}

/// Redirects calls for a run under a safe trace, and starts to report them. The loader may not have
/// filled all slots yet. Fails if the program locks streams.
pub(crate) fn report_events(are_accesses: bool) -> Result<(), String> {
    redirect(false, are_accesses)?;
    match stream_locks::are_taken() {
        true => Err("the program locks streams, which cannot be enforced".to_owned()),
        false => Ok(()),
    }
}

fn redirect(records_unknown: bool, are_events: bool) -> Result<(), String> {
    let images = images();
    let mut slots = Vec::new();
    for image in images.iter().filter(|image| image.is_own) {
        // SAFETY: the image is loaded, so its dynamic section conforms to the ABI.
        unsafe { find_slots(image, &mut slots) };
    }
    let mut calls: Vec<(Slot, Stub)> = Vec::new();
    for slot in slots {
        if slot.is_hooked {
            stream_locks::record_function(slot.name);
        }
        let stub = Stub::of(&slot, &images, records_unknown, are_events);
        calls.extend(stub.map(|stub| (slot, stub)));
    }
    if calls.is_empty() {
        return Ok(());
    }
    library_calls::prepare(are_events);
    let stubs = make_stubs(calls.len() * STUB)?;
    let mut known: FxHashMap<Stub, usize> = FxHashMap::default();
    for (slot, call) in calls {
        // SAFETY: as above; the program does not run yet.
        unsafe {
            let next = stubs + known.len() * STUB;
            let stub = *known.entry(call).or_insert_with_key(|call| {
                call.write(next as *mut u8);
                next
            });
            slot.fill(stub);
        }
    }
    STUBS.get_or_init(|| stubs..stubs + known.len() * STUB);
    let access = libc::PROT_READ | libc::PROT_EXEC;
    // SAFETY: the mapping is that of `make_stubs`, which has at least this size.
    unsafe { libc::mprotect(stubs as *mut c_void, known.len() * STUB, access) };
    Ok(())
}

/// Maps memory for instructions.
fn make_stubs(size: usize) -> Result<usize, String> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a fresh mapping.
    let stubs = unsafe { libc::mmap(std::ptr::null_mut(), size, access, flags, -1, 0) };
    match stubs == libc::MAP_FAILED {
        true => Err(std::io::Error::last_os_error().to_string()),
        false => Ok(stubs.addr()),
    }
}

/// The instructions that run before a function.
#[derive(PartialEq, Eq, Hash)]
struct Stub {
    function: usize,
    /// Whether a call counts as an effect for the await rule.
    counts_as_effect: bool,
    is_ours: bool,
    /// The name by which calls are reported.
    reports: Option<Name>,
}

impl Stub {
    /// Returns the stub for the calls through a slot, if a stub is needed.
    fn of(slot: &Slot, images: &[Image], records_unknown: bool, are_events: bool) -> Option<Stub> {
        let has_effects = !is_known(slot.name);
        let name = Name {
            name: slot.name.to_str().ok()?,
            is_unknown: has_effects,
        };
        let is_reported = slot.is_hooked && name.is_reported();
        let mut function = slot.function();
        let is_in_program = |image: &&Image| image.is_own && image.has_code(function);
        if images.iter().any(|image| is_in_program(&image)) && is_reported {
            // The loader resolves the slot at the first call, or the function is the program's.
            // SAFETY: the name is a terminated string.
            function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, slot.name.as_ptr()) }.addr();
        }
        let image = images.iter().find(|image| image.has_code(function))?;
        let name = Name {
            is_unknown: has_effects && image.has_unknown,
            ..name
        };
        let may_report = !image.is_own || image.is_cpp;
        let is_reported = match records_unknown || are_events {
            true => name.is_reported(),
            false => name.is_event(),
        };
        let stub = Stub {
            function,
            is_ours: image.is_ours,
            counts_as_effect: records_unknown && name.is_unknown,
            reports: (slot.is_hooked && may_report && is_reported).then_some(name),
        };
        (stub.counts_as_effect || stub.reports.is_some()).then_some(stub)
    }

    /// Writes instructions that set the flag `HAS_CALLED_UNKNOWN`, or report the function's
    /// accesses, and jump to the function. They change only `r11`, which holds no argument.
    ///
    /// # Safety
    ///
    /// [`STUB`] bytes must be writable at `place`.
    unsafe fn write(&self, place: *mut u8) {
        let (argument, next) = match self.reports {
            Some(name) => {
                let callee = Callee::new(self.function, name, self.counts_as_effect, self.is_ours);
                let callee: *const Callee = Box::leak(Box::new(callee));
                (callee.addr(), library_calls::enter as *const () as usize)
            }
            None => (HAS_CALLED_UNKNOWN.as_ptr().addr(), self.function),
        };
        let mut code = [0xcc_u8; STUB];
        code[..2].copy_from_slice(&[0x49, 0xbb]); // mov r11, argument
        code[2..10].copy_from_slice(&argument.to_le_bytes());
        code[10..14].copy_from_slice(match self.reports {
            Some(_) => &[0x0f, 0x1f, 0x40, 0x00], // nop
            None => &[0x41, 0xc6, 0x03, 0x01],    // mov byte [r11], 1
        });
        code[14..20].copy_from_slice(&[0xff, 0x25, 8, 0, 0, 0]); // jmp [rip + 8]
        code[FUNCTION_OFFSET..FUNCTION_OFFSET + 8].copy_from_slice(&self.function.to_le_bytes());
        code[FUNCTION_OFFSET + 8..FUNCTION_OFFSET + 16].copy_from_slice(&next.to_le_bytes());
        // SAFETY: as promised by the caller.
        unsafe { place.copy_from_nonoverlapping(code.as_ptr(), STUB) };
    }
}

/// Collects the slots of an image that hold addresses of functions of other images.
///
/// # Safety
///
/// The image must be loaded.
unsafe fn find_slots(image: &Image, slots: &mut Vec<Slot>) {
    let first = slots.len();
    // SAFETY: as promised by the caller.
    for (relocation, symbol, name) in unsafe { relocations(image) } {
        let is_function = matches!(symbol.info & 0xf, 0 | 2 | 10);
        let is_slot = match relocation.info & 0xffff_ffff {
            JUMP_SLOT => true,
            GLOBAL_DATA | ADDRESS => is_function && relocation.addend == 0,
            _ => false,
        };
        if is_slot && symbol.section == 0 {
            let place = image.base + relocation.offset as usize;
            slots.push(Slot {
                place: place as *mut usize,
                name,
                is_read_only: image.fixed.contains(&place),
                is_hooked: false,
            });
        }
    }
    let found = &mut slots[first..];
    let is_hooked = found.iter().any(Slot::is_hook);
    let uses_files = |slot: &Slot| image.is_cpp && slot.is_event();
    for slot in found {
        slot.is_hooked = is_hooked || uses_files(slot);
    }
}

/// Returns the variables of other images that the linker has copied into the program.
pub(crate) fn copied_variables() -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for image in images().iter().filter(|image| image.is_own) {
        // SAFETY: the image is loaded.
        for (relocation, symbol, _) in unsafe { relocations(image) } {
            if relocation.info & 0xffff_ffff == COPY {
                let start = image.base + relocation.offset as usize;
                found.push(start..start + symbol.size as usize);
            }
        }
    }
    found
}

/// Returns the relocations of an image, each with its symbol and the name of the symbol.
///
/// # Safety
///
/// The image must be loaded, so that its dynamic section conforms to the ABI.
unsafe fn relocations(image: &Image) -> Vec<(Relocation, Symbol, &'static CStr)> {
    let Some(dynamic) = image.dynamic else {
        return Vec::new();
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
    // The loader has added the base to addresses, except in some images.
    let address = |tag: u64| {
        let found = tables.get(&tag).copied()?;
        Some(if found < image.base {
            found + image.base
        } else {
            found
        })
    };
    let (Some(names), Some(symbols)) = (address(5), address(6)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (table, size) in [(7, 8), (23, 2)] {
        let (Some(start), Some(&size)) = (address(table), tables.get(&size)) else {
            continue;
        };
        let count = size / size_of::<Relocation>();
        // SAFETY: the table has this length and refers to the symbols and their names.
        unsafe {
            let relocations = std::slice::from_raw_parts(start as *const Relocation, count);
            for &relocation in relocations {
                let symbol = *(symbols as *const Symbol).add((relocation.info >> 32) as usize);
                let name = CStr::from_ptr((names + symbol.name as usize) as *const _);
                found.push((relocation, symbol, name));
            }
        }
    }
    found
}

/// Instructions that run before the functions of some slots, and can be switched on and off. Holds
/// each slot, its function, and the address of the instructions.
pub(crate) struct Detours(Vec<(Slot, usize, usize)>);

/// Size in bytes of the instructions for one slot.
const DETOUR: usize = 64;

impl Detours {
    /// Creates instructions that set a flag at each call to a function of the compilers' libraries.
    pub(crate) fn with_flag(flag: &'static AtomicBool) -> Result<Detours, String> {
        let is_compilers = |slot: &Slot| image::is_compilers(slot.function());
        Detours::new(is_compilers, |_, code| {
            code.extend_from_slice(&[0x49, 0xbb]); // mov r11, flag
            code.extend_from_slice(&flag.as_ptr().addr().to_le_bytes());
            code.extend_from_slice(&[0x41, 0xc6, 0x03, 0x01]); // mov byte [r11], 1
        })
    }

    /// Creates instructions that set a bit for the return address of each call of a hook. The bits
    /// are those that `marks` returns for the image of the slot.
    pub(crate) fn with_marks(marks: impl Fn(usize) -> Option<Marks>) -> Result<Detours, String> {
        let is_hook = |slot: &Slot| slot.is_hook() && marks(slot.place.addr()).is_some();
        Detours::new(is_hook, |slot, code| {
            let Some(Marks { start, size, bits }) = marks(slot.place.addr()) else {
                return;
            };
            code.extend_from_slice(&[0x4c, 0x8b, 0x1c, 0x24]); // mov r11, [rsp]
            code.extend_from_slice(&[0x49, 0xba]); // mov r10, start
            code.extend_from_slice(&start.to_le_bytes());
            code.extend_from_slice(&[0x4d, 0x29, 0xd3]); // sub r11, r10
            code.extend_from_slice(&[0x49, 0xba]); // mov r10, bits
            code.extend_from_slice(&bits.to_le_bytes());
            code.extend_from_slice(&[0x49, 0x81, 0xfb]); // cmp r11, size
            code.extend_from_slice(&size.to_le_bytes());
            code.extend_from_slice(&[0x73, 0x04]); // jae: the caller is in another image
            code.extend_from_slice(&[0x4d, 0x0f, 0xab, 0x1a]); // bts [r10], r11
        })
    }

    fn new(
        is_wanted: impl Fn(&Slot) -> bool,
        write: impl Fn(&Slot, &mut Vec<u8>),
    ) -> Result<Detours, String> {
        let mut slots = Vec::new();
        for image in images().iter().filter(|image| image.is_own) {
            // SAFETY: the image is loaded.
            unsafe { find_slots(image, &mut slots) };
        }
        slots.retain(is_wanted);
        if slots.is_empty() {
            return Ok(Detours(Vec::new()));
        }
        let size = slots.len() * DETOUR;
        let start = make_stubs(size)?;
        let mut detours = Vec::new();
        for (index, slot) in slots.into_iter().enumerate() {
            let (function, stub) = (slot.function(), start + index * DETOUR);
            let mut code = Vec::with_capacity(DETOUR);
            write(&slot, &mut code);
            code.extend_from_slice(&[0xff, 0x25, 0, 0, 0, 0]); // jmp [rip]
            code.extend_from_slice(&function.to_le_bytes());
            assert!(code.len() <= DETOUR, "there is room for the instructions");
            // SAFETY: each slot has [`DETOUR`] bytes.
            unsafe { (stub as *mut u8).copy_from_nonoverlapping(code.as_ptr(), code.len()) };
            detours.push((slot, function, stub));
        }
        let access = libc::PROT_READ | libc::PROT_EXEC;
        // SAFETY: the mapping is that of `make_stubs`, of this size.
        unsafe { libc::mprotect(start as *mut c_void, size, access) };
        Ok(Detours(detours))
    }

    /// Switches the instructions on or off.
    pub(crate) fn switch(&self, is_on: bool) {
        for (slot, function, stub) in &self.0 {
            // SAFETY: the slot is an aligned word of a loaded image, and the program does not run.
            unsafe { slot.fill(if is_on { *stub } else { *function }) };
        }
    }
}

/// Bits for the bytes of an image: the image's first address, its size, and the address of the
/// bits.
#[derive(Clone, Copy)]
pub(crate) struct Marks {
    pub(crate) start: usize,
    pub(crate) size: u32,
    pub(crate) bits: usize,
}

/// Returns the slots of hooks, except for two hooks: the hook called before `main`, and the hook at
/// the ends of functions, which is also called when exceptions leave them.
pub(crate) fn slots_of_hooks() -> Vec<usize> {
    let mut slots = Vec::new();
    for image in images().iter().filter(|image| image.is_own) {
        // SAFETY: the image is loaded.
        unsafe { find_slots(image, &mut slots) };
    }
    let is_other = |slot: &Slot| [c"__tsan_func_exit", c"__tsan_init"].contains(&slot.name);
    let hooks = slots
        .iter()
        .filter(|slot| slot.is_hook() && !is_other(slot));
    hooks.map(|slot| slot.place.addr()).collect()
}

/// Returns the images of the process.
fn images() -> Vec<Image> {
    let mut images: Vec<Image> = Vec::new();
    image::for_each(|info| add_image(info, &mut images));
    images
}

/// Checks whether the function of this name, which this library does not define, changes only
/// memory.
fn is_known(name: &CStr) -> bool {
    const OF_THREADS: [&str; 6] = ["cnd_", "mtx_", "pthread_", "sem_", "thrd_", "tss_"];
    let name = name.to_str().unwrap_or_default();
    let changes_threads = OF_THREADS.iter().any(|prefix| name.starts_with(prefix))
        && !["attr", "_self", "_equal"]
            .iter()
            .any(|part| name.contains(part));
    native::is_harmless(name) && !changes_threads
}

fn add_image(info: &libc::dl_phdr_info, images: &mut Vec<Image>) {
    let headers = image::headers(info);
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
    // SAFETY: a name is a terminated string.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy();
    let file = name.rsplit('/').next().unwrap_or_default();
    let is_ours = code
        .iter()
        .any(|part| part.contains(&(record_calls as *const () as usize)));
    let is_pure = PURE.iter().any(|pure| file.starts_with(pure));
    let fixed = of_kind(libc::PT_GNU_RELRO).unwrap_or_default();
    images.push(Image {
        base,
        code,
        fixed: fixed.start..fixed.end & !(PAGE - 1),
        dynamic: of_kind(libc::PT_DYNAMIC).map(|part| part.start),
        has_unknown: !is_own && !is_ours && !is_pure,
        is_own,
        is_ours,
        is_cpp: CPP.iter().any(|library| file.starts_with(library)),
    });
}
