//! What can be typed.

use crate::time_limit::TimeLimit;
use crate::{REFUSED, terminal};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use explore::Algorithm;
use std::path::PathBuf;
use std::process::ExitCode;

/// Checks concurrent programs: explores every interleaving that matters, and shows the one that
/// breaks the program or proves that there is none.
#[derive(Parser)]
#[command(name = "mazurka", version, after_help = EXIT_CODES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 verified, 1 bug found, 2 wrong usage or unusable file, 3 stopped by a bound or interrupted.";

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Check a program of the corpus
    #[command(after_help = EXIT_CODES)]
    Check(CheckOptions),
    /// List the programs of the corpus, with what is known of them
    List(ListOptions),
    /// Run a saved schedule again
    #[command(after_help = EXIT_CODES)]
    Replay(ReplayOptions),
    /// Run every algorithm on a program, beside published numbers
    Compare(CompareOptions),
}

/// How results are printed.
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

/// Options of `check`.
#[derive(Args)]
pub struct CheckOptions {
    /// The program, with sizes if it has them: `mutex:3,4`
    #[arg(value_name = "NAME[:SIZE[,SIZE]]")]
    pub program: String,
    /// How to search
    #[arg(long, value_parser = algorithm(), default_value = Algorithm::default().name())]
    pub algorithm: Algorithm,
    /// How to print the result
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Stop after as many executions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_executions: Option<u64>,
    /// Stop after a time: 30s, 5m
    #[arg(long, value_name = "TIME")]
    pub time_limit: Option<TimeLimit>,
    /// Cut executions with more preemptions than this
    #[arg(long, value_name = "N")]
    pub preemptions: Option<u32>,
    /// Let context-sensitive cut executions as its paper does: loses some, so nothing is proven
    #[arg(long, value_name = "HOW")]
    pub cuts: Option<Cuts>,
    /// How context-sensitive finds equal states [default: compared]
    #[arg(long, value_name = "HOW")]
    pub states: Option<States>,
    /// Seed of the algorithms random and pct
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Go on after a bug, and report each distinct one
    #[arg(long)]
    pub keep_going: bool,
    /// Spend at most so many executions after a bug to show a short one [default: 100]
    #[arg(long, value_name = "N")]
    pub extra: Option<u64>,
    /// Print the verdict only, and no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Stop a thread at the timed operation after as many expired ones [default: 2]
    #[arg(long, value_name = "N")]
    pub timeouts: Option<u32>,
    /// Stop a thread after as many operations [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_events: Option<u32>,
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
    /// Save no schedule
    #[arg(long, conflicts_with = "output")]
    pub no_output: bool,
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
    /// How to print the result
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Print the verdict only
    #[arg(long, short)]
    pub quiet: bool,
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
    /// Reads the command line; on wrong usage complains in one line.
    pub fn read() -> Result<Arguments, ExitCode> {
        Arguments::try_parse().map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                let asked_for = !error.use_stderr();
                // A reader that has gone away has seen enough.
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

/// What is wrong, without the usage that clap adds.
fn one_line(error: &str) -> String {
    let first = error.split("\n\n").next().unwrap_or(error);
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let words: Vec<&str> = first.split_whitespace().collect();
    format!("{}; see `mazurka --help`", words.join(" "))
}

fn algorithm() -> impl TypedValueParser<Value = Algorithm> {
    PossibleValuesParser::new(Algorithm::ALL.map(Algorithm::name))
        .map(|name| name.parse().expect("only names of algorithms are possible"))
}
