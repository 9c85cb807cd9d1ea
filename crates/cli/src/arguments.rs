//! The command line.

mod of_cluster;
mod of_conditions;
mod of_explorer;
mod of_report;
mod values;

pub use of_cluster::{AttachOptions, CancelOptions, SubmitTestOptions, WorkerOptions};
pub use of_conditions::{CheckConditions, SharedConditions};
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
    /// The command to run.
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
  mazurka explore --search queue.c           also searches, and shows the progress
  mazurka explore --schedule queue.schedule.json queue.c

The page is reachable from this machine only, with the token in its address.

Exit codes: 0 ended, 2 wrong usage or unusable file.";

const VERIFY_EXAMPLES: &str = "\
Examples:
  mazurka cc -O2 -o queue queue.c            the program as it will be run
  mazurka verify ./queue -o safe.trace
  mazurka verify ./queue '{size}' --input size=1..4 --stop-when constraints=3 -o safe.trace

The file is written as soon as one execution is verified, and improves until all are.

Exit codes: 0 verified, 1 constraints that prevent a bug remain, 2 wrong usage or unusable file, 3 stopped before
everything was verified.";

const RUN_EXAMPLES: &str = "\
Examples:
  mazurka run --safe safe.trace ./queue
  mazurka run --safe safe.trace --record run.json ./queue 3

If `mazurka verify` saves a better file during the run, it takes effect at once. The exit code is that of the program,
or 2 if the safe schedules cannot be enforced.";

const CHECK_RUN_CODES: &str = "\
Exit codes: 0 all constraints were kept, 1 a constraint was broken, 2 a file cannot be used.";

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Check a program in C or C++, or one of the corpus
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Box<CheckOptions>),
    /// Compile C with hooks; use it instead of the compiler: CC="mazurka cc"
    #[command(name = "cc")]
    Cc(WrapperOptions),
    /// Compile C++ with hooks; use it instead of the compiler: CXX="mazurka c++"
    #[command(name = "c++")]
    CPlusPlus(WrapperOptions),
    /// Explore executions interactively in a browser, choosing which thread runs next
    #[command(after_help = EXPLORE_EXAMPLES)]
    Explore(Box<ExploreOptions>),
    /// List the programs of the corpus with their known results
    List(ListOptions),
    /// Replay a saved schedule
    #[command(after_help = EXIT_CODES)]
    Replay(ReplayOptions),
    /// Run every algorithm on a program and compare the results with published numbers
    Compare(CompareOptions),
    /// Verify a program incrementally and save the safe schedules
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(VerifyOptions),
    /// Show the safe schedules in a saved file
    #[command(after_help = EXIT_CODES)]
    Show(ShowOptions),
    /// Run a program and restrict it to its safe schedules
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunOptions),
    /// Check whether a recorded run kept to the safe schedules
    #[command(after_help = CHECK_RUN_CODES)]
    CheckRun(CheckRunOptions),
    /// Work on jobs that `mazurka check --cluster` submits to a NATS server
    Worker(WorkerOptions),
    /// List the jobs on a NATS server
    Jobs(Server),
    /// Wait for a job on a NATS server and show its result
    Attach(AttachOptions),
    /// Cancel a job on a NATS server and delete its data
    Cancel(CancelOptions),
    /// Print a shell completion script
    Completions(CompletionsOptions),
    /// Print the manual page of mazurka or of one command
    Man(ManOptions),
    /// Submit a test in Rust to a NATS server, with the order in the environment
    #[command(hide = true)]
    SubmitTest(SubmitTestOptions),
    /// Run parts of the search of a corpus program, as the parent process directs
    #[command(hide = true)]
    CorpusJob {
        /// The program.
        program: String,
    },
}

/// How lists and tables are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Human-readable text.
    Text,
    /// One JSON object in one line.
    Json,
}

