//! The tool chain for C and C++: runtime library, compilers behind `mazurka cc`, and a check.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};

/// A compiler for C and one for C++.
pub struct Toolchain {
    c: &'static str,
    cpp: &'static str,
}

const ALL: [Toolchain; 2] = [
    Toolchain {
        c: "gcc",
        cpp: "g++",
    },
    Toolchain {
        c: "clang",
        cpp: "clang++",
    },
];

impl Toolchain {
    /// Returns the first installed toolchain.
    pub fn first() -> &'static Toolchain {
        let mut all = ALL.iter();
        all.find(|toolchain| toolchain.is_there())
            .expect("Rust needs a compiler for C, too")
    }

    /// Returns the toolchain with this C compiler; `None`, and a printed line, if there is none.
    pub fn named(c: &str) -> Option<&'static Toolchain> {
        let found = ALL.iter().find(|toolchain| toolchain.c == c);
        let found = found.filter(|toolchain| toolchain.is_there());
        if found.is_none() {
            println!("{c} is missing: nothing is checked with it");
        }
        found
    }

    fn is_there(&self) -> bool {
        let is_there = |compiler| Command::new(compiler).arg("--version").output().is_ok();
        is_there(self.c) && is_there(self.cpp)
    }

    /// Makes `mazurka cc` and `mazurka c++`, which the command may call, use these compilers.
    pub fn stands_behind<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("MAZURKA_CC", self.c)
            .env("MAZURKA_CXX", self.cpp)
    }

    /// Compiles and links a source, as C++ if the extension says so. On failure, returns the output
    /// of the compiler.
    pub fn build(&self, source: &Path, flags: &[String], executable: &Path) -> Result<(), String> {
        let is_cpp = source
            .extension()
            .is_some_and(|extension| extension == "cpp");
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        self.stands_behind(&mut command);
        command.arg(if is_cpp { "c++" } else { "cc" });
        command.args(flags).arg("-pthread").arg(source);
        let output = command.arg("-o").arg(executable).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success().then_some(()).ok_or(errors)
    }
}

/// Returns the JSON report of `mazurka check` on an executable, or the reason why there is no
/// report.
pub fn check(options: &[&str], executable: &Path, arguments: &[String]) -> Result<Value, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(["check", "--format", "json", "--no-output", "--keep-going"]);
    command.args(options).arg(executable).args(arguments);
    let output = command.stdin(Stdio::null()).output().unwrap();
    // The output of a process that died is shown when the test fails.
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

/// Returns the exit status of a real run, and the report of a check. Returns `None` if the compiler
/// is missing.
pub fn run_and_check(compiler: &str, text: &str) -> Option<(ExitStatus, Value)> {
    let toolchain = Toolchain::named(compiler)?;
    let folder = tempfile::tempdir().unwrap();
    let [source, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    std::fs::write(&source, text).unwrap();
    toolchain.build(&source, &[], &executable).unwrap();
    let real = Command::new(&executable).status().unwrap();
    Some((real, check(&[], &executable, &[]).unwrap()))
}

pub fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{errors}",
        output.status
    );
    output
}
