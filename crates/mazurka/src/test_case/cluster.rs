//! Tests that the workers of a server check. The command `mazurka` submits the test executable, and
//! each worker runs it for errands of one test (see `errands.rs`).

use crate::{CheckError, Checker, Report};
use report::{Answer, ORDER, Order};
use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};

/// The environment variable with the URL of the server.
const CLUSTER: &str = "MAZURKA_CLUSTER";

/// The environment variable with the path of the command, if it is not in the search path.
const COMMAND: &str = "MAZURKA_COMMAND";

/// Returns the URL of the server, if the environment has one.
pub(super) fn url() -> Option<String> {
    std::env::var(CLUSTER).ok()
}

/// Returns the order in the environment, if it requests errands of this test.
pub(super) fn errands_of(name: &str) -> Option<Order> {
    let order = Order::read(&std::env::var(ORDER).ok()?).ok()?;
    (order.name == name && order.errands.is_some()).then_some(order)
}

/// Carries out errands until one of them makes the report. Then the process exits.
pub(super) fn serve(mut checker: Checker, order: &Order, model: impl Fn() + 'static) -> ! {
    let say = |answer: &Answer| {
        let file = order.answers.as_ref();
        let file = file.map(|path| File::options().append(true).open(path));
        // Errors are ignored: a reader that stops reading also ends this process.
        let _ = file.map(|file| file.and_then(|mut file| writeln!(file, "{}", answer.line())));
    };
    checker.settings.trail.clone_from(&order.trail);
    let errands = order.errands.as_ref().expect("the order has errands");
    let answer = match checker.run_errands(errands, model, || say(&Answer::Brought)) {
        Ok(report) => Answer::Report(Box::new(report)),
        Err(error) => Answer::Refused(error.to_string()),
    };
    say(&answer);
    std::process::exit(0)
}

/// Lets the workers check the model. A search that cannot be divided runs in this process.
pub(super) fn check(
    checker: Checker,
    url: &str,
    name: &str,
    model: impl Fn() + Send + Sync + 'static,
) -> Result<Report, CheckError> {
    if let Err(warning) = checker.divide(2)? {
        let mut report = checker.try_check(model)?;
        report.warnings.push(warning);
        return Ok(report);
    }
    let order = serde_json::to_string(&checker.order()).expect("an order has no maps to serialize");
    let failed = |error: std::io::Error| CheckError::Elsewhere {
        message: format!(
            "cannot run the command mazurka, which submits the test: {error}; install it, or set {COMMAND} to its path"
        ),
        is_nondeterminism: false,
    };
    let command = std::env::var_os(COMMAND).unwrap_or_else(|| "mazurka".into());
    let mut command = Command::new(command);
    command
        .arg("submit-test")
        .arg(url)
        .arg(std::env::current_exe().map_err(failed)?)
        .arg(name)
        .env(ORDER, order)
        .stdin(Stdio::null());
    let output = command.output().map_err(failed)?;
    match serde_json::from_slice(&output.stdout) {
        Ok(Answer::Report(report)) => Ok(*report),
        _ => Err(CheckError::Elsewhere {
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            is_nondeterminism: false,
        }),
    }
}
