//! Accesses for which the compiler has inserted no hook. When a check begins, the instructions of
//! these accesses are redirected to code that announces them as plain accesses.

mod announce;

use crate::gate::Own;
use crate::image::{self, is_of_system, is_own};
use crate::{source_map, unknown_calls};
use announce::ANNOUNCED;
use libc::{c_int, c_void};
use native::{
    Callee, Effect, Functions, Hook, Images, Patch, Patches, Surroundings, Unhooked, calls,
    has_hooks, is_by_clang, unhooked,
};
use report::Omission;
use runtime::native as model;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ffi::{CStr, CString, OsStr};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::OnceLock;

/// An image that may have accesses without hooks.
pub(crate) struct Image {
    pub(crate) file: PathBuf,
    /// The address to which the addresses in the image's file are relative.
    base: usize,
    pub(crate) addresses: Range<usize>,
}

/// The code to which each redirected instruction leads. An instruction that leaves no room for a
/// jump is replaced by an undefined instruction, and the signal handler continues with this code.
static TRAMPOLINES: OnceLock<FxHashMap<u64, u64>> = OnceLock::new();

/// Return addresses of write hooks after which the program reads the memory before it writes to it.
static LATE: OnceLock<FxHashSet<u64>> = OnceLock::new();

/// Memory of images, and the parts of it that the program writes.
static MEMORY: OnceLock<(Ranges, Ranges)> = OnceLock::new();

type Ranges = Vec<Range<usize>>;

/// Checks whether the program reads the memory before it writes to it, although it has announced
/// only the write. `code` is the return address of the write hook.
#[inline]
pub(crate) fn is_read_first(code: usize) -> bool {
    LATE.get().is_some_and(|late| late.contains(&(code as u64)))
}

/// Instructions whose accesses are not announced, because they were not redirected.
static LEFT: OnceLock<Vec<u64>> = OnceLock::new();

/// Images with code that is in no known function.
static UNKNOWN: OnceLock<Vec<String>> = OnceLock::new();

/// Reports that the search leaves out some accesses: those that neither a hook nor a redirected
/// instruction announces.
pub(crate) fn leave_out_unhooked() {
    for image in UNKNOWN.get().into_iter().flatten() {
        let what = format!(
            "{image} has code without symbols and unwinding tables: accesses without hooks are not found there"
        );
        model::leave_out(Omission::Unseen, &what);
    }
    for &place in LEFT.get().into_iter().flatten() {
        let place = source_map::place(place as usize + 1).unwrap_or_else(|| format!("{place:#x}"));
        let what = format!("a memory access without a hook ({place}): its effects are not seen");
        model::leave_out(Omission::Unseen, &what);
    }
}

/// Redirects the instructions, unless the result is to be enforced. An enforced program does not
/// announce these accesses, and its threads must count the same events as in the search.
pub(crate) fn install(are_events: bool, is_enforced: bool) {
    let images = images();
    let all = images.iter().map(|image| image.addresses.clone());
    let written = image::parts();
    let written = written.map(|(start, length)| start..start + length);
    MEMORY.get_or_init(|| (all.collect(), written.collect()));
    let (mut late, mut trampolines, mut left) =
        (FxHashSet::default(), FxHashMap::default(), Vec::new());
    let (mut announced, mut unknown) = (Vec::new(), Vec::new());
    let around = PROCESS.get_or_init(Process::new);
    for image in images.iter().filter(|image| has_hooks(&image.file)) {
        let functions = Functions::of(&image.file);
        if functions.is_incomplete {
            unknown.push(image.file.display().to_string());
        }
        let found = find(image, functions, around, are_events);
        late.extend(found.iter().flat_map(|function| &function.late).copied());
        let patches = redirect(image, &found, announced.len(), !is_enforced);
        left.extend(patches.left);
        for patch in &patches.patches {
            trampolines.insert(patch.place.start, patch.trampoline);
        }
        announced.extend(patches.accesses);
    }
    if !are_events || is_enforced {
        late.clear();
    }
    LEFT.get_or_init(|| left);
    UNKNOWN.get_or_init(|| unknown);
    if announced.is_empty() && late.is_empty() {
        return;
    }
    LATE.get_or_init(|| late);
    ANNOUNCED.get_or_init(|| announced);
    TRAMPOLINES.get_or_init(|| trampolines);
    announce::prepare();
    catch_undefined();
}