/// Arguments of a compiler wrapper.
#[derive(Args)]
pub struct WrapperOptions {
    /// Arguments of the compiler (MAZURKA_CC or MAZURKA_CXX if set, otherwise cc, gcc or clang)
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// Options of `check`.
#[derive(Args, Clone)]
pub struct CheckOptions {
    /// C or C++ sources; or a program built with `mazurka cc`, and its arguments; or a corpus
    /// program, optionally with sizes: `mutex:3,4`
    #[arg(value_name = "NAME|FILE", required = true)]
    pub program: Vec<OsString>,
    /// Compiler flags (for sources), or further arguments of the program
    #[arg(last = true, value_name = "FLAG")]
    pub flags: Vec<OsString>,
    /// Compiler for sources [default: CC or CXX, otherwise cc, gcc or clang]
    #[arg(long, value_name = "COMMAND", value_parser = command())]
    pub cc: Option<OsString>,
    /// Arguments of the compiled program, separated by spaces
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub args: Option<String>,
    #[command(flatten)]
    pub conditions: CheckConditions,
    /// Search algorithm
    #[arg(long, value_parser = algorithm(), default_value = Algorithm::default().name())]
    pub algorithm: Algorithm,
    #[command(flatten)]
    pub report: ReportOptions,
    /// Stop after N executions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_executions: Option<u64>,
    /// Stop after this time, for example 30s or 5m
    #[arg(long, value_name = "TIME")]
    pub time_limit: Option<TimeLimit>,
    /// Leave out executions with more than N preemptions; `0..` starts with 0 and raises the bound
    /// until no execution is left out
    #[arg(long, value_name = "N")]
    pub preemptions: Option<Preemptions>,
    /// Reductions to less than one execution per trace. `symmetry` explores threads that run the
    /// same code with the same arguments up to permutation
    #[arg(
        long,
        value_name = "WHICH",
        value_delimiter = ',',
        default_value = "none"
    )]
    pub reductions: Vec<Reduction>,
    /// Seed for the algorithms random and pct
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Number of search processes [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Search on the workers of this NATS server (see `mazurka worker`): nats://HOST:4222
    #[arg(long, value_name = "URL", conflicts_with_all = ["jobs", "checkpoint", "resume"])]
    pub cluster: Option<String>,
    /// Credentials file for the NATS server
    #[arg(long, value_name = "FILE", requires = "cluster")]
    pub credentials: Option<PathBuf>,
    /// Continue after a bug and report each distinct bug
    #[arg(long)]
    pub keep_going: bool,
    /// Extra executions to shorten the failing execution that is shown [default: 100]
    #[arg(long, value_name = "N")]
    pub extra: Option<u64>,
    /// Kinds of unexplored behaviour to accept, so that they do not keep the program from being
    /// verified: unseen, asm, libraries, inputs, reuse, memory
    #[arg(long, value_name = "KIND", value_parser = omission(), value_delimiter = ',')]
    pub accept: Vec<Omission>,
    /// Kinds of findings not to report: race, leak, exit-status, deadlock, …
    #[arg(long, value_name = "KIND", value_parser = Suppression::of_kind, value_delimiter = ',')]
    pub allow: Vec<Suppression>,
    /// File of findings not to report, with lines like race:FUNCTION and leak:FILE
    #[arg(long, value_name = "FILE")]
    pub suppressions: Option<PathBuf>,
    /// Save the state of the search to this file, at most a hundred times per second
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Resume the search from the state in this file
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// File for the schedule of a bug [default: NAME.schedule.json]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Stop as on an interrupt when standard input ends, at the latest with the process at its
    /// other end
    #[arg(long, hide = true)]
    pub leashed: bool,
    /// Search without these shortcuts, which must not change the result (for tests)
    #[arg(long, value_name = "SHORTCUT", value_parser = shortcut(), value_delimiter = ',', hide = true)]
    pub without: Vec<Shortcut>,
    /// Do not save schedules
    #[arg(long, conflicts_with = "output")]
    pub no_output: bool,
    /// Whether the explorer shows the result.
    #[arg(skip)]
    pub is_explored: bool,
}

/// A reduction of the search to less than one execution for each trace.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Reduction {
    /// No reduction.
    None,
    /// Explore threads that run the same code with the same arguments up to permutation.
    Symmetry,
}

/// Options of `verify`.
#[derive(Args)]
pub struct VerifyOptions {
    /// A program built with `mazurka cc`, and its arguments, in which `{size}` stands for the value
    /// of the input `size`; or a corpus program
    #[arg(value_name = "PROGRAM", required = true)]
    pub program: Vec<OsString>,
    /// Further arguments of the program
    #[arg(last = true, value_name = "ARGUMENT")]
    pub arguments: Vec<OsString>,
    /// File for the safe schedules
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Range of an input that is an argument, for example n=1..4
    #[arg(long, value_name = "NAME=LOW..HIGH", value_parser = input)]
    pub input: Vec<Input>,
    /// Number of input values verified at the same time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Stop early: at constraints=N, after time=30s, or at overhead=10% of the program's run time
    #[arg(long, value_name = "WHAT")]
    pub stop_when: Vec<StopWhen>,
    /// Which execution to verify first
    #[arg(long, value_name = "WHICH", default_value = "any")]
    pub prefer: Prefer,
    /// Search algorithm; only source, optimal and parsimonious can verify
    #[arg(long, value_parser = algorithm(), default_value = Algorithm::Optimal.name())]
    pub algorithm: Algorithm,
    #[command(flatten)]
    pub conditions: SharedConditions,
    /// Kinds of unexplored behaviour to accept, so that they do not keep the program from being
    /// verified: unseen, asm, libraries, inputs, reuse, memory
    #[arg(long, value_name = "KIND", value_parser = omission(), value_delimiter = ',')]
    pub accept: Vec<Omission>,
    /// Output format
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Also write the safe schedules to this file as an HTML page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print only the last line, and no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// Which execution comes first.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Prefer {
    /// The first correct execution.
    Any,
    /// An execution in which few threads wait for others.
    FewWaiting,
}

