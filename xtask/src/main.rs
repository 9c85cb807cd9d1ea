//! The commands of Mazurka's developers, one word each: `cargo xtask --help`.
#![forbid(unsafe_code)]

mod api;
mod bench;
mod checklist;

use clap::Parser;
use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The outcome of a command. An error is shown in one line.
type Done = Result<(), Box<dyn Error>>;

/// The commands of Mazurka's developers.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Task {
    /// Runs all checks, as CI does: about an hour
    All,
    /// Runs the fast checks: formatting, lints, tests of four crates, the architecture, links
    Fast,
    /// Checks many random programs, and all mutants: takes a night
    Fuzz {
        /// The number of random C and C++ programs
        #[arg(default_value_t = 50_000)]
        programs: u32,
    },
    /// Measures the command against the saved baseline
    Bench {
        /// Saves the most recent build of the command as the baseline
        #[arg(long)]
        save: bool,
    },
    /// Compares the public API of the users' crates with its snapshot in docs/api
    Api {
        /// Replaces the snapshot
        #[arg(long)]
        save: bool,
    },
    /// Lists what a new algorithm or object needs
    Add { what: checklist::What },
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::All => run(".ci/run", &[]),
        Task::Fast => fast(),
        Task::Fuzz { programs } => run(".ci/long", &[&programs.to_string()]),
        Task::Bench { save: true } => bench::save(),
        Task::Bench { save: false } => bench::compare(),
        Task::Api { save } => api::check(save),
        Task::Add { what } => {
            checklist::print(what);
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn fast() -> Done {
    let core = "test --package mazurka-explore --package mazurka-objects --package mazurka-runtime \
                --package mazurka-report --lib --tests";
    run(".ci/docs", &["links"])?;
    cargo("fmt --all --check")?;
    cargo("clippy --workspace --all-targets -- -D warnings")?;
    cargo(core)?;
    cargo("test --package mazurka-cli --test architecture")
}

/// Runs Cargo with arguments that are separated by spaces.
fn cargo(arguments: &str) -> Done {
    run("cargo", &arguments.split_whitespace().collect::<Vec<_>>())
}

/// Runs a program in the root of the repository.
fn run(program: &str, arguments: &[&str]) -> Done {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    match command.status()? {
        status if status.success() => Ok(()),
        status => Err(format!("{program} {}: {status}", arguments.join(" ")).into()),
    }
}

/// Returns the root of the repository.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Returns the directory of Cargo's output.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
