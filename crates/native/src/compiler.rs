//! Finds the compiler for a language, its family (gcc or clang) and its version.

use crate::Language;
use crate::compiler_process::{Stops, output};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::Command;

/// A compiler that can be run.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The program, followed by arguments that always come first: `ccache gcc -m64`. Not empty.
    words: Vec<OsString>,
    family: Family,
    version: u32,
}

/// The family of a compiler, which decides the flags that it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// GNU's compiler.
    Gcc,
    /// LLVM's compiler.
    Clang,
}

/// The reason why no compiler can be used.
#[derive(Debug, thiserror::Error)]
pub enum CompilerError {
    /// None of the usual compilers is installed.
    #[error(
        "no {} compiler: there is no {} here; install gcc or clang, or name one with --cc or {variable}",
        match .language { Language::C => "C", Language::CPlusPlus => "C++" },
        .tried.join(", no ")
    )]
    Absent {
        /// The language of the sources.
        language: Language,
        /// The commands that were not found.
        tried: Vec<String>,
        /// The environment variable that chooses the compiler.
        variable: &'static str,
    },
    /// The chosen compiler cannot be run.
    #[error("{command}: this compiler cannot be run: {error}; choose another with --cc or CC")]
    CannotRun {
        /// The command.
        command: String,
        /// The error that the system reports.
        error: io::Error,
    },
    /// The compiler is neither gcc nor clang.
    #[error(
        "{command}: this is neither gcc nor clang: its version message is {says:?}; choose gcc or clang with --cc or CC"
    )]
    Unknown {
        /// The command.
        command: String,
        /// The first line of its version message.
        says: String,
    },
    /// The compiler was stopped before it had printed its version.
    #[error("interrupted while looking for a compiler")]
    Interrupted,
}

/// A reader of environment variables: `|name| std::env::var_os(name)`, or a substitute in tests.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

impl Compiler {
    /// Finds the compiler for a program: the compiler that the user has `chosen`, or the compiler
    /// that CC or CXX names, or the first of the usual compilers that is installed. Gives up when
    /// `stops` returns true.
    ///
    /// ```
    /// use mazurka_native::{Compiler, Language};
    /// # fn main() -> Result<(), mazurka_native::CompilerError> {
    /// let compiler = Compiler::find(Language::C, None, &|name| std::env::var_os(name), &|| false)?;
    /// println!("{:?} {}", compiler.family(), compiler.version());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the compiler cannot be run, if it is neither gcc nor clang, if no
    /// compiler is installed, or if `stops` has returned true.
    pub fn find(
        language: Language,
        chosen: Option<&OsStr>,
        environment: Environment<'_>,
        stops: Stops<'_>,
    ) -> Result<Compiler, CompilerError> {
        if let Some(chosen) = chosen {
            return Compiler::chosen(language, chosen, stops);
        }
        let variable = match language {
            Language::C => "CC",
            Language::CPlusPlus => "CXX",
        };
        match environment(variable).map(|value| words(&value)) {
            Some(words) if !words.is_empty() && !is_this_wrapper(&words) => {
                Compiler::identified(words, stops)
            }
            Some(_) | None => Compiler::usual(language, variable, stops),
        }
    }

    /// Finds the compiler that `mazurka cc` or `mazurka c++` runs: the compiler that MAZURKA_CC
    /// or MAZURKA_CXX names, or the first of the usual compilers that is installed. CC and CXX are
    /// ignored, because they name the wrapper.
    ///
    /// # Errors
    /// Returns an error if the compiler cannot be run, if it is neither gcc nor clang, or if no
    /// compiler is installed.
    pub fn behind_wrapper(
        language: Language,
        environment: Environment<'_>,
    ) -> Result<Compiler, CompilerError> {
        let variable = match language {
            Language::C => "MAZURKA_CC",
            Language::CPlusPlus => "MAZURKA_CXX",
        };
        match environment(variable).map(|value| words(&value)) {
            Some(words) if !words.is_empty() => Compiler::identified(words, &|| false),
            Some(_) | None => Compiler::usual(language, variable, &|| false),
        }
    }

