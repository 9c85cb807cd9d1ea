//! Determines the purpose of a compiler's command line: compiling, linking, or only information.
//!
//! This module knows the options of gcc and clang that take the next word as their value, and those
//! that prevent linking.

use crate::Language;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

/// The actions of one compiler run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Whether a source is preprocessed or compiled.
    pub compiles: bool,
    /// Whether a program or a shared library is linked.
    pub links: bool,
}

/// Options that take the next word as their value.
const WITH_VALUE: [&str; 39] = [
    "-o",
    "-x",
    "-I",
    "-D",
    "-U",
    "-L",
    "-B",
    "-T",
    "-u",
    "-z",
    "-e",
    "-A",
    "-G",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-include",
    "-include-pch",
    "-imacros",
    "-isystem",
    "-idirafter",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xanalyzer",
    "-Xclang",
    "-mllvm",
    "-target",
    "--param",
    "--sysroot",
    "-aux-info",
    "-dumpdir",
    "-wrapper",
];

/// Options that end the run before linking.
const ENDS_BEFORE_LINKING: [&str; 10] = [
    "-c",
    "-S",
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "--analyze",
    "--precompile",
    "-emit-ast",
    "-r",
];

/// Extensions of other files that are compiled or preprocessed, besides C and C++ sources.
const OTHER_SOURCES: [&str; 7] = ["m", "mi", "mm", "M", "s", "S", "sx"];
/// Extensions of headers. They are compiled to precompiled headers and never linked.
const HEADERS: [&str; 9] = ["h", "hh", "H", "hp", "hxx", "hpp", "HPP", "h++", "tcc"];

/// The greatest depth to which argument files may include each other.
const DEEPEST: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    Source,
    Header,
    Object,
}

impl Invocation {
    /// Returns the actions that these arguments request, including those in argument files
    /// (`@file`).
    ///
    /// ```
    /// use mazurka_native::Invocation;
    /// let of = |line: &str| {
    ///     let arguments: Vec<_> = line.split(' ').map(Into::into).collect();
    ///     Invocation::of(&arguments)
    /// };
    /// assert_eq!(of("-c queue.c -o queue.o"), Invocation { compiles: true, links: false });
    /// assert_eq!(of("queue.o -lm"), Invocation { compiles: false, links: true });
    /// assert_eq!(of("-print-search-dirs"), Invocation { compiles: false, links: false });
    /// ```
    pub fn of(arguments: &[OsString]) -> Invocation {
        let arguments = expanded(arguments, DEEPEST);
        let ends_early = arguments
            .iter()
            .any(|argument| ENDS_BEFORE_LINKING.iter().any(|option| argument == option));
        let inputs = inputs(&arguments);
        Invocation {
            compiles: inputs.iter().any(|input| *input != Input::Object),
            links: !ends_early && inputs.iter().any(|input| *input != Input::Header),
        }
    }
}

/// Options to drop from a preprocessing run: those for dependency files, and those for later steps.
/// The options in the second list take a value.
const NOT_OF_PREPROCESSING: [&str; 9] = [
    "-c",
    "-S",
    "-E",
    "-MD",
    "-MMD",
    "-MP",
    "-MG",
    "-pipe",
    "-fsanitize=thread",
];
const WITH_VALUE_NOT_OF_PREPROCESSING: [&str; 5] = ["-o", "-MF", "-MT", "-MQ", "-MJ"];

impl Invocation {
    /// Returns the arguments that only preprocess the same sources, to the standard output. Returns
    /// `None` if a source is the standard input, or if these arguments already only preprocess.
    pub(crate) fn preprocessing(arguments: &[OsString]) -> Option<Vec<OsString>> {
        let arguments = expanded(arguments, DEEPEST);
        let is = |argument: &OsString, known: &[&str]| known.iter().any(|flag| argument == flag);
        if arguments
            .iter()
            .any(|argument| is(argument, &["-", "-E", "-M", "-MM"]))
        {
            return None;
        }
        let mut kept = vec![OsString::from("-E"), OsString::from("-fsanitize=thread")];
        let mut rest = arguments.into_iter();
        while let Some(argument) = rest.next() {
            if is(&argument, &WITH_VALUE_NOT_OF_PREPROCESSING) {
                rest.next();
                continue;
            }
            let text = argument.to_string_lossy();
            let joined = WITH_VALUE_NOT_OF_PREPROCESSING;
            let is_joined = joined.iter().any(|flag| text.starts_with(flag));
            if !is_joined && !is(&argument, &NOT_OF_PREPROCESSING) {
                kept.push(argument);
            }
        }
        Some(kept)
    }
}