/// Checks whether this is memory of an image that the program does not write.
pub(crate) fn is_constant(address: usize) -> bool {
    MEMORY.get().is_some_and(|(all, written)| {
        let has = |ranges: &[Range<usize>]| ranges.iter().any(|range| range.contains(&address));
        has(all) && !has(written)
    })
}

/// Returns the code of the functions of an image, each with its address.
fn code_of(image: &Image, functions: Functions) -> impl Iterator<Item = (u64, &'static [u8])> {
    let (base, addresses) = (image.base, image.addresses.clone());
    let functions = functions.found.into_iter();
    functions.filter_map(move |(address, size)| {
        let (start, length) = (base + address as usize, size as usize);
        let is_inside = addresses.contains(&start) && addresses.contains(&(start + length - 1));
        // SAFETY: code of an image that stays loaded.
        is_inside.then(|| unsafe {
            let code = std::slice::from_raw_parts(std::ptr::with_exposed_provenance(start), length);
            (start as u64, code)
        })
    })
}

/// Returns the return addresses of the calls in an image's functions that go through these slots
/// (words with the addresses of functions).
pub(crate) fn returns_of(image: &Image, slots: &FxHashSet<usize>) -> Vec<usize> {
    let is_one = |callee: Callee| {
        match callee {
            Callee::Code(function) => slot_of_stub(function as usize),
            Callee::Slot(slot) => Some(slot as usize),
        }
        .is_some_and(|slot| slots.contains(&slot))
    };
    let code = code_of(image, Functions::of(&image.file));
    let calls = code.flat_map(|(start, code)| calls(code, start));
    calls
        .filter(|(_, callee)| is_one(*callee))
        .map(|(returns_to, _)| returns_to as usize)
        .collect()
}

fn find(image: &Image, functions: Functions, around: &Process, are_events: bool) -> Vec<Unhooked> {
    let mut found = Vec::new();
    for (start, code) in code_of(image, functions) {
        let Some(mut function) = unhooked(code, start, around) else {
            continue;
        };
        if !are_events {
            function.accesses.retain(|access| !access.is_late);
        }
        found.push(function);
    }
    found
}

/// Size of the memory for the code of one access, which is more than the code needs.
const ROOM: usize = 160;

fn redirect(image: &Image, found: &[Unhooked], first: usize, redirects: bool) -> Patches {
    let count: usize = found.iter().map(|function| function.accesses.len()).sum();
    let size = (count * ROOM + 16).next_multiple_of(4096);
    let room = (redirects && count > 0)
        .then(|| room_near(&image.addresses, size))
        .flatten();
    let start = room.unwrap_or_default() as u64;
    let mut patches = Patches::new(start + 16, start, first);
    let Some(room) = room else {
        for function in found {
            patches.left.extend_from_slice(&function.unknown);
            let places = function.accesses.iter().map(native::Access::place);
            patches.left.extend(places);
        }
        return patches;
    };
    for function in found {
        patches.add(function);
    }
    assert!(
        patches.code.len() + 16 <= size,
        "there is room for all code"
    );
    let code = std::ptr::with_exposed_provenance_mut::<u8>(room);
    // SAFETY: the memory is ours and has this size. Whole instructions of code that does not run
    // are replaced.
    unsafe {
        code.cast::<usize>()
            .write(announce::enter as *const () as usize);
        code.add(16)
            .copy_from(patches.code.as_ptr(), patches.code.len());
        let access = libc::PROT_READ | libc::PROT_EXEC;
        libc::mprotect(code.cast(), size, access);
        for patch in &patches.patches {
            overwrite(patch);
        }
    }
    patches
}

/// # Safety
///
/// The place must be code that does not run.
unsafe fn overwrite(patch: &Patch) {
    let page = 4095;
    let start = patch.place.start as usize & !page;
    let length = ((patch.place.end as usize + page) & !page) - start;
    let access = libc::PROT_READ | libc::PROT_EXEC;
    let pages = std::ptr::with_exposed_provenance_mut::<c_void>(start);
    let place = std::ptr::with_exposed_provenance_mut::<u8>(patch.place.start as usize);
    // SAFETY: as promised by the caller; the pages are code of an image, and become so again.
    unsafe {
        if libc::mprotect(pages, length, access | libc::PROT_WRITE) == 0 {
            place.copy_from(patch.bytes.as_ptr(), patch.bytes.len());
            libc::mprotect(pages, length, access);
        }
    }
}

