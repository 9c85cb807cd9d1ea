//! `mazurka verify`: verifies shorter and shorter prefixes of an execution, and saves each
//! improvement. So runs can be restricted to verified schedules before everything is verified.

mod assignments;
mod native_program;
mod overhead;

use crate::arguments::{Format, Prefer, VerifyOptions};
use crate::jobs::Jobs;
use crate::output_files::{are_distinct, is_writable};
use crate::progress_line::ProgressLine;
use crate::refusal::Refusal;
use crate::stop_when::StopWhen;
use crate::subject::{NativeProgram, Subject};
use crate::{Done, exit_code, interruption, presentation, terminal};
use assignments::Assignments;
use corpus::Instance;
use mazurka::{Checker, Preference};
use native::Unseen;
use report::{
    Case, FailureKind, Inputs, LeftOut, Limit, Order, Report, SafeTrace, Verdict, harmless,
    harmless_json,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// Verifies a program.
pub fn verify(options: &VerifyOptions) -> Done {
    let _held = is_writable(&options.output)?;
    let _pipe = options.html.as_deref().map(is_writable).transpose()?;
    let outputs = [&options.output].into_iter().chain(&options.html);
    let program = options.program.first().map(Path::new);
    are_distinct(outputs.map(PathBuf::as_path), program)?;
    let mut verification = Verification {
        options,
        started: Instant::now(),
        interrupted: interruption::flag()?,
        line: ProgressLine::new(!options.quiet),
        binary: None,
        trace: SafeTrace::default(),
        assignments: Assignments::of(&options.input)?,
        left_out: Vec::new(),
        shares_files: false,
        versions: Vec::new(),
    };
    let reports = match Subject::built(&options.program, &options.arguments)? {
        Subject::Corpus(instance) => vec![(0, verification.of_instance(&instance)?)],
        Subject::Native(program) => verification
            .of_program(&program)
            .inspect_err(|refusal| verification.withdraw_if(refusal))?,
    };
    verification.line.clear();
    verification.drop_racy(&reports);
    if let Some(path) = &options.html {
        verification.keep_version();
        presentation::write_safe(&verification.versions, path)?;
    }
    verification.print(&reports)
}

/// Maximum number of versions on the page.
const MOST_VERSIONS: usize = 100;

/// The reports of assignments, by index.
type Reports = Vec<(usize, Report)>;

/// A verification in progress.
struct Verification<'o> {
    options: &'o VerifyOptions,
    started: Instant,
    interrupted: Arc<AtomicBool>,
    line: ProgressLine,
    /// The program, if it can be run.
    binary: Option<PathBuf>,
    /// The saved data, without the cases.
    trace: SafeTrace,
    assignments: Assignments,
    /// Omissions that are known before the program runs.
    left_out: Vec<LeftOut>,
    /// Whether simultaneous executions would share files.
    shares_files: bool,
    /// The saved versions, for the page.
    versions: Vec<SafeTrace>,
}