fn inputs(arguments: &[OsString]) -> Vec<Input> {
    let mut found = Vec::new();
    let mut language: Option<String> = None;
    let mut only_inputs = false;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        if only_inputs || !text.starts_with('-') || text == "-" {
            found.push(input(argument, language.as_deref()));
        } else if text == "--" {
            only_inputs = true;
        } else if let Some(named) = text.strip_prefix("-x").filter(|named| !named.is_empty()) {
            language = (named != "none").then(|| named.to_owned());
        } else if WITH_VALUE.contains(&text.as_ref()) {
            let value = rest.next();
            if text == "-x" {
                let named = value.map(|value| value.to_string_lossy().into_owned());
                language = named.filter(|named| named != "none");
            }
        } else if text.starts_with("-l") {
            found.push(Input::Object);
        }
    }
    found
}

fn input(name: &OsStr, language: Option<&str>) -> Input {
    match language {
        Some(language) if language.ends_with("-header") => return Input::Header,
        Some(_) => return Input::Source,
        None if name == "-" => return Input::Source,
        None => {}
    }
    let path = Path::new(name);
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    if HEADERS.contains(&ending) {
        return Input::Header;
    }
    match Language::of(path) {
        Some(_) => Input::Source,
        None if OTHER_SOURCES.contains(&ending) => Input::Source,
        None => Input::Object,
    }
}

/// Expands argument files. A file that cannot be read counts as an input, as compilers treat it.
fn expanded(arguments: &[OsString], deepest: usize) -> Vec<OsString> {
    let mut all = Vec::new();
    for argument in arguments {
        let named = argument.to_str().and_then(|text| text.strip_prefix('@'));
        match named.and_then(|file| fs::read_to_string(file).ok()) {
            Some(text) if deepest > 0 => all.extend(expanded(&split(&text), deepest - 1)),
            Some(_) | None => all.push(argument.clone()),
        }
    }
    all
}

/// Splits an argument file into words. Quotes keep spaces; a backslash keeps any character.
fn split(text: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (_, '\\') => word.get_or_insert_default().extend(letters.next()),
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            (Some(_) | None, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> (bool, bool) {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let Invocation { compiles, links } = Invocation::of(&arguments);
        (compiles, links)
    }

    #[test]
    fn command_lines_of_make_cmake_and_autoconf_are_distinguished() {
        for (line, compiles, links) in [
            (
                "-DX=1 -Iinclude -O2 -MD -MT a.o -MF a.o.d -o a.o -c a.c",
                true,
                false,
            ),
            ("-E -dM - -x c", true, false),
            ("-x c -E -", true, false),
            ("-S a.cpp", true, false),
            ("-M a.c", true, false),
            ("-fsyntax-only a.c", true, false),
            ("a.c b.cc -o program -lpthread", true, true),
            ("conftest.c", true, true),
            ("-o program a.o b.o libx.a", false, true),
            ("-shared -o libx.so a.o", false, true),
            ("-shared -lfoo -o libx.so", false, true),
            ("-r a.o b.o -o c.o", false, false),
            ("-x c++ a.inc -o program", true, true),
            ("-xc - -o program", true, true),
            ("-x c a.inc -x none b.o -c", true, false),
            ("-include config.h -c a.c", true, false),
            ("-x c-header all.h", true, false),
            ("all.hpp", true, false),
            ("-o a.c b.o", false, true),
            ("-Xlinker a.c b.o", false, true),
            ("start.S -c", true, false),
            ("--version", false, false),
            ("-v", false, false),
            ("-print-prog-name=ld", false, false),
            ("-dumpmachine", false, false),
            ("", false, false),
            ("-c -- -odd.c", true, false),
        ] {
            assert_eq!(of(line), (compiles, links), "{line}");
        }
    }

    #[test]
    fn files_of_arguments_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let (outer, inner) = (
            directory.path().join("outer"),
            directory.path().join("inner"),
        );
        std::fs::write(&outer, format!("-O1 '@{}'", inner.display())).unwrap();
        std::fs::write(&inner, "-c \"a b.c\"\n").unwrap();
        assert_eq!(of(&format!("@{}", outer.display())), (true, false));
        assert_eq!(of("@/nowhere/at/all"), (false, true));
        assert_eq!(
            split(r#"a 'b c' "d\"e" \ f ''"#),
            ["a", "b c", "d\"e", " f", ""]
        );
    }
}
