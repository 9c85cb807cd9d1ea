//! Reports code that a check of a program cannot see: atomic instructions outside hooks, for
//! example in inline assembly, and libraries that were compiled without hooks.
//!
//! A compiler that inserts hooks turns every atomic operation into a call. So an atomic instruction
//! in the program's own code comes from assembly, from a function without instrumentation, or from
//! an object that was compiled without instrumentation. Plain loads and stores of inline assembly
//! look like those of compilers, so `assembly` finds them in the sources.

use crate::assembly;
use crate::{Frame, Names, NamesError, RUNTIME_LIBRARY, has_hooks};
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use report::{LeftOut, Omission};
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::{Path, PathBuf};

/// Code in a process that the checker does not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// A function contains atomic instructions.
    Atomics {
        /// The function, at its first atomic instruction.
        first: Frame,
        /// The number of its atomic instructions.
        instructions: usize,
    },
    /// Inline assembly accesses memory.
    Assembly {
        /// The places, as `file:line`.
        places: BTreeSet<String>,
    },
    /// A function contains a full fence as an instruction, which only weak memory models see.
    Fence {
        /// The function, at its first fence.
        first: Frame,
    },
    /// A library was compiled without hooks.
    Library {
        /// Its file.
        path: PathBuf,
        /// A function with which the library synchronizes threads, or "atomic instructions". `None`
        /// if the library does not synchronize threads.
        synchronizes: Option<String>,
    },
}

/// Prefixes of the names of libraries whose calls the checker handles, or that share nothing
/// between threads.
const KNOWN: [&str; 18] = [
    "ld-linux",
    "libatomic.",
    "libc++.",
    "libc++abi.",
    "libc-",
    "libc.",
    "libdl.",
    "libgcc_s.",
    "libm-",
    "libm.",
    "libmvec.",
    "libpthread.",
    "libresolv.",
    "librt.",
    "libstdc++.",
    "libunwind.",
    "libutil.",
    "linux-vdso.",
];

impl Unseen {
    /// Searches a program, then the libraries that are loaded with it.
    ///
    /// ```
    /// use mazurka_native::Unseen;
    /// let libraries = ["/lib/x86_64-linux-gnu/libc.so.6".into()];
    /// let unseen = Unseen::of(&std::env::current_exe().expect("this test is a program"), &libraries);
    /// assert!(unseen.is_ok());
    /// ```
    ///
    /// # Errors
    /// Returns an error if the program cannot be read. Unreadable libraries are skipped.
    pub fn of(program: &Path, libraries: &[PathBuf]) -> Result<Vec<Unseen>, NamesError> {
        let mut found = assembly(program)?;
        for library in libraries.iter().filter(|library| !is_known(library)) {
            if has_hooks(library) {
                found.extend(assembly(library).unwrap_or_default());
            } else if library.is_file() {
                found.push(Unseen::Library {
                    path: library.clone(),
                    synchronizes: synchronization(library),
                });
            }
        }
        Ok(found)
    }

    /// Returns the behaviour of the program that is not explored because of this code. Returns
    /// `None` for a library that does not synchronize threads, and for a fence.
    pub fn left_out(&self) -> Option<LeftOut> {
        let kind = match self {
            Unseen::Fence { .. } => return None,
            Unseen::Atomics { .. } | Unseen::Assembly { .. } => Omission::Asm,
            Unseen::Library { synchronizes, .. } => {
                synchronizes.as_ref()?;
                Omission::Libraries
            }
        };
        Some(LeftOut::new(kind, self.to_string()))
    }

    /// Returns what a search under a weak memory model gets wrong because of a fence.
    pub fn left_out_if_weak(&self) -> Option<LeftOut> {
        let is_fence = matches!(self, Unseen::Fence { .. });
        is_fence.then(|| LeftOut::new(Omission::Asm, self.to_string()))
    }
}

impl Display for Unseen {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Unseen::Atomics {
                first,
                instructions,
            } => {
                let function = first.function.as_deref().unwrap_or("an unnamed function");
                write!(formatter, "{function}")?;
                if let (Some(file), Some(line)) = (&first.file, first.line) {
                    write!(formatter, " ({file}:{line})")?;
                }
                let what = match instructions {
                    1 => "an atomic instruction".to_owned(),
                    more => format!("{more} atomic instructions"),
                };
                write!(
                    formatter,
                    " has {what} outside hooks, such as inline assembly: its accesses are not seen; use <stdatomic.h> or __atomic builtins there"
                )
            }
            Unseen::Assembly { places } => {
                let shown: Vec<&str> = places.iter().map(String::as_str).take(SHOWN).collect();
                let more = match places.len() - shown.len() {
                    0 => String::new(),
                    more => format!(" and {more} more places"),
                };
                let shown = shown.join(", ");
                write!(
                    formatter,
                    "inline assembly accesses memory at {shown}{more}: these accesses are not seen; use <stdatomic.h> or __atomic builtins there"
                )
            }
            Unseen::Fence { first } => {
                let function = first.function.as_deref().unwrap_or("an unnamed function");
                write!(formatter, "{function}")?;
                if let (Some(file), Some(line)) = (&first.file, first.line) {
                    write!(formatter, " ({file}:{line})")?;
                }
                write!(
                    formatter,
                    " has a fence outside hooks (mfence): it is ignored, so executions that it forbids are explored; use atomic_thread_fence there"
                )
            }
            Unseen::Library { path, synchronizes } => {
                let path = path.display();
                let how = match synchronizes {
                    Some(how) => format!(" and synchronizes threads ({how})"),
                    None => String::new(),
                };
                write!(
                    formatter,
                    "{path} was not compiled with Mazurka{how}: its accesses to shared memory are not seen; build it with `mazurka cc` if it is yours",
                )
            }
        }
    }
}