/// Returns memory that jumps from the image can reach.
fn room_near(image: &Range<usize>, size: usize) -> Option<usize> {
    const STEP: usize = 1 << 16;
    let below = (1..4096).filter_map(|step| {
        (image.start & !(STEP - 1)).checked_sub(size.next_multiple_of(STEP) + step * STEP)
    });
    let above = (1..4096).map(|step| image.end.next_multiple_of(STEP) + step * STEP);
    let mut places = below.chain(above).filter(|&place| place >= STEP);
    places.find(|&place| {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: a fresh private mapping where none exists.
        let mapped = unsafe { libc::mmap(place as *mut c_void, size, access, flags, -1, 0) };
        mapped as usize == place
    })
}

/// The images, for the variables of frames.
static IMAGES: Own<Option<Images>> = Own::new(None);

/// The process, examined when a check begins.
static PROCESS: OnceLock<Process> = OnceLock::new();

pub(crate) fn process() -> Option<&'static dyn Surroundings> {
    PROCESS.get().map(|process| process as &dyn Surroundings)
}

/// Facts about the process for the analysis of its code.
struct Process {
    /// Images compiled by clang.
    by_clang: Ranges,
    hooks: FxHashMap<u64, Hook>,
    /// Functions that never return.
    endings: FxHashSet<u64>,
}

const ENDINGS: [&CStr; 12] = [
    c"_Exit",
    c"_Unwind_Resume",
    c"_ZSt9terminatev",
    c"__assert_fail",
    c"__cxa_rethrow",
    c"__cxa_throw",
    c"__stack_chk_fail",
    c"_exit",
    c"abort",
    c"exit",
    c"pthread_exit",
    c"thrd_exit",
];

impl Process {
    fn new() -> Process {
        let mut hooks = FxHashMap::default();
        let mut add = |name: String, hook: Hook| {
            let Ok(name) = CString::new(name) else { return };
            // SAFETY: a name is a terminated string.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            if !address.is_null() {
                hooks.insert(address as u64, hook);
            }
        };
        for (word, effect) in [
            ("read", Effect::Read),
            ("write", Effect::Write),
            ("read_write", Effect::Both),
        ] {
            for length in [1, 2, 4, 8, 16] {
                for prefix in ["", "unaligned_", "volatile_", "unaligned_volatile_"] {
                    let hook = Hook {
                        effect,
                        length: Some(length),
                        is_volatile: prefix.contains("volatile"),
                    };
                    add(format!("__tsan_{prefix}{word}{length}"), hook);
                }
            }
            let hook = Hook {
                effect,
                length: None,
                is_volatile: false,
            };
            add(format!("__tsan_{word}_range"), hook);
        }
        let pointer = |effect| Hook {
            effect,
            length: Some(8),
            is_volatile: false,
        };
        for bits in [8, 16, 32, 64, 128] {
            // After a call to this hook, clang keeps the load instruction but does not use its
            // value.
            let hook = Hook {
                effect: Effect::Read,
                length: Some(bits / 8),
                is_volatile: true,
            };
            add(format!("__tsan_atomic{bits}_load"), hook);
        }
        add("__tsan_vptr_read".to_owned(), pointer(Effect::Read));
        add("__tsan_vptr_update".to_owned(), pointer(Effect::Write));
        // SAFETY: names are terminated strings.
        let addresses =
            ENDINGS.map(|name| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) });
        let endings = addresses.into_iter().filter(|address| !address.is_null());
        let by_clang = images()
            .into_iter()
            .filter(|image| is_by_clang(&image.file));
        Process {
            by_clang: by_clang.map(|image| image.addresses).collect(),
            hooks,
            endings: endings.map(|address| address as u64).collect(),
        }
    }
}

impl Surroundings for Process {
    fn hook(&self, function: u64) -> Option<Hook> {
        let direct = self.hooks.get(&function).copied();
        direct.or_else(|| {
            let slot = slot_of_stub(function as usize)?;
            self.hooks.get(&self.slot(slot as u64)?).copied()
        })
    }

