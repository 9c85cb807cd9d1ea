//! Failures of enforcement, which print one clear line and end the process.

use crate::Plan;
use explore::OpKind;
use report::{Point, harmless};

/// Exit code for invalid input, and for a program that left the verified behaviour.
const REFUSED: usize = 2;

const WHAT_TO_DO: &str = "the program left the verified behaviour: it depends on something other than its schedule and \
                          its inputs (time, randomness, files, threads without hooks), or on an input that was not \
                          declared";

/// Prints a one-line message for the user and ends the process.
pub fn fail(message: &str) -> ! {
    say(message);
    end_process(REFUSED)
}

/// Prints a one-line message for the user.
pub(crate) fn say(message: &str) {
    let line = format!("mazurka: {}\n", harmless(&message.replace('\n', " ")));
    let _ = rustix::io::write(rustix::stdio::stderr(), line.as_bytes());
}

/// Fails because `point` waits for an event that will never happen.
pub(crate) fn never(plan: &Plan, first: Point, point: Point) -> ! {
    fail(&format!(
        "{} must come after {}, but that thread has ended without it; {WHAT_TO_DO}",
        plan.describe(point),
        plan.describe(first)
    ))
}

/// Fails because the process ends while the named thread waits for an event of the ending thread.
pub(crate) fn left(plan: &Plan, thread: &str, first: Point) -> ! {
    fail(&format!(
        "the program ends while thread {thread} waits for {}, which will never happen; {WHAT_TO_DO}",
        plan.describe(first)
    ))
}

/// Fails because an event is not of the verified kind.
pub(crate) fn differs(plan: &Plan, point: Point, kind: OpKind) -> ! {
    fail(&format!(
        "{} is a {kind:?} in this run; {WHAT_TO_DO}",
        plan.describe(point)
    ))
}

/// Fails because the program asks for an input that no verified execution asked for.
pub(crate) fn unknown_input(name: &str) -> ! {
    fail(&format!(
        "the program asks for an input {name}, which was not verified; {WHAT_TO_DO}"
    ))
}

/// Ends the process without handlers and without the C library, whose functions Mazurka replaces.
fn end_process(status: usize) -> ! {
    const EXIT_GROUP: usize = 231;
    // SAFETY: the call ends the process.
    unsafe {
        std::arch::asm!("syscall", in("rax") EXIT_GROUP, in("rdi") status, options(noreturn, nostack));
    }
}
