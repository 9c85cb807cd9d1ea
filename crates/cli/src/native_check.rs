//! Checks a program in C or C++: builds it, starts its checking process and reads the answers.

use crate::arguments::{CheckOptions, Reduction, ReplayOptions};
use crate::cluster::{self, Server};
use crate::crew;
use crate::guard::{Guard, Received};
use crate::jobs::Jobs;
use crate::progress_line::ProgressLine;
use crate::refusal::Refusal;
use crate::runner::Executable;
use crate::runtime_library::runtime_library;
use crate::subject::{NativeProgram, Origin, with_folder};
use crate::{fatality, interruption};
use mazurka::{CheckError, Checker, Division};
use native::{
    Answer, Binary, Build, BuildError, Built, Compiler, CompilerError, Debugger, Language, Order,
    Unseen, Worker, ending, libraries, may_change_files, reachable,
};
use report::{LeftOut, Limit, Omission, Recipe, Report, ScheduleFile, Trailed};
use std::ffi::OsString;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Compiling may take as long as the time limit of the search, but at least this long.
const COMPILING: Duration = Duration::from_secs(30);

/// The reason why only one job searches a program.
const SHARES_FILES: &str = "the program may write files, which parallel executions would share, so only one job searches it";

/// The task of checking a program.
struct Task<'a> {
    program: &'a NativeProgram,
    order: Order,
    line: ProgressLine,
    /// Whether the search also ends when standard input ends.
    is_leashed: bool,
    jobs: Jobs,
    server: Option<Server>,
}

/// Searches and returns the report.
pub fn search(
    options: &CheckOptions,
    program: &NativeProgram,
    line: &ProgressLine,
) -> Result<Report, Refusal> {
    let task = Task {
        program,
        order: order(options, program.name())?,
        line: line.clone(),
        is_leashed: options.leashed,
        jobs: options.jobs(),
        server: options.server(),
    };
    let mut report = task.carry_out()?;
    for failure in &mut report.errors {
        failure.schedule.recipe = Some(program.recipe());
    }
    Ok(report)
}

/// A program that is ready to start.
pub struct Ready {
    executable: Executable,
    /// How the program is built and started.
    pub recipe: Recipe,
    /// Whether simultaneous executions would share files that the program writes.
    pub shares_files: bool,
    /// Keeps the file of the program open, because its name may be deleted.
    _file: File,
}

impl Ready {
    /// Starts the program with an order.
    pub fn start(&self, order: &Order) -> Result<Worker, Refusal> {
        self.executable.start(order)
    }
}

/// Compiles the program if necessary.
pub fn ready(
    options: &CheckOptions,
    program: &NativeProgram,
    line: &ProgressLine,
    stop: &AtomicBool,
) -> Result<Ready, Refusal> {
    let task = Task {
        program,
        order: order(options, program.name())?,
        line: line.clone(),
        is_leashed: options.leashed,
        jobs: options.jobs(),
        server: None,
    };
    let (built, path) = task.made(stop)?;
    let is_rust = Binary::recognize(&path)?.is_rust();
    let shares_files = !is_rust && may_change_files(&path, &libraries(&path));
    let file = File::open(&path).map_err(|error| Refusal::System {
        what: "read the program",
        error,
    })?;
    // The compiled file needs no name any more, so it leaves nothing behind, however this process
    // ends.
    let path = if built.is_some() {
        reachable(&file)
    } else {
        path
    };
    Ok(Ready {
        executable: task.executable(path),
        recipe: program.recipe(),
        shares_files,
        _file: file,
    })
}

/// Replays a saved schedule.
pub fn replay(
    options: &ReplayOptions,
    program: &NativeProgram,
    schedule: ScheduleFile,
) -> Result<Report, Refusal> {
    repetition(options, program, schedule).carry_out()
}

/// Replays a saved schedule in a debugger. Returns `None` if the user leaves it before the end.
pub fn debug(
    options: &ReplayOptions,
    program: &NativeProgram,
    schedule: ScheduleFile,
) -> Result<Option<Report>, Refusal> {
    Debugger::check_installed().map_err(Refusal::Debugger)?;
    repetition(options, program, schedule).debug()
}

/// Returns the task of replaying a saved schedule.
fn repetition<'a>(
    options: &ReplayOptions,
    program: &'a NativeProgram,
    schedule: ScheduleFile,
) -> Task<'a> {
    Task {
        program,
        order: Order {
            name: schedule.program.clone(),
            conditions: schedule.conditions,
            replay: Some(schedule),
            explains: options.report.explains() && !options.gdb,
            ..Order::default()
        },
        line: ProgressLine::new(!options.report.quiet),
        is_leashed: false,
        jobs: Jobs::default(),
        server: None,
    }
}

