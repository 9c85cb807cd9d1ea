//! The command line.

mod of_cluster;
mod of_explorer;
mod of_report;
mod values;

pub use of_cluster::{AttachOptions, CancelOptions, SubmitTestOptions, WorkerOptions};
pub use of_explorer::ExploreOptions;
pub use of_report::{CompletionsOptions, ManOptions, ReportFormat, ReportOptions};

use crate::cluster::Server;
use crate::jobs::Jobs;
use crate::refusal::Refusal;
use crate::stop_when::StopWhen;
use crate::time_limit::TimeLimit;
use crate::{REFUSED, terminal};
use clap::error::ErrorKind;
use clap::{Args, ColorChoice, CommandFactory, Parser, Subcommand, ValueEnum};
use explore::{Algorithm, Preemptions};
use report::{Input, Omission, Shortcut, Suppression};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use values::{algorithm, command, input, omission, shortcut, value};

/// Checks concurrent programs: explores every interleaving that matters, and shows the one that
/// breaks the program or proves that there is none.
#[derive(Parser)]
#[command(name = "mazurka", version, after_help = EXIT_CODES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// When to print in colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

const EXIT_CODES: &str = "\
Exit codes: 0 verified, 1 bug found, 2 wrong usage or unusable file, 3 stopped by a bound or interrupted.";

const CHECK_EXAMPLES: &str = "\
Examples:
  mazurka check queue.c                      sources in C or C++, compiled with gcc or clang
  mazurka check queue.c main.cpp -- -Iinclude -lm
  mazurka check --args '3 2' queue.c         with arguments of the program
  mazurka check ./queue 3 2                  a program that was built with CC=\"mazurka cc\"
  mazurka check mutex:3,4                    a program of the corpus

Exit codes: 0 verified, 1 bug found, 2 wrong usage or unusable file, 3 stopped by a bound or interrupted.";

const EXPLORE_EXAMPLES: &str = "\
Examples:
  mazurka explore queue.c                    prints the address of a page; Ctrl-C ends it
  mazurka explore --search queue.c           searches, too, and shows how far that is
  mazurka explore --schedule queue.schedule.json queue.c

The page is for this machine only, and for those who know its address. Exit codes: 0 ended, 2 wrong usage or unusable file.";

const VERIFY_EXAMPLES: &str = "\
Examples:
  mazurka cc -O2 -o queue queue.c            the program as it will be run
  mazurka verify ./queue -o safe.trace
  mazurka verify ./queue '{n}' --input n=1..4 --stop-when constraints=3 -o safe.trace

The file is there as soon as one execution is verified, and gets better until all are.

Exit codes: 0 verified, 1 the constraints that prevent a bug remain, 2 wrong usage or unusable file, 3 stopped before
everything was verified.";

const RUN_EXAMPLES: &str = "\
Examples:
  mazurka run --safe safe.trace ./queue
  mazurka run --safe safe.trace --record run.json ./queue 3

A better file that `mazurka verify` saves meanwhile takes effect at once. The exit code is the program's, or 2 if it
cannot be kept to what is verified.";

