//! The C and C++ half of the corpus: `corpus/<name>/prog.c` or `prog.cpp`, compiled with the user's
//! compiler and checked by the native front-end.
//!
//! Sizes are arguments of the program: `mutex:3,2` is `prog 3 2`. The expected results are in the
//! same `expect.toml` as for the Rust program of that name, if there is one, with differences in a
//! section `[native]`. A file `fixed.toml` adds the repaired program `<name>-fixed`, which is
//! compiled from the same source with `-DFIXED`. Directories are read on demand, so a new directory
//! adds a program.

use crate::expectation::{Expected, SizeExpectation};
use mazurka::{FailureKind, MemoryModel};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// A program in C or C++.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The name of its directory, followed by `-fixed` for the repaired version.
    pub name: String,
    /// Its only source file.
    pub source: PathBuf,
    /// The language of the source.
    pub language: Language,
    /// The expected results.
    pub expectation: Expectation,
}

/// The language of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Language {
    C,
    Cpp,
}

/// The expected results of a native program. They hold for every algorithm, under the memory model
/// `memory`.
#[derive(Clone, PartialEq, Debug)]
pub struct Expectation {
    /// The verdict of a search.
    pub verdict: Expected,
    /// The kind of the bug, if the verdict is a bug.
    pub failure: Option<FailureKind>,
    /// The memory model of the results.
    pub memory: MemoryModel,
    /// The kind of the bug under sequential consistency, if `memory` is another model and the
    /// program also has a bug under sequential consistency.
    pub sc: Option<FailureKind>,
    /// A part of the failure's message, if the kind is too vague.
    pub says: Option<String>,
    /// Compiler flags besides those of the front-end and `-pthread`.
    pub flags: Vec<String>,
    /// The treatments of plain accesses for which these results hold. There is at least one.
    pub plain: Vec<Plain>,
    /// Whether the program has spin loops, so that the numbers of traces hold for one build.
    pub spins: bool,
    /// Results for certain sizes.
    pub sizes: Vec<SizeExpectation>,
}

/// The treatment of plain accesses: `--plain`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plain {
    /// Plain accesses are checked for data races and do not interleave.
    Race,
    /// Plain accesses interleave like atomic accesses.
    Sc,
}

/// The differences of the native program from the rest of the file.
#[derive(Clone, PartialEq, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Another verdict.
    pub verdict: Option<Expected>,
    /// Another kind of bug.
    pub failure: Option<FailureKind>,
    /// A part of the message.
    pub says: Option<String>,
    /// Compiler flags.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Treatments of plain accesses. The default is a race check.
    pub plain: Option<Vec<Plain>>,
    /// Other sizes; an empty list if no number of traces is known.
    pub sizes: Option<Vec<SizeExpectation>>,
}

/// The error for a directory of programs that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// An unreadable directory or file.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// The path of the directory or file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// An invalid `expect.toml`.
    #[error("{path}: {error}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The place and the reason.
        error: Box<toml::de::Error>,
    },
}

impl ReadError {
    pub(crate) fn unreadable(path: &Path, error: std::io::Error) -> ReadError {
        ReadError::Unreadable {
            path: path.to_owned(),
            error,
        }
    }

    pub(crate) fn malformed(path: &Path, error: toml::de::Error) -> ReadError {
        ReadError::Malformed {
            path: path.to_owned(),
            error: Box::new(error),
        }
    }
}

impl Program {
    /// Returns the program's arguments at a size.
    pub fn arguments(size: &SizeExpectation) -> Vec<String> {
        size.size.iter().map(u32::to_string).collect()
    }
}

/// Returns the directory of the corpus in the source tree of this build.
pub fn directory() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/programs"))
}

/// Reads the C and C++ programs of a directory, in alphabetical order.
///
/// ```
/// let programs = corpus::native::read(corpus::native::directory()).unwrap();
/// let mutex = programs.iter().find(|program| program.name == "mutex").unwrap();
/// assert_eq!(mutex.expectation.sizes[0].executions, 6);
/// ```
pub fn read(directory: &Path) -> Result<Vec<Program>, ReadError> {
    let entries =
        fs::read_dir(directory).map_err(|error| ReadError::unreadable(directory, error))?;
    let mut programs = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| ReadError::unreadable(directory, error))?;
        programs.extend(read_program(&entry.path())?);
    }
    programs.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(programs)
}

/// The parts of an `expect.toml` for native programs.
#[derive(Deserialize)]
struct File {
    verdict: Expected,
    failure: Option<FailureKind>,
    #[serde(default)]
    memory: MemoryModel,
    sc: Option<FailureKind>,
    #[serde(default)]
    spins: bool,
    #[serde(default)]
    sizes: Vec<SizeExpectation>,
    native: Option<Section>,
}

const SOURCES: [(&str, Language); 2] = [("prog.c", Language::C), ("prog.cpp", Language::Cpp)];

/// Reads the program of a directory and its repaired version, if they exist.
fn read_program(directory: &Path) -> Result<Vec<Program>, ReadError> {
    let sources = SOURCES.map(|(file, language)| (directory.join(file), language));
    let Some((source, language)) = sources.into_iter().find(|(path, _)| path.is_file()) else {
        return Ok(Vec::new());
    };
    let name = directory.file_name().expect("it was listed by its name");
    let name = name.to_string_lossy().into_owned();
    let mut programs = vec![Program {
        name: name.clone(),
        source: source.clone(),
        language,
        expectation: read_expectation(&directory.join("expect.toml"))?,
    }];
    let fixed = directory.join("fixed.toml");
    if fixed.is_file() {
        let mut expectation = read_expectation(&fixed)?;
        expectation.flags.push("-DFIXED".to_owned());
        programs.push(Program {
            name: name + "-fixed",
            source,
            language,
            expectation,
        });
    }
    Ok(programs)
}

fn read_expectation(path: &Path) -> Result<Expectation, ReadError> {
    let text = fs::read_to_string(path).map_err(|error| ReadError::unreadable(path, error))?;
    let file = toml::from_str(&text).map_err(|error| ReadError::malformed(path, error))?;
    Ok(expectation(file))
}

fn expectation(file: File) -> Expectation {
    let native = file.native.unwrap_or_default();
    let verdict = native.verdict.unwrap_or(file.verdict);
    let failure = match native.failure.or(file.failure) {
        _ if verdict == Expected::Verified => None,
        // A panic in Rust corresponds to an assertion in C.
        Some(FailureKind::Panic) => Some(FailureKind::Assertion),
        failure => failure,
    };
    Expectation {
        verdict,
        failure,
        memory: file.memory,
        sc: file.sc,
        says: native.says,
        flags: native.flags,
        plain: native.plain.unwrap_or_else(|| vec![Plain::Race]),
        spins: file.spins,
        sizes: native.sizes.unwrap_or(file.sizes),
    }
}
