//! Checks a program in C or C++: builds it, starts the process in which it checks itself, and listens to it.

use crate::arguments::{CheckOptions, Plain, ReplayOptions};
use crate::progress_line::ProgressLine;
use crate::refusal::Refusal;
use crate::runtime_library::runtime_library;
use crate::subject::{NativeProgram, Origin, with_folder};
use crate::{fatality, interruption};
use native::{
    Answer, Binary, Build, BuildError, Built, Compiler, Debugger, Language, Order, Unseen, Worker,
    ending, libraries, nameless_file, reachable,
};
use report::{Report, ScheduleFile, Trailed};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// What may happen while a program is checked.
pub enum Event {
    /// The process that checks it says something.
    Answer(Answer),
    /// It says nothing more.
    End,
    /// The user wants it to stop.
    Interruption,
}

/// What is to be done with a program.
struct Task<'a> {
    program: &'a NativeProgram,
    order: Order,
    is_quiet: bool,
    is_leashed: bool,
}

/// Searches; nothing if it was interrupted before there was anything to report.
pub fn search(options: &CheckOptions, program: &NativeProgram) -> Result<Option<Report>, Refusal> {
    let task = Task {
        program,
        order: order(options, program),
        is_quiet: options.quiet,
        is_leashed: options.leashed,
    };
    let mut report = task.carry_out()?;
    for failure in report.iter_mut().flat_map(|report| &mut report.errors) {
        failure.schedule.recipe = Some(program.recipe());
    }
    Ok(report)
}

/// Runs a saved schedule again; nothing if it was interrupted.
pub fn replay(
    options: &ReplayOptions,
    program: &NativeProgram,
    schedule: ScheduleFile,
) -> Result<Option<Report>, Refusal> {
    repetition(options, program, schedule).carry_out()
}

/// Runs a saved schedule again in a debugger; nothing if the user leaves it before the end.
pub fn debug(
    options: &ReplayOptions,
    program: &NativeProgram,
    schedule: ScheduleFile,
) -> Result<Option<Report>, Refusal> {
    Debugger::look().map_err(Refusal::Debugger)?;
    repetition(options, program, schedule).debug()
}

/// The task to run a saved schedule again.
fn repetition<'a>(
    options: &ReplayOptions,
    program: &'a NativeProgram,
    schedule: ScheduleFile,
) -> Task<'a> {
    Task {
        program,
        order: Order {
            name: schedule.program.clone(),
            interleaves_plain: schedule.conditions.interleaves_plain,
            replay: Some(schedule),
            ..Order::default()
        },
        is_quiet: options.quiet,
        is_leashed: false,
    }
}

