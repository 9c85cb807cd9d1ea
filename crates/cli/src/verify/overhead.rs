//! The cost of enforcing the verified schedules, measured by running the program.

use super::{Verification, with_inputs};
use crate::refusal::Refusal;
use crate::stop_when::StopWhen;
use enforce::{ENFORCE, Order};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Number of pairs of runs, each with and without constraints.
const PAIRS: usize = 5;

impl Verification<'_> {
    /// Checks whether the constraints of an assignment cost at most the requested fraction.
    pub(super) fn is_cheap(&self, index: usize) -> Result<bool, Refusal> {
        let stops = self.options.stop_when.iter();
        let most = stops.filter_map(|stop| match stop {
            StopWhen::Overhead(most) => Some(*most),
            StopWhen::Constraints(_) | StopWhen::Time(_) => None,
        });
        let most = most.reduce(f64::max);
        match (most, &self.binary) {
            (Some(most), Some(binary)) => Ok(self.overhead(binary, index)? <= most),
            (Some(_), None) => Err(Refusal::Option {
                option: "--stop-when overhead",
                why: "programs of the corpus have no executable; build a program with `mazurka cc`",
            }),
            (None, _) => Ok(false),
        }
    }

    /// Returns the median slowdown of the pairs of runs, as a fraction of the time without
    /// constraints. Returns infinity if a run was stopped.
    fn overhead(&self, binary: &Path, index: usize) -> Result<f64, Refusal> {
        let inputs = self.assignments.values(index);
        let order = Order {
            trace: self.output_path(),
            inputs: inputs.clone(),
            ..Order::default()
        };
        let run = |is_enforced: bool| {
            let mut command = Command::new(binary);
            command.args(with_inputs(&self.trace.arguments, inputs));
            command.envs(inputs.iter().map(|(name, value)| {
                let name = format!("{}{name}", enforce::INPUT);
                (name, value.to_string())
            }));
            if is_enforced {
                command.env(ENFORCE, order.written());
            }
            taken(&mut command, || self.is_over())
        };
        let mut overheads = Vec::new();
        for _ in 0..PAIRS {
            let (enforced, free) = (run(true)?, run(false)?);
            let (Some(enforced), Some(free)) = (enforced, free) else {
                return Ok(f64::INFINITY);
            };
            overheads.push(enforced.as_secs_f64() / free.as_secs_f64() - 1.0);
        }
        overheads.sort_by(f64::total_cmp);
        Ok(overheads[PAIRS / 2])
    }

    /// Returns the absolute path of the saved file, for runs in any folder.
    fn output_path(&self) -> PathBuf {
        let output = &self.options.output;
        std::path::absolute(output).unwrap_or_else(|_| output.clone())
    }
}

/// Returns how long a program runs, or `None` if it was stopped. Ignores its output and exit code.
fn taken(command: &mut Command, stops: impl Fn() -> bool) -> Result<Option<Duration>, Refusal> {
    /// The interval between two checks for the end. It is short compared to the start of a process.
    const CHECK_INTERVAL: Duration = Duration::from_micros(50);
    let system = |error| Refusal::System {
        what: "run the program",
        error,
    };
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let start = Instant::now();
    let mut program = command.spawn().map_err(system)?;
    while program.try_wait().map_err(system)?.is_none() {
        if stops() {
            program
                .kill()
                .and_then(|()| program.wait())
                .map_err(system)?;
            return Ok(None);
        }
        thread::sleep(CHECK_INTERVAL);
    }
    Ok(Some(start.elapsed()))
}