    fn never_returns(&self, function: u64) -> bool {
        let slot = slot_of_stub(function as usize);
        let function = slot
            .and_then(|slot| self.slot(slot as u64))
            .unwrap_or(function);
        let function = unknown_calls::target_of(function as usize);
        self.endings.contains(&(function as u64))
    }

    fn slot(&self, address: u64) -> Option<u64> {
        let is_known = is_in_image(address as usize) && address.is_multiple_of(8);
        // SAFETY: a word of an image, which the loader has filled.
        is_known
            .then(|| unsafe { std::ptr::with_exposed_provenance::<u64>(address as usize).read() })
    }

    fn is_constant(&self, address: u64) -> bool {
        is_constant(address as usize)
    }

    fn omits_hooks(&self, function: u64) -> bool {
        let mut images = self.by_clang.iter();
        images.any(|image| image.contains(&(function as usize)))
    }

    fn frame_variables(&self, function: u64) -> Option<Vec<Range<i64>>> {
        let images = IMAGES.get().get_or_insert_with(source_map::loaded);
        images.frame_variables(function)
    }
}

fn is_in_image(address: usize) -> bool {
    MEMORY.get().is_some_and(|(all, _)| {
        all.iter()
            .any(|range| range.contains(&address) && range.contains(&(address + 15)))
    })
}

/// Returns the slot to which a stub of the linker jumps, that is, the word with the address of the
/// function: `[endbr64] [bnd] jmp [rip + distance]`. Returns `None` for other code.
fn slot_of_stub(stub: usize) -> Option<usize> {
    if !is_in_image(stub) {
        return None;
    }
    // SAFETY: code of an image.
    let code = unsafe { &*std::ptr::with_exposed_provenance::<[u8; 16]>(stub) };
    let start = if code.starts_with(&[0xf3, 0x0f, 0x1e, 0xfa]) {
        4
    } else {
        0
    };
    let start = start + usize::from(code[start] == 0xf2);
    let (opcode, rest) = code[start..].split_at(2);
    let distance = i32::from_le_bytes(rest[..4].try_into().ok()?);
    (opcode == [0xff, 0x25]).then(|| (stub + start + 6).wrapping_add_signed(distance as isize))
}

/// Returns the images that contain the program's own state.
pub(crate) fn images() -> Vec<Image> {
    let mut images: Vec<Image> = Vec::new();
    image::for_each(|info| add_image(info, &mut images));
    images
}

fn add_image(info: &libc::dl_phdr_info, images: &mut Vec<Image>) {
    if is_of_system(info) || is_own(info) {
        return;
    }
    let headers = image::headers(info);
    // SAFETY: a name is a terminated string.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
    let base = info.dlpi_addr as usize;
    let loaded = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD);
    let ranges = loaded.map(|header| {
        let start = base + header.p_vaddr as usize;
        start..start + header.p_memsz as usize
    });
    if let Some(addresses) =
        ranges.reduce(|one, other| one.start.min(other.start)..one.end.max(other.end))
    {
        let file = if name.is_empty() {
            OsStr::new("/proc/self/exe")
        } else {
            OsStr::from_bytes(name)
        };
        let file = PathBuf::from(file);
        images.push(Image {
            file,
            base,
            addresses,
        });
    }
}

/// The previous handler for undefined instructions.
static PREVIOUS: OnceLock<usize> = OnceLock::new();

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

fn catch_undefined() {
    // SAFETY: all arguments are valid; the handler has the signature that the flags require.
    unsafe {
        let mut previous: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGILL, std::ptr::null(), &raw mut previous);
        PREVIOUS.get_or_init(|| previous.sa_sigaction);
        let mut action = previous;
        action.sa_sigaction = on_undefined as *const () as usize;
        action.sa_flags |= libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        libc::sigaction(libc::SIGILL, &raw const action, std::ptr::null_mut());
    }
}

extern "C" fn on_undefined(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid context.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let place = registers[libc::REG_RIP as usize] as u64;
    if let Some(&trampoline) = TRAMPOLINES.get().and_then(|known| known.get(&place)) {
        registers[libc::REG_RIP as usize] = trampoline as i64;
        return;
    }
    if let Some(&previous) = PREVIOUS.get().filter(|&&previous| previous > 1) {
        // SAFETY: the crash handler of the runtime, which has this signature.
        let previous: Handler = unsafe { std::mem::transmute(previous) };
        previous(signal, info, context);
    }
}
