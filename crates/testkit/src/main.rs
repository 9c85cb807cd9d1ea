//! Runs random programs against the oracle: `testkit --programs 1000 [--seed S] [--suite NAME]
//! [--algorithm A]`, or with `--traces N` also long ones against each other. The first program that
//! breaks a law is made smaller and printed.

#![forbid(unsafe_code)]

use clap::Parser;
use explore::Algorithm;
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use testkit::law::{Effort, Tally, check};
use testkit::random::Random;
use testkit::suite::{SUITES, Suite};
use testkit::{Program, shrink::shrink};

/// Checks the laws of every algorithm on random programs.
#[derive(Parser)]
struct Arguments {
    /// How many programs.
    #[arg(long, default_value_t = 1000)]
    programs: u64,
    /// Repeats a run.
    #[arg(long)]
    seed: Option<u64>,
    /// Only this family of programs.
    #[arg(long)]
    suite: Vec<String>,
    /// Only these algorithms.
    #[arg(long)]
    algorithm: Vec<Algorithm>,
    /// Leaves out programs with more prefixes.
    #[arg(long, default_value_t = Effort::default().states)]
    states: usize,
    /// Compares the algorithms with each other where a program has too many prefixes, but not more
    /// traces than this; and makes longer programs.
    #[arg(long, default_value_t = Effort::default().traces)]
    traces: u64,
    /// In how many orders the threads are numbered.
    #[arg(long, default_value_t = Effort::default().orders)]
    orders: usize,
    /// Checks this program instead of random ones.
    #[arg(long)]
    program: Option<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let seed = arguments.seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.expect("the clock is past 1970").as_nanos() as u64
    });
    let algorithms = match arguments.algorithm.is_empty() {
        true => Algorithm::ALL.to_vec(),
        false => arguments.algorithm.clone(),
    };
    let mut suites = Vec::new();
    for name in &arguments.suite {
        let Some(suite) = Suite::named(name) else {
            let names = SUITES.map(|suite| suite.name).join(", ");
            eprintln!("error: no suite is called {name:?}; there are {names}");
            return ExitCode::from(2);
        };
        suites.push(*suite);
    }
    if suites.is_empty() {
        suites = SUITES.to_vec();
    }
    let effort = Effort {
        states: arguments.states,
        traces: arguments.traces,
        orders: arguments.orders,
        ..Effort::default()
    };
    println!("seed {seed}");
    match &arguments.program {
        Some(text) => match text.parse() {
            Ok(program) => one(&program, &algorithms, effort, seed),
            Err(mistake) => {
                eprintln!("error: {mistake}");
                ExitCode::from(2)
            }
        },
        None => many(arguments.programs, &suites, &algorithms, effort, seed),
    }
}

fn one(program: &Program, algorithms: &[Algorithm], effort: Effort, seed: u64) -> ExitCode {
    match check(program, algorithms, effort, &mut Random::new(seed)) {
        Ok(None) => println!("the program has too many states"),
        Ok(Some(tally)) => println!("{} traces, {} executions", tally.traces, tally.executions),
        Err(violation) => {
            println!("{violation}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn many(
    programs: u64,
    suites: &[Suite],
    algorithms: &[Algorithm],
    effort: Effort,
    seed: u64,
) -> ExitCode {
    let start = Instant::now();
    let mut total = Tally::default();
    let mut checked = vec![0; suites.len()];
    let mut number = 0;
    while checked.iter().sum::<u64>() < programs {
        let index = (number % suites.len() as u64) as usize;
        let own_seed = seed.wrapping_add(number);
        number += 1;
        let mut random = Random::new(own_seed);
        let program = match effort.traces {
            0 => suites[index].program(&mut random),
            _ => suites[index].long_program(&mut random),
        };
        match check(&program, algorithms, effort, &mut random.clone()) {
            Ok(None) => continue,
            Ok(Some(tally)) => {
                checked[index] += 1;
                total.traces += tally.traces;
                total.executions += tally.executions;
                total.unfinished += tally.unfinished;
            }
            Err(violation) => {
                println!(
                    "suite {}, program\n{program}\n{violation}",
                    suites[index].name
                );
                let algorithms: Vec<Algorithm> = violation.algorithm.into_iter().collect();
                let effort = Effort {
                    orders: effort.orders.max(8),
                    ..effort
                };
                let smallest = shrink(&program, |candidate| {
                    check(candidate, &algorithms, effort, &mut random.clone()).is_err()
                });
                println!("smallest\n{smallest}");
                match check(&smallest, &algorithms, effort, &mut random) {
                    Ok(_) => println!("which holds in other orders"),
                    Err(violation) => println!("{violation}"),
                }
                return ExitCode::FAILURE;
            }
        }
        if checked
            .iter()
            .sum::<u64>()
            .is_multiple_of(programs.div_ceil(10).max(1))
        {
            let done: u64 = checked.iter().sum();
            println!(
                "{done} programs, {} traces, {} executions, {} searches given up, {:.0} s",
                total.traces,
                total.executions,
                total.unfinished,
                start.elapsed().as_secs_f64()
            );
        }
    }
    for (suite, checked) in suites.iter().zip(checked) {
        println!("{:16} {checked:6}", suite.name);
    }
    println!("no difference; seed {seed}");
    ExitCode::SUCCESS
}
