//! Checks a program in C or C++: builds it, starts the process in which it checks itself, and listens to it.

use crate::arguments::{CheckOptions, Plain};
use crate::interruption;
use crate::progress_line::ProgressLine;
use crate::refusal::Refusal;
use crate::subject::{NativeProgram, Origin};
use native::{
    Answer, Binary, Build, BuildError, Built, Compiler, Language, Order, RuntimeLibrary, Unseen,
    Worker, ending, libraries,
};
use report::Report;
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

/// Searches; nothing if it was interrupted before there was anything to report.
pub fn search(options: &CheckOptions, program: &NativeProgram) -> Result<Option<Report>, Refusal> {
    let (sender, events) = channel();
    interruption::tell(sender.clone(), options.leashed)?;
    let built = match built(options, program) {
        Err(Refusal::Build {
            error: BuildError::Interrupted,
            ..
        }) => return Ok(None),
        built => built?,
    };
    let path = match (&program.origin, &built) {
        (_, Some(built)) => built.program(),
        (Origin::Binary(path), None) => found(path),
        (Origin::Sources { .. }, None) => program.path().to_owned(),
    };
    Binary::recognise(&path)?;
    let mut report = match listen(options, program, &path, (sender, events))? {
        Some(report) => report,
        None => return Ok(None),
    };
    report.compile_s = built.map(|built| built.time().as_secs_f64());
    report.warnings.extend(warnings(options, program, &path));
    Ok(Some(report))
}

fn built(options: &CheckOptions, program: &NativeProgram) -> Result<Option<Built>, Refusal> {
    let Origin::Sources { files, flags } = &program.origin else {
        return Ok(None);
    };
    let environment = |name: &str| std::env::var_os(name);
    let language = Language::of_all(files).unwrap_or(Language::C);
    let compiler = Compiler::find(language, options.cc.as_deref(), &environment)?;
    let command = std::env::current_exe().map_err(|error| Refusal::System {
        what: "find this command",
        error,
    })?;
    let library = RuntimeLibrary::find(&command, &environment)?;
    let line = ProgressLine::new(!options.quiet);
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
        program: program.path().display().to_string(),
        error,
    })
}

/// A file without a folder is one of this folder, not a command that is looked for.
fn found(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new(".").join(path),
        Some(_) | None => path.to_owned(),
    }
}

/// Starts the process that checks, and listens until it has told its result or is interrupted.
fn listen(
    options: &CheckOptions,
    program: &NativeProgram,
    path: &Path,
    (sender, events): (Sender<Event>, Receiver<Event>),
) -> Result<Option<Report>, Refusal> {
    let mut arguments = vec![program.path().with_extension("").into_os_string()];
    arguments.extend_from_slice(&program.arguments);
    let system = |what, error| Refusal::System { what, error };
    let mut worker = Worker::start(path, &arguments, &order(options, program))
        .map_err(|error| system("start the program", error))?;
    let answers = worker.answers();
    thread::spawn(move || {
        // Nobody listens any more when this fails.
        let told = answers.map(Event::Answer).chain([Event::End]);
        told.map(|event| sender.send(event)).find(Result::is_err)
    });
    let line = ProgressLine::new(!options.quiet);
    let told = hear(&worker, &events, &line);
    line.clear();
    let name = program.name();
    match told {
        Told::Report(report) => Ok(Some(*report)),
        Told::Refused(reason) => Err(Refusal::Worker {
            program: name,
            reason,
        }),
        Told::Interrupted => Ok(None),
        Told::Nothing => {
            let status = worker
                .wait()
                .map_err(|error| system("wait for the program", error))?;
            let ended = ending(status);
            Err(Refusal::WorkerEnded {
                program: name,
                ended,
            })
        }
    }
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
        time_limit: options.time_limit.map(|limit| limit.0),
        preemptions: options.preemptions,
        seed: options.seed,
        timeouts: options.timeouts,
        max_events: options.max_events,
        unroll: options.unroll,
        interleaves_plain: options.plain == Some(Plain::Sc),
        checkpoint: options.checkpoint.as_deref().map(absolute),
        resume: options.resume.as_deref().map(absolute),
        replay: None,
    }
}

/// The program may change its folder.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What was not seen, or not as it stands in the source.
fn warnings(options: &CheckOptions, program: &NativeProgram, path: &Path) -> Vec<String> {
    let unseen = Unseen::of(path, &libraries(path)).unwrap_or_default();
    let mut warnings: Vec<String> = unseen.iter().map(Unseen::to_string).collect();
    if let Origin::Sources { flags, .. } = &program.origin
        && options.plain == Some(Plain::Sc)
        && Build::optimises(flags)
    {
        warnings.push(
            "the compiler optimises, so that plain accesses are merged before they can interleave; with --plain=sc leave -O out"
                .to_owned(),
        );
    }
    warnings
}