impl Verification<'_> {
    /// Verifies a program of the corpus, which has no inputs.
    fn of_instance(&mut self, instance: &Instance) -> Result<Report, Refusal> {
        if !self.options.input.is_empty() {
            let why = "programs of the corpus have sizes instead of inputs: see `mazurka list`";
            let option = "--input";
            return Err(Refusal::Option { option, why });
        }
        self.trace.program = instance.to_string();
        let order = Order {
            name: instance.to_string(),
            conditions: self.options.conditions.all(),
            ..Order::default()
        };
        let checker = Checker::ordered(&order)
            .algorithm(self.options.algorithm)
            .stop(Arc::clone(&self.interrupted))
            .observer(self.line.observer());
        let mut refusal = None;
        let verified = checker.verify(self.preference(), instance.program(), |case| {
            self.publish(0, case.clone()).unwrap_or_else(|error| {
                refusal = Some(error);
                ControlFlow::Break(())
            })
        });
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        let verified = verified.map_err(|error| Refusal::Check {
            program: instance.to_string(),
            error,
        })?;
        Ok(verified.report)
    }

    /// Verifies a program in machine code for every assignment of its inputs.
    fn of_program(&mut self, program: &NativeProgram) -> Result<Reports, Refusal> {
        let path = program.path();
        let binary = native::Binary::recognize(path)?;
        if binary.is_rust() && self.options.conditions.plain.is_some() {
            return Err(Refusal::Option {
                option: "--plain",
                why: "in a program in Rust, plain accesses are seen only in `mazurka::cell`, and they must not race",
            });
        }
        let content = std::fs::read(path).map_err(|error| Refusal::System {
            what: "read the program",
            error,
        })?;
        self.binary = Some(path.to_owned());
        // A program in Rust announces its operations itself. The atomic instructions in its file
        // belong to libraries, so they do not count as unseen.
        if !binary.is_rust() {
            let libraries = native::libraries(path);
            self.shares_files = native::may_change_files(path, &libraries);
            let unseen = Unseen::of(path, &libraries).unwrap_or_default();
            self.left_out = unseen.iter().filter_map(Unseen::left_out).collect();
        }
        self.trace.program = program.name();
        self.trace.program_checksum = SafeTrace::checksum_of(&content);
        let arguments = program.arguments.iter();
        self.trace.arguments = arguments
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect();
        self.trace.interleaves_plain = self.options.conditions.all().interleaves_plain;
        loop {
            let (reports, asked) = self.of_assignments(program)?;
            match asked {
                Some(input) => self.assignments.add(input)?,
                None => return Ok(reports),
            }
        }
    }

    /// Returns how many assignments are verified at once. Only one is verified if run times are
    /// measured or if the program may write files.
    fn jobs(&self) -> usize {
        let mut stops = self.options.stop_when.iter();
        let measures = stops.any(|stop| matches!(stop, StopWhen::Overhead(_)));
        match measures || self.shares_files {
            true => 1,
            false => Jobs::of(self.options.jobs).number(),
        }
    }

    fn preference(&self) -> Preference {
        match self.options.prefer {
            Prefer::Any => Preference::Any,
            Prefer::FewWaiting => Preference::FewWaiting,
        }
    }

    /// Records the case of an assignment, and saves it if it is better than before. Breaks if the
    /// case suffices.
    fn publish(&mut self, index: usize, case: Case) -> Result<ControlFlow<()>, Refusal> {
        let is_better = self.assignments.take(index, case);
        if is_better {
            self.save()?;
        }
        Ok(
            match self.is_enough(index) || is_better && self.is_cheap(index)? {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            },
        )
    }

    fn save(&mut self) -> Result<(), Refusal> {
        self.trace.inputs = self.assignments.inputs().to_vec();
        self.trace.cases = self.assignments.cases();
        self.keep_version();
        Ok(self.trace.save(&self.options.output)?)
    }

    /// Keeps the saved data for the page if they have changed. Keeps the first versions and the
    /// last one.
    fn keep_version(&mut self) {
        if self.options.html.is_none() || self.versions.last() == Some(&self.trace) {
            return;
        }
        if self.versions.len() == MOST_VERSIONS {
            self.versions.pop();
        }
        self.versions.push(self.trace.clone());
    }

    /// Records that the constraints of an assignment prevent this failure.
    fn exclude(&mut self, index: usize, message: &str) -> Result<(), Refusal> {
        match self.assignments.exclude(index, message) {
            true => self.save(),
            false => Ok(()),
        }
    }

    /// Checks whether the whole verification is over.
    fn is_over(&self) -> bool {
        let mut stops = self.options.stop_when.iter();
        let is_late = |stop: &StopWhen| match stop {
            StopWhen::Time(limit) => self.started.elapsed() >= *limit,
            StopWhen::Constraints(_) | StopWhen::Overhead(_) => false,
        };
        self.interrupted.load(Relaxed) || stops.any(is_late)
    }

    /// Checks whether enough is verified for an assignment.
    fn is_enough(&self, index: usize) -> bool {
        let (most, constraints) = (self.most_constraints(), self.assignments.constraints(index));
        self.is_over()
            || most
                .zip(constraints)
                .is_some_and(|(most, count)| count <= most)
    }

    /// Returns the number of constraints that may remain.
    fn most_constraints(&self) -> Option<usize> {
        let stops = self.options.stop_when.iter();
        let most = stops.filter_map(|stop| match stop {
            StopWhen::Constraints(most) => Some(*most),
            StopWhen::Time(_) | StopWhen::Overhead(_) => None,
        });
        most.max()
    }

    /// Withdraws the saved data if the program turns out to be unsuitable for verification.
    fn withdraw_if(&mut self, refusal: &Refusal) {
        if matches!(refusal, Refusal::Worker { .. }) && !self.trace.cases.is_empty() {
            self.withdraw();
        }
    }

    fn withdraw(&mut self) {
        self.trace.cases.clear();
        let output = &self.options.output;
        // Only a safe trace is removed. The file may not exist, or may be another one.
        if SafeTrace::load(output).is_ok() {
            let _ = std::fs::remove_file(output);
        }
    }

    /// Withdraws everything if the program has a data race, because then the compiler and the
    /// processor decide its behaviour.
    fn drop_racy(&mut self, reports: &[(usize, Report)]) {
        let mut errors = reports.iter().flat_map(|(_, report)| &report.errors);
        if errors.any(|failure| failure.kind == FailureKind::DataRace) {
            self.withdraw();
        }
    }

    fn print(&self, reports: &[(usize, Report)]) -> Done {
        let unverified = self.unverified(reports);
        let verdict = self.verdict(reports, unverified.is_empty());
        let mut all = reports.iter().map(|(_, report)| report);
        let failed = all.find(|report| !report.errors.is_empty());
        if let (Format::Text, false, Some(failed)) =
            (self.options.format, self.options.quiet, failed)
        {
            presentation::print_text(failed)?;
        }
        let file = self.options.output.as_path();
        let accepted: BTreeSet<&LeftOut> = reports
            .iter()
            .flat_map(|(_, report)| &report.accepted)
            .collect();
        let text = match self.options.format {
            Format::Json => {
                let object = serde_json::json!({
                    "verdict": verdict,
                    "file": file.display().to_string(),
                    "inputs": self.trace.inputs,
                    "cases": self.trace.cases,
                    "unverified": unverified,
                    "accepted": accepted,
                });
                format!("{}\n", harmless_json(&object.to_string()))
            }
            Format::Text => {
                let mut text = match (self.trace.cases.is_empty(), verdict) {
                    (true, Verdict::Bounded) => {
                        "nothing was verified, so nothing is saved\n".to_owned()
                    }
                    _ => self.trace.summary(file),
                };
                for left_out in &unverified {
                    text.push_str(&left_out.line());
                }
                for left_out in accepted {
                    text.push_str(&format!(
                        "accepted ({}): {}\n",
                        left_out.kind, left_out.what
                    ));
                }
                harmless(&text).into_owned()
            }
        };
        terminal::print(&text).map_err(|error| Refusal::System {
            what: "print the result",
            error,
        })?;
        Ok(exit_code(verdict))
    }

    /// Returns the verdict: a bug if any report has one, even if the constraints prevent it.
    /// Otherwise the verdict says whether everything is verified.
    fn verdict(&self, reports: &[(usize, Report)], is_verified: bool) -> Verdict {
        let mut verdicts = reports.iter().map(|(_, report)| report.verdict);
        match (verdicts.any(|verdict| verdict == Verdict::Bug), is_verified) {
            (true, _) => Verdict::Bug,
            (false, true) => Verdict::Verified,
            (false, false) => Verdict::Bounded,
        }
    }

    /// Returns the inputs that are not fully verified and have no bug, with reasons.
    fn unverified(&self, reports: &[(usize, Report)]) -> Vec<Unverified> {
        let mut indices: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
        for index in 0..self.assignments.len() {
            let report = reports.iter().find(|(reported, _)| *reported == index);
            let bounds = match report.map(|(_, report)| report) {
                Some(report) if report.verdict == Verdict::Bug => continue,
                Some(report) => match self.assignments.is_complete(index) {
                    false => report.bounds.clone(),
                    true => reaching_bounds(report),
                },
                None => vec!["stopped before it was examined".to_owned()],
            };
            let is_complete = report.is_some() && self.assignments.is_complete(index);
            if !(bounds.is_empty() && is_complete) {
                indices.entry(bounds).or_default().push(index);
            }
        }
        let unverified = indices.into_iter().map(|(bounds, assignments)| Unverified {
            inputs: self.assignments.condition(&assignments),
            bounds,
        });
        unverified.collect()
    }
}

