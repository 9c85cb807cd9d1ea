//! The speed of the command against a saved baseline. Both run in turn, so that a busy machine
//! slows both.
//!
//! The baseline is an earlier build of the command, saved in `target/baseline`. If valgrind is
//! installed, the instructions of the programs in Rust are also counted; these numbers repeat
//! exactly.

use crate::{Done, cargo, root, target};
use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs of the corpus in Rust, large enough to measure CPU time.
const RUST: [&str; 8] = [
    "circular-buffer:7",
    "expmem:14",
    "fib-bench:5",
    "lastzero:13",
    "linuxrwlocks:5",
    "mutex:4,3",
    "readers:15",
    "sigma:7",
];

/// Programs for counting instructions, which takes a hundred times longer.
const COUNTED: [&str; 3] = ["fib-bench:3", "lastzero:8", "readers:9"];

/// Programs of the corpus in C, with their arguments.
const C: [(&str, &str); 5] = [
    ("expmem", "14"),
    ("fib-bench", "5"),
    ("linuxrwlocks", "5"),
    ("mutex", "4 3"),
    ("readers", "15"),
];

/// The number of pairs of runs per program.
const PAIRS: usize = 7;

fn baseline() -> PathBuf {
    target().join("baseline").join("mazurka")
}

fn built() -> Result<PathBuf, Box<dyn Error>> {
    cargo("build --release --package mazurka-cli")?;
    Ok(target().join("release").join("mazurka"))
}

/// Builds the command and saves it as the baseline.
pub fn save() -> Done {
    let file = baseline();
    fs::create_dir_all(file.parent().expect("the file has a directory"))?;
    fs::copy(built()?, &file)?;
    println!("saved {}", file.display());
    Ok(())
}

/// Prints the time of the current command for each program, as a multiple of the baseline's time.
/// With valgrind, also prints the numbers of instructions.
pub fn compare() -> Done {
    let (old, new) = (baseline(), built()?);
    if !old.is_file() {
        return Err("there is no baseline: `cargo xtask bench --save` saves one".into());
    }
    for program in RUST {
        let arguments = [program.to_owned()];
        print_ratio(program, &old, &arguments, &new, &arguments)?;
    }
    for (program, size) in C {
        let build = |command: &Path, name: &str| -> Result<Vec<String>, Box<dyn Error>> {
            let executable = target().join("baseline").join(format!("{program}-{name}"));
            let source = root().join("corpus").join(program).join("prog.c");
            let status = Command::new(command)
                .args([
                    "cc".as_ref(),
                    source.as_os_str(),
                    "-o".as_ref(),
                    executable.as_os_str(),
                ])
                .status()?;
            if !status.success() {
                return Err(format!("{program}: {status}").into());
            }
            let words = size.split(' ').map(str::to_owned);
            Ok([executable.display().to_string()]
                .into_iter()
                .chain(words)
                .collect())
        };
        let (before, after) = (build(&old, "old")?, build(&new, "new")?);
        print_ratio(
            &format!("{program} {size} in C"),
            &old,
            &before,
            &new,
            &after,
        )?;
    }
    if Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok()
    {
        for program in COUNTED {
            let (before, after) = (instructions(&old, program)?, instructions(&new, program)?);
            println!(
                "{program:24} {after} instructions, {:.4} of {before}",
                after as f64 / before as f64
            );
        }
    }
    Ok(())
}

/// Runs the two commands in pairs. Prints the CPU time of the new command in the last pair, and the
/// median ratio of the new command's CPU time to the old command's.
fn print_ratio(name: &str, old: &Path, before: &[String], new: &Path, after: &[String]) -> Done {
    let mut ratios = Vec::new();
    let mut last = 0.0;
    for _ in 0..PAIRS {
        let first = cpu_seconds(old, before)?;
        last = cpu_seconds(new, after)?;
        ratios.push(last / first);
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "{name:24} {last:.2} s, {:.3} of the baseline",
        ratios[PAIRS / 2]
    );
    Ok(())
}

/// Returns the CPU time of a check, including the time of its processes.
fn cpu_seconds(command: &Path, arguments: &[String]) -> Result<f64, Box<dyn Error>> {
    let output = Command::new("bash")
        .args([
            "-c",
            "TIMEFORMAT='%U %S'; time \"$0\" check --jobs 1 --no-output \"$@\" >/dev/null 2>&1",
        ])
        .arg(command)
        .args(arguments)
        .output()?;
    // A check that finds a bug (1) or reaches a bound (3) has also run to its end.
    if !matches!(output.status.code(), Some(0 | 1 | 3)) {
        return Err(format!(
            "{} {}: {}",
            command.display(),
            arguments.join(" "),
            output.status
        )
        .into());
    }
    let text = String::from_utf8(output.stderr)?;
    let seconds = text.split_whitespace().map(str::parse::<f64>);
    Ok(seconds.sum::<Result<f64, _>>()?)
}

/// Counts the instructions of a check.
fn instructions(command: &Path, program: &str) -> Result<u64, Box<dyn Error>> {
    let file = target().join("baseline").join("callgrind");
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(command)
        .args([
            "check",
            program,
            "--jobs",
            "1",
            "--no-output",
            "--format",
            "json",
        ])
        .output()?;
    let _: Value = serde_json::from_slice(&output.stdout)?;
    let text = fs::read_to_string(&file)?;
    let totals = text.lines().find_map(|line| line.strip_prefix("totals: "));
    Ok(totals.ok_or("callgrind counted nothing")?.trim().parse()?)
}
