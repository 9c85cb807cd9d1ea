//! `mazurka verify`: explores so that runs may be kept to what is verified already, and saves that each time.

mod assignments;
mod native_program;
mod overhead;

use crate::arguments::{Format, Plain, Prefer, VerifyOptions};
use crate::check::{is_writable, print_report};
use crate::progress_line::ProgressLine;
use crate::refusal::Refusal;
use crate::stop_when::StopWhen;
use crate::subject::{NativeProgram, Subject};
use crate::{Done, exit_code, interruption, terminal};
use assignments::Assignments;
use corpus::Instance;
use mazurka::{Checker, Preference};
use report::{Case, FailureKind, Inputs, Report, SafeTrace, Verdict, harmless, harmless_json};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// Verifies a program.
pub fn verify(options: &VerifyOptions) -> Done {
    let _held = is_writable(&options.output)?;
    let mut verification = Verification {
        options,
        started: Instant::now(),
        interrupted: interruption::flag()?,
        line: ProgressLine::new(!options.quiet),
        binary: None,
        trace: SafeTrace::default(),
        assignments: Assignments::of(&options.input)?,
    };
    let reports = match Subject::built(&options.program, &options.arguments)? {
        Subject::Corpus(instance) => vec![verification.of_instance(&instance)?],
        Subject::Native(program) => verification
            .of_program(&program)
            .inspect_err(|refusal| verification.withdraw_if(refusal))?,
    };
    verification.line.clear();
    verification.drop_racy(&reports);
    verification.print(&reports)
}

/// A verification under way.
struct Verification<'o> {
    options: &'o VerifyOptions,
    started: Instant,
    interrupted: Arc<AtomicBool>,
    line: ProgressLine,
    /// The program, if it is one that can be run.
    binary: Option<PathBuf>,
    /// What is saved, but for the cases.
    trace: SafeTrace,
    assignments: Assignments,
}

