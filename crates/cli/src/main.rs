//! The command `mazurka`: arguments, files and exit codes. Everything else is in the libraries.

#![forbid(unsafe_code)]

mod arguments;
mod check;
mod check_run;
mod cluster;
mod compare;
mod corpus_job;
mod crew;
mod explore;
mod fatality;
mod guard;
mod interruption;
mod jobs;
mod list;
mod manual;
mod native_check;
mod output_files;
mod presentation;
mod progress_line;
mod refusal;
mod replay;
mod run;
mod runner;
mod runtime_library;
mod show;
mod stop_when;
mod subject;
mod terminal;
mod time_limit;
mod verify;
mod wrapper;

use arguments::{Arguments, Command};
use native::Language;
use refusal::Refusal;
use report::Verdict;
use std::process::ExitCode;

/// Exit code for wrong usage, or for a file or program that cannot be used.
const REFUSED: u8 = 2;
/// Exit code for a search that was not completed.
const UNFINISHED: u8 = 3;

fn main() -> ExitCode {
    let arguments = match Arguments::read() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    terminal::choose_colours(arguments.color);
    let done = match arguments.command {
        Command::Check(options) => check::check(&options),
        Command::Cc(options) => wrapper::compile(Language::C, &options),
        Command::CPlusPlus(options) => wrapper::compile(Language::CPlusPlus, &options),
        Command::Explore(options) => explore::explore(*options),
        Command::List(options) => list::list(&options),
        Command::Replay(options) => replay::replay(&options),
        Command::Compare(options) => compare::compare(&options),
        Command::Verify(options) => verify::verify(&options),
        Command::Show(options) => show::show(&options),
        Command::Run(options) => run::run(&options),
        Command::CheckRun(options) => check_run::check_run(&options),
        Command::Worker(options) => cluster::work(&options),
        Command::Jobs(server) => cluster::jobs(&server),
        Command::Attach(options) => cluster::attach(&options),
        Command::Cancel(options) => cluster::cancel(&options),
        Command::Completions(options) => manual::completions(&options),
        Command::Man(options) => manual::man(&options),
        Command::SubmitTest(options) => cluster::submit_test(&options),
        Command::CorpusJob { program } => corpus_job::run(&program),
    };
    match done {
        Ok(code) => code,
        Err(refusal) => {
            terminal::complain(&refusal.to_string());
            ExitCode::from(REFUSED)
        }
    }
}

/// The result of a command: an exit code, or the reason why it could not be done.
type Done = Result<ExitCode, Refusal>;

/// Returns the exit code: 0 verified, 1 bug, 3 stopped by a bound.
fn exit_code(verdict: Verdict) -> ExitCode {
    match verdict {
        Verdict::Verified => ExitCode::SUCCESS,
        Verdict::Bug => ExitCode::from(1),
        Verdict::Bounded => ExitCode::from(UNFINISHED),
    }
}
