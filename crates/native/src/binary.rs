//! Recognizes kinds of files. Only programs that were built with the wrapper can be checked.

use crate::RUNTIME_LIBRARY;
use object::read::elf::{Dynamic, ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, elf};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A program that can be checked.
#[derive(Debug)]
pub struct Binary {
    needed: Vec<String>,
    origin: Origin,
}

/// How a program is prepared for a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// The program has our hooks and needs our library.
    Hooks,
    /// The program is written in Rust and calls `mazurka::program`.
    Rust,
}

/// The section by which a checkable Rust program is recognized. `mazurka-enforce` adds it.
const NOTE: &str = ".note.mazurka";

/// The reason why a file cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// The file cannot be read.
    #[error("{}: cannot read this program: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error that the system reports.
        error: io::Error,
    },
    /// The file is not a program for this kind of machine.
    #[error("{}: this is {what}; Mazurka checks x86-64 programs for Linux, and sources in C and C++", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// A description of what the file is instead.
        what: &'static str,
    },
    /// The program is statically linked, so it does not load our library.
    #[error("{}: this program is linked statically, so its calls to the system's libraries cannot be seen; link it without -static", .0.display())]
    Static(PathBuf),
    /// The program has hooks, but they belong to the thread sanitizer's own library.
    #[error("{}: this program was built for the thread sanitizer; build it with `mazurka cc` or `mazurka c++` instead of the compiler, without -fsanitize=thread", .0.display())]
    ThreadSanitizer(PathBuf),
    /// The program was not built with the wrapper.
    #[error("{}: this program was not built with Mazurka; build it with `mazurka cc` or `mazurka c++` instead of the compiler (CC=\"mazurka cc\"), or check its sources; in Rust, let `main` call mazurka::program (feature `enforce`)", .0.display())]
    NotInstrumented(PathBuf),
}

type Elf<'data> = ElfFile64<'data, LittleEndian>;

impl Binary {
    /// Checks whether a file is a program that was built with `mazurka cc` or `mazurka c++`, or a
    /// Rust program that calls `mazurka::program`.
    ///
    /// ```
    /// use mazurka_native::Binary;
    /// let refused = Binary::recognize("/bin/sh".as_ref()).unwrap_err();
    /// assert!(refused.to_string().contains("mazurka cc"));
    /// ```
    ///
    /// # Errors
    /// Returns an error if the file is not such a program. The error describes what the file is
    /// instead.
    pub fn recognize(path: &Path) -> Result<Binary, BinaryError> {
        let data = read(path)?;
        let elf = parse(path, &data)?;
        let needed = needed(&elf);
        if elf.section_by_name(NOTE).is_some() && !needed.iter().any(|name| name == RUNTIME_LIBRARY)
        {
            return Ok(Binary {
                needed,
                origin: Origin::Rust,
            });
        }
        let mut segments = elf.elf_program_headers().iter();
        let has_interpreter = segments.any(|header| header.p_type(LittleEndian) == elf::PT_INTERP);
        if !has_interpreter {
            return Err(match is_program(&elf) {
                true => BinaryError::Static(path.to_owned()),
                false => foreign(path, "a shared library, not a program"),
            });
        }
        if needed.iter().any(|name| name == RUNTIME_LIBRARY) {
            return Ok(Binary {
                needed,
                origin: Origin::Hooks,
            });
        }
        let is_for_thread_sanitizer = needed.iter().any(|name| name.starts_with("libtsan.so"))
            || elf
                .symbols()
                .any(|symbol| symbol.is_definition() && symbol.name() == Ok("__tsan_init"));
        Err(match is_for_thread_sanitizer {
            true => BinaryError::ThreadSanitizer(path.to_owned()),
            false => BinaryError::NotInstrumented(path.to_owned()),
        })
    }

    /// Checks whether this is a Rust program that calls `mazurka::program`.
    pub fn is_rust(&self) -> bool {
        self.origin == Origin::Rust
    }

    /// Returns the libraries that the program itself needs.
    pub fn needed(&self) -> &[String] {
        &self.needed
    }
}

