//! The failures of an execution.

use crate::engine::Engine;
use crate::engine::Panic;
use crate::engine::trap::{Crash, Trap};
use crate::native::{Native, SPARE_STACK};
use crate::trace::Shown;
use explore::{Halt, OpKind, Outcome, Pending, ThreadId};
use report::{FailureKind, Suppressed, Suppression};
use std::collections::BTreeSet;

/// The failure of a thread that waits for another thread in the operating system.
const BLOCKED: &str = "is blocked in a lock or channel that is not from mazurka, probably because another thread of \
    the model holds it across an operation of mazurka: all threads of a model run on one thread of the operating \
    system, so it cannot be released. Use the types of mazurka::sync there, or release the lock before the operation";

/// The failure of a thread that runs endlessly without an operation.
const ENDLESS: &str = "runs without performing an operation of mazurka: it is in an endless loop, waits for a variable \
    that is not from mazurka, or computes for longer than Checker::patience allows";

/// The failure of a thread that ends the process.
const EXIT: &str = "calls std::process::exit, which would end the process and with it the check: return from the \
    threads of the model instead";

/// The panic of a second call of `std::process::exit`, which occurs when the execution is recorded.
const EXIT_AGAIN: &str = "std::process::exit called re-entrantly";

/// Addresses below this limit are taken for null pointers plus the offset of a field.
const NULL_PAGE: usize = 4096;

/// A description of a failure that distinguishes it from other failures of the same execution.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The kind of the failure.
    pub kind: FailureKind,
    /// The message, which may name objects differently when the execution is recorded.
    pub message: String,
    /// The place of the failure, if known.
    pub location: Option<String>,
}

/// The failures of an execution, in order.
#[derive(Default)]
pub(crate) struct Failures {
    shown: Vec<Shown>,
    /// The failure to report if there are several.
    wanted: Option<Wanted>,
    pub(crate) suppressions: Vec<Suppression>,
    /// The failures that were suppressed in all executions.
    pub(crate) suppressed: BTreeSet<Suppressed>,
}

impl Failures {
    pub(crate) fn clear(&mut self) {
        self.shown.clear();
    }

    /// Checks whether the user has given any suppressions.
    pub(crate) fn may_suppress(&self) -> bool {
        !self.suppressions.is_empty()
    }

    /// Checks whether the user has suppressed this failure, and records it if so. `names` are its
    /// places, functions and variables.
    pub(crate) fn suppresses(&mut self, shown: &Shown, names: &[String]) -> bool {
        let place = shown.location.as_deref().unwrap_or_default();
        let mut texts = vec![place];
        texts.extend(names.iter().map(String::as_str));
        // The message of a race is not matched, because it contains words that match many patterns,
        // such as `write` or `main`.
        if shown.kind != FailureKind::DataRace {
            texts.push(&shown.message);
        }
        let mut all = self.suppressions.iter();
        let is_covered = all.any(|suppression| suppression.covers(shown.kind, &texts));
        if is_covered {
            self.suppressed.insert(Suppressed {
                kind: shown.kind,
                location: shown.location.clone(),
            });
        }
        is_covered
    }

    /// Adds a failure unless it is suppressed. Returns whether it was added.
    pub(crate) fn push(&mut self, shown: Shown) -> bool {
        if self.may_suppress() && self.suppresses(&shown, &[]) {
            return false;
        }
        crate::native::stop_for_debugger(&shown.message);
        self.shown.push(shown);
        true
    }

    /// Returns the wanted failure, or the first failure.
    fn chosen(&self) -> Option<&Shown> {
        let likeness = |candidate: &Shown| match &self.wanted {
            Some(wanted) if candidate.kind == wanted.kind => {
                1 + u32::from(candidate.location == wanted.location)
                    + 2 * u32::from(candidate.message == wanted.message)
            }
            Some(_) | None => 0,
        };
        // `rev` selects the first of several failures that match equally well.
        self.shown
            .iter()
            .rev()
            .max_by_key(|candidate| likeness(candidate))
    }

    pub(crate) fn len(&self) -> usize {
        self.shown.len()
    }
}

impl Engine {
    /// Handles a thread that a panic has unwound. Returns the thread's new state.
    pub(crate) fn unwound(&mut self, id: ThreadId, panic: Panic) -> Pending {
        let is_failure = id == ThreadId::MAIN || self.config.conditions.panics_fail;
        if !is_failure {
            self.threads[id.index()].panic = Some(panic);
            return Pending::Finished;
        }
        let mut shown = self.panic_of(id, Some(&panic));
        if let Some(cause) = self.cause_of(&shown, id) {
            shown.message = format!("{} ({cause})", shown.message);
        }
        let is_kept = self.guests.failures.push(shown);
        match is_kept {
            true if id == ThreadId::MAIN => return Pending::Failed,
            true => {}
            false => return Pending::Halted(Halt::Assume),
        }
        self.threads[id.index()].panic = Some(panic);
        Pending::Finished
    }