impl Verification<'_> {
    /// A program of the corpus, which has no inputs.
    fn of_instance(&mut self, instance: &Instance) -> Result<Report, Refusal> {
        if !self.options.input.is_empty() {
            let why = "programs of the corpus have sizes instead: `mazurka list`";
            let option = "--input";
            return Err(Refusal::Option { option, why });
        }
        self.trace.program = instance.to_string();
        let mut checker = Checker::new()
            .name(&instance.to_string())
            .algorithm(self.options.algorithm)
            .stop(Arc::clone(&self.interrupted))
            .observer(self.line.observer());
        if let Some(events) = self.options.max_events {
            checker = checker.max_events(events);
        }
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
        self.assignments.done(0);
        Ok(verified.report)
    }

    /// A program in machine code, for one assignment of its inputs after the other.
    fn of_program(&mut self, program: &NativeProgram) -> Result<Vec<Report>, Refusal> {
        let path = program.path();
        let binary = native::Binary::recognise(path)?;
        if binary.is_rust() && self.options.plain.is_some() {
            return Err(Refusal::Option {
                option: "--plain",
                why: "plain accesses of a program in Rust are seen in `mazurka::cell`, and must not race",
            });
        }
        let content = std::fs::read(path).map_err(|error| Refusal::System {
            what: "read the program",
            error,
        })?;
        self.binary = Some(path.to_owned());
        self.trace.program = program.name();
        self.trace.program_checksum = SafeTrace::checksum_of(&content);
        let arguments = program.arguments.iter();
        self.trace.arguments = arguments
            .map(|own| own.to_string_lossy().into_owned())
            .collect();
        self.trace.interleaves_plain = self.options.plain == Some(Plain::Sc);
        let mut reports = Vec::new();
        while let Some(index) = self.assignments.next_unverified() {
            if self.is_over() {
                break;
            }
            match self.of_assignment(program, index)? {
                native_program::Told::Report(report) => {
                    self.assignments.done(index);
                    reports.push(*report);
                }
                native_program::Told::Asked(input) => {
                    self.assignments.add(input)?;
                    reports.clear();
                }
                native_program::Told::Nothing => break,
            }
        }
        Ok(reports)
    }

    fn preference(&self) -> Preference {
        match self.options.prefer {
            Prefer::Any => Preference::Any,
            Prefer::FewWaiting => Preference::FewWaiting,
        }
    }

    /// Takes note of what is verified for an assignment, and saves it if runs get easier by it.
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
        Ok(self.trace.save(&self.options.output)?)
    }

    /// The constraints of an assignment prevent this.
    fn exclude(&mut self, index: usize, message: &str) -> Result<(), Refusal> {
        match self.assignments.exclude(index, message) {
            true => self.save(),
            false => Ok(()),
        }
    }

    /// Whether nothing more is to be verified, for whatever assignment.
    fn is_over(&self) -> bool {
        let mut stops = self.options.stop_when.iter();
        let is_late = |stop: &StopWhen| match stop {
            StopWhen::Time(limit) => self.started.elapsed() >= *limit,
            StopWhen::Constraints(_) | StopWhen::Overhead(_) => false,
        };
        self.interrupted.load(Relaxed) || stops.any(is_late)
    }

    /// Whether enough is verified for an assignment.
    fn is_enough(&self, index: usize) -> bool {
        let (most, own) = (self.most_constraints(), self.assignments.constraints(index));
        self.is_over() || most.zip(own).is_some_and(|(most, own)| own <= most)
    }

    /// The constraints that may remain.
    fn most_constraints(&self) -> Option<usize> {
        let stops = self.options.stop_when.iter();
        let most = stops.filter_map(|stop| match stop {
            StopWhen::Constraints(most) => Some(*most),
            StopWhen::Time(_) | StopWhen::Overhead(_) => None,
        });
        most.max()
    }

    /// What is verified of a program that turns out to be none for a verification is not safe.
    fn withdraw_if(&mut self, refusal: &Refusal) {
        if matches!(refusal, Refusal::Worker { .. }) && !self.trace.cases.is_empty() {
            self.withdraw();
        }
    }

    fn withdraw(&mut self) {
        self.trace.cases.clear();
        // There may be none.
        let _ = std::fs::remove_file(&self.options.output);
    }

    /// Whether a program with a data race does what was verified is up to the compiler and the processor: nothing of it is safe.
    fn drop_racy(&mut self, reports: &[Report]) {
        let mut errors = reports.iter().flat_map(|report| &report.errors);
        if errors.any(|failure| failure.kind == FailureKind::DataRace) {
            self.withdraw();
        }
    }

    fn print(&self, reports: &[Report]) -> Done {
        let verdict = self.verdict(reports);
        let failed = reports.iter().find(|report| !report.errors.is_empty());
        if let (Format::Text, false, Some(failed)) =
            (self.options.format, self.options.quiet, failed)
        {
            print_report(failed, Format::Text, false)?;
        }
        let file = self.options.output.as_path();
        let text = match self.options.format {
            Format::Json => format!("{}\n", harmless_json(&json(verdict, file, &self.trace))),
            Format::Text => harmless(&self.trace.summary(file)).into_owned(),
        };
        terminal::print(&text).map_err(|error| Refusal::System {
            what: "print the result",
            error,
        })?;
        Ok(exit_code(verdict))
    }

    /// A bug if one remains to be prevented; else whether everything is verified.
    fn verdict(&self, reports: &[Report]) -> Verdict {
        let has_bug = reports.iter().any(|report| report.verdict == Verdict::Bug);
        let is_complete = self.trace.cases.iter().all(|case| case.is_complete);
        match (
            has_bug,
            is_complete && self.assignments.next_unverified().is_none(),
        ) {
            (true, _) => Verdict::Bug,
            (false, true) => Verdict::Verified,
            (false, false) => Verdict::Bounded,
        }
    }
}

fn json(verdict: Verdict, file: &Path, trace: &SafeTrace) -> String {
    let object = serde_json::json!({
        "verdict": verdict,
        "file": file.display().to_string(),
        "inputs": trace.inputs,
        "cases": trace.cases,
    });
    object.to_string()
}

/// The arguments of a program with the values of its inputs in them.
fn with_inputs(arguments: &[String], inputs: &Inputs) -> Vec<String> {
    let fill = |argument: &String| {
        let inputs = inputs.iter();
        inputs.fold(argument.clone(), |text, (name, value)| {
            text.replace(&format!("{{{name}}}"), &value.to_string())
        })
    };
    arguments.iter().map(fill).collect()
}
