//! Extends the command line of a compiler: the compiler inserts hooks before accesses, and links
//! the runtime library.
//!
//! For clang, the flag is `-Xclang -fsanitize=thread`, which does not affect the linker. Gcc's
//! driver would link its own runtime library, so a specs file passes the flag to the compiler
//! proper only. Our flags come before the user's flags, which take precedence.

use crate::assembly;
use crate::compiler_process::{Stops, output};
use crate::memory_file::memory_file;
use crate::{Compiler, Family, Invocation, RUNTIME_LIBRARY, RuntimeLibrary};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::process::Command;

/// A command that compiles for Mazurka. It owns the files to which its arguments refer.
#[derive(Debug)]
pub struct Instrumented {
    command: Command,
    /// Files with specs and notes. They are in memory, so they leave nothing behind.
    _files: Vec<File>,
}

impl Instrumented {
    /// Creates the extended command from a compiler and its arguments, as the user typed them. Runs
    /// the preprocessor to find inline assembly, but gives up when `stops` returns true.
    ///
    /// # Errors
    /// Returns an error if the system cannot create a file in memory.
    pub fn new(
        compiler: &Compiler,
        library: &RuntimeLibrary,
        arguments: &[OsString],
        stops: Stops<'_>,
    ) -> io::Result<Instrumented> {
        let invocation = Invocation::of(arguments);
        let mut command = compiler.command();
        let mut files = Vec::new();
        if invocation.compiles {
            command.args(["-O0", "-g"]);
            match compiler.family() {
                Family::Clang => {
                    command.args(clang_flags(compiler.version()));
                }
                Family::Gcc => {
                    let file = in_memory(&specs(compiler.version()))?;
                    // The file descriptor keeps its number in the compiler's process.
                    command.arg(format!("-specs=/proc/self/fd/{}", file.as_raw_fd()));
                    files.push(file);
                }
            }
        }
        if invocation.links {
            command.args(link_flags(library));
        }
        // This flag would make the driver also link the thread sanitizer's library.
        command.args(
            arguments
                .iter()
                .filter(|argument| *argument != "-fsanitize=thread"),
        );
        if invocation.links {
            // Without built-in functions, more functions of the math library are called.
            command.args(["-Wl,--push-state,--as-needed", "-lm", "-Wl,--pop-state"]);
        }
        let places = match invocation.compiles {
            true => places_of_assembly(compiler, arguments, stops),
            false => BTreeSet::new(),
        };
        if !places.is_empty() {
            let file = in_memory(&assembly::section_source(&places))?;
            command.arg("-include");
            command.arg(format!("/proc/self/fd/{}", file.as_raw_fd()));
            files.push(file);
        }
        Ok(Instrumented {
            command,
            _files: files,
        })
    }

    /// Returns the command.
    pub fn command(&mut self) -> &mut Command {
        &mut self.command
    }
}

fn clang_flags(version: u32) -> Vec<&'static str> {
    let mut flags = vec![
        "-Xclang",
        "-fsanitize=thread",
        "-mllvm",
        "-tsan-instrument-func-entry-exit=0",
        // Records the language standard, which gcc always does.
        "-grecord-command-line",
    ];
    if version >= 11 {
        // Older versions omit the read hook in `g += x` and cannot distinguish volatile accesses.
        flags.extend(["-mllvm", "-tsan-instrument-read-before-write=1"]);
        flags.extend(["-mllvm", "-tsan-distinguish-volatile"]);
    }
    flags
}

/// Returns specs that add flags to gcc's compilers proper. Those for C and for C++ both use the
/// spec `cc1`.
fn specs(version: u32) -> String {
    let mut flags = vec![
        "-fsanitize=thread",
        // Without this flag, copies of constant size would be inlined without hooks.
        "-fno-builtin",
        "--param=tsan-instrument-func-entry-exit=0",
    ];
    if version >= 11 {
        flags.push("--param=tsan-distinguish-volatile=1");
        // The thread sanitizer warns about fences, which Mazurka supports.
        flags.push("-Wno-tsan");
    }
    format!("*cc1:\n+ {}\n\n", flags.join(" "))
}

fn in_memory(content: &str) -> io::Result<File> {
    // The compiler inherits the file, so CLOEXEC is not set.
    let mut file = memory_file(c"mazurka", true)?;
    file.write_all(content.as_bytes())?;
    Ok(file)
}

/// Returns the places where assembly accesses memory. Returns nothing if a source cannot be
/// preprocessed (the compiler reports why) or is read from a pipe.
fn places_of_assembly(
    compiler: &Compiler,
    arguments: &[OsString],
    stops: Stops<'_>,
) -> BTreeSet<String> {
    let Some(arguments) = Invocation::preprocessing(arguments) else {
        return BTreeSet::new();
    };
    let text = output(compiler.command().args(arguments), stops).unwrap_or_default();
    assembly::places(&String::from_utf8_lossy(&text))
}

/// Returns flags that make our library the first that a program needs, even if the linker drops
/// unused libraries.
fn link_flags(library: &RuntimeLibrary) -> Vec<OsString> {
    let folder = library.folder().as_os_str();
    let mut search = OsString::from("-L");
    search.push(folder);
    let named = OsString::from(format!("-l:{RUNTIME_LIBRARY}"));
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    let mut flags = words(&["-Wl,--push-state,--no-as-needed"]);
    flags.extend([search, named]);
    // DT_RPATH is not overridden by LD_LIBRARY_PATH. A comma in the path would end `-Wl,`.
    flags.extend(words(&[
        "-Wl,--pop-state",
        "-Wl,--disable-new-dtags",
        "-Xlinker",
        "-rpath",
        "-Xlinker",
    ]));
    flags.push(OsStr::to_owned(folder));
    // Compilers that insert no hooks for copies and fills call these functions. The linker
    // redirects the calls to our library, which therefore need not replace the C library's
    // functions.
    flags.extend(words(&[
        "-Wl,--wrap=memcpy",
        "-Wl,--wrap=memmove",
        "-Wl,--wrap=memset",
    ]));
    flags
}
