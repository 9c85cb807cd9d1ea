//! The speedup of two jobs over one, in Rust and in C. A pair is a search by one job and then the
//! same search by two jobs. Of several pairs, the shortest wall-clock times count. For comparison,
//! two searches by one job each run at the same time, which shows the speedup that the machine
//! allows.
//!
//! `cargo bench -p mazurka-cli --bench jobs`; `MAZURKA_PAIRS=N` runs N pairs instead of six.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use toolchain::Toolchain;

#[path = "../tests/native_check/toolchain.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod toolchain;

const PROGRAMS: [(&str, &[&str]); 3] = [
    ("fib-bench", &["6"]),
    ("mutex", &["3", "5"]),
    ("linuxrwlocks", &["6"]),
];

fn main() {
    let pairs = std::env::var("MAZURKA_PAIRS").map_or(6, |pairs| {
        pairs.parse().expect("MAZURKA_PAIRS is a number of pairs")
    });
    let folder = tempfile::tempdir().expect("there is room for programs");
    println!("program                  1 job   2 jobs  ratio  machine");
    for (name, size) in PROGRAMS {
        let instance = format!("{name}:{}", size.join(","));
        measure(&instance, &[&instance], pairs);
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../corpus/{name}/prog.c"));
        let program = folder.path().join(name);
        let built = Toolchain::first().build(&source, &["-O2".to_owned()], &program);
        built.expect("the corpus compiles");
        let program = program.display().to_string();
        let words = [&[program.as_str()], size].concat();
        measure(&format!("{instance} in C"), &words, pairs);
    }
}

fn start(words: &[&str], jobs: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command
        .args(["check", "--format", "json", "--no-output", "--jobs", jobs])
        .args(words)
        .stdout(Stdio::piped());
    command.spawn().expect("the command starts")
}

/// Returns the seconds of the search, and its number of executions.
fn end(child: Child) -> (f64, u64) {
    let output = child.wait_with_output().expect("the command ends");
    let report: Value = serde_json::from_slice(&output.stdout).expect("the command prints JSON");
    let number = |name: &str| report[name].as_f64().expect("a report has this number");
    (number("elapsed_s"), number("executions") as u64)
}

fn measure(name: &str, words: &[&str], pairs: u32) {
    let mut best = [f64::INFINITY; 3];
    for _ in 0..pairs {
        let (one, executions) = end(start(words, "1"));
        let (two, same) = end(start(words, "2"));
        assert_eq!(executions, same, "{name}");
        let side_by_side = [start(words, "1"), start(words, "1")];
        let both = side_by_side.map(|child| end(child).0);
        for (best, seconds) in best.iter_mut().zip([one, two, both[0].max(both[1])]) {
            *best = best.min(seconds);
        }
    }
    let [one, two, both] = best;
    println!(
        "{name:<22} {one:>6.2} s {two:>6.2} s  {:>5.2}  {:>7.2}",
        one / two,
        2.0 * one / both
    );
}