/// Checks whether a file was compiled with hooks. Returns false if the file cannot be read.
pub fn has_hooks(path: &Path) -> bool {
    let Ok(data) = read(path) else {
        return false;
    };
    let Ok(elf) = Elf::parse(&*data) else {
        return false;
    };
    elf.dynamic_symbols().any(|symbol| {
        symbol
            .name_bytes()
            .is_ok_and(|name| name.starts_with(b"__tsan_"))
    })
}

/// Checks whether clang compiled a part of a file, according to the notes that compilers leave
/// there. Returns false if the file cannot be read.
pub fn is_by_clang(path: &Path) -> bool {
    const NOTE: &[u8] = b"clang version";
    let Ok(data) = read(path) else {
        return false;
    };
    let Ok(elf) = Elf::parse(&*data) else {
        return false;
    };
    let notes = elf.section_by_name(".comment");
    let notes = notes.and_then(|section| section.data().ok());
    notes.is_some_and(|notes| notes.windows(NOTE.len()).any(|part| part == NOTE))
}

/// Checks whether a file imports this function. Returns false if the file cannot be read.
pub fn imports(path: &Path, function: &str) -> bool {
    let Ok(data) = read(path) else {
        return false;
    };
    let Ok(elf) = Elf::parse(&*data) else {
        return false;
    };
    elf.dynamic_symbols()
        .any(|symbol| symbol.is_undefined() && symbol.name() == Ok(function))
}

/// Reads a regular file. Refuses other files, because a pipe or a device may have no end.
fn read(path: &Path) -> Result<Vec<u8>, BinaryError> {
    let is_file = fs::metadata(path).map(|file| file.is_file());
    let content = is_file.and_then(|is_file| match is_file {
        true => fs::read(path),
        false => Err(io::Error::other("it is not a regular file")),
    });
    content.map_err(|error| BinaryError::Unreadable {
        path: path.to_owned(),
        error,
    })
}

fn parse<'data>(path: &Path, data: &'data [u8]) -> Result<Elf<'data>, BinaryError> {
    if !data.starts_with(&elf::ELFMAG) {
        let what = match data.starts_with(b"#!") {
            true => "a script",
            false => "not a program",
        };
        return Err(foreign(path, what));
    }
    let elf = Elf::parse(data)
        .map_err(|_| foreign(path, "a program for another machine, or a damaged one"))?;
    if elf.architecture() != object::Architecture::X86_64 {
        return Err(foreign(path, "a program for another machine"));
    }
    match elf.elf_header().e_type(LittleEndian) {
        elf::ET_EXEC | elf::ET_DYN => Ok(elf),
        elf::ET_REL => Err(foreign(path, "an object file that is not linked")),
        _ => Err(foreign(path, "not a program")),
    }
}

fn foreign(path: &Path, what: &'static str) -> BinaryError {
    BinaryError::Foreign {
        path: path.to_owned(),
        what,
    }
}

/// Returns the names of the libraries that the program needs, in the order in which the dynamic
/// linker searches them.
fn needed(elf: &Elf<'_>) -> Vec<String> {
    let Ok(libraries) = elf.import_libraries() else {
        return Vec::new();
    };
    libraries
        .filter_map(Result::ok)
        .map(|library| String::from_utf8_lossy(library.name()).into_owned())
        .collect()
}

/// Checks whether this file without a dynamic linker is a program. A position-independent program
/// has the same type as a library (`ET_DYN`), but a flag marks it as a program.
fn is_program(elf: &Elf<'_>) -> bool {
    let is_fixed = elf.elf_header().e_type(LittleEndian) == elf::ET_EXEC;
    let Ok(table) = elf
        .elf_section_table()
        .dynamic_table(LittleEndian, elf.data())
    else {
        return is_fixed;
    };
    let says_so = |entry: Dynamic| entry.tag == elf::DT_FLAGS_1 && entry.val & elf::DF_1_PIE.0 != 0;
    is_fixed || table.iter().any(says_so)
}
