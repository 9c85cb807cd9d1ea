//! Random programs with destructors (of scopes, unwinding and thread-locals) that lock, panic and
//! abort. An interpreter that shares no code with the checker enumerates their interleavings. The
//! seed is printed. `MAZURKA_SEED` sets it, and `MAZURKA_PROGRAMS` sets the number of programs.

#[path = "destructors/interpreter.rs"]
mod interpreter;
mod outcomes;

use interpreter::{Ending, Endings, endings};
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::sync::{Mutex, PoisonError};
use mazurka::{Algorithm, Checker, FailureKind, Report, Style, thread};
use outcomes::explored;
use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;

/// Programs with more executions or states than these are skipped.
const MOST_EXECUTIONS: u64 = 3000;
const MOST_STATES: usize = 30_000;

/// A part of a destructor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Last {
    Add(usize),
    /// Takes the lock, even if it is poisoned, and adds one.
    Lock(usize),
    /// Aborts when dropped during a panic, as some guards do.
    AbortIfPanicking,
    PanicIf(usize, u32),
}

/// A statement of a thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Statement {
    Load(usize),
    Store(usize, u32),
    Add(usize),
    /// Holds the lock until the end of the scope. Panics if the lock is poisoned.
    Guard(usize),
    /// Holds the lock, even if it is poisoned, until the end of the scope.
    GuardOfPoisoned(usize),
    /// Owns a value until the end of the scope.
    Own(Vec<Last>),
    /// Owns a value until the end of the thread.
    ThreadLocal(Vec<Last>),
    PanicIf(usize, u32),
    /// Polls until the variable has this value.
    Await(usize, u32),
    Scope(Vec<Statement>),
}

/// The statements of the threads. Main runs the first list, then joins the others.
type Program = Vec<Vec<Statement>>;

/// xorshift64 (Marsaglia 2003).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % sides
    }

    fn program(&mut self) -> Program {
        let others = 1 + self.roll(2);
        let threads = 0..=others;
        threads
            .map(|thread| {
                let length = 1 + self.roll(5 - others);
                self.statements(length, thread > 0, 1)
            })
            .collect()
    }

    fn statements(&mut self, length: u64, may_be_local: bool, depth: u32) -> Vec<Statement> {
        (0..length)
            .map(|_| self.statement(may_be_local, depth))
            .collect()
    }

    fn statement(&mut self, may_be_local: bool, depth: u32) -> Statement {
        let which = self.roll(2) as usize;
        let small = self.roll(3) as u32;
        match self.roll(14) {
            0 => Statement::Load(which),
            1 => Statement::Store(which, small),
            2 => Statement::Add(which),
            3 | 4 => Statement::Guard(which),
            5 => Statement::GuardOfPoisoned(which),
            6..=8 => Statement::Own(self.destructor(true)),
            9 if may_be_local => Statement::ThreadLocal(self.destructor(false)),
            10 => Statement::Await(which, small),
            11 if depth > 0 => {
                let length = 1 + self.roll(2);
                Statement::Scope(self.statements(length, may_be_local, depth - 1))
            }
            _ => Statement::PanicIf(which, small),
        }
    }

    fn destructor(&mut self, may_panic: bool) -> Vec<Last> {
        let length = 1 + self.roll(2);
        let part = |dice: &mut Dice| {
            let which = dice.roll(2) as usize;
            match dice.roll(6) {
                0 | 1 => Last::Add(which),
                2 | 3 => Last::Lock(which),
                4 if may_panic => Last::PanicIf(which, dice.roll(3) as u32),
                _ => Last::AbortIfPanicking,
            }
        };
        (0..length).map(|_| part(self)).collect()
    }
}

#[derive(Default)]
struct Shared {
    numbers: [AtomicU32; 2],
    locks: [Mutex<u32>; 2],
}

struct Dropped {
    shared: Arc<Shared>,
    parts: Vec<Last>,
}

impl Drop for Dropped {
    fn drop(&mut self) {
        for &part in &self.parts {
            match part {
                Last::Add(which) => {
                    self.shared.numbers[which].fetch_add(1, SeqCst);
                }
                Last::Lock(which) => {
                    let lock = self.shared.locks[which].lock();
                    *lock.unwrap_or_else(PoisonError::into_inner) += 1;
                }
                Last::AbortIfPanicking if std::thread::panicking() => std::process::abort(),
                Last::AbortIfPanicking => assert!(!thread::panicking(), "two answers"),
                Last::PanicIf(which, value) => self.shared.panic_if(which, value),
            }
        }
    }
}

mazurka::thread_local! {
    static LOCAL: RefCell<Option<Dropped>> = const { RefCell::new(None) };
}

impl Shared {
    /// Panics if the variable has this value: with the panic hook for variable 0, and without it
    /// (`resume_unwind`) for others.
    fn panic_if(&self, which: usize, value: u32) {
        if self.numbers[which].load(SeqCst) == value {
            match which {
                0 => panic!("panicked"),
                _ => resume_unwind(Box::new("panicked")),
            }
        }
    }

