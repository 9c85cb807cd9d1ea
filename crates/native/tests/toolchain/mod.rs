//! The installed compilers, and a substitute for the runtime library whose hooks do nothing.

#![allow(dead_code)]

use mazurka_native::{Build, Built, Compiler, Language, RUNTIME_LIBRARY, RuntimeLibrary};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Names under which distributions install compilers. Missing compilers are skipped.
const CANDIDATES: [&str; 6] = ["gcc", "gcc-12", "clang", "clang-14", "clang-16", "clang-19"];

/// The hooks that the programs of the tests call.
const HOOKS: &str = r#"
#include <stdbool.h>
#define ACCESS(name) void __tsan_##name(void *place) { (void)place; }
#define ACCESSES(prefix) ACCESS(prefix##1) ACCESS(prefix##2) ACCESS(prefix##4) ACCESS(prefix##8) ACCESS(prefix##16)
ACCESSES(read) ACCESSES(write) ACCESSES(volatile_read) ACCESSES(volatile_write)
ACCESSES(unaligned_read) ACCESSES(unaligned_write) ACCESSES(read_write)
void __tsan_init(void) {}
void __tsan_read_range(void *p, long n) { (void)p; (void)n; }
void __tsan_write_range(void *p, long n) { (void)p; (void)n; }
void __tsan_vptr_update(void **p, void *n) { (void)p; (void)n; }
void __tsan_vptr_read(void **p) { (void)p; }
void __tsan_func_entry(void *p) { (void)p; }
void __tsan_func_exit(void) {}
#define ATOMIC(bits, type) \
  type __tsan_atomic##bits##_load(type *p, int o) { (void)o; return __atomic_load_n(p, 5); } \
  void __tsan_atomic##bits##_store(type *p, type v, int o) { (void)o; __atomic_store_n(p, v, 5); } \
  type __tsan_atomic##bits##_exchange(type *p, type v, int o) { (void)o; return __atomic_exchange_n(p, v, 5); } \
  type __tsan_atomic##bits##_fetch_add(type *p, type v, int o) { (void)o; return __atomic_fetch_add(p, v, 5); } \
  type __tsan_atomic##bits##_fetch_sub(type *p, type v, int o) { (void)o; return __atomic_fetch_sub(p, v, 5); } \
  bool __tsan_atomic##bits##_compare_exchange_strong(type *p, type *e, type d, int o, int f) \
  { (void)o; (void)f; return __atomic_compare_exchange_n(p, e, d, 0, 5, 5); }
ATOMIC(8, unsigned char) ATOMIC(16, unsigned short) ATOMIC(32, unsigned int) ATOMIC(64, unsigned long)
void __tsan_atomic_thread_fence(int o) { (void)o; __atomic_thread_fence(5); }
void *__tsan_memcpy(void *to, const void *from, unsigned long n) { return __builtin_memcpy(to, from, n); }
void *__tsan_memset(void *to, int what, unsigned long n) { return __builtin_memset(to, what, n); }
void *__wrap_memcpy(void *to, const void *from, unsigned long n) { return __builtin_memcpy(to, from, n); }
void *__wrap_memmove(void *to, const void *from, unsigned long n) { return __builtin_memmove(to, from, n); }
void *__wrap_memset(void *to, int what, unsigned long n) { return __builtin_memset(to, what, n); }
"#;

/// A folder with sources and the library.
pub struct Workshop {
    pub folder: TempDir,
    pub library: RuntimeLibrary,
}

impl Workshop {
    pub fn new() -> Workshop {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("hooks.c");
        fs::write(&source, HOOKS).unwrap();
        let library = folder.path().join(RUNTIME_LIBRARY);
        let arguments: [&OsStr; 6] = [
            "-shared".as_ref(),
            "-fPIC".as_ref(),
            "-w".as_ref(),
            source.as_ref(),
            "-o".as_ref(),
            library.as_ref(),
        ];
        run(Command::new("cc").args(arguments));
        let command = folder.path().join("mazurka");
        let library = RuntimeLibrary::find(&command, None, &|_| None).unwrap();
        Workshop { folder, library }
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Builds a program from one source.
    pub fn built(&self, compiler: &Compiler, name: &str, text: &str) -> Built {
        self.built_with(compiler, name, text, &[])
    }

    pub fn built_with(&self, compiler: &Compiler, name: &str, text: &str, flags: &[&str]) -> Built {
        let files = [self.file(name, text)];
        let flags: Vec<OsString> = flags.iter().map(OsString::from).collect();
        let build = Build {
            compiler,
            library: &self.library,
            files: &files,
            flags: &flags,
        };
        build.run(&|| false).unwrap()
    }
}

/// Returns the installed compilers for a language, without duplicates.
pub fn compilers(language: Language) -> Vec<Compiler> {
    let mut found: Vec<Compiler> = Vec::new();
    for name in CANDIDATES {
        let Ok(compiler) = Compiler::find(language, Some(name.as_ref()), &|_| None, &|| false)
        else {
            continue;
        };
        let is_known = |known: &Compiler| {
            (known.family(), known.version()) == (compiler.family(), compiler.version())
        };
        if !found.iter().any(is_known) {
            found.push(compiler);
        }
    }
    assert!(!found.is_empty(), "no compiler is installed");
    found
}

/// Runs a command that must succeed. Returns its output.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the names of a file's undefined symbols.
pub fn undefined(file: &Path) -> Vec<String> {
    let listed = run(Command::new("nm").arg("-u").arg(file));
    let names = listed
        .lines()
        .filter_map(|line| line.split_whitespace().last());
    names.map(str::to_owned).collect()
}
