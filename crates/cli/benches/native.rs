//! Executions and events per second of native programs in C, in the whole checking process.
//!
//! `cargo bench -p mazurka-cli`; add a name to run only some: `-- fib-bench`.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use corpus::native::{self, Plain, Program};
use divan::Bencher;
use divan::counter::ItemsCount;
use serde_json::Value;
use std::path::PathBuf;
use tempfile::TempDir;
use toolchain::{Toolchain, check};

#[path = "../tests/native_check/toolchain.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod toolchain;

fn main() {
    divan::main();
}

/// The programs with their sizes.
const PROGRAMS: [(&str, &[u32]); 10] = [
    ("circular-buffer", &[7]),
    ("expmem", &[12]),
    ("fib-bench", &[4]),
    ("filesystem", &[20]),
    ("indexer", &[13]),
    ("lastzero", &[11]),
    ("linuxrwlocks", &[4]),
    ("mutex", &[3, 3]),
    ("readers", &[13]),
    ("sigma", &[6]),
];

/// Complete, halted and redundant executions per second.
#[divan::bench(args = checks(), max_time = 1, sample_count = 10)]
fn executions(bencher: Bencher, program: &Check) {
    let report = program.run();
    let counts = ["executions", "halted", "blocked"].map(|count| number(&report, count));
    bencher
        .counter(ItemsCount::new(counts.into_iter().sum::<u64>()))
        .bench(|| program.run());
}

/// Events per second.
#[divan::bench(args = checks(), max_time = 1, sample_count = 10)]
fn events(bencher: Bencher, program: &Check) {
    let events = number(&program.run(), "events");
    bencher
        .counter(ItemsCount::new(events))
        .bench(|| program.run());
}

fn number(report: &Value, name: &str) -> u64 {
    report[name].as_u64().expect("a report has this number")
}

/// A compiled program.
struct Check {
    program: Program,
    arguments: Vec<String>,
    /// The number of executions, if the corpus has it for this size.
    expected: Option<u64>,
    folder: TempDir,
}

impl Check {
    fn built(program: &Program, size: &[u32]) -> Check {
        let folder = tempfile::tempdir().expect("there is room for a program");
        let sizes = &program.expectation.sizes;
        let known = sizes.iter().find(|known| known.size == size);
        let check = Check {
            program: program.clone(),
            arguments: size.iter().map(u32::to_string).collect(),
            expected: known.map(|known| known.executions),
            folder,
        };
        let flags = &program.expectation.flags;
        let built = Toolchain::first().build(&program.source, flags, &check.executable());
        built.expect("the corpus compiles");
        check
    }

    fn executable(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    /// Checks the program. An unexpected result panics, because something else would be measured.
    fn run(&self) -> Value {
        let plain = match self.program.expectation.plain[0] {
            Plain::Race => "race",
            Plain::Sc => "sc",
        };
        let report = check(
            &["--memory", "sc", "--plain", plain, "--jobs", "1"],
            &self.executable(),
            &self.arguments,
        )
        .expect("the corpus can be checked");
        assert_eq!(report["verdict"], "verified", "{self}: {report}");
        if let Some(expected) = self.expected {
            assert_eq!(number(&report, "executions"), expected, "{self}: {report}");
        }
        report
    }
}

impl std::fmt::Display for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.program.name, self.arguments.join(","))
    }
}

fn checks() -> impl Iterator<Item = Check> {
    let all = native::read(native::directory()).expect("the corpus can be read");
    PROGRAMS.into_iter().map(move |(name, size)| {
        let program = all.iter().find(|program| program.name == name);
        Check::built(program.expect("the corpus has the program"), size)
    })
}
