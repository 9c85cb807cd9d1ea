//! Tests building programs with hooks, with every compiler that is installed.

mod toolchain;

use mazurka_native::{
    Binary, BinaryError, Build, BuildError, Compiler, Family, Instrumented, Language,
};
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use toolchain::{Workshop, compilers, run, undefined};

const PROGRAM: &str = r"
#include <stdatomic.h>
#include <string.h>
volatile int seen;
int plain;
_Atomic int counter;
struct many { int all[8]; } one, other;
int main(void) {
    plain += 1;
    seen = 2;
    memcpy(&one, &other, sizeof one);
    atomic_fetch_add(&counter, 1);
    atomic_thread_fence(memory_order_seq_cst);
    return plain + VALUE;
}
";

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

#[test]
fn every_access_has_its_hook_with_every_compiler() {
    let workshop = Workshop::new();
    for compiler in compilers(Language::C) {
        let built = workshop.built_with(&compiler, "program.c", PROGRAM, &["-DVALUE=0"]);
        let hooks = undefined(&built.program());
        let has = |hook: &str| hooks.iter().any(|name| name == hook);
        for hook in [
            "__tsan_read4",
            "__tsan_write4",
            "__tsan_volatile_write4",
            "__tsan_atomic32_fetch_add",
            "__tsan_atomic_thread_fence",
        ] {
            assert!(has(hook), "{} makes no {hook}: {hooks:?}", compiler.name());
        }
        let copies = hooks
            .iter()
            .any(|name| name == "__wrap_memcpy" || name == "__tsan_memcpy");
        assert!(copies, "{}: {hooks:?}", compiler.name());
        assert!(!has("__tsan_func_entry"), "{}", compiler.name());
    }
}

#[test]
fn what_is_built_is_recognized_and_runs_by_itself() {
    let workshop = Workshop::new();
    for compiler in compilers(Language::C) {
        let built = workshop.built_with(&compiler, "program.c", PROGRAM, &["-DVALUE=6"]);
        let program = built.program();
        let binary = Binary::recognize(&program).unwrap();
        assert_eq!(binary.needed()[0], mazurka_native::RUNTIME_LIBRARY);
        assert!(mazurka_native::has_hooks(&program));
        assert_eq!(Command::new(&program).status().unwrap().code(), Some(7));
        let folder = program.parent().unwrap().to_owned();
        drop(built);
        assert!(!folder.exists());
    }
}

#[test]
fn sources_of_both_languages_and_objects_make_one_program() {
    let workshop = Workshop::new();
    for compiler in compilers(Language::CPlusPlus) {
        let main = workshop.file(
            "main.cc",
            "#include <atomic>\nextern \"C\" int helper(); extern \"C\" int assembled();\n\
             std::atomic<int> n; int main() { return n.fetch_add(helper()) + helper() + assembled(); }",
        );
        let helper = workshop.file(
            "helper.c",
            "int helper(void) { int class = 3; return class; }",
        );
        let assembled = workshop.file(
            "assembled.S",
            ".globl assembled\nassembled: mov $4, %eax\nret\n.section .note.GNU-stack,\"\",@progbits\n",
        );
        let build = Build {
            compiler: &compiler,
            library: &workshop.library,
            files: &[main, helper, assembled],
            flags: &words("-lm"),
        };
        let program = build.run(&|| false).unwrap();
        let status = Command::new(program.program()).status().unwrap();
        assert_eq!(status.code(), Some(7), "{}", compiler.name());
    }
}

#[test]
fn flags_of_the_user_win() {
    let workshop = Workshop::new();
    for compiler in compilers(Language::C) {
        let text =
            "#ifndef __OPTIMIZE__\n#error not optimized\n#endif\nint main(void) { return 0; }";
        workshop.built_with(&compiler, "optimized.c", text, &["-O2"]);
        let text = "#ifdef __OPTIMIZE__\n#error optimized\n#endif\nint main(void) { return 0; }";
        workshop.built(&compiler, "plain.c", text);
    }
}

#[test]
fn a_source_with_an_error_is_refused_and_nothing_is_left() {
    let workshop = Workshop::new();
    let files = [workshop.file("wrong.c", "int main(void) { return missing; }")];
    for compiler in compilers(Language::C) {
        let build = Build {
            compiler: &compiler,
            library: &workshop.library,
            files: &files,
            flags: &words("-w"),
        };
        let refused = build.run(&|| false).unwrap_err();
        assert!(matches!(refused, BuildError::Compiler { .. }), "{refused}");
    }
}

#[test]
fn flags_that_make_no_program_are_refused() {
    let workshop = Workshop::new();
    let files = [workshop.file("program.c", "int main(void) { return 0; }")];
    for flag in ["-c", "-static", "-shared", "-E"] {
        let build = Build {
            compiler: &compilers(Language::C)[0],
            library: &workshop.library,
            files: &files,
            flags: &words(flag),
        };
        let refused = build.run(&|| false).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("{flag}: ")), "{refused}");
    }
}

