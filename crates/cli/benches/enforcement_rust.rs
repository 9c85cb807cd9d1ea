//! The cost of enforcing the verified schedules of programs in Rust: `cargo bench -p mazurka-cli
//! --features enforce --bench enforcement_rust`.
//!
//! Each program exists with the types of `std` and with those of `mazurka` (`safe_rust/`), and both
//! versions are run in pairs. The median and the quartiles of the ratio of their times are printed,
//! with all constraints and with the constraints that remain after a minute of verification. The
//! environment variable `PAIRS` sets the number of pairs (default 1,000). This binary also contains
//! the programs.

#[path = "safe_rust/programs.rs"]
mod programs;

use programs::{hooked, plain};
use serde_json::Value;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const PROGRAMS: [&str; 5] = ["lastzero", "indexer", "transfers", "pipeline", "cache"];

/// Minimum duration of a run in nanoseconds.
const LONG_ENOUGH: u64 = 10_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["plain", name] => repeat(plain::find(name).ok_or("no such program")?, || {}),
        ["hooked", name] => {
            let body = hooked::find(name).ok_or("no such program")?;
            mazurka::program(move || repeat(body, mazurka::again));
        }
        _ if words.contains(&"--bench") => compare()?,
        _ => {}
    }
    Ok(())
}

/// Runs the program once, or as often as the environment says; then prints the nanoseconds taken.
fn repeat(body: fn(), again: fn()) {
    let Ok(times) = std::env::var("REPEAT") else {
        return body();
    };
    let times: u32 = times.parse().expect("REPEAT is a number");
    let mut taken = Duration::ZERO;
    for _ in 0..times {
        again();
        let start = Instant::now();
        body();
        taken += start.elapsed();
    }
    println!("{}", taken.as_nanos());
}

fn compare() -> Result<(), Box<dyn Error>> {
    let pairs: usize = match std::env::var("PAIRS") {
        Ok(pairs) => pairs.parse()?,
        Err(_) => 1000,
    };
    let folder = tempfile::tempdir()?;
    println!("| program | constraints | overhead: median (quartiles) |\n| --- | --- | --- |");
    for name in PROGRAMS {
        let program = Program {
            name,
            binary: std::env::current_exe()?,
            trace: folder.path().join("safe.trace"),
        };
        for stop in [&["--stop-when", "constraints=1000000"][..], &[]] {
            let constraints = program.verify(stop)?;
            let [low, median, high] = program.quartiles(pairs)?;
            println!("| {name} | {constraints} | {median:.1} % ({low:.1} to {high:.1} %) |");
        }
    }
    Ok(())
}

/// A program, and its safe trace.
struct Program {
    name: &'static str,
    binary: PathBuf,
    trace: PathBuf,
}

impl Program {
    /// Verifies for at most a minute. Returns the number of constraints left.
    fn verify(&self, stop: &[&str]) -> Result<usize, Box<dyn Error>> {
        let mut command = mazurka("verify", "-o", &self.trace);
        command
            .args(["--format", "json", "--stop-when", "time=60s"])
            .args(stop);
        command.arg(&self.binary).args(["hooked", self.name]);
        let result: Value = serde_json::from_slice(&command.output()?.stdout)?;
        let constraints = result["cases"][0]["constraints"].as_array();
        Ok(constraints.ok_or("nothing was verified")?.len())
    }

    fn quartiles(&self, pairs: usize) -> Result<[f64; 3], Box<dyn Error>> {
        let mut repeat = 10;
        while self.run_plain(repeat)? < LONG_ENOUGH {
            repeat *= 2;
        }
        let mut overheads = Vec::new();
        for _ in 0..pairs {
            let (enforced, plain) = (self.run_enforced(repeat)?, self.run_plain(repeat)?);
            overheads.push((enforced as f64 / plain as f64 - 1.0) * 100.0);
        }
        overheads.sort_by(f64::total_cmp);
        Ok([1, 2, 3].map(|quarter| overheads[(overheads.len() - 1) * quarter / 4]))
    }

    fn run_plain(&self, repeat: u32) -> Result<u64, Box<dyn Error>> {
        let mut command = Command::new(&self.binary);
        taken(command.args(["plain", self.name]), repeat)
    }

    fn run_enforced(&self, repeat: u32) -> Result<u64, Box<dyn Error>> {
        let mut command = mazurka("run", "--safe", &self.trace);
        taken(
            command.arg(&self.binary).args(["hooked", self.name]),
            repeat,
        )
    }
}

fn mazurka(subcommand: &str, option: &str, trace: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args([subcommand, option]).arg(trace);
    command
}

/// Returns the nanoseconds that a program prints.
fn taken(command: &mut Command, repeat: u32) -> Result<u64, Box<dyn Error>> {
    let output = command.env("REPEAT", repeat.to_string()).output()?;
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout)?.trim().parse()?),
        false => Err(String::from_utf8_lossy(&output.stderr).into()),
    }
}
