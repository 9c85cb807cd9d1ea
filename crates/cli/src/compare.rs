//! `mazurka compare`: runs every algorithm on one program. Each runs in its own process, so that
//! the peak memory is that of the algorithm. These processes stop when their standard input ends,
//! which happens when this process is interrupted or ends for any other reason.

use crate::arguments::{CompareOptions, Format};
use crate::output_files::is_writable;
use crate::progress_line::ProgressLine;
use crate::refusal::Refusal;
use crate::time_limit::TimeLimit;
use crate::{Done, UNFINISHED, interruption, presentation, terminal};
use corpus::Instance;
use explore::Algorithm;
use report::{Comparison, Measured, Report};
use std::io;
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The limit on executions for algorithms that would never end.
const RANDOM_EXECUTIONS: u64 = 10_000;
/// Interval between two checks for an interruption while another process searches.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Compares algorithms.
pub fn compare(options: &CompareOptions) -> Done {
    let instance = corpus::parse(&options.program)?;
    let _pipe = options.html.as_deref().map(is_writable).transpose()?;
    let interrupted = interruption::flag()?;
    let measured = measure_all(options, &instance, &interrupted)?;
    let known = instance.expected();
    let comparison = Comparison {
        program: instance.to_string(),
        traces: known.as_ref().map(|known| known.executions + known.halted),
        closed_form: instance.entry().expectation().formula,
        measured,
        published: known.map_or(Vec::new(), |known| {
            known.published.iter().map(published).collect()
        }),
    };
    if let Some(path) = &options.html {
        presentation::write(path, &page::comparison(&comparison))?;
    }
    let text = match options.format {
        Format::Text => comparison.text(terminal::style()),
        Format::Json => {
            let json = serde_json::to_string(&comparison)
                .expect("a comparison has no maps whose keys are not strings");
            format!("{json}\n")
        }
    };
    terminal::print(&text).map_err(|error| Refusal::System {
        what: "print the table",
        error,
    })?;
    Ok(match interrupted.load(Ordering::Relaxed) {
        true => ExitCode::from(UNFINISHED),
        false => ExitCode::SUCCESS,
    })
}

/// Runs the algorithms in turn. An interruption ends the current one and skips the rest.
fn measure_all(
    options: &CompareOptions,
    instance: &Instance,
    interrupted: &AtomicBool,
) -> Result<Vec<Measured>, Refusal> {
    let algorithms = algorithms(&options.algorithm);
    let line = ProgressLine::new(!options.quiet);
    let mut measured = Vec::new();
    for (index, &algorithm) in algorithms.iter().enumerate() {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        line.say(format!(
            "{algorithm} ({} of {})",
            index + 1,
            algorithms.len()
        ));
        let output = run(options, instance, algorithm, interrupted);
        match measured_by(instance, algorithm, output) {
            // Most programs do not report their states.
            Err(Refusal::NoResult { .. })
                if algorithm.compares_states() && options.algorithm.is_empty() => {}
            result => measured.push(result?),
        }
    }
    line.clear();
    Ok(measured)
}

/// Returns the chosen algorithms without duplicates; all algorithms if none was chosen.
fn algorithms(chosen: &[Algorithm]) -> Vec<Algorithm> {
    if chosen.is_empty() {
        return Algorithm::ALL.to_vec();
    }
    let mut algorithms = Vec::new();
    for &algorithm in chosen {
        if !algorithms.contains(&algorithm) {
            algorithms.push(algorithm);
        }
    }
    algorithms
}

fn measured_by(
    instance: &Instance,
    algorithm: Algorithm,
    output: io::Result<Output>,
) -> Result<Measured, Refusal> {
    let output = output.map_err(|error| Refusal::System {
        what: "run a process for the comparison",
        error,
    })?;
    match serde_json::from_slice::<Report>(&output.stdout) {
        Ok(report) => Ok(Measured::from(&report)),
        Err(_) => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            Err(Refusal::NoResult {
                program: instance.to_string(),
                algorithm,
                ended: format!("{} {}", output.status, complaint.trim()),
            })
        }
    }
}

/// Runs one algorithm in its own process until it is done or this process is interrupted.
fn run(
    options: &CompareOptions,
    instance: &Instance,
    algorithm: Algorithm,
    interrupted: &AtomicBool,
) -> io::Result<Output> {
    let mut child = command(options, instance, algorithm)?.spawn()?;
    let mut leash = child.stdin.take();
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    loop {
        match ended.recv_timeout(CHECK_INTERVAL) {
            Ok(output) => return output,
            Err(_) if interrupted.load(Ordering::Relaxed) => drop(leash.take()),
            Err(_) => {}
        }
    }
}

fn command(
    options: &CompareOptions,
    instance: &Instance,
    algorithm: Algorithm,
) -> io::Result<Command> {
    let TimeLimit(limit) = options.time_limit;
    let executions = match options.max_executions {
        None if !algorithm.proves() => Some(RANDOM_EXECUTIONS),
        limit => limit,
    };
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args([
            "check",
            &instance.to_string(),
            "--algorithm",
            algorithm.name(),
        ])
        .args(["--format", "json", "--quiet", "--keep-going", "--no-output"])
        .args(["--leashed", "--jobs", "1"])
        .args(["--time-limit", &format!("{}ms", limit.as_millis().max(1))])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(executions) = executions {
        command.args(["--max-executions", &executions.to_string()]);
    }
    Ok(command)
}

fn published(number: &corpus::Published) -> report::Published {
    let source = match number.algorithm {
        Some(algorithm) if !number.by.contains(algorithm.name()) => {
            format!("{}: {algorithm}", number.by)
        }
        Some(_) | None => number.by.clone(),
    };
    report::Published {
        source,
        executions: number.executions,
        seconds: number.seconds,
        megabytes: number.megabytes.map(f64::from),
    }
}
