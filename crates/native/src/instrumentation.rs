//! What is added to the command line of a compiler: hooks at every access where it compiles, our library where it links.
//!
//! Clang takes `-Xclang -fsanitize=thread`, which leaves the linker alone. Gcc's driver would link its own runtime
//! library, so it is told by a file of specs to pass the flag to the compiler proper only. Our flags come before the
//! user's, which win.

use crate::assembly;
use crate::{Compiler, Family, Invocation, RUNTIME_LIBRARY, RuntimeLibrary};
use rustix::fs::{MemfdFlags, memfd_create};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};

/// A command that compiles for Mazurka. What it refers to lives as long as it does.
#[derive(Debug)]
pub struct Instrumented {
    command: Command,
    /// Files of specs and of notes. They are in memory, so that nothing is left behind whatever happens.
    _files: Vec<File>,
}

impl Instrumented {
    /// `compiler arguments`, as a user typed them, with what is to be added.
    ///
    /// # Errors
    /// If the system has no file in memory for us.
    pub fn new(
        compiler: &Compiler,
        library: &RuntimeLibrary,
        arguments: &[OsString],
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
                    // The number stays the same when the compiler takes our place.
                    command.arg(format!("-specs=/proc/self/fd/{}", file.as_raw_fd()));
                    files.push(file);
                }
            }
        }
        if invocation.links {
            command.args(link_flags(library));
        }
        // With this one a driver would link the runtime library of the thread sanitizer besides ours.
        command.args(
            arguments
                .iter()
                .filter(|argument| *argument != "-fsanitize=thread"),
        );
        if invocation.links {
            // Without built-in functions more of them are called.
            command.args(["-Wl,--push-state,--as-needed", "-lm", "-Wl,--pop-state"]);
        }
        let places = match invocation.compiles {
            true => places_of_assembly(compiler, arguments),
            false => BTreeSet::new(),
        };
        if !places.is_empty() {
            let file = in_memory(&assembly::note(&places))?;
            command.arg("-include");
            command.arg(format!("/proc/self/fd/{}", file.as_raw_fd()));
            files.push(file);
        }
        Ok(Instrumented {
            command,
            _files: files,
        })
    }

    /// The command.
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
        // Names the standard of the language, as gcc does anyway.
        "-grecord-command-line",
    ];
    if version >= 11 {
        // Older ones lose the read of `g += x`, and cannot tell volatile accesses apart.
        flags.extend(["-mllvm", "-tsan-instrument-read-before-write=1"]);
        flags.extend(["-mllvm", "-tsan-distinguish-volatile"]);
    }
    flags
}

/// For the compilers proper of C and of C++, which both read `cc1`.
fn specs(version: u32) -> String {
    let mut flags = vec![
        "-fsanitize=thread",
        // Else copies of constant size are inlined without hooks.
        "-fno-builtin",
        "--param=tsan-instrument-func-entry-exit=0",
    ];
    if version >= 11 {
        flags.push("--param=tsan-distinguish-volatile=1");
        // Fences, which the thread sanitizer does not know, are known to us.
        flags.push("-Wno-tsan");
    }
    format!("*cc1:\n+ {}\n\n", flags.join(" "))
}

fn in_memory(content: &str) -> io::Result<File> {
    // Inherited by the compiler, so without CLOEXEC.
    let mut file = File::from(memfd_create(c"mazurka", MemfdFlags::empty())?);
    file.write_all(content.as_bytes())?;
    Ok(file)
}

/// Where assembly of the sources accesses memory. Nothing if they cannot be preprocessed: the compiler then says why. A
/// source that is read from a pipe is left to the compiler.
fn places_of_assembly(compiler: &Compiler, arguments: &[OsString]) -> BTreeSet<String> {
    let Some(arguments) = Invocation::preprocessing(arguments) else {
        return BTreeSet::new();
    };
    let output = compiler
        .command()
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    assembly::places(&String::from_utf8_lossy(&text))
}

/// Our library as the first one that the program needs, whatever the linker makes of libraries that seem unused.
fn link_flags(library: &RuntimeLibrary) -> Vec<OsString> {
    let folder = library.folder().as_os_str();
    let mut search = OsString::from("-L");
    search.push(folder);
    let named = OsString::from(format!("-l:{RUNTIME_LIBRARY}"));
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    let mut flags = words(&["-Wl,--push-state,--no-as-needed"]);
    flags.extend([search, named]);
    // As DT_RPATH, which LD_LIBRARY_PATH does not override. A comma in the path would end `-Wl,`.
    flags.extend(words(&[
        "-Wl,--pop-state",
        "-Wl,--disable-new-dtags",
        "-Xlinker",
        "-rpath",
        "-Xlinker",
    ]));
    flags.push(OsStr::to_owned(folder));
    // Compilers that do not hook copies and fills call the C library's; the names of that itself stay free for it.
    flags.extend(words(&[
        "-Wl,--wrap=memcpy",
        "-Wl,--wrap=memmove",
        "-Wl,--wrap=memset",
    ]));
    flags
}