/// Runs a compiler as the wrapper does, in the workshop's folder.
fn wrapped(workshop: &Workshop, compiler: &Compiler, line: &str) -> std::process::Output {
    let mut instrumented =
        Instrumented::new(compiler, &workshop.library, &words(line), &|| false).unwrap();
    let command = instrumented.command();
    command.current_dir(workshop.folder.path());
    command.output().unwrap()
}

#[test]
fn a_wrapped_compiler_does_each_step_of_a_project() {
    let workshop = Workshop::new();
    workshop.file("part.c", "int shared; int part(void) { return ++shared; }");
    workshop.file(
        "whole.c",
        "int part(void); int main(void) { return part(); }",
    );
    let arguments = workshop.file("arguments", "-c part.c -o \"part two.o\"");
    let arguments = format!("@{}", arguments.display());
    for compiler in compilers(Language::C) {
        for line in [
            "-MD -MF part.d -c part.c -o part.o",
            &arguments,
            "-c whole.c",
            "-fPIC -shared part.c -o libpart.so -Wl,-z,defs",
            "part.o whole.o -o linked",
            "part.c whole.c -o direct",
            "whole.c -L. -lpart -Wl,-rpath,. -o with-library",
            "-E -dM part.c",
            "-S part.c",
            "-print-search-dirs",
            "--version",
            "-fsanitize=thread part.c whole.c -o sanitized",
        ] {
            let output = wrapped(&workshop, &compiler, line);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success(),
                "{} {line}: {errors}",
                compiler.name()
            );
            assert_eq!(errors, "", "{} {line}", compiler.name());
        }
        let folder = workshop.folder.path();
        assert!(
            fs::read_to_string(folder.join("part.d"))
                .unwrap()
                .contains("part.c")
        );
        assert!(undefined(&folder.join("part two.o")).contains(&"__tsan_write4".to_owned()));
        for program in ["linked", "direct", "with-library", "sanitized"] {
            let path = folder.join(program);
            let binary = Binary::recognize(&path).unwrap();
            assert_eq!(
                binary.needed()[0],
                mazurka_native::RUNTIME_LIBRARY,
                "{program}"
            );
            let status = Command::new(&path).current_dir(folder).status().unwrap();
            assert_eq!(status.code(), Some(1), "{} {program}", compiler.name());
        }
    }
}

#[test]
fn a_wrapped_compiler_says_and_ends_with_what_the_compiler_does() {
    let workshop = Workshop::new();
    workshop.file("wrong.c", "int main(void) { return missing; }");
    for compiler in compilers(Language::C) {
        for line in [
            "-c wrong.c",
            "-c nowhere.c",
            "",
            "-c",
            "--no-such-flag",
            "-dumpmachine",
        ] {
            let mut plain = compiler.command();
            let plain = plain
                .args(words(line))
                .current_dir(workshop.folder.path())
                .output()
                .unwrap();
            let output = wrapped(&workshop, &compiler, line);
            assert_eq!(output.status, plain.status, "{} {line}", compiler.name());
            assert_eq!(output.stdout, plain.stdout, "{} {line}", compiler.name());
            assert_eq!(
                String::from_utf8_lossy(&output.stderr),
                String::from_utf8_lossy(&plain.stderr),
                "{} {line}",
                compiler.name()
            );
        }
    }
}

#[test]
fn other_files_are_refused_with_what_they_are() {
    let workshop = Workshop::new();
    let source = workshop.file("program.c", "int main(void) { return 0; }");
    let made = |name: &str, flags: &str| -> PathBuf {
        let path = workshop.folder.path().join(name);
        run(Command::new("cc")
            .args(words(flags))
            .arg(&source)
            .arg("-o")
            .arg(&path));
        path
    };
    let said = |path: PathBuf| Binary::recognize(&path).unwrap_err().to_string();
    for (path, part) in [
        (made("plain", "-g"), "not built with Mazurka"),
        (made("static", "-static"), "linked statically"),
        (made("object.o", "-c"), "not linked"),
        (made("library.so", "-shared -fPIC"), "a shared library"),
        (workshop.file("script", "#!/bin/sh\n"), "a script"),
        (workshop.file("text", "hello"), "not a program"),
        (workshop.file("torn", "\x7fELF\x02"), "damaged"),
        (workshop.folder.path().join("nothing"), "cannot read"),
        (workshop.folder.path().to_owned(), "cannot read"),
    ] {
        let said = said(path);
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_program_of_the_thread_sanitizer_is_recognized() {
    let workshop = Workshop::new();
    let source = workshop.file("program.c", "int main(void) { return 0; }");
    let path = workshop.folder.path().join("sanitized");
    let for_gcc = compilers(Language::C)
        .into_iter()
        .find(|compiler| compiler.family() == Family::Gcc);
    let Some(gcc) = for_gcc else { return };
    let mut command = gcc.command();
    command
        .args(words("-fsanitize=thread"))
        .arg(&source)
        .arg("-o")
        .arg(&path);
    if command.output().unwrap().status.success() {
        let refused = Binary::recognize(&path).unwrap_err();
        assert!(
            matches!(refused, BinaryError::ThreadSanitizer(_)),
            "{refused}"
        );
    }
}
