//! The speedup of a job on two workers of a local NATS server over one job without a server.
//! A pair is one run of the command without the server and one run with it. Of several pairs, the
//! shortest wall-clock times count.
//!
//! `cargo bench -p mazurka-cli --bench cluster`; `MAZURKA_PAIRS=N` sets the number of pairs
//! (default two). It needs `nats-server`.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use nats::{SETTINGS, Server};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

#[path = "../tests/native_check/nats.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod nats;

/// One job needs about a minute.
const PROGRAM: &str = "fib-bench:7";

fn main() {
    let pairs = std::env::var("MAZURKA_PAIRS").map_or(2, |pairs| {
        pairs.parse().expect("MAZURKA_PAIRS is a number of pairs")
    });
    let Some(server) = Server::start(SETTINGS) else {
        return;
    };
    let _workers = [server.worker(), server.worker()];
    let here = Path::new(".");
    let mut best = [f64::INFINITY; 2];
    for _ in 0..pairs {
        let (one, executions) = timed(alone);
        let (two, same) = timed(|| server.submit(here, PROGRAM));
        assert_eq!(executions, same);
        println!(
            "{executions} executions of {PROGRAM}: one job {one:.1} s, two workers {two:.1} s"
        );
        best = [best[0].min(one), best[1].min(two)];
    }
    println!("two workers are {:.2} times as fast", best[0] / best[1]);
}

fn alone() -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command
        .args([
            "check",
            PROGRAM,
            "--jobs",
            "1",
            "--format",
            "json",
            "--no-output",
        ])
        .stdout(Stdio::piped());
    command.spawn().expect("the command starts")
}

/// Returns the seconds until the command ends, and its number of executions.
fn timed(start: impl FnOnce() -> Child) -> (f64, u64) {
    let began = Instant::now();
    let output = start().wait_with_output().expect("the command ends");
    let report: Value = serde_json::from_slice(&output.stdout).expect("the command prints JSON");
    let executions = report["executions"].as_u64();
    (
        began.elapsed().as_secs_f64(),
        executions.expect("a report has executions"),
    )
}