/// Checks whether a library is one of [`KNOWN`] or the runtime library.
pub(crate) fn is_known(library: &Path) -> bool {
    let name = library.file_name().unwrap_or_default().to_string_lossy();
    name == RUNTIME_LIBRARY || KNOWN.iter().any(|known| name.starts_with(known))
}

/// The number of places of assembly that are shown.
const SHOWN: usize = 3;

/// Returns the inline assembly whose places the build has recorded in an image, and the functions
/// whose first atomic instruction is elsewhere.
fn assembly(image: &Path) -> Result<Vec<Unseen>, NamesError> {
    let places = recorded_places(image).unwrap_or_default();
    let is_recorded = |unseen: &Unseen| match unseen {
        Unseen::Atomics { first, .. } => {
            let file = first
                .file
                .as_deref()
                .map(|file| Path::new(file).file_name());
            let line = first.line.map(|line| format!(":{line}"));
            let (Some(Some(file)), Some(line)) = (file, line) else {
                return false;
            };
            let end = format!("{}{line}", file.to_string_lossy());
            places.iter().any(|place| place.ends_with(&end))
        }
        Unseen::Fence { .. } | Unseen::Assembly { .. } | Unseen::Library { .. } => false,
    };
    let mut found = atomics(image)?;
    found.retain(|unseen| !is_recorded(unseen));
    if !places.is_empty() {
        found.insert(0, Unseen::Assembly { places });
    }
    Ok(found)
}

fn recorded_places(image: &Path) -> Option<BTreeSet<String>> {
    let data = fs::read(image).ok()?;
    let file = object::File::parse(&*data).ok()?;
    let section = file.section_by_name(assembly::SECTION)?;
    Some(assembly::places_in(section.data().ok()?))
}

/// Prefixes of the names of functions with which threads synchronize.
const SYNCHRONISING: [&str; 13] = [
    "pthread_mutex_",
    "pthread_cond_",
    "pthread_rwlock_",
    "pthread_spin_",
    "pthread_barrier_",
    "pthread_create",
    "pthread_once",
    "sem_",
    "mtx_",
    "cnd_",
    "thrd_",
    "call_once",
    "__atomic_",
];

/// Returns how a library synchronizes threads, as far as its imports and instructions show.
fn synchronization(library: &Path) -> Option<String> {
    let data = fs::read(library).ok()?;
    let file = object::File::parse(&*data).ok()?;
    let imports = file.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    let mut names = imports.filter_map(|import| import.name().ok());
    let called = names.find(|name| SYNCHRONISING.iter().any(|known| name.starts_with(known)));
    let has_atomics = || instructions(library).is_ok_and(|found| !found.atomic.is_empty());
    match called {
        Some(name) => Some(name.to_owned()),
        None => has_atomics().then(|| "atomic instructions".to_owned()),
    }
}

/// Returns the functions of an image that contain atomic instructions, in the order of their
/// addresses, and the first function with a fence.
fn atomics(image: &Path) -> Result<Vec<Unseen>, NamesError> {
    let instructions = instructions(image)?;
    if instructions.atomic.is_empty() && instructions.first_fence.is_none() {
        return Ok(Vec::new());
    }
    let names = Names::read(image)?;
    let frame = |instruction| {
        let frames = names.frames(instruction);
        frames.into_iter().next().unwrap_or_default()
    };
    let mut found: Vec<(Frame, usize)> = Vec::new();
    for instruction in instructions.atomic {
        let frame = frame(instruction);
        match found.last_mut() {
            Some((first, count)) if first.function == frame.function => *count += 1,
            Some(_) | None => found.push((frame, 1)),
        }
    }
    let functions = found
        .into_iter()
        .map(|(first, instructions)| Unseen::Atomics {
            first,
            instructions,
        });
    let first = instructions.first_fence.map(frame);
    let fence = first.map(|first| Unseen::Fence { first });
    Ok(functions.chain(fence).collect())
}

/// The addresses of some instructions.
#[derive(Default)]
struct Instructions {
    atomic: Vec<u64>,
    first_fence: Option<u64>,
}

fn instructions(image: &Path) -> Result<Instructions, NamesError> {
    let data = fs::read(image).map_err(|error| NamesError::Unreadable {
        path: image.to_owned(),
        error,
    })?;
    let file = object::File::parse(&*data).map_err(|error| NamesError::Foreign {
        path: image.to_owned(),
        error,
    })?;
    let mut found = Instructions::default();
    for section in file
        .sections()
        .filter(|section| section.kind() == SectionKind::Text)
    {
        let Ok(code) = section.data() else { continue };
        let mut decoder = Decoder::with_ip(64, code, section.address(), DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            if is_atomic(&instruction) {
                found.atomic.push(instruction.ip());
            } else if instruction.mnemonic() == Mnemonic::Mfence {
                found.first_fence.get_or_insert(instruction.ip());
            }
        }
    }
    Ok(found)
}

/// Checks whether an instruction is atomic. An exchange with memory is atomic without a lock
/// prefix.
pub(crate) fn is_atomic(instruction: &Instruction) -> bool {
    let has_memory = || {
        (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory)
    };
    instruction.has_lock_prefix() || (instruction.mnemonic() == Mnemonic::Xchg && has_memory())
}