const CHECK_RUN_CODES: &str = "\
Exit codes: 0 all constraints were kept, 1 one was broken, 2 a file cannot be used.";

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Check a program in C or C++, or one of the corpus
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Box<CheckOptions>),
    /// Compile C for a check: in place of the compiler, as CC="mazurka cc"
    #[command(name = "cc")]
    Cc(WrapperOptions),
    /// Compile C++ for a check: in place of the compiler, as CXX="mazurka c++"
    #[command(name = "c++")]
    CPlusPlus(WrapperOptions),
    /// Choose by hand, in a browser, which thread runs next
    #[command(after_help = EXPLORE_EXAMPLES)]
    Explore(Box<ExploreOptions>),
    /// List the programs of the corpus, with what is known of them
    List(ListOptions),
    /// Run a saved schedule again
    #[command(after_help = EXIT_CODES)]
    Replay(ReplayOptions),
    /// Run every algorithm on a program, beside published numbers
    Compare(CompareOptions),
    /// Verify a program piece by piece, and save which schedules are safe
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(VerifyOptions),
    /// Show which schedules are safe
    #[command(after_help = EXIT_CODES)]
    Show(ShowOptions),
    /// Run a program so that it keeps to the schedules that are safe
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunOptions),
    /// Tell whether a recorded run kept to the schedules that are safe
    #[command(after_help = CHECK_RUN_CODES)]
    CheckRun(CheckRunOptions),
    /// Search for others: do jobs that `mazurka check --cluster` submits to a NATS server
    Worker(WorkerOptions),
    /// List the jobs at a NATS server
    Jobs(Server),
    /// Wait for a job at a NATS server
    Attach(AttachOptions),
    /// End a job at a NATS server, and remove what lies there for it
    Cancel(CancelOptions),
    /// Print a script that completes what is typed in a shell
    Completions(CompletionsOptions),
    /// Print the page of the manual of mazurka or of a command
    Man(ManOptions),
    /// Submit a test in Rust to a NATS server, as its process orders
    #[command(hide = true)]
    SubmitTest(SubmitTestOptions),
    /// Do parts of a search of a program of the corpus, as the process says that starts this one
    #[command(hide = true)]
    CorpusJob {
        /// The program.
        program: String,
    },
}

/// How lists and tables are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object in one line.
    Json,
}

/// Which executions are cut early.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Cuts {
    /// The anticipated cuts of CDPOR.
    AsPublished,
}

/// How equal states are found.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum States {
    /// By running both orders, which are compared exactly.
    Compared,
    /// By digests that are stored until the search comes by the other order.
    Stored,
    /// The same, checked exactly where digests are equal.
    StoredExactly,
}

/// How plain accesses of C and C++ are taken.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Plain {
    /// They are checked for data races, and do not interleave.
    Race,
    /// They interleave as atomic ones do, and may race.
    Sc,
}

