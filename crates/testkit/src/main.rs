//! Checks random programs against the oracle: `testkit --programs 1000 [--seed S] [--suite NAME]
//! [--algorithm A]`. With `--traces N` the algorithms are also compared with each other on long
//! programs. The first program that breaks a law is made smaller and printed.

#![forbid(unsafe_code)]

use clap::Parser;
use explore::Algorithm;
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use testkit::law::{Effort, Tally, Violation, check};
use testkit::random::Random;
use testkit::suite::{SUITES, Suite};
use testkit::{Program, shrink::shrink};

/// Checks the laws of every algorithm on random programs.
#[derive(Parser)]
struct Arguments {
    /// Number of programs.
    #[arg(long, default_value_t = 1000)]
    programs: u64,
    /// Seed, to repeat a run.
    #[arg(long)]
    seed: Option<u64>,
    /// Only this family of programs.
    #[arg(long)]
    suite: Vec<String>,
    /// Only these algorithms.
    #[arg(long)]
    algorithm: Vec<Algorithm>,
    /// Leave out programs with more prefixes.
    #[arg(long, default_value_t = Effort::default().states)]
    states: usize,
    /// Compare the algorithms with each other on programs that have too many prefixes but at most
    /// this many traces. Also make programs longer.
    #[arg(long, default_value_t = Effort::default().traces)]
    traces: u64,
    /// Number of orders in which the threads are numbered.
    #[arg(long, default_value_t = Effort::default().orders)]
    orders: usize,
    /// Check this program instead of random ones.
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
    let suites = match suites(&arguments.suite) {
        Ok(suites) => suites,
        Err(mistake) => {
            eprintln!("error: {mistake}");
            return ExitCode::from(2);
        }
    };
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
        None => {
            let hunt = Hunt {
                suites,
                algorithms,
                effort,
                seed,
            };
            hunt.many(arguments.programs)
        }
    }
}

/// Returns the suites with these names, or all suites if there are no names.
fn suites(names: &[String]) -> Result<Vec<Suite>, String> {
    if names.is_empty() {
        return Ok(SUITES.to_vec());
    }
    let named = |name: &String| {
        let all = SUITES.map(|suite| suite.name).join(", ");
        let unknown = || format!("there is no suite {name:?}; the suites are {all}");
        Suite::named(name).copied().ok_or_else(unknown)
    };
    names.iter().map(named).collect()
}

fn one(program: &Program, algorithms: &[Algorithm], effort: Effort, seed: u64) -> ExitCode {
    match check(program, algorithms, effort, &mut Random::new(seed)) {
        Ok(None) => println!("the program is too large"),
        Ok(Some(tally)) => println!("{} traces, {} executions", tally.traces, tally.executions),
        Err(violation) => {
            println!("{violation}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Random programs and the way they are checked.
struct Hunt {
    suites: Vec<Suite>,
    algorithms: Vec<Algorithm>,
    effort: Effort,
    seed: u64,
}

impl Hunt {
    /// Checks this many programs that are not too large, from each suite in turn.
    fn many(&self, programs: u64) -> ExitCode {
        let start = Instant::now();
        let mut total = Tally::default();
        let mut checked = vec![0; self.suites.len()];
        let seeds = (0..).map(|number| self.seed.wrapping_add(number));
        for (seed, index) in seeds.zip((0..self.suites.len()).cycle()) {
            let done: u64 = checked.iter().sum();
            if done >= programs {
                break;
            }
            let mut random = Random::new(seed);
            let program = self.program(index, &mut random);
            match check(&program, &self.algorithms, self.effort, &mut random.clone()) {
                Ok(None) => continue,
                Ok(Some(tally)) => add(&mut total, tally),
                Err(violation) => {
                    println!("suite {}, program", self.suites[index].name);
                    println!("{program}\n{violation}");
                    self.show_smallest(&program, violation, random);
                    return ExitCode::FAILURE;
                }
            }
            checked[index] += 1;
            if (done + 1).is_multiple_of(programs.div_ceil(10).max(1)) {
                show(done + 1, total, start);
            }
        }
        for (suite, checked) in self.suites.iter().zip(checked) {
            println!("{:16} {checked:6}", suite.name);
        }
        println!("no difference; seed {}", self.seed);
        ExitCode::SUCCESS
    }

    fn program(&self, suite: usize, random: &mut Random) -> Program {
        match self.effort.traces {
            0 => self.suites[suite].program(random),
            _ => self.suites[suite].long_program(random),
        }
    }

    /// Makes a program that breaks a law smaller, as long as the program breaks the law.
    fn show_smallest(&self, program: &Program, violation: Violation, mut random: Random) {
        let algorithms: Vec<Algorithm> = violation.algorithm.into_iter().collect();
        let effort = Effort {
            orders: self.effort.orders.max(8),
            ..self.effort
        };
        let smallest = shrink(program, |candidate| {
            check(candidate, &algorithms, effort, &mut random.clone()).is_err()
        });
        println!("smallest\n{smallest}");
        match check(&smallest, &algorithms, effort, &mut random) {
            Ok(_) => println!("the smallest program keeps the laws in other orders"),
            Err(violation) => println!("{violation}"),
        }
    }
}

fn add(total: &mut Tally, tally: Tally) {
    total.traces += tally.traces;
    total.executions += tally.executions;
    total.unfinished += tally.unfinished;
}

fn show(done: u64, total: Tally, start: Instant) {
    println!(
        "{done} programs, {} traces, {} executions, {} searches given up, {:.0} s",
        total.traces,
        total.executions,
        total.unfinished,
        start.elapsed().as_secs_f64()
    );
}