/// Treatment of inputs that were not verified.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnverifiedInputs {
    /// Run the program normally, without enforcement.
    RunFree,
}

/// Options of `run`.
#[derive(Args)]
pub struct RunOptions {
    /// The file that `mazurka verify` saved
    #[arg(long, value_name = "FILE")]
    pub safe: PathBuf,
    /// Record the order of events of this run in a file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Value of an input that the program declares, for example n=3
    #[arg(long, value_name = "NAME=VALUE", value_parser = value)]
    pub input: Vec<(String, i64)>,
    /// How to treat inputs that were not verified [default: refuse to run]
    #[arg(long, value_name = "WHAT")]
    pub unverified_inputs: Option<UnverifiedInputs>,
    /// Delay threads randomly with this seed (for tests)
    #[arg(long, value_name = "SEED", hide = true)]
    pub delays: Option<u64>,
    /// Enforce no constraints (for tests and measurements)
    #[arg(long, hide = true)]
    pub free: bool,
    /// Report after this many milliseconds that no thread makes progress (for tests)
    #[arg(long, value_name = "MILLISECONDS", hide = true)]
    pub patience: Option<u64>,
    /// The program, built with `mazurka cc`, and its arguments
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
    /// The file that `mazurka run --record` wrote
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// The file that `mazurka verify` saved
    #[arg(value_name = "SAFE")]
    pub safe: PathBuf,
}

/// Options of `show`.
#[derive(Args)]
pub struct ShowOptions {
    /// The file that `mazurka verify` saved
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Output format
    #[arg(long, default_value = "text")]
    pub format: Shown,
    /// Also write an HTML page to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// How safe schedules are shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shown {
    /// Human-readable text.
    Text,
    /// A Graphviz graph (`dot -Tsvg`).
    Dot,
}

/// Options of `list`.
#[derive(Args)]
pub struct ListOptions {
    /// Output format
    #[arg(long, default_value = "text")]
    pub format: Format,
}

/// Options of `replay`.
#[derive(Args)]
pub struct ReplayOptions {
    /// The schedule file that `mazurka check` saved
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Replay a program in C or C++ in gdb, stopping where it fails
    #[arg(long)]
    pub gdb: bool,
    /// Trust the build recipe in the file, even if its compiler, flags or files could run any
    /// command
    #[arg(long)]
    pub trust_recipe: bool,
    #[command(flatten)]
    pub report: ReportOptions,
}

/// Options of `compare`.
#[derive(Args)]
pub struct CompareOptions {
    /// The program, optionally with sizes: `mutex:3,4`
    #[arg(value_name = "NAME[:SIZE[,SIZE]]")]
    pub program: String,
    /// Algorithms to compare, separated by commas [default: all]
    #[arg(long, value_parser = algorithm(), value_delimiter = ',')]
    pub algorithm: Vec<Algorithm>,
    /// Output format
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Also write an HTML page to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Stop each algorithm after this time, for example 30s or 5m
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub time_limit: TimeLimit,
    /// Stop each algorithm after N executions
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
                let is_printed = match error.print() {
                    Err(problem) if problem.kind() != io::ErrorKind::BrokenPipe => {
                        terminal::complain(&format!("cannot print the help: {problem}"));
                        false
                    }
                    _ => true,
                };
                if asked_for && is_printed {
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
    let typed = std::env::args_os().nth(1).unwrap_or_default();
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
            let text = text.trim_start_matches('\u{feff}');
            all.extend(Suppression::read(text).map_err(refused)?);
        }
        Ok(all)
    }
}

/// Returns the content of a text file that a user wrote. Pipes are refused: they may never end or
/// never be written.
fn text(path: &Path) -> Result<String, String> {
    const MOST: u64 = 1 << 20;
    match path.metadata() {
        Ok(file) if file.is_file() && file.len() > MOST => {
            return Err("this file is larger than 1 MiB; give a text file".to_owned());
        }
        Ok(file) if file.is_file() => std::fs::read_to_string(path),
        Ok(_) => return Err("this is not a regular file; give a text file".to_owned()),
        Err(error) => Err(error),
    }
    .map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => "this is not UTF-8 text".to_owned(),
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    })
}
