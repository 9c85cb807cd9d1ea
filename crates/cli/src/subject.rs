//! The program named on the command line: a corpus program, sources, or a program with hooks.

use crate::arguments::CheckOptions;
use crate::refusal::Refusal;
use corpus::Instance;
use native::Language;
use report::Recipe;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The program to be checked.
pub enum Subject {
    /// A program of the corpus, with its size.
    Corpus(Instance),
    /// A program in machine code.
    Native(NativeProgram),
}

/// A program in machine code, written in C, C++ or Rust.
pub struct NativeProgram {
    /// How the program is obtained.
    pub origin: Origin,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The compiler that the user chose.
    pub compiler: Option<OsString>,
}

/// How a program is obtained.
pub enum Origin {
    /// The program is compiled from these files, at least one.
    Sources {
        /// Sources, objects and libraries.
        files: Vec<PathBuf>,
        /// Flags for the compiler.
        flags: Vec<OsString>,
    },
    /// The program was built with `mazurka cc` or `mazurka c++`.
    Binary(PathBuf),
}

impl Subject {
    /// Recognizes sources by their extensions, then corpus programs by name, then files.
    pub fn of(options: &CheckOptions) -> Result<Subject, Refusal> {
        let has_source = options
            .program
            .iter()
            .any(|word| Language::of(Path::new(word)).is_some());
        let native = match (has_source, &options.program[..]) {
            (true, words) => NativeProgram {
                origin: Origin::Sources {
                    files: words.iter().map(PathBuf::from).collect(),
                    flags: options.flags.clone(),
                },
                arguments: arguments(options),
                compiler: options.cc.clone(),
            },
            (false, [path, more @ ..]) if is_file(path) => NativeProgram {
                origin: Origin::Binary(PathBuf::from(path)),
                arguments: [more, &options.flags, &arguments(options)].concat(),
                compiler: None,
            },
            (false, words) => return Subject::in_corpus(options, words),
        };
        // A program that is built already may be one in Rust.
        match has_source && options.algorithm.compares_states() {
            true => Err(Refusal::Option {
                option: "--algorithm context-sensitive",
                why: "this is for programs that report their states, which programs in C and C++ do not",
            }),
            false => Ok(Subject::Native(native)),
        }
    }

    /// Returns a program that is already built, or one of the corpus.
    pub fn built(words: &[OsString], more: &[OsString]) -> Result<Subject, Refusal> {
        let (word, arguments) = words.split_first().expect("clap requires a program");
        if Language::of(Path::new(word)).is_some() {
            return Err(Refusal::NotBuilt(PathBuf::from(word)));
        }
        if !is_file(word) {
            return Ok(Subject::Corpus(corpus::parse(&word.to_string_lossy())?));
        }
        Ok(Subject::Native(NativeProgram {
            origin: Origin::Binary(with_folder(Path::new(word))),
            arguments: [arguments, more].concat(),
            compiler: None,
        }))
    }

    /// Returns the start of the names of its files: `mutex-3-4`, `queue`.
    pub fn file_stem(&self) -> String {
        match self {
            Subject::Corpus(instance) => instance.to_string().replace([':', ','], "-"),
            Subject::Native(program) => {
                let stem = program.path().file_stem().unwrap_or(OsStr::new("program"));
                stem.to_string_lossy().into_owned()
            }
        }
    }

    fn in_corpus(options: &CheckOptions, words: &[OsString]) -> Result<Subject, Refusal> {
        let name = words.first().map_or(OsStr::new(""), OsString::as_os_str);
        let instance = corpus::parse(&name.to_string_lossy())?;
        let why = "this is for programs in C and C++, not for those of the corpus";
        let given = [
            ("--cc", options.cc.is_some()),
            ("--args", options.args.is_some()),
            ("--plain", options.conditions.shared.plain.is_some()),
            ("--unroll", options.conditions.unroll.is_some()),
            ("--reuse", options.conditions.reuse > 0),
            (
                "more than one word",
                words.len() > 1 || !options.flags.is_empty(),
            ),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Refusal::Option { option, why }),
            None => Ok(Subject::Corpus(instance)),
        }
    }
}

impl NativeProgram {
    /// Returns the first source, or the program itself.
    pub fn path(&self) -> &Path {
        match &self.origin {
            Origin::Sources { files, .. } => &files[0],
            Origin::Binary(path) => path,
        }
    }

    /// Returns the program that a schedule was saved for; `None` if the recipe names no file.
    pub fn from_recipe(recipe: &Recipe) -> Option<NativeProgram> {
        let os = |words: &[String]| words.iter().map(OsString::from).collect();
        let files: Vec<PathBuf> = recipe.files.iter().map(PathBuf::from).collect();
        let has_source = files.iter().any(|file| Language::of(file).is_some());
        let origin = match has_source {
            true => Origin::Sources {
                files,
                flags: os(&recipe.flags),
            },
            false => Origin::Binary(files.into_iter().next()?),
        };
        Some(NativeProgram {
            origin,
            arguments: os(&recipe.arguments),
            compiler: recipe.compiler.as_ref().map(OsString::from),
        })
    }

    /// Returns how to obtain the program again.
    pub fn recipe(&self) -> Recipe {
        let text = |words: &[OsString]| {
            words
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect()
        };
        let (files, flags) = match &self.origin {
            Origin::Sources { files, flags } => (files.as_slice(), text(flags)),
            Origin::Binary(path) => (std::slice::from_ref(path), Vec::new()),
        };
        Recipe {
            files: files
                .iter()
                .map(|file| file.display().to_string())
                .collect(),
            flags,
            compiler: self
                .compiler
                .as_ref()
                .map(|compiler| compiler.to_string_lossy().into_owned()),
            arguments: text(&self.arguments),
        }
    }

    /// Returns the name in reports, with the arguments.
    pub fn name(&self) -> String {
        let mut name = self.path().display().to_string();
        for argument in &self.arguments {
            name.push(' ');
            name.push_str(&argument.to_string_lossy());
        }
        name
    }
}

/// Adds the current directory to a file name, so that it is not looked up like a command.
pub fn with_folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new(".").join(path),
        Some(_) | None => path.to_owned(),
    }
}

/// Checks whether the word names a file. Names of the corpus, like `mutex:3`, have no slash and
/// take precedence.
fn is_file(word: &OsStr) -> bool {
    let is_path = word.to_string_lossy().contains('/');
    is_path || (corpus::parse(&word.to_string_lossy()).is_err() && Path::new(word).exists())
}

fn arguments(options: &CheckOptions) -> Vec<OsString> {
    let words = options
        .args
        .iter()
        .flat_map(|words| words.split_whitespace());
    words.map(OsString::from).collect()
}
