//! Finds the parts of a recipe with which a file from a stranger could run commands. A *recipe*,
//! which is part of a saved schedule, says how to build and start a program. Unless the user trusts
//! the recipe, `replay` uses only the compilers, flags and files that are allowed here.

use crate::Language;
use report::Recipe;
use std::path::{Component, Path};

/// Allowed compilers, optionally followed by a version. `PATH` is searched for them.
const COMPILERS: [&str; 6] = ["cc", "c++", "gcc", "g++", "clang", "clang++"];

/// Allowed flags without a value.
const FLAGS: [&str; 15] = [
    "-ansi",
    "-g",
    "-gdwarf",
    "-gline-tables-only",
    "-m64",
    "-no-pie",
    "-nopie",
    "-pedantic",
    "-pedantic-errors",
    "-pie",
    "-pipe",
    "-pthread",
    "-rdynamic",
    "-static-libgcc",
    "-w",
];

/// Prefixes of allowed flags. The rest must be a word of letters, digits and `+ - _ . : =`, which
/// no compiler interprets as a file or a command.
const WORDS: [&str; 14] = [
    "-O",
    "-W",
    "-ggdb",
    "-gdwarf-",
    "-march=",
    "-mavx",
    "-mcmodel=",
    "-mcpu=",
    "-mcx",
    "-mno-",
    "-msse",
    "-mtls-dialect=",
    "-mtune=",
    "-std=",
];

/// Allowed features after `-f` or `-fno-`. A value may follow.
const FEATURES: [&str; 38] = [
    "PIC",
    "PIE",
    "access-control",
    "asynchronous-unwind-tables",
    "builtin",
    "cf-protection",
    "char8_t",
    "common",
    "concepts",
    "coroutines",
    "data-sections",
    "delete-null-pointer-checks",
    "exceptions",
    "fast-math",
    "finite-math-only",
    "fp-contract",
    "freestanding",
    "function-sections",
    "inline",
    "inline-functions",
    "lax-vector-conversions",
    "math-errno",
    "ms-extensions",
    "omit-frame-pointer",
    "permissive",
    "pic",
    "pie",
    "rounding-math",
    "rtti",
    "short-enums",
    "signed-char",
    "stack-protector",
    "stack-protector-strong",
    "strict-aliasing",
    "trapv",
    "unsigned-char",
    "visibility",
    "wrapv",
];

/// Returns the first part of a recipe that is not known to be harmless. Returns `None` if the
/// program may be built and run again in `folder` as the recipe says. (The program itself is the
/// user's: it runs with the recipe's arguments.)
///
/// ```
/// use mazurka_native::foreign_part;
/// use report::Recipe;
/// let recipe = |flag: &str| Recipe { files: vec!["a.c".to_owned()], flags: vec![flag.to_owned()], ..Recipe::default() };
/// let folder = std::env::current_dir().unwrap();
/// assert_eq!(foreign_part(&recipe("-O2"), &folder), None);
/// assert!(foreign_part(&recipe("-fplugin=x.so"), &folder).unwrap().contains("-fplugin=x.so"));
/// ```
pub fn foreign_part(recipe: &Recipe, folder: &Path) -> Option<String> {
    let mut compiler = recipe.compiler.iter();
    if let Some(compiler) = compiler.find(|compiler| !is_compiler(compiler)) {
        return Some(format!("the compiler {compiler:?}"));
    }
    let mut files = recipe.files.iter();
    if let Some(file) = files.find(|file| !is_own_file(file, folder, recipe.files.len() == 1)) {
        return Some(format!("the file {file:?}"));
    }
    let mut flags = recipe.flags.iter().map(String::as_str);
    while let Some(flag) = flags.next() {
        let is_known = match flag {
            "-D" | "-U" | "-l" | "-I" | "-L" | "-iquote" | "-isystem" | "-x" => flags
                .next()
                .is_some_and(|value| has_value(flag, value, folder)),
            flag => is_flag(flag, folder),
        };
        if !is_known {
            return Some(format!("the compiler's flag {flag:?}"));
        }
    }
    None
}

