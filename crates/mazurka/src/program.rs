//! Programs that are verified in their own process, and then run under the verified constraints.
//! The command `mazurka` starts the program with an *order* in an environment variable, for example
//! to run a search. The program then carries out the order, and writes answers for the command.

use crate::{CheckError, Checker, input};
use enforce::take_variable;
use report::{Answer, Input, ORDER, Order, Progress, Report, Snapshot};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::stdio::{dup2_stderr, dup2_stdout};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::fs::File;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::exit;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The time between two progress messages.
const INTERVAL: Duration = Duration::from_millis(150);

/// The exit code if the order cannot be carried out.
const REFUSED: i32 = 2;

/// Runs a program. Call this function in the `main` of a binary that is to run under a *safe
/// trace*, which contains the constraints on the order of events that a verification has published.
/// (Feature `enforce`; Linux on x86-64.)
///
/// Outside models, the types of [`sync`](crate::sync), [`thread`](crate::thread) and
/// [`cell`](crate::cell) are real: threads of the system, atomics of the processor (sequentially
/// consistent, whatever orderings the program uses) and locks that are granted in order of request.
/// The program may return any value and end in any way. The same binary serves all of these
/// commands:
///
/// | | |
/// | --- | --- |
/// | `./binary arguments` | runs it |
/// | `mazurka verify ./binary arguments -o safe.trace` | verifies it piece by piece, in models |
/// | `mazurka run --safe safe.trace ./binary arguments` | runs it under the safe trace |
/// | `mazurka check ./binary arguments`, `mazurka replay` | checks it, in models |
///
/// Mazurka observes only what happens in the closure. The closure must therefore create its
/// [`sync`](crate::sync) objects, or use statics.
///
/// ```
/// use mazurka::sync::{Arc, Mutex};
/// use mazurka::thread;
///
/// fn main() {
///     mazurka::program(|| {
///         let count = Arc::new(Mutex::new(0));
///         let threads = [1, 2].map(|n| {
///             let count = Arc::clone(&count);
///             thread::spawn(move || *count.lock().unwrap() += n)
///         });
///         for thread in threads {
///             thread.join().unwrap();
///         }
///         assert_eq!(*count.lock().unwrap(), 3);
///     });
/// }
/// ```
///
/// Call this function once, before the program starts threads, because it removes Mazurka's
/// variables from the environment.
pub fn program(body: impl Fn() + 'static) {
    if let Some(text) = take_variable(ORDER) {
        work(&text, body);
    }
    match enforce::start_from_environment() {
        Ok(_) => body(),
        Err(reason) => enforce::fail(&reason),
    }
}

/// Restarts the safe trace: until the end of the program or the next call, the program follows the
/// trace from its beginning. A program that was verified once can therefore run many times in one
/// process.
///
/// Call this function in the main thread, after all other threads have ended. Otherwise the process
/// ends with a message. The program must reset its shared data itself. If the run is recorded, only
/// the part after the last call is written. The function does nothing in a model, or in a run
/// without a safe trace.
///
/// ```
/// use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use mazurka::thread;
///
/// fn once() {
///     static COUNT: AtomicU32 = AtomicU32::new(0);
///     COUNT.store(0, SeqCst);
///     let threads = [(); 2].map(|()| thread::spawn(|| COUNT.fetch_add(1, SeqCst)));
///     for thread in threads {
///         thread.join().unwrap();
///     }
///     assert_eq!(COUNT.load(SeqCst), 2);
/// }
///
/// fn main() {
///     mazurka::program(|| {
///         // The verification runs without TIMES.
///         let times = std::env::var("TIMES").map_or(1, |times| times.parse().unwrap());
///         for _ in 0..times {
///             mazurka::again();
///             once();
///         }
///     });
/// }
/// ```
pub fn again() {
    if !runtime::is_in_model() {
        enforce::again();
    }
}

static ANSWERS: OnceLock<Mutex<File>> = OnceLock::new();

/// Carries out the order ([`Order`]) instead of running the program.
fn work(text: &str, body: impl Fn() + 'static) -> ! {
    let order = Order::read(text).unwrap_or_else(|error| {
        println!("{}", refusal(format!("the order in {ORDER}: {error}")));
        exit(REFUSED)
    });
    match take_output(&order) {
        Ok(answers) => ANSWERS.get_or_init(|| Mutex::new(answers)),
        Err(error) => {
            println!(
                "{}",
                refusal(format!("cannot redirect the output: {error}"))
            );
            exit(REFUSED)
        }
    };
    let checked = catch_unwind(AssertUnwindSafe(|| match &order.visit {
        Some(visit) => Checker::ordered(&order).visit(&order, visit, body),
        None => check(&order, body).map(Answer::of),
    }));
    say(&match checked {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => Answer::Refused(error.to_string()),
        Err(_) => Answer::Refused("an internal error of mazurka".to_owned()),
    });
    exit(0)
}

fn refusal(reason: String) -> String {
    Answer::Refused(reason).line()
}

/// Redirects the program's output to /dev/null or standard error. Returns the file for answers.
fn take_output(order: &Order) -> io::Result<File> {
    const FIRST: i32 = 3;
    let answers = match &order.answers {
        Some(path) => File::options().append(true).create(true).open(path)?,
        None => File::from(fcntl_dupfd_cloexec(io::stdout(), FIRST)?),
    };
    if order.replay.is_some() {
        dup2_stdout(io::stderr())?;
    } else {
        let nowhere = File::options().write(true).open("/dev/null")?;
        dup2_stdout(&nowhere)?;
        dup2_stderr(&nowhere)?;
    }
    Ok(answers)
}

fn check(order: &Order, body: impl Fn() + 'static) -> Result<Report, CheckError> {
    // Ends this process when the process that gave the order ends. If that process has already
    // ended, no process reads the answers.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let registered = signal_hook::flag::register(signal, Arc::clone(&stop));
        registered.map_err(|error| CheckError::Misfit(format!("signals: {error}")))?;
    }
    let show = |snapshot: &Snapshot| say(&Answer::Progress(snapshot.line()));
    let checker = Checker::ordered(order)
        .stop(stop)
        .observer(Progress::every(INTERVAL, show));
    if let Some(errands) = &order.errands {
        let checker = checker.by(&order.algorithm)?;
        return checker.run_errands(errands, body, || say(&Answer::Brought));
    }
    if let Some(verify) = &order.verify {
        input::know(&verify.inputs);
    }
    checker.carry_out(order, body, |case| {
        say(&Answer::Verified(Box::new(case.clone())));
    })
}

fn say(answer: &Answer) {
    if let Some(answers) = ANSWERS.get() {
        let mut file = answers.lock().unwrap_or_else(PoisonError::into_inner);
        // Errors are ignored: a reader that stops reading also ends this process.
        let _ = writeln!(file, "{}", answer.line());
    }
}

/// Asks for the value of an input that the order does not contain, and ends the process.
pub(crate) fn ask(input: Input) -> ! {
    say(&Answer::Asked(input));
    exit(0)
}