/// What a compiler is called with.
#[derive(Args)]
pub struct WrapperOptions {
    /// As for the compiler that MAZURKA_CC or MAZURKA_CXX names, or cc, gcc or clang
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// Options of `check`.
#[derive(Args, Clone)]
pub struct CheckOptions {
    /// Sources in C and C++, a program that was built with `mazurka cc` and its arguments, or a program of the corpus
    /// with sizes if it has them: `mutex:3,4`
    #[arg(value_name = "NAME|FILE", required = true)]
    pub program: Vec<OsString>,
    /// Flags for the compiler of sources, or more arguments of a program
    #[arg(last = true, value_name = "FLAG")]
    pub flags: Vec<OsString>,
    /// Compile sources with this [default: CC or CXX, else cc, gcc or clang]
    #[arg(long, value_name = "COMMAND", value_parser = command())]
    pub cc: Option<OsString>,
    /// Arguments of the program that sources make, separated by spaces
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub args: Option<String>,
    /// How plain accesses of C and C++ are taken [default: race]
    #[arg(long, value_name = "HOW")]
    pub plain: Option<Plain>,
    /// Stop a thread of C or C++ after as many rounds of a loop
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub unroll: Option<u32>,
    /// How to search
    #[arg(long, value_parser = algorithm(), default_value = Algorithm::default().name())]
    pub algorithm: Algorithm,
    #[command(flatten)]
    pub report: ReportOptions,
    /// Stop after as many executions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_executions: Option<u64>,
    /// Stop after a time: 30s, 5m
    #[arg(long, value_name = "TIME")]
    pub time_limit: Option<TimeLimit>,
    /// Leave out executions with more preemptions than this; 0.. begins with none and allows one more until none is left out
    #[arg(long, value_name = "N")]
    pub preemptions: Option<Preemptions>,
    /// Let context-sensitive cut executions as its paper does: loses some, so nothing is proven
    #[arg(long, value_name = "HOW")]
    pub cuts: Option<Cuts>,
    /// How context-sensitive finds equal states [default: compared]
    #[arg(long, value_name = "HOW")]
    pub states: Option<States>,
    /// Seed of the algorithms random and pct
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Search with so many processes [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Search with the workers of this NATS server (see `mazurka worker`): nats://HOST:4222
    #[arg(long, value_name = "URL", conflicts_with_all = ["jobs", "checkpoint", "resume"])]
    pub cluster: Option<String>,
    /// A file of credentials for the NATS server
    #[arg(long, value_name = "FILE", requires = "cluster")]
    pub credentials: Option<PathBuf>,
    /// Go on after a bug, and report each distinct one
    #[arg(long)]
    pub keep_going: bool,
    /// Spend at most so many executions after a bug to show a short one [default: 100]
    #[arg(long, value_name = "N")]
    pub extra: Option<u64>,
    /// Stop a thread at the timed operation after as many expired ones [default: 2]
    #[arg(long, value_name = "N")]
    pub timeouts: Option<u32>,
    /// Let condition variables wake a thread without a signal as often [default: 0]
    #[arg(long, value_name = "N")]
    pub spurious: Option<u32>,
    /// Let allocations of a thread in C or C++ get memory that was freed as often [default: 0]
    #[arg(long, value_name = "N")]
    pub reuse: Option<u32>,
    /// Stop a thread after as many operations [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_events: Option<u32>,
    /// Count a program as verified although this was not explored: unseen, asm, libraries, inputs, reuse
    #[arg(long, value_name = "KIND", value_parser = omission(), value_delimiter = ',')]
    pub accept: Vec<Omission>,
    /// Do not report these kinds of findings: race, leak, exit-status, deadlock, …
    #[arg(long, value_name = "KIND", value_parser = Suppression::of_kind, value_delimiter = ',')]
    pub allow: Vec<Suppression>,
    /// Do not report the findings that this file names, with lines like race:FUNCTION and leak:FILE
    #[arg(long, value_name = "FILE")]
    pub suppressions: Option<PathBuf>,
    /// Save the state of the search to this file after every execution
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Go on from the state in this file
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Where to save the schedule of a bug [default: NAME.schedule.json]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Stop, as if interrupted, when the standard input ends: with the process that holds its other end
    #[arg(long, hide = true)]
    pub leashed: bool,
    /// Search without these shortcuts, which must not change the result: for tests
    #[arg(long, value_name = "SHORTCUT", value_parser = shortcut(), value_delimiter = ',', hide = true)]
    pub without: Vec<Shortcut>,
    /// Save no schedule
    #[arg(long, conflicts_with = "output")]
    pub no_output: bool,
    /// Whether the explorer shows the result.
    #[arg(skip)]
    pub is_explored: bool,
}

/// Options of `verify`.
#[derive(Args)]
pub struct VerifyOptions {
    /// A program that was built with `mazurka cc` and its arguments, `{n}` for the value of input n; or a program of the corpus
    #[arg(value_name = "PROGRAM", required = true)]
    pub program: Vec<OsString>,
    /// More arguments of the program
    #[arg(last = true, value_name = "ARGUMENT")]
    pub arguments: Vec<OsString>,
    /// Where to save what is safe
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// The values of an input that is an argument: n=1..4
    #[arg(long, value_name = "NAME=LOW..HIGH", value_parser = input)]
    pub input: Vec<Input>,
    /// Verify for so many values of the inputs at once [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Stop early: constraints=N, time=30s or overhead=10% of the program's time
    #[arg(long, value_name = "WHAT")]
    pub stop_when: Vec<StopWhen>,
    /// Which execution to begin with
    #[arg(long, value_name = "WHICH", default_value = "any")]
    pub prefer: Prefer,
    /// How to search: source, optimal or parsimonious
    #[arg(long, value_parser = algorithm(), default_value = Algorithm::Optimal.name())]
    pub algorithm: Algorithm,
    /// How plain accesses of C and C++ are taken [default: race]
    #[arg(long, value_name = "HOW")]
    pub plain: Option<Plain>,
    /// Stop a thread after as many operations [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_events: Option<u32>,
    /// Stop a thread at the timed operation after as many expired ones [default: 2]
    #[arg(long, value_name = "N")]
    pub timeouts: Option<u32>,
    /// Count a program as verified although this was not explored: unseen, asm, libraries, inputs
    #[arg(long, value_name = "KIND", value_parser = omission(), value_delimiter = ',')]
    pub accept: Vec<Omission>,
    /// How to print the result
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Write what is safe to this file, too, as a page for a browser
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the last line only, and no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// Which execution comes first.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Prefer {
    /// The first correct one.
    Any,
    /// One in which few threads wait for others.
    FewWaiting,
}

/// What becomes of a program with inputs that were not verified.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnverifiedInputs {
    /// It runs as usual, without enforcement.
    RunFree,
}

/// Options of `run`.
#[derive(Args)]
pub struct RunOptions {
    /// What `verify` saved
    #[arg(long, value_name = "FILE")]
    pub safe: PathBuf,
    /// Write which order happened
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// The value of an input that the program declares: n=3
    #[arg(long, value_name = "NAME=VALUE", value_parser = value)]
    pub input: Vec<(String, i64)>,
    /// What to do with inputs that were not verified [default: refuse them]
    #[arg(long, value_name = "WHAT")]
    pub unverified_inputs: Option<UnverifiedInputs>,
    /// Delay threads at random, by this seed: for tests
    #[arg(long, value_name = "SEED", hide = true)]
    pub delays: Option<u64>,
    /// Keep nothing: for tests and measurements
    #[arg(long, hide = true)]
    pub free: bool,
    /// Tell after so many milliseconds that nothing moves: for tests
    #[arg(long, value_name = "MILLISECONDS", hide = true)]
    pub patience: Option<u64>,
    /// The program, which was built with `mazurka cc`, and its arguments
    #[arg(
        value_name = "PROGRAM",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub program: Vec<OsString>,
}

/// Options of `check-run`.
#[derive(Args)]
pub struct CheckRunOptions {
    /// What `run --record` wrote
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// What `verify` saved
    #[arg(value_name = "SAFE")]
    pub safe: PathBuf,
}

/// Options of `show`.
#[derive(Args)]
pub struct ShowOptions {
    /// What `verify` saved
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How to show it
    #[arg(long, default_value = "text")]
    pub format: Shown,
    /// Write a page for a browser to this file, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// How safe schedules are shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shown {
    /// For people.
    Text,
    /// As a graph, for `dot -Tsvg`.
    Dot,
}

/// Options of `list`.
#[derive(Args)]
pub struct ListOptions {
    /// How to print the list
    #[arg(long, default_value = "text")]
    pub format: Format,
}

/// Options of `replay`.
#[derive(Args)]
pub struct ReplayOptions {
    /// The schedule that `check` saved
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Run a program in C or C++ in gdb, which stops where it fails
    #[arg(long)]
    pub gdb: bool,
    /// Build the program as the file says, also with a compiler, flags or files that could run any command
    #[arg(long)]
    pub trust_recipe: bool,
    #[command(flatten)]
    pub report: ReportOptions,
}

/// Options of `compare`.
#[derive(Args)]
pub struct CompareOptions {
    /// The program, with sizes if it has them: `mutex:3,4`
    #[arg(value_name = "NAME[:SIZE[,SIZE]]")]
    pub program: String,
    /// Only these algorithms, separated by commas
    #[arg(long, value_parser = algorithm(), value_delimiter = ',')]
    pub algorithm: Vec<Algorithm>,
    /// How to print the table
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Write a page for a browser to this file, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Stop each algorithm after a time: 30s, 5m
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub time_limit: TimeLimit,
    /// Stop each algorithm after as many executions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_executions: Option<u64>,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

impl Arguments {
    /// Reads the command line. On wrong usage it prints one line.
    pub fn read() -> Result<Arguments, ExitCode> {
        if let Some(command) = wrapper(std::env::args_os().skip(1)) {
            return Ok(Arguments {
                command,
                color: ColorChoice::Auto,
            });
        }
        Arguments::try_parse().map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                let asked_for = !error.use_stderr();
                // A reader that has closed the pipe has read enough.
                let _ = error.print();
                if asked_for {
                    ExitCode::SUCCESS
                } else {
                    ExitCode::from(REFUSED)
                }
            }
            _ => {
                terminal::complain(&one_line(&error.to_string()));
                ExitCode::from(REFUSED)
            }
        })
    }
}