impl Task<'_> {
    fn carry_out(&self) -> Result<Report, Refusal> {
        let stop = interruption::gentle_flag(self.is_leashed)?;
        let (mut built, path) = match self.made(&stop) {
            Ok(made) => made,
            Err(Refusal::Build {
                error: BuildError::Interrupted,
                ..
            }) => {
                let limit = if stop.load(Relaxed) {
                    Limit::Interrupted
                } else {
                    Limit::Time
                };
                return Ok(fatality::unfinished(&self.order, None, limit, false));
            }
            Err(refusal) => return Err(refusal),
        };
        let is_rust = Binary::recognize(&path)?.is_rust();
        let libraries = libraries(&path);
        let unseen = Unseen::of(&path, &libraries).unwrap_or_default();
        let mut order = Order {
            left_out: unseen.iter().filter_map(Unseen::left_out).collect(),
            ..self.order.clone()
        };
        // Every program in Rust is linked with the functions for files.
        let shares_files = !is_rust && may_change_files(&path, &libraries);
        let compile_s = built.as_ref().map(|built| built.time().as_secs_f64());
        // A running program needs no name, so it leaves nothing behind, however this process ends.
        let file = File::open(&path).map_err(|error| Refusal::System {
            what: "read the program",
            error,
        })?;
        if let Some(server) = &self.server {
            if shares_files {
                let what = "the program may write files, which parallel executions on the same machine share";
                order.left_out.push(LeftOut::new(Omission::Unseen, what));
            }
            let program = cluster::Program::of(&self.executable(path))?;
            let job = (order, program, Some(self.program.recipe()));
            let mut report = cluster::search(server, job, &stop, &self.line)?;
            report.compile_s = compile_s;
            self.mention(&unseen, &mut report);
            return Ok(report);
        }
        let divided = match shares_files {
            true => Err(self.jobs.by_one_because(SHARES_FILES)),
            false => self
                .divided(&order, is_rust)
                .map_err(|error| Refusal::Check {
                    program: order.name.clone(),
                    error,
                })?,
        };
        let mut report = match divided {
            Ok(division) => {
                let path = match built.take() {
                    Some(_) => reachable(&file),
                    None => path,
                };
                let executable = self.executable(path);
                let report = crew::search(division, &executable, &order, &stop, &self.line);
                self.line.clear();
                report?
            }
            Err(warning) => {
                let worker = self.executable(path).start(&order)?;
                drop(built);
                let mut report = self.listen(worker, &order, &file, &stop)?;
                report.warnings.extend(warning);
                report
            }
        };
        report.compile_s = compile_s;
        self.mention(&unseen, &mut report);
        Ok(report)
    }

    fn debug(&self) -> Result<Option<Report>, Refusal> {
        let stop = interruption::end_of_debugging()?;
        let (built, path) = self.made(&stop)?;
        let debugger = Debugger::new(&path, &self.arguments(), &self.order);
        let debugger = debugger.map_err(|error| Refusal::System {
            what: "prepare the debugger",
            error,
        })?;
        let (_, answer) = debugger
            .run(|| stop.load(Relaxed))
            .map_err(Refusal::Debugger)?;
        drop(built);
        match answer {
            Some(Answer::Report(report)) => Ok(Some(*report)),
            Some(Answer::Refused(reason)) => Err(Refusal::Worker {
                program: self.order.name.clone(),
                reason,
            }),
            Some(
                Answer::Progress(_)
                | Answer::Interleaving(_)
                | Answer::Position(_)
                | Answer::Verified(_)
                | Answer::Asked(_)
                | Answer::Brought,
            )
            | None => Ok(None),
        }
    }

    /// Builds the program if necessary and returns its path.
    fn made(&self, stop: &AtomicBool) -> Result<(Option<Built>, PathBuf), Refusal> {
        let built = self.built(stop)?;
        let path = match &built {
            Some(built) => built.program(),
            None => with_folder(self.program.path()),
        };
        Binary::recognize(&path)?;
        Ok((built, path))
    }

    fn built(&self, stop: &AtomicBool) -> Result<Option<Built>, Refusal> {
        let Origin::Sources { files, flags } = &self.program.origin else {
            return Ok(None);
        };
        for file in files {
            match file.metadata() {
                Ok(there) if !there.is_file() => return Err(Refusal::NoSource(file.clone())),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Err(Refusal::MissingSource(file.clone()));
                }
                Ok(_) | Err(_) => {}
            }
        }
        let environment = |name: &str| std::env::var_os(name);
        let language = Language::of_all(files).unwrap_or(Language::C);
        let chosen = self.program.compiler.as_deref();
        let start = Instant::now();
        let limit = self.order.time_limit.map(|limit| limit.max(COMPILING));
        let is_late = || limit.is_some_and(|limit| start.elapsed() > limit);
        let stops = || stop.load(Relaxed) || is_late();
        let compiler = Compiler::find(language, chosen, &environment, &stops);
        let compiler = compiler.map_err(|error| match error {
            CompilerError::Interrupted => self.not_built(BuildError::Interrupted),
            error => error.into(),
        })?;
        let library = runtime_library()?;
        self.line.say("compiling".to_owned());
        let build = Build {
            compiler: &compiler,
            library: &library,
            files,
            flags,
        };
        let built = build.run(&stops);
        self.line.clear();
        built.map(Some).map_err(|error| self.not_built(error))
    }

    fn not_built(&self, error: BuildError) -> Refusal {
        Refusal::Build {
            program: self.program.path().display().to_string(),
            error,
        }
    }

    /// Returns the name of the program as its first argument, and its other arguments.
    fn arguments(&self) -> Vec<OsString> {
        let mut arguments = vec![self.program.path().with_extension("").into_os_string()];
        arguments.extend_from_slice(&self.program.arguments);
        arguments
    }

    /// Divides the search. The inner error is returned if the search is not divided. It is the
    /// warning for the report, if one is needed.
    fn divided(
        &self,
        order: &Order,
        is_rust: bool,
    ) -> Result<Result<Division, Option<String>>, CheckError> {
        let checker = Checker::ordered(order).waiting_after_main(!is_rust);
        self.jobs.divide(&checker.by(&order.algorithm)?)
    }

    fn executable(&self, path: PathBuf) -> Executable {
        Executable {
            path,
            arguments: self.arguments(),
            libraries: None,
        }
    }

    /// Reads the answers of the checking process until it has reported its result or ended.
    fn listen(
        &self,
        worker: Worker,
        order: &Order,
        program: &File,
        stop: &AtomicBool,
    ) -> Result<Report, Refusal> {
        let mut guard = Guard::over(worker, order.time_limit);
        let answered = loop {
            match guard.listen(|| stop.load(Relaxed))? {
                Received::Answer(Answer::Progress(text)) => self.line.say(text),
                Received::Answer(
                    Answer::Verified(_)
                    | Answer::Asked(_)
                    | Answer::Interleaving(_)
                    | Answer::Position(_)
                    | Answer::Brought,
                ) => {}
                Received::Answer(Answer::Report(report)) => break Ok(Ok(*report)),
                Received::Answer(Answer::Refused(reason)) => {
                    let program = self.order.name.clone();
                    break Ok(Err(Refusal::Worker { program, reason }));
                }
                Received::Killed(limit) => break Ok(Ok(guard.unfinished(order, limit, true))),
                Received::Ended(ended) => break Err(ended),
            }
        };
        self.line.clear();
        match (answered, guard.stopping()) {
            (Ok(answer), _) => answer,
            (Err(_), Some(limit)) => Ok(guard.unfinished(order, limit, false)),
            (Err(ended), None) => self.died(order, program, (guard.trail(), ended), stop),
        }
    }

    /// Handles the death of the checking process in this execution.
    fn died(
        &self,
        order: &Order,
        program: &File,
        (trailed, ended): (Option<Trailed>, ExitStatus),
        stop: &AtomicBool,
    ) -> Result<Report, Refusal> {
        let trailed = match &self.order.replay {
            Some(schedule) if schedule.by_accesses => Some(trail_of(schedule)),
            Some(_) => None,
            None => trailed,
        };
        if ended.success() {
            return Err(Refusal::ended_by_itself(&self.order.name));
        }
        let Some(trailed) = trailed else {
            return Err(Refusal::WorkerEnded {
                program: self.order.name.clone(),
                ended: ending(ended),
            });
        };
        let executable = self.executable(reachable(program));
        let start = |order: &Order| executable.start(order).ok();
        Ok(fatality::examine(order, trailed, ended, start, stop))
    }

    /// Adds to the report what is known about accesses that the check may not see, or that differ
    /// from the source.
    fn mention(&self, unseen: &[Unseen], report: &mut Report) {
        for unseen in unseen {
            if let Some(left_out) = unseen.left_out_if_weak() {
                if report.memory.is_weak() {
                    report.leave_out(left_out, &self.order.accept);
                }
            } else if unseen.left_out().is_none() {
                report.warnings.push(unseen.to_string());
            }
        }
        if let Origin::Sources { flags, .. } = &self.program.origin
            && self.order.conditions.interleaves_plain
            && Build::optimizes(flags)
        {
            let text = "the compiler optimizes, so plain accesses may be merged before they can interleave; \
                        leave out -O with --plain=sc";
            report.warnings.push(text.to_owned());
        }
    }
}

/// Returns the trail of a process that ended while it repeated this schedule.
fn trail_of(schedule: &ScheduleFile) -> Trailed {
    Trailed {
        execution: 1,
        coarse: schedule.coarse.clone(),
        steps: schedule.steps.clone(),
        ..Trailed::default()
    }
}

/// Returns the order for a process that checks the program of this name.
pub fn order(options: &CheckOptions, name: String) -> Result<Order, Refusal> {
    Ok(Order {
        name,
        algorithm: options.algorithm.name().to_owned(),
        keep_going: options.keep_going,
        max_executions: options.max_executions,
        extra: options.extra,
        explains: options.report.explains(),
        draws: options.draws(),
        time_limit: options.time_limit.map(|limit| limit.0),
        preemptions: options.preemptions,
        symmetry: options.reductions.contains(&Reduction::Symmetry),
        seed: options.seed,
        conditions: options.conditions.all(),
        accept: options.accept.clone(),
        suppressions: options.suppressed()?,
        without: options.without.clone(),
        checkpoint: options.checkpoint.as_deref().map(absolute),
        resume: options.resume.as_deref().map(absolute),
        ..Order::default()
    })
}

/// Makes the path absolute, because the program may change its working directory.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