    /// Records that the running thread misused an object, which is a failure.
    #[cold]
    pub(crate) fn misuse(&mut self, message: &str) {
        if self.is_tearing_down {
            return;
        }
        let location = self.shown_place_of(self.running);
        let message = message.to_owned();
        self.guests.failures.push(Shown {
            kind: FailureKind::Misuse,
            message,
            location,
            event: Some(self.event()),
        });
    }

    /// If the program must be enforceable, records a failure: the program does something that
    /// cannot be enforced.
    pub(crate) fn refuse_to_enforce(&mut self, what: &str) {
        if self.config.conditions.is_enforceable {
            self.refuse_event(format!("the program {what}, which cannot be enforced"));
        }
    }

    /// Records that the current event cannot be checked, which is a failure.
    #[cold]
    pub(crate) fn refuse_event(&mut self, message: String) {
        if self.is_tearing_down {
            return;
        }
        let location = self.shown_place_of(self.running);
        self.guests.failures.push(Shown {
            kind: FailureKind::Unsupported,
            message,
            location,
            event: Some(self.event()),
        });
    }

    /// Returns a description of the panic of another thread that probably caused this panic. Such a
    /// description is needed only if a thread unwraps a failed join, because the message of its
    /// panic then does not contain the message of the joined thread. Returns `None` for other
    /// panics.
    fn cause_of(&self, shown: &Shown, id: ThreadId) -> Option<String> {
        let is_unwrapped = shown.message.ends_with("Any { .. }");
        let mut others = self
            .started()
            .iter()
            .filter(|&&other| other != id && is_unwrapped);
        others.find_map(|&other| {
            let caught_panic = self.threads[other.index()].caught_panic.as_ref()?;
            let name = self.thread_name(other);
            Some(format!(
                "{name} panicked at {}: {}",
                caught_panic.location, caught_panic.message
            ))
        })
    }

    fn exhausted(&self, id: ThreadId) -> String {
        let bytes = self.threads[id.index()].fibre.room();
        match self.config.native {
            Some(_) => format!(
                "exhausted its stack of {} KiB",
                bytes.saturating_sub(SPARE_STACK) / 1024
            ),
            None => format!(
                "exhausted its stack of {} KiB (Checker::stack_size and thread::Builder::stack_size raise this)",
                bytes / 1024
            ),
        }
    }

    /// Handles a thread that a signal ended.
    #[cold]
    pub(crate) fn trapped(&mut self, id: ThreadId, trap: Option<Trap>) {
        let (kind, message) = match trap {
            Some(Trap::Abort) => (FailureKind::Abort, "aborted".to_owned()),
            Some(Trap::Blocked) => (FailureKind::Misuse, BLOCKED.to_owned()),
            Some(Trap::Endless) => (FailureKind::EndlessLoop, ENDLESS.to_owned()),
            Some(Trap::Exit) => (FailureKind::Misuse, EXIT.to_owned()),
            Some(Trap::Signal(crash)) => self.crashed(id, crash),
            Some(Trap::StackOverflow) | None => (FailureKind::StackOverflow, self.exhausted(id)),
        };
        if self.is_tearing_down {
            self.end_thread(id);
            self.life.pending[id.index()] = Pending::Finished;
            self.lost_destructor();
            return;
        }
        self.life.pending[id.index()] = Pending::Failed;
        self.guests.recorder.mark_failed();
        let name = self.thread_name(id);
        let why = self.threads[id.index()]
            .caught_panic
            .as_ref()
            .map(|caught_panic| caught_panic.message.clone());
        let (kind, message, why) = match why.as_deref() {
            Some(EXIT_AGAIN) => (FailureKind::Misuse, EXIT.to_owned(), None),
            Some(_) | None => (kind, message, why),
        };
        let message = match why {
            Some(why) => format!("{name} {message} after a panic: {why}"),
            None => format!("{name} {message}"),
        };
        let location = self.shown_place_of(id);
        let is_kept = self.guests.failures.push(Shown {
            kind,
            message,
            location,
            event: Some(self.event()),
        });
        if !is_kept {
            self.life.pending[id.index()] = Pending::Halted(Halt::Assume);
        }
    }