fn is_compiler(name: &str) -> bool {
    COMPILERS.iter().any(|known| {
        let version = name.strip_prefix(known);
        version.is_some_and(|version| {
            let number = version.strip_prefix('-').unwrap_or(version);
            number
                .chars()
                .all(|letter| letter.is_ascii_digit() || letter == '.')
        })
    })
}

/// Checks whether a file is a source, object or library in the folder. A file of another kind is
/// accepted only if it is the only file.
fn is_own_file(name: &str, folder: &Path, is_alone: bool) -> bool {
    let path = Path::new(name);
    let is_object = ["o", "a", "so"].iter().any(|known| {
        path.extension()
            .is_some_and(|extension| extension == *known)
    });
    let has_kind = is_alone || is_object || Language::of(path).is_some();
    has_kind && !name.starts_with(['-', '@']) && is_beneath(path, folder)
}

/// Checks whether a path, with links followed, leads to a place beneath the folder. A path with
/// `..` does not count as beneath the folder.
fn is_beneath(path: &Path, folder: &Path) -> bool {
    let is_plain = path.components().all(|part| part != Component::ParentDir);
    match (folder.join(path).canonicalize(), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => is_plain && path.starts_with(folder),
        // If the file does not exist, a later attempt to open it fails.
        _ => is_plain && path.is_relative(),
    }
}

fn is_flag(flag: &str, folder: &Path) -> bool {
    let valued = ["-D", "-U", "-l", "-I", "-L"];
    if let Some(option) = valued.iter().find(|option| flag.starts_with(**option)) {
        return has_value(option, &flag[option.len()..], folder);
    }
    if let Some(feature) = flag.strip_prefix("-f") {
        let feature = feature.strip_prefix("no-").unwrap_or(feature);
        let (name, value) = feature.split_once('=').unwrap_or((feature, ""));
        let is_function = name.strip_prefix("builtin-").is_some_and(is_word);
        let is_sanitizer = name == "sanitize" && value == "thread";
        return is_sanitizer || is_function || FEATURES.contains(&name) && is_word(value);
    }
    FLAGS.contains(&flag)
        || WORDS
            .iter()
            .any(|known| flag.strip_prefix(known).is_some_and(is_word))
        || matches!(flag, "-g0" | "-g1" | "-g2" | "-g3")
}

fn has_value(option: &str, value: &str, folder: &Path) -> bool {
    if value.is_empty() || value.starts_with(['-', '@', '=']) {
        return false;
    }
    match option {
        "-D" => is_definition(value),
        "-U" => is_identifier(value),
        "-l" => is_word(value) && !value.starts_with(':'),
        "-x" => ["c", "c++", "none"].contains(&value),
        _ => is_beneath(Path::new(value), folder),
    }
}

