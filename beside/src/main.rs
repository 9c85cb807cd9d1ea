//! Checks the same programs with Mazurka, loom 0.7.2 and Shuttle 0.9, and compares the numbers of
//! executions and the CPU times.
//!
//! Usage: `cargo run --release --manifest-path beside/Cargo.toml [SECONDS [NAME]]`. loom and
//! Shuttle are stopped after this number of CPU seconds (default: 10). With NAME, only the programs
//! whose names begin with NAME are checked.
//!
//! Exits with code 1 if loom or Shuttle uses less than 100 times the CPU time of Mazurka for some
//! program, up to the end of its check or the time limit. A library that refuses a program does not
//! count for this program.

#![forbid(unsafe_code)]

mod checkers;
mod programs;

use checkers::{Measured, loom, mazurka, shuttle};
use std::process::ExitCode;
use std::time::Duration;

/// The factor by which Mazurka must be faster than the other libraries.
const FACTOR: f64 = 100.0;

/// A program, written with the types of each library.
struct Row {
    name: &'static str,
    mazurka: fn(),
    loom: fn(),
    shuttle: fn(),
}

macro_rules! rows {
    ($($name:literal $program:ident($($size:expr),*);)*) => {
        &[$(Row {
            name: $name,
            mazurka: || programs::with_mazurka::$program($($size),*),
            loom: || programs::with_loom::$program($($size),*),
            shuttle: || programs::with_shuttle::$program($($size),*),
        }),*]
    };
}

const ROWS: &[Row] = rows! {
    "readers(3)" readers(3);
    "lastzero(3)" lastzero(3);
    "lastzero(10)" lastzero(10);
    "mutex, 3 threads × 3" mutex(3, 3);
    "indexer(12)" indexer(12);
    "filesystem(16)" filesystem(16);
    "Treiber stack, 2 push + 2 pop" treiber(2, 2);
};

fn main() -> ExitCode {
    let seconds = std::env::args().nth(1).map(|text| text.parse());
    let Ok(seconds) = seconds.unwrap_or(Ok(10)) else {
        eprintln!("how many CPU seconds may a checker take? give a number");
        return ExitCode::from(2);
    };
    let limit = Duration::from_secs(seconds);
    println!("| program | Mazurka: executions, CPU s | loom 0.7.2 | Shuttle 0.9 DFS |");
    println!("| --- | --- | --- | --- |");
    let mut is_beaten = true;
    let wanted = std::env::args().nth(2).unwrap_or_default();
    for row in ROWS.iter().filter(|row| row.name.starts_with(&wanted)) {
        let own = mazurka(row.mazurka);
        let others = [loom(row.loom, limit), shuttle(row.shuttle, limit)];
        let shown = others.map(|other| {
            let factor = other
                .seconds
                .map(|seconds| seconds / own.seconds.unwrap_or(f64::NAN));
            is_beaten &= factor.is_none_or(|factor| factor >= FACTOR);
            shown(&other, factor)
        });
        println!(
            "| {} | {} | {} | {} |",
            row.name,
            shown_own(&own),
            shown[0],
            shown[1]
        );
    }
    match is_beaten {
        true => ExitCode::SUCCESS,
        false => {
            eprintln!("one of them is less than {FACTOR} times slower");
            ExitCode::FAILURE
        }
    }
}

fn shown_own(own: &Measured) -> String {
    format!(
        "{}, {:.6} s",
        own.executions,
        own.seconds.unwrap_or(f64::NAN)
    )
}

fn shown(other: &Measured, factor: Option<f64>) -> String {
    match (other.seconds, factor) {
        (Some(seconds), Some(factor)) if other.is_stopped => {
            format!(
                "> {}, stopped after {seconds:.1} s: > {factor:.0} ×",
                other.executions
            )
        }
        (Some(seconds), Some(factor)) => {
            format!("{}, {seconds:.2} s: {factor:.0} ×", other.executions)
        }
        _ => "refuses: more than 5 threads".to_owned(),
    }
}
