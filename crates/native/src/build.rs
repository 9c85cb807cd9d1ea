//! Builds a program from a user's sources, in a temporary folder that is removed with the program.

use crate::compiler_process::{Stops, status};
use crate::scratch::Scratch;
use crate::{Compiler, Instrumented, Language, RuntimeLibrary};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// The description of a build.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    /// The compiler to use.
    pub compiler: &'a Compiler,
    /// The library that hooks call.
    pub library: &'a RuntimeLibrary,
    /// Sources, objects and libraries, in the order of the command line.
    pub files: &'a [PathBuf],
    /// The user's flags, which take precedence over ours.
    pub flags: &'a [OsString],
}

/// A program that was built. Its file is removed with this value.
#[derive(Debug)]
pub struct Built {
    folder: Scratch,
    time: Duration,
}

/// The reason why a build produced no program.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The compiler failed and has printed why.
    #[error("the compiler ended with {status}; its messages are above")]
    Compiler {
        /// Its exit status.
        status: ExitStatus,
    },
    /// The compiler was stopped from outside.
    #[error("interrupted while compiling")]
    Interrupted,
    /// A flag makes the compiler produce something other than a program.
    #[error(
        "{flag}: with this flag the compiler produces {instead}; leave it out, or build with `mazurka cc` and check the program"
    )]
    Flag {
        /// The flag.
        flag: String,
        /// The kind of file that the compiler produces with this flag.
        instead: &'static str,
    },
    /// The compiler reported success, but there is no program.
    #[error("{compiler}: the compiler succeeded but produced no program; choose another with --cc")]
    Nothing {
        /// The name of the compiler.
        compiler: String,
    },
    /// A system call failed.
    #[error("cannot {what}: {error}")]
    System {
        /// The action that failed.
        what: &'static str,
        /// The error that the system reports.
        error: io::Error,
    },
}

/// The name of the program in its folder.
const PROGRAM: &str = "program";

/// Flags with which the compiler produces something other than a program, and what it produces.
const OTHER_PURPOSES: [(&str, &str); 11] = [
    ("-c", "object files"),
    ("-S", "assembly"),
    ("-E", "preprocessed text"),
    ("-M", "a list of dependencies"),
    ("-MM", "a list of dependencies"),
    ("-fsyntax-only", "nothing"),
    ("-r", "an object file"),
    ("-shared", "a shared library"),
    (
        "-static",
        "a program whose calls to libraries cannot be seen",
    ),
    (
        "-static-pie",
        "a program whose calls to libraries cannot be seen",
    ),
    ("-o", "its output elsewhere"),
];

impl Build<'_> {
    /// Runs the compiler until it ends or `stops` returns true. Its messages go to the output of
    /// this process, unchanged.
    ///
    /// # Errors
    /// Returns an error if the compiler fails, is stopped or cannot run, or if the flags do not ask
    /// for a program.
    pub fn run(&self, stops: Stops<'_>) -> Result<Built, BuildError> {
        self.makes_a_program()?;
        let folder = Scratch::new().map_err(|error| BuildError::System {
            what: "create a temporary folder",
            error,
        })?;
        let program = folder.path().join(PROGRAM);
        let mut arguments = self.inputs();
        arguments.extend_from_slice(self.flags);
        arguments.extend(["-o".into(), program.clone().into_os_string()]);
        let start = Instant::now();
        let status = Instrumented::new(self.compiler, self.library, &arguments, stops)
            .and_then(|mut instrumented| status(instrumented.command(), stops))
            .map_err(|error| BuildError::System {
                what: "run the compiler",
                error,
            })?;
        let built = Built {
            folder,
            time: start.elapsed(),
        };
        match status {
            _ if status.success() && program.is_file() => Ok(built),
            _ if status.success() => Err(BuildError::Nothing {
                compiler: self.compiler.name(),
            }),
            _ if status.signal().is_some() => Err(BuildError::Interrupted),
            _ => Err(BuildError::Compiler { status }),
        }
    }

    /// Checks whether the flags turn on optimization. An optimizing compiler merges plain accesses
    /// before it inserts hooks.
    ///
    /// ```
    /// # use mazurka_native::Build;
    /// let flags = |line: &str| line.split(' ').map(Into::into).collect::<Vec<_>>();
    /// assert!(Build::optimizes(&flags("-O0 -O2")));
    /// assert!(!Build::optimizes(&flags("-O2 -O0 -DNDEBUG")));
    /// ```
    pub fn optimizes(flags: &[OsString]) -> bool {
        let mut levels = flags
            .iter()
            .filter_map(|flag| flag.to_str()?.strip_prefix("-O"));
        levels.next_back().is_some_and(|level| level != "0")
    }

    /// Returns the files as arguments of the compiler. If C++ sources are among them, marks the C
    /// sources as C, because a C++ compiler would treat them as C++.
    fn inputs(&self) -> Vec<OsString> {
        let is_mixed = Language::of_all(self.files) == Some(Language::CPlusPlus);
        let mut arguments = Vec::new();
        for file in self.files {
            match Language::of(file) {
                Some(Language::C) if is_mixed => {
                    arguments.extend(["-x".into(), "c".into(), named(file)]);
                    arguments.extend(["-x".into(), "none".into()]);
                }
                Some(_) | None => arguments.push(named(file)),
            }
        }
        arguments
    }

    fn makes_a_program(&self) -> Result<(), BuildError> {
        let other = OTHER_PURPOSES
            .iter()
            .find(|(flag, _)| self.flags.iter().any(|given| given == flag));
        match other {
            Some((flag, instead)) => Err(BuildError::Flag {
                flag: (*flag).to_owned(),
                instead,
            }),
            None => Ok(()),
        }
    }
}

impl Built {
    /// Returns the path of the program.
    pub fn program(&self) -> PathBuf {
        self.folder.path().join(PROGRAM)
    }

    /// Returns the time that compiling and linking took.
    pub fn time(&self) -> Duration {
        self.time
    }
}

/// Prefixes a file name that looks like an option with `./`.
fn named(file: &Path) -> OsString {
    match file.to_string_lossy().starts_with(['-', '@']) {
        true => Path::new(".").join(file).into_os_string(),
        false => file.as_os_str().to_owned(),
    }
}
