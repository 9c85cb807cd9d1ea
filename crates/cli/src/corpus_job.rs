//! `mazurka corpus-job`: a process that runs parts of a search of a corpus program.

use crate::refusal::Refusal;
use crate::runner::Executable;
use crate::{Done, interruption};
use corpus::Instance;
use mazurka::Checker;
use native::{Answer, ORDER, Order, end_with_parent};
use std::io;
use std::process::ExitCode;

/// Returns the executable that is started for a job.
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

/// Carries out the order in the environment and answers on the standard output.
pub fn run(program: &str) -> Done {
    let refused = |error| Refusal::System {
        what: "run a part of a search",
        error,
    };
    end_with_parent().map_err(refused)?;
    let instance = corpus::parse(program)?;
    let order = std::env::var(ORDER).unwrap_or_default();
    let order = Order::read(&order).map_err(refused)?;
    let stop = interruption::gentle_flag(false)?;
    let Some(errands) = &order.errands else {
        return Err(refused(io::ErrorKind::InvalidInput.into()));
    };
    // A panic here is not a bug of the program, so its steps are not recorded.
    let without_trail = Order {
        trail: None,
        ..order.clone()
    };
    let mut checker = Checker::ordered(&without_trail)
        .stop(stop)
        .by(&without_trail.algorithm);
    if let Some(trail) = &order.trail {
        checker = checker.and_then(|checker| checker.with_early_end_by(trail));
    }
    let report = checker.and_then(|checker| {
        checker.run_errands(errands, instance.program(), || {
            println!("{}", Answer::Brought.line());
        })
    });
    let answer = match report {
        Ok(report) => Answer::Report(Box::new(report)),
        Err(error) => Answer::Refused(error.to_string()),
    };
    println!("{}", answer.line());
    Ok(ExitCode::SUCCESS)
}