/// Checks whether a definition of a macro is a name, optionally with a number, a memory order or a
/// simple string. Other definitions could insert code: even a word could replace a function that
/// the program calls by one that runs commands.
fn is_definition(text: &str) -> bool {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let is_harmless = |letter: char| letter.is_ascii_alphanumeric() || "+-_.:/, ".contains(letter);
    let is_digit = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
    let number = value.strip_prefix('-').unwrap_or(value);
    let is_number = number.starts_with(|first: char| first.is_ascii_digit());
    let quoted = value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let has_value = match quoted {
        Some(text) => text.chars().all(is_harmless),
        None if is_number => number.chars().all(is_digit),
        None => value.is_empty() || value.starts_with("memory_order_") && is_identifier(value),
    };
    is_identifier(name) && has_value
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn is_word(text: &str) -> bool {
    text.chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "+-_.:=".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(files: &str, flags: &str) -> Option<String> {
        let words = |words: &str| words.split_whitespace().map(str::to_owned).collect();
        let recipe = Recipe {
            files: words(files),
            flags: words(flags),
            ..Recipe::default()
        };
        foreign_part(&recipe, Path::new(env!("CARGO_MANIFEST_DIR")))
    }

    #[test]
    fn usual_flags_are_used() {
        let flags = "-O2 -g -g3 -ggdb3 -std=c++20 -std=gnu11 -DNDEBUG -D N=3 -DM=-1.5f -DNAME=\"a/b.c\" -DORDER=memory_order_relaxed -UX -Isrc -I src -lm -l m -pthread -Wall -Wextra \
                     -Wno-unused -Werror=return-type -march=native -mcx16 -msse4.2 -fno-exceptions -fno-builtin-memcpy \
                     -fvisibility=hidden -fsanitize=thread -Ofast -w -x c";
        assert_eq!(refused("src/a.c lib.a more.so", flags), None);
    }

    #[test]
    fn flags_that_run_read_or_write_something_else_are_rejected() {
        for flag in [
            "-wrapper sh,-c,id",
            "-fplugin=x.so",
            "-fplugin-arg-x-y",
            "-fpass-plugin=x.so",
            "-B.",
            "-B .",
            "-specs=x",
            "--specs=x",
            "@x",
            "-Xlinker x",
            "-Xclang -load",
            "-mllvm -load=x.so",
            "-Wl,--wrap=main",
            "-Wa,-a=x",
            "-Wp,-MD,x",
            "-o x",
            "-ox",
            "-include x.h",
            "-imacros x",
            "-I/etc",
            "-I..",
            "-I ../x",
            "-I =x",
            "-L/tmp",
            "-l:x.so",
            "-l ./x",
            "-D @x",
            "-DX(a)=a",
            "-DX()",
            "-DX=a;b",
            "-Dputs=system",
            "-DX=1;a",
            "-DX=f()",
            "-DX={}",
            "-DX=\"a\"b\"",
            "-DX=\"a\\\"",
            "-DX=\"a",
            "-DX=a\u{1b}",
            "-DX=_Pragma(\"a\")",
            "-UX=1",
            "-D",
            "-fuse-ld=x",
            "-fmodule-mapper=|id",
            "-fdump-tree-all",
            "-fprofile-use=x",
            "-fopt-info=x",
            "-ftime-trace=x",
            "-fstack-usage",
            "-save-temps",
            "-dumpdir x",
            "-x assembler",
            "--sysroot=/x",
            "-T x",
            "-Tx",
            "-z x",
            "-static",
            "-shared",
            "-M",
            "-MD",
            "-MFx",
            "-gsplit-dwarf",
            "-gcc-toolchain=x",
            "-Weverything,x",
            "-fuse-ld=/bin/x",
            "--config=x",
            "-ivfsoverlay x",
            "-nostdlib",
            "x",
            "/etc/passwd",
            "-",
            "",
            "-W,x",
            "-O@x",
            "-std=../x/y",
        ] {
            let words: Vec<String> = match flag {
                "" => vec![String::new()],
                flag => flag.split(' ').map(str::to_owned).collect(),
            };
            let recipe = Recipe {
                files: vec!["a.c".to_owned()],
                flags: words,
                ..Recipe::default()
            };
            let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
            assert!(foreign_part(&recipe, folder).is_some(), "{flag}");
        }
    }

    #[test]
    fn files_lie_beneath_the_folder() {
        for files in [
            "/etc/passwd",
            "../a.c",
            "-o.c",
            "@x.c",
            "a.c @x",
            "a.c /lib/x.o",
            "a.c x.specs",
            "/bin/sh",
            "a.c program",
        ] {
            assert!(refused(files, "").is_some(), "{files}");
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let source = folder.join("src/lib.rs");
        assert_eq!(refused(&source.display().to_string(), ""), None);
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/bin/sh", folder.path().join("link")).unwrap();
        let recipe = Recipe {
            files: vec!["link".to_owned()],
            ..Recipe::default()
        };
        assert!(foreign_part(&recipe, folder.path()).is_some());
    }

    #[test]
    fn compilers_are_known_by_name() {
        let is = |name: &str| is_compiler(name);
        assert!(is("gcc") && is("clang-14") && is("g++-12.2") && is("c++"));
        for other in [
            "./gcc",
            "/usr/bin/gcc",
            "gcc -wrapper",
            "sh",
            "",
            "gcc-x",
            "ccache",
            "gcc;id",
        ] {
            assert!(!is(other), "{other}");
        }
    }
}