impl Task<'_> {
    fn carry_out(&self) -> Result<Option<Report>, Refusal> {
        let (sender, events) = channel();
        interruption::tell(sender.clone(), self.is_leashed)?;
        let Some((built, path)) = self.made()? else {
            return Ok(None);
        };
        let unseen = Unseen::of(&path, &libraries(&path)).unwrap_or_default();
        let order = Order {
            left_out: unseen.iter().filter_map(Unseen::left_out).collect(),
            ..self.order.clone()
        };
        let compile_s = built.as_ref().map(|built| built.time().as_secs_f64());
        // A program that runs needs the name of its file no more: nothing is left behind, however this process ends.
        let file = File::open(&path).map_err(|error| Refusal::System {
            what: "read the program",
            error,
        })?;
        let worker = self.start(&path, &order)?;
        drop(built);
        let report = match self.listen(worker, &sender, &events)? {
            Heard::Report(report) => Some(*report),
            Heard::Interrupted => None,
            Heard::Nothing(ended) => self.examine(&file, ended, (&sender, &events))?,
        };
        Ok(report.map(|mut report| {
            report.compile_s = compile_s;
            report.warnings.extend(self.warnings(&unseen));
            report
        }))
    }

    fn debug(&self) -> Result<Option<Report>, Refusal> {
        // An interruption is for the debugger, which has the terminal, too.
        let (sender, _events) = channel();
        interruption::tell(sender, false)?;
        let Some((built, path)) = self.made()? else {
            return Ok(None);
        };
        let debugger = Debugger::new(&path, &self.arguments(), &self.order);
        let debugger = debugger.map_err(|error| Refusal::System {
            what: "prepare the debugger",
            error,
        })?;
        let (_, told) = debugger.run().map_err(Refusal::Debugger)?;
        drop(built);
        match told {
            Some(Answer::Report(report)) => Ok(Some(*report)),
            Some(Answer::Refused(reason)) => Err(Refusal::Worker {
                program: self.order.name.clone(),
                reason,
            }),
            Some(
                Answer::Progress(_)
                | Answer::Interleaving(_)
                | Answer::Verified(_)
                | Answer::Asked(_),
            )
            | None => Ok(None),
        }
    }

    /// The program, and where it is; nothing if its compiler was interrupted.
    fn made(&self) -> Result<Option<(Option<Built>, PathBuf)>, Refusal> {
        let built = match self.built() {
            Err(Refusal::Build {
                error: BuildError::Interrupted,
                ..
            }) => return Ok(None),
            built => built?,
        };
        let path = match &built {
            Some(built) => built.program(),
            None => with_folder(self.program.path()),
        };
        Binary::recognise(&path)?;
        Ok(Some((built, path)))
    }

    fn built(&self) -> Result<Option<Built>, Refusal> {
        let Origin::Sources { files, flags } = &self.program.origin else {
            return Ok(None);
        };
        let environment = |name: &str| std::env::var_os(name);
        let language = Language::of_all(files).unwrap_or(Language::C);
        let chosen = self.program.compiler.as_deref();
        let compiler = Compiler::find(language, chosen, &environment)?;
        let library = runtime_library()?;
        let line = ProgressLine::new(!self.is_quiet);
        line.say("compiling".to_owned());
        let build = Build {
            compiler: &compiler,
            library: &library,
            files,
            flags,
        };
        let built = build.run();
        line.clear();
        built.map(Some).map_err(|error| Refusal::Build {
            program: self.program.path().display().to_string(),
            error,
        })
    }

    /// The name that it knows itself by, and its arguments.
    fn arguments(&self) -> Vec<OsString> {
        let mut arguments = vec![self.program.path().with_extension("").into_os_string()];
        arguments.extend_from_slice(&self.program.arguments);
        arguments
    }

    fn start(&self, path: &Path, order: &Order) -> Result<Worker, Refusal> {
        Worker::start(path, &self.arguments(), order).map_err(|error| Refusal::System {
            what: "start the program",
            error,
        })
    }

    /// Listens to the process that checks until it has told its result or is interrupted.
    fn listen(
        &self,
        mut worker: Worker,
        sender: &Sender<Event>,
        events: &Receiver<Event>,
    ) -> Result<Heard, Refusal> {
        let (answers, sender) = (worker.answers(), sender.clone());
        thread::spawn(move || {
            // Nobody listens any more when this fails.
            let told = answers.map(Event::Answer).chain([Event::End]);
            told.map(|event| sender.send(event)).find(Result::is_err)
        });
        let line = ProgressLine::new(!self.is_quiet);
        let told = hear(&worker, events, &line);
        line.clear();
        match told {
            Told::Report(report) => Ok(Heard::Report(report)),
            Told::Refused(reason) => Err(Refusal::Worker {
                program: self.order.name.clone(),
                reason,
            }),
            Told::Interrupted => Ok(Heard::Interrupted),
            Told::Nothing => {
                let status = worker.wait().map_err(|error| Refusal::System {
                    what: "wait for the program",
                    error,
                })?;
                Ok(Heard::Nothing(ending(status)))
            }
        }
    }

    /// The process that checked has died: another one, which leaves a trail, shows in which execution.
    fn examine(
        &self,
        program: &File,
        ended: String,
        (sender, events): (&Sender<Event>, &Receiver<Event>),
    ) -> Result<Option<Report>, Refusal> {
        if let Some(schedule) = &self.order.replay {
            return self.died_again(program, schedule, ended).map(Some);
        }
        let (_file, trail) = nameless_file().map_err(|error| Refusal::System {
            what: "create a file",
            error,
        })?;
        let order = Order {
            trail: Some(trail.clone()),
            extra: Some(0),
            checkpoint: None,
            ..self.order.clone()
        };
        let worker = self.start(&reachable(program), &order)?;
        match self.listen(worker, sender, events)? {
            Heard::Report(report) => Ok(Some(*report)),
            Heard::Interrupted => Ok(None),
            Heard::Nothing(ended) => match Trailed::read(&trail) {
                Some(trailed) => Ok(Some(self.fatal(program, trailed, &ended))),
                None => Err(self.ended_early(ended)),
            },
        }
    }

    /// A schedule that ended a process has done so again.
    fn died_again(
        &self,
        program: &File,
        schedule: &ScheduleFile,
        ended: String,
    ) -> Result<Report, Refusal> {
        if !schedule.by_accesses {
            return Err(self.ended_early(ended));
        }
        let trailed = Trailed {
            execution: 1,
            coarse: schedule.coarse.clone(),
            steps: schedule.steps.clone(),
        };
        Ok(self.fatal(program, trailed, &ended))
    }

    /// The failure of these steps, the last of which ended the process; another process shows what comes before it.
    fn fatal(&self, program: &File, trailed: Trailed, ended: &str) -> Report {
        let start = |order: &Order| self.start(&reachable(program), order).ok();
        fatality::report(&self.order, trailed, ended, start)
    }

    fn ended_early(&self, ended: String) -> Refusal {
        Refusal::WorkerEnded {
            program: self.order.name.clone(),
            ended,
        }
    }

    /// What may not be seen, or not as it stands in the source.
    fn warnings(&self, unseen: &[Unseen]) -> Vec<String> {
        let is_harmless = |unseen: &&Unseen| unseen.left_out().is_none();
        let unseen = unseen.iter().filter(is_harmless);
        let mut warnings: Vec<String> = unseen.map(Unseen::to_string).collect();
        if let Origin::Sources { flags, .. } = &self.program.origin
            && self.order.interleaves_plain
            && Build::optimises(flags)
        {
            let text = "the compiler optimises, so that plain accesses are merged before they can interleave; \
                        with --plain=sc leave -O out";
            warnings.push(text.to_owned());
        }
        warnings
    }
}