    /// Describes the failure of a native program that a signal ended.
    fn crashed(&mut self, id: ThreadId, crash: Crash) -> (FailureKind, String) {
        let is_known = |native: Native| native.source_map.place(crash.code).is_some();
        if self.config.native.is_some_and(is_known) {
            self.threads[id.index()].life.code = crash.code;
        }
        let what = match crash.signal {
            signal if crash.is_sent => format!("sends itself signal {signal}"),
            libc::SIGSEGV if crash.address < NULL_PAGE => "dereferences a null pointer".to_owned(),
            libc::SIGSEGV => format!("accesses the invalid address {:#x}", crash.address),
            libc::SIGBUS => format!(
                "accesses the address {:#x}, which has no memory",
                crash.address
            ),
            libc::SIGFPE => "divides by zero, or overflows in a division".to_owned(),
            libc::SIGILL => "executes an illegal instruction".to_owned(),
            libc::SIGTRAP => "executes a trap".to_owned(),
            libc::SIGVTALRM => {
                "runs without an operation that other threads could observe: an endless loop"
                    .to_owned()
            }
            signal => format!("was ended by signal {signal}"),
        };
        let kind = match crash.signal {
            libc::SIGVTALRM => FailureKind::EndlessLoop,
            _ => FailureKind::Crash,
        };
        (kind, what)
    }

    fn panic_of(&self, id: ThreadId, panic: Option<&Panic>) -> Shown {
        let thread = &self.threads[id.index()];
        let (message, location) = match &thread.caught_panic {
            Some(caught_panic) => (
                caught_panic.message.clone(),
                Some(caught_panic.location.clone()),
            ),
            None => (panic.map_or_else(String::new, payload_text), None),
        };
        Shown {
            kind: FailureKind::Panic,
            message,
            location,
            event: thread.life.last,
        }
    }

    /// Returns how the current execution ended.
    pub(crate) fn outcome(&self) -> Outcome {
        if self.guests.failures.len() > 0 {
            return Outcome::Failed;
        }
        match self.outcome_but_for_panics() {
            // A halted thread continues in another execution, and may join the thread that panicked
            // there.
            Outcome::Halted if !self.is_cut() => Outcome::Halted,
            _ if self.is_panic_left() => Outcome::Failed,
            outcome => outcome,
        }
    }

    /// Returns how the current execution ended, ignoring panics of threads that were not joined.
    fn outcome_but_for_panics(&self) -> Outcome {
        if self.is_quiet() {
            return self.completed();
        }
        let outcome = match Outcome::of(&self.life.pending, |thread| self.could_continue(thread)) {
            // Threads that stopped at a condition of an object do not spin. They wait for each
            // other.
            Outcome::Stuck if !self.spins() => Outcome::Deadlock,
            other => other,
        };
        let may_wait = self.config.conditions.waiting_after_main && self.has_program_ended();
        match outcome {
            Outcome::Deadlock | Outcome::Stuck if may_wait => self.completed(),
            Outcome::Deadlock if self.only_servers_wait() => self.completed(),
            Outcome::Deadlock if self.is_excused() => Outcome::Halted,
            Outcome::Deadlock | Outcome::Stuck if self.is_passed_over() => self.completed(),
            Outcome::Completed => self.completed(),
            other => other,
        }
    }

    /// Checks whether the program has ended, even if threads still wait. The main thread of a
    /// native program may end before the program does.
    pub(crate) fn has_program_ended(&self) -> bool {
        match self.config.native {
            Some(_) => self.guests.native.life.has_exited,
            None => self.life.pending.first() == Some(&Pending::Finished),
        }
    }

    /// Checks whether a thread is in a spin loop without progress.
    fn spins(&self) -> bool {
        let spins = |&thread: &ThreadId| {
            self.life.pending[thread.index()] == Pending::Halted(Halt::Await)
                && self.threads[thread.index()].life.guests.condition.is_none()
        };
        self.started().iter().any(spins)
    }

    /// Returns the outcome of an execution without other failures. It is completed unless letters
    /// (messages in mailboxes) or undropped values remain that are failures.
    fn completed(&self) -> Outcome {
        let is_enabled = |pending: &Pending| pending.enabled().is_some();
        if (self.life.objects.mailboxes.is_empty() && self.guests.owned.is_empty())
            || self.life.pending.iter().any(is_enabled)
        {
            return Outcome::Completed;
        }
        match self.left_behind() {
            Some(_) => Outcome::Failed,
            None => Outcome::Completed,
        }
    }

    /// Returns the failure for undropped values or letters that remain, if there are any.
    fn left_behind(&self) -> Option<Shown> {
        let letters = || self.left_letters();
        self.is_quiet()
            .then(|| self.leak())
            .flatten()
            .or_else(letters)
    }

    /// Checks whether all waiting threads are servers that wait for letters.
    fn only_servers_wait(&self) -> bool {
        self.started()
            .iter()
            .all(|thread| match &self.life.pending[thread.index()] {
                Pending::Waiting(request) => {
                    self.threads[thread.index()].life.guests.serves
                        && request.op.kind == OpKind::LetterWait
                }
                Pending::Halted(Halt::Await) => false,
                _ => true,
            })
    }