/// Returns the bounds that cut something off although the search is complete.
fn reaching_bounds(report: &Report) -> Vec<String> {
    let limits = report.limits.iter().zip(&report.bounds);
    let cut = limits.filter(|(limit, _)| match limit {
        Limit::Executions | Limit::Time | Limit::Interrupted | Limit::Observer | Limit::Replay => {
            false
        }
        Limit::Race
        | Limit::Algorithm
        | Limit::Preemptions
        | Limit::Events
        | Limit::Accesses
        | Limit::Timeouts
        | Limit::Unroll
        | Limit::Patience
        | Limit::Exploration
        | Limit::LeftOut(_) => true,
    });
    cut.map(|(_, bound)| bound.clone()).collect()
}

/// Inputs that are not fully verified.
#[derive(Serialize)]
struct Unverified {
    /// `None` if the program has no inputs.
    inputs: Option<String>,
    bounds: Vec<String>,
}

impl Unverified {
    fn line(&self) -> String {
        let inputs = self.inputs.iter().map(|inputs| format!(" for {inputs}"));
        let inputs: String = inputs.collect();
        match self.bounds.join("; ") {
            bounds if bounds.is_empty() => format!("not everything is verified{inputs}\n"),
            bounds => format!("not everything is verified{inputs}: {bounds}\n"),
        }
    }
}

/// Returns the arguments of a program with the values of its inputs filled in.
fn with_inputs(arguments: &[String], inputs: &Inputs) -> Vec<String> {
    let fill = |argument: &String| {
        let inputs = inputs.iter();
        inputs.fold(argument.clone(), |text, (name, value)| {
            text.replace(&format!("{{{name}}}"), &value.to_string())
        })
    };
    arguments.iter().map(fill).collect()
}
