//! `mazurka corpus-job`: a process that does parts of a search of a program of the corpus.

use crate::refusal::Refusal;
use crate::runner::Executable;
use crate::{Done, interruption};
use corpus::Instance;
use mazurka::{Brought, CheckError, Checker, Report};
use native::{Answer, ORDER, Order, end_with_parent};
use std::io;
use std::process::ExitCode;
use std::sync::Arc;

/// What is started for a job.
pub fn executable(instance: &Instance) -> Result<Executable, Refusal> {
    let path = std::env::current_exe().map_err(|error| Refusal::System {
        what: "start a job",
        error,
    })?;
    let arguments = [
        "mazurka".to_owned(),
        "corpus-job".to_owned(),
        instance.to_string(),
    ];
    Ok(Executable {
        path,
        arguments: arguments.map(Into::into).into(),
        libraries: None,
    })
}

/// Does what the environment orders, and answers on the standard output.
pub fn run(program: &str) -> Done {
    let refused = |error| Refusal::System {
        what: "do a part of a search",
        error,
    };
    end_with_parent().map_err(refused)?;
    let instance = corpus::parse(program)?;
    let order = std::env::var(ORDER).unwrap_or_default();
    let order = Order::read(&order).map_err(refused)?;
    let stop = interruption::gentle_flag(false)?;
    let checker = Checker::ordered(&order).stop(Arc::clone(&stop));
    let answer = match report(&order, checker, &instance) {
        Ok(report) => Answer::Report(Box::new(report.map_err(refused)?)),
        Err(error) => Answer::Refused(error.to_string()),
    };
    println!("{}", answer.line());
    Ok(ExitCode::SUCCESS)
}

/// Does errands until one makes the report.
fn report(
    order: &Order,
    checker: Checker,
    instance: &Instance,
) -> Result<io::Result<Report>, CheckError> {
    // A panic here is no bug of the program: nobody looks for its steps.
    let order = Order {
        trail: None,
        ..order.clone()
    };
    let mut checker = checker.by(&order.algorithm)?;
    loop {
        let Some(errands) = &order.errands else {
            return Ok(Err(io::ErrorKind::InvalidInput.into()));
        };
        let words = match errands.next() {
            Ok(words) => words,
            Err(error) => return Ok(Err(error)),
        };
        match checker.run_errand(&words, instance.program())? {
            Brought::Slice(words) => match errands.bring(&words) {
                Ok(()) => println!("{}", Answer::Brought.line()),
                Err(error) => return Ok(Err(error)),
            },
            Brought::Report(report) => return Ok(Ok(*report)),
        }
    }
}