    /// Checks whether a waiting thread of a native program is excused: in another execution,
    /// something else ends its wait.
    fn is_excused(&self) -> bool {
        let waits =
            |thread: &ThreadId| matches!(self.life.pending[thread.index()], Pending::Waiting(_));
        self.guests.native.life.excused.iter().any(waits)
    }

    /// Checks whether a bound or an assumption halted a thread.
    fn is_cut(&self) -> bool {
        self.life.pending.iter().any(|pending| match pending {
            Pending::Halted(Halt::Bound(_) | Halt::Assume) => true,
            Pending::Halted(Halt::Await)
            | Pending::Enabled(_)
            | Pending::Waiting(_)
            | Pending::Failed
            | Pending::Finished
            | Pending::NotStarted => false,
        })
    }

    /// Checks whether a thread panicked and no other thread has joined it.
    fn is_panic_left(&self) -> bool {
        let panicked = |thread: &ThreadId| self.threads[thread.index()].panic.is_some();
        self.started().iter().any(panicked)
    }

    /// Returns the threads in the order of their spawn paths, which is the same in all schedules.
    fn by_name(&self) -> Vec<ThreadId> {
        let mut threads = self.started().to_vec();
        threads.sort_by_cached_key(|&thread| self.names.path(thread));
        threads
    }

    /// Returns the first thread by name that panicked and was not joined.
    fn unjoined_panic(&self) -> Option<ThreadId> {
        let panicked = |thread: &ThreadId| self.threads[thread.index()].panic.is_some();
        self.by_name().into_iter().find(panicked)
    }

    /// Returns the failure, if the outcome is a bug.
    pub(crate) fn failure(&self) -> Option<Shown> {
        match self.outcome() {
            Outcome::Failed => Some(self.first_failure()),
            Outcome::Deadlock => Some(self.deadlock()),
            Outcome::Stuck => Some(self.stuck()),
            Outcome::Halted | Outcome::Completed | Outcome::Blocked => None,
        }
    }

    /// Returns all failures, if the outcome is a bug: several threads may fail in an execution.
    pub(crate) fn all_failures(&self) -> Vec<Shown> {
        match self.guests.failures.shown.as_slice() {
            [] => self.failure().into_iter().collect(),
            shown => shown.to_vec(),
        }
    }

    /// Selects the failure to report for executions that have several. `None` selects the first
    /// one.
    pub(crate) fn want_failure(&mut self, wanted: Option<Wanted>) {
        self.guests.failures.wanted = wanted;
    }

    fn first_failure(&self) -> Shown {
        if let Some(shown) = self.guests.failures.chosen() {
            return shown.clone();
        }
        match self.unjoined_panic() {
            Some(id) => self.panic_of(id, self.threads[id.index()].panic.as_ref()),
            None => self
                .left_behind()
                .expect("a failed execution has a failure"),
        }
    }

    fn deadlock(&self) -> Shown {
        let waiting: Vec<ThreadId> = self
            .by_name()
            .into_iter()
            .filter(|thread| {
                matches!(self.life.pending[thread.index()], Pending::Waiting(_))
                    || self.threads[thread.index()].life.guests.condition.is_some()
            })
            .collect();
        let message = waiting
            .iter()
            .map(|&thread| self.named_end(thread))
            .collect::<Vec<_>>()
            .join("; ");
        let location = waiting
            .first()
            .and_then(|thread| self.shown_place_of(*thread));
        Shown {
            kind: FailureKind::Deadlock,
            message,
            location,
            event: None,
        }
    }

    fn stuck(&self) -> Shown {
        let spinning: Vec<ThreadId> = self
            .by_name()
            .into_iter()
            .filter(|thread| self.life.pending[thread.index()] == Pending::Halted(Halt::Await))
            .collect();
        let message = spinning
            .iter()
            .map(|&thread| self.named_end(thread))
            .collect::<Vec<_>>()
            .join("; ");
        let location = spinning
            .first()
            .and_then(|thread| self.shown_place_of(*thread));
        Shown {
            kind: FailureKind::Stuck,
            message,
            location,
            event: None,
        }
    }

    /// Returns the message of a panic whose thread was not joined.
    pub(crate) fn panic_text(&self, id: ThreadId) -> Option<String> {
        self.threads[id.index()].panic.as_ref().map(payload_text)
    }

    /// Returns the name of a thread for users.
    pub(crate) fn thread_name(&self, id: ThreadId) -> String {
        match &self.threads[id.index()].life.name {
            Some(name) => name.clone(),
            None if id == ThreadId::MAIN => "main".to_owned(),
            None => {
                let numbers: Vec<String> = self.names.path(id).iter().map(u32::to_string).collect();
                format!("T{}", numbers.join("."))
            }
        }
    }
}

/// Returns the text in the payload of a panic.
fn payload_text(panic: &Panic) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic".to_owned())
}
