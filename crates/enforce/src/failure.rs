//! What cannot be enforced: one clear line, and the end of the process.

use crate::Plan;
use explore::OpKind;
use report::{Point, harmless};

/// The exit code of wrong input, and of a program that left what was verified.
const REFUSED: usize = 2;

const WHAT_TO_DO: &str = "the program left what was verified: it depends on something else than its schedule and its \
                          inputs (time, chance, files, threads without hooks), or on an input that was not declared";

/// Ends the process with a line for people.
pub fn fail(message: &str) -> ! {
    say(message);
    end_process(REFUSED)
}

/// A line for people.
pub(crate) fn say(message: &str) {
    let line = format!("mazurka: {}\n", harmless(&message.replace('\n', " ")));
    let _ = rustix::io::write(rustix::stdio::stderr(), line.as_bytes());
}

/// `point` waits for an event that will never happen.
pub(crate) fn never(plan: &Plan, first: Point, point: Point) -> ! {
    fail(&format!(
        "{} must come after {}, but that thread has ended without it; {WHAT_TO_DO}",
        plan.describe(point),
        plan.describe(first)
    ))
}

/// The process ends, and the thread of this name waits for an event of the thread that ended it.
pub(crate) fn left(plan: &Plan, thread: &str, first: Point) -> ! {
    fail(&format!(
        "the program ends while thread {thread} waits for {}, which will never happen; {WHAT_TO_DO}",
        plan.describe(first)
    ))
}

/// An event is of another kind than the verified one.
pub(crate) fn differs(plan: &Plan, point: Point, kind: OpKind) -> ! {
    fail(&format!(
        "{} is a {kind:?} in this run; {WHAT_TO_DO}",
        plan.describe(point)
    ))
}

/// The program asks for an input that no verified execution asked for.
pub(crate) fn unknown_input(name: &str) -> ! {
    fail(&format!(
        "the program asks for an input {name}, which was not verified; {WHAT_TO_DO}"
    ))
}

/// Without handlers, and past the functions of the C library, which are Mazurka's.
fn end_process(status: usize) -> ! {
    const EXIT_GROUP: usize = 231;
    // SAFETY: the call ends the process.
    unsafe {
        std::arch::asm!("syscall", in("rax") EXIT_GROUP, in("rdi") status, options(noreturn, nostack));
    }
}