    /// Returns the family of the compiler.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Returns the major version: 12 for 12.2.0.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Returns the command, with the arguments that always come first.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command
    }

    /// Returns the command as a person would type it.
    pub fn name(&self) -> String {
        shown(&self.words)
    }

    /// Returns the compiler that the user has chosen. For C++, prefers the C++ command of the same
    /// compiler, if there is one: `clang-19` → `clang++-19`.
    fn chosen(
        language: Language,
        chosen: &OsStr,
        stops: Stops<'_>,
    ) -> Result<Compiler, CompilerError> {
        let words = words(chosen);
        if let (Language::CPlusPlus, [program]) = (language, &words[..])
            && let Some(sibling) = for_c_plus_plus(program)
            && let Ok(compiler) = Compiler::identified(vec![sibling], stops)
        {
            return Ok(compiler);
        }
        let words = if words.is_empty() {
            vec![chosen.to_owned()]
        } else {
            words
        };
        Compiler::identified(words, stops)
    }

    fn usual(
        language: Language,
        variable: &'static str,
        stops: Stops<'_>,
    ) -> Result<Compiler, CompilerError> {
        let usual = match language {
            Language::C => ["cc", "gcc", "clang"],
            Language::CPlusPlus => ["c++", "g++", "clang++"],
        };
        for command in usual {
            match Compiler::identified(vec![command.into()], stops) {
                Err(CompilerError::CannotRun { error, .. })
                    if error.kind() == io::ErrorKind::NotFound => {}
                known => return known,
            }
        }
        Err(CompilerError::Absent {
            language,
            tried: usual.map(str::to_owned).to_vec(),
            variable,
        })
    }

    fn identified(words: Vec<OsString>, stops: Stops<'_>) -> Result<Compiler, CompilerError> {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg("--version");
        // The messages are parsed below, so they must be in English.
        command.env("LC_ALL", "C");
        let says = output(&mut command, stops).map_err(|error| CompilerError::CannotRun {
            command: shown(&words),
            error,
        })?;
        if stops() {
            return Err(CompilerError::Interrupted);
        }
        let says = String::from_utf8_lossy(&says);
        match identity(&says) {
            Some((family, version)) => Ok(Compiler {
                words,
                family,
                version,
            }),
            None => Err(CompilerError::Unknown {
                command: shown(&words),
                says: says.lines().next().unwrap_or_default().to_owned(),
            }),
        }
    }
}

/// Parses a version message: `gcc (Debian 12.2.0-14) 12.2.0`, `Debian clang version 14.0.6`.
/// Returns `None` if the compiler is neither gcc nor clang.
fn identity(says: &str) -> Option<(Family, u32)> {
    let first = says.lines().next()?;
    if let Some((_, version)) = first.split_once("clang version ") {
        return Some((Family::Clang, major(version)?));
    }
    let is_gcc = says.contains("see the source for copying conditions");
    let without_packager = first
        .rsplit_once(") ")
        .map_or(first, |(_, version)| version);
    let version = without_packager
        .split_whitespace()
        .find_map(major)
        .filter(|_| is_gcc)?;
    Some((Family::Gcc, version))
}

fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.trim().parse().ok()
}

/// Returns the name of the C++ command that belongs to a C compiler: `gcc` → `g++`,
/// `/opt/bin/clang-19` → `/opt/bin/clang++-19`. Returns `None` if no such name is known.
fn for_c_plus_plus(program: &OsStr) -> Option<OsString> {
    let path = Path::new(program);
    let name = path.file_name()?.to_str()?;
    if name.contains("++") {
        return None;
    }
    let sibling = [("gcc", "g++"), ("clang", "clang++"), ("cc", "c++")]
        .iter()
        .find(|(c, _)| name.contains(c))
        .map(|(c, c_plus_plus)| name.replacen(c, c_plus_plus, 1))?;
    Some(path.with_file_name(sibling).into_os_string())
}