/// Returns the command of a compiler wrapper, whose arguments all go to the compiler, even
/// `--help`.
fn wrapper(mut arguments: impl Iterator<Item = OsString>) -> Option<Command> {
    let name = arguments.next()?;
    let options = |arguments| WrapperOptions { arguments };
    match name.to_str()? {
        "cc" => Some(Command::Cc(options(arguments.collect()))),
        "c++" => Some(Command::CPlusPlus(options(arguments.collect()))),
        _ => None,
    }
}

/// Returns the error and a suggestion, if there is one, without the usage that clap adds.
fn one_line(error: &str) -> String {
    let mut paragraphs = error.split("\n\n").map(str::trim);
    let first = paragraphs.next().unwrap_or(error);
    let first = first.strip_prefix("error: ").unwrap_or(first);
    // Other tips explain how to pass the word as a value, which few users want.
    let tip = paragraphs.find_map(|paragraph| {
        let tip = paragraph.strip_prefix("tip: ")?;
        tip.lines().next().filter(|tip| tip.contains("similar"))
    });
    let text = match tip {
        Some(tip) => format!("{first}; {tip}"),
        None => first.to_owned(),
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    format!(
        "{}; see `mazurka{} --help`",
        words.join(" "),
        typed_command()
    )
}

/// Returns the typed command, if it exists: its help says more than the general help.
fn typed_command() -> String {
    let typed = std::env::args().nth(1).unwrap_or_default();
    match Arguments::command().find_subcommand(&typed) {
        Some(command) => format!(" {}", command.get_name()),
        None => String::new(),
    }
}

impl CheckOptions {
    /// Returns the server whose workers search, if one is given.
    pub fn server(&self) -> Option<Server> {
        Some(Server {
            url: self.cluster.clone()?,
            credentials: self.credentials.clone(),
        })
    }

    /// Checks whether the result contains the tree of the search.
    pub fn draws(&self) -> bool {
        self.is_explored || self.report.html.is_some()
    }

    /// Returns the number of jobs that search.
    pub fn jobs(&self) -> Jobs {
        Jobs::of(self.jobs)
    }

    /// Returns the findings that the user suppresses, everywhere or at places that a file names.
    pub fn suppressed(&self) -> Result<Vec<Suppression>, Refusal> {
        let mut all = self.allow.clone();
        if let Some(path) = &self.suppressions {
            let refused = |reason| Refusal::Suppressions {
                path: path.clone(),
                reason,
            };
            let text = text(path).map_err(refused)?;
            all.extend(Suppression::read(&text).map_err(refused)?);
        }
        Ok(all)
    }
}

/// Returns the content of a text file that a user wrote. Pipes are refused: they may never end or
/// never be written.
fn text(path: &Path) -> Result<String, String> {
    match path.metadata() {
        Ok(file) if file.is_file() => std::fs::read_to_string(path),
        Ok(_) => return Err("this is no regular file; give a text file".to_owned()),
        Err(error) => Err(error),
    }
    .map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => "this is no text in UTF-8".to_owned(),
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    })
}
