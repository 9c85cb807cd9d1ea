//! Compares the search over execution graphs with axioms, on random programs.

#![forbid(unsafe_code)]

use clap::Parser;
use std::fmt::Display;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};
use testkit::litmus::Litmus;
use testkit::random::Random;
use testkit::shrink::shrink;
use testkit::weak::{MODELS, SUITES, check, reached};

/// Compares the search over execution graphs with the axioms of memory models.
#[derive(Parser)]
struct Arguments {
    /// Number of programs of each family.
    #[arg(long, default_value_t = 100)]
    programs: u64,
    /// Seed, to repeat a run.
    #[arg(long)]
    seed: Option<u64>,
    /// Leave out programs with more candidates.
    #[arg(long, default_value_t = 20_000)]
    candidates: u64,
    /// Check this program instead of random ones.
    #[arg(long)]
    program: Option<String>,
    /// Print which models allow what these litmus tests ask for.
    #[arg(long, num_args = 1..)]
    litmus: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if !arguments.litmus.is_empty() {
        return match arguments.litmus.iter().try_for_each(print) {
            Ok(()) => ExitCode::SUCCESS,
            Err(mistake) => {
                eprintln!("error: {mistake}");
                ExitCode::from(2)
            }
        };
    }
    if let Some(text) = &arguments.program {
        let program = match text.parse() {
            Ok(program) => program,
            Err(mistake) => {
                eprintln!("error: {mistake}");
                return ExitCode::from(2);
            }
        };
        for (memory, is_c11) in MODELS {
            let result = check(&program, memory, is_c11, u64::MAX);
            println!("{memory:?} {is_c11}: {result:?}");
        }
        return ExitCode::SUCCESS;
    }
    let seed = arguments.seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.expect("the clock is past 1970").as_nanos() as u64
    });
    println!("seed {seed}");
    let mut random = Random::new(seed);
    for suite in SUITES {
        let (mut checks, mut graphs, mut candidates, mut large) = (0_u64, 0, 0, 0_u64);
        for _ in 0..arguments.programs {
            let program = suite.program(&mut random);
            for (memory, is_c11) in MODELS {
                let result = |program: &_| check(program, memory, is_c11, arguments.candidates);
                match result(&program) {
                    Ok(Some(compared)) => {
                        checks += 1;
                        graphs += compared.graphs;
                        candidates += compared.candidates;
                    }
                    Ok(None) => large += 1,
                    Err(_) => {
                        let small = shrink(&program, |program| result(program).is_err());
                        let what =
                            result(&small).expect_err("the program was shrunk to one that fails");
                        println!(
                            "{} under {memory:?}, C11 {is_c11}: {small}\n{what}",
                            suite.name
                        );
                        return ExitCode::FAILURE;
                    }
                }
            }
        }
        println!(
            "{}: {checks} checks, {graphs} graphs, {candidates} candidates, {large} too large",
            suite.name
        );
    }
    ExitCode::SUCCESS
}

/// Prints the verdicts of the search on a litmus test, in the form of a table of verdicts.
fn print(path: &PathBuf) -> Result<(), String> {
    let named = |mistake: &dyn Display| format!("{}: {mistake}", path.display());
    let text = fs::read_to_string(path).map_err(|mistake| named(&mistake))?;
    let test: Litmus = text.parse().map_err(|mistake| named(&mistake))?;
    print!("{:<28}", test.name);
    for (memory, is_c11) in MODELS {
        let graphs = reached(&test.program, memory, is_c11).map_err(|why| named(&why))?;
        let verdict = match test.is_allowed(&graphs) {
            true => "allowed",
            false => "forbidden",
        };
        print!(" {verdict:<10}");
    }
    println!();
    Ok(())
}