/// Checks whether a command is `mazurka cc`, which would call itself without end.
fn is_this_wrapper(words: &[OsString]) -> bool {
    Path::new(&words[0]).file_stem() == Some(OsStr::new("mazurka"))
}

/// Splits a variable like CC into words, at spaces as make and cmake do.
fn words(value: &OsStr) -> Vec<OsString> {
    match value.to_str() {
        // A program whose name has spaces is one word.
        Some(_) if Path::new(value).is_file() => vec![value.to_owned()],
        Some(text) => text.split_whitespace().map(OsString::from).collect(),
        None => vec![value.to_owned()],
    }
}

fn shown(words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_known_by_what_they_say_of_their_version() {
        let free =
            "\nCopyright (C) 2022\nThis is free software; see the source for copying conditions.\n";
        for (says, family, version) in [
            (
                format!("gcc (Debian 12.2.0-14+deb12u1) 12.2.0{free}"),
                Family::Gcc,
                12,
            ),
            (format!("cc (GCC) 14.1.1 20240522{free}"), Family::Gcc, 14),
            (
                format!("x86_64-conda-linux-gnu-gcc 9.4.0{free}"),
                Family::Gcc,
                9,
            ),
            (
                "Debian clang version 14.0.6\nTarget: x86_64".to_owned(),
                Family::Clang,
                14,
            ),
            (
                "clang version 19.1.7 (3~deb12u1)".to_owned(),
                Family::Clang,
                19,
            ),
        ] {
            assert_eq!(identity(&says), Some((family, version)), "{says}");
        }
        assert_eq!(identity("tcc version 0.9.27 (x86_64 Linux)"), None);
        assert_eq!(identity(""), None);
    }

    #[test]
    fn the_sibling_for_c_plus_plus_has_the_same_version_and_place() {
        for (c, c_plus_plus) in [
            ("gcc", Some("g++")),
            ("/opt/bin/clang-19", Some("/opt/bin/clang++-19")),
            ("x86_64-linux-gnu-gcc-12", Some("x86_64-linux-gnu-g++-12")),
            ("cc", Some("c++")),
            ("clang++-14", None),
            ("icx", None),
        ] {
            assert_eq!(
                for_c_plus_plus(c.as_ref()),
                c_plus_plus.map(OsString::from),
                "{c}"
            );
        }
    }

    #[test]
    fn a_variable_that_names_the_wrapper_is_not_followed() {
        let environment =
            |name: &str| (name == "CC").then(|| OsString::from("/usr/local/bin/mazurka cc"));
        let compiler = Compiler::find(Language::C, None, &environment, &|| false).unwrap();
        assert!(!compiler.name().contains("mazurka"), "{}", compiler.name());
    }

    #[test]
    fn a_compiler_that_is_not_there_is_named() {
        let chosen = OsStr::new("no-such-compiler");
        let error = Compiler::find(Language::C, Some(chosen), &|_| None, &|| false).unwrap_err();
        assert!(
            error.to_string().starts_with("no-such-compiler: "),
            "{error}"
        );
        assert!(error.to_string().contains("--cc"), "{error}");
    }

    #[test]
    fn a_program_that_is_no_compiler_is_refused() {
        let error = Compiler::find(Language::C, Some(OsStr::new("true")), &|_| None, &|| false)
            .unwrap_err();
        assert!(matches!(error, CompilerError::Unknown { .. }), "{error}");
    }

    #[test]
    fn the_wrapper_asks_its_own_variables() {
        let environment = |name: &str| match name {
            "MAZURKA_CC" => Some(OsString::from("gcc -m64")),
            _ => Some(OsString::from("mazurka cc")),
        };
        let compiler = Compiler::behind_wrapper(Language::C, &environment).unwrap();
        assert_eq!(compiler.name(), "gcc -m64");
        assert_eq!(compiler.family(), Family::Gcc);
    }
}