    /// Runs the statements in a scope, and records the values that they load.
    fn run(self: &Arc<Shared>, statements: &[Statement], seen: &RefCell<Vec<u32>>) {
        let Some((statement, rest)) = statements.split_first() else {
            return;
        };
        let dropped = |parts: &Vec<Last>| Dropped {
            shared: Arc::clone(self),
            parts: parts.clone(),
        };
        match statement {
            Statement::Load(which) => {
                let value = self.numbers[*which].load(SeqCst);
                seen.borrow_mut().push(value);
            }
            Statement::Store(which, value) => self.numbers[*which].store(*value, SeqCst),
            Statement::Add(which) => {
                self.numbers[*which].fetch_add(1, SeqCst);
            }
            Statement::Guard(which) => {
                let Ok(_guard) = self.locks[*which].lock() else {
                    resume_unwind(Box::new("poisoned"));
                };
                return self.run(rest, seen);
            }
            Statement::GuardOfPoisoned(which) => {
                let lock = self.locks[*which].lock();
                let _guard = lock.unwrap_or_else(PoisonError::into_inner);
                return self.run(rest, seen);
            }
            Statement::Own(parts) => {
                let _own = dropped(parts);
                return self.run(rest, seen);
            }
            Statement::ThreadLocal(parts) => {
                LOCAL.with(|local| {
                    let mut local = local.borrow_mut();
                    local.get_or_insert_with(|| dropped(parts));
                });
            }
            Statement::PanicIf(which, value) => self.panic_if(*which, *value),
            Statement::Await(which, value) => {
                while self.numbers[*which].load(SeqCst) != *value {
                    thread::yield_now();
                }
            }
            Statement::Scope(inner) => self.run(inner, seen),
        }
        self.run(rest, seen);
    }
}

/// Runs the program. Returns the values that each thread loaded (`None` if it panicked), and the
/// final values.
fn run(program: &Program) -> Ending {
    let shared = Arc::new(Shared::default());
    let see = |shared: &Arc<Shared>, statements: &[Statement]| {
        let seen = RefCell::default();
        shared.run(statements, &seen);
        seen.take()
    };
    let others: Vec<_> = program[1..]
        .iter()
        .map(|statements| {
            let (shared, statements) = (Arc::clone(&shared), statements.clone());
            thread::spawn(move || see(&shared, &statements))
        })
        .collect();
    let main = see(&shared, &program[0]);
    let others = others.into_iter().map(|other| other.join().ok());
    let seen = std::iter::once(Some(main)).chain(others).collect();
    let numbers = shared.numbers.each_ref().map(|number| number.load(SeqCst));
    let counts = shared.locks.each_ref().map(|lock| {
        let lock = lock.lock();
        *lock.unwrap_or_else(PoisonError::into_inner)
    });
    Ending::Complete(seen, numbers, counts)
}

/// Returns the endings of the executions that the checker explores.
fn explore(program: &Program, checker: Checker) -> (Endings, Report) {
    let program = program.clone();
    let checker = checker
        .keep_going(true)
        .extra(0)
        .max_executions(MOST_EXECUTIONS);
    let (mut found, report) = explored(checker, move || run(&program));
    for failure in &report.errors {
        found.insert(match failure.kind {
            FailureKind::Panic => Ending::Panic,
            FailureKind::Abort => Ending::Abort,
            FailureKind::Deadlock | FailureKind::Stuck => Ending::Hang,
            _ => panic!("{}", report.text(Style::default())),
        });
    }
    (found, report)
}

/// Checks all algorithms. Returns false if the program is too large to compare.
fn is_law_kept(program: &Program) -> bool {
    let Some(expected) = endings(program, MOST_STATES) else {
        return false;
    };
    for algorithm in [
        Algorithm::Source,
        Algorithm::Optimal,
        Algorithm::Parsimonious,
    ] {
        let (found, report) = explore(program, Checker::new().algorithm(algorithm));
        if report
            .bounds
            .iter()
            .any(|bound| bound.contains("executions"))
        {
            return false;
        }
        let text = report.text(Style::default());
        assert_eq!(found, expected, "{algorithm} of {program:?}\n{text}");
    }
    for preemptions in 0..2 {
        let (found, report) = explore(program, Checker::new().preemptions(preemptions));
        let text = report.text(Style::default());
        assert!(
            found.is_subset(&expected),
            "{preemptions} preemptions of {program:?}\n{text}"
        );
    }
    true
}

#[test]
fn destructors_run_as_brute_force_runs_them() {
    let number = |name: &str| {
        let text = std::env::var(name).ok();
        text.and_then(|text| text.parse::<u64>().ok())
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = number("MAZURKA_SEED").unwrap_or_else(|| now.map_or(1, |now| now.as_nanos() as u64));
    println!("MAZURKA_SEED={seed}");
    let mut dice = Dice(seed | 1);
    let programs = number("MAZURKA_PROGRAMS").unwrap_or(300);
    let mut compared = 0;
    while compared < programs {
        compared += u64::from(is_law_kept(&dice.program()));
    }
}