/// What became of a process that checks, unless it refuses to.
enum Heard {
    Report(Box<Report>),
    Interrupted,
    /// It ended like this.
    Nothing(String),
}

/// What the process that checks has told when it ends.
enum Told {
    Report(Box<Report>),
    Refused(String),
    Interrupted,
    Nothing,
}

/// The first interruption asks the worker for what it has, the second waits no longer.
fn hear(worker: &Worker, events: &Receiver<Event>, line: &ProgressLine) -> Told {
    let mut is_interrupted = false;
    loop {
        match events.recv() {
            Ok(Event::Answer(Answer::Progress(text))) => line.say(text),
            Ok(Event::Answer(Answer::Verified(_) | Answer::Asked(_) | Answer::Interleaving(_))) => {
            }
            Ok(Event::Answer(Answer::Report(report))) => return Told::Report(report),
            Ok(Event::Answer(Answer::Refused(reason))) => return Told::Refused(reason),
            Ok(Event::Interruption) if !is_interrupted => {
                is_interrupted = true;
                worker.interrupt();
            }
            Ok(Event::Interruption) => return Told::Interrupted,
            Ok(Event::End) | Err(_) if is_interrupted => return Told::Interrupted,
            Ok(Event::End) | Err(_) => return Told::Nothing,
        }
    }
}

fn order(options: &CheckOptions, program: &NativeProgram) -> Order {
    Order {
        name: program.name(),
        algorithm: options.algorithm.name().to_owned(),
        keep_going: options.keep_going,
        max_executions: options.max_executions,
        extra: options.extra,
        time_limit: options.time_limit.map(|limit| limit.0),
        preemptions: options.preemptions,
        seed: options.seed,
        timeouts: options.timeouts,
        max_events: options.max_events,
        unroll: options.unroll,
        accept: options.accept.clone(),
        interleaves_plain: options.plain == Some(Plain::Sc),
        without: options.without.clone(),
        checkpoint: options.checkpoint.as_deref().map(absolute),
        resume: options.resume.as_deref().map(absolute),
        ..Order::default()
    }
}

/// The program may change its folder.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
