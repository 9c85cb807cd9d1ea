//! Random programs with polling loops that have effects. Every algorithm finds the outcomes and
//! livelocks of an interpreter that explores all states, in which loops may run for any number of
//! iterations. The seed is printed. `MAZURKA_SEED` sets it, and `MAZURKA_PROGRAMS` sets the number
//! of programs.

mod outcomes;

use mazurka::future::block_on;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::sync::{Mutex, RwLock};
use mazurka::{Algorithm, Checker, FailureKind, Verdict, thread};
use outcomes::explored;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

/// xorshift64 (Marsaglia 2003).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % sides
    }
}

/// Locks 0 and 1 are mutexes; 2 and 3 are one reader-writer lock, locked for writing and reading.
#[derive(Clone, Copy, Debug)]
enum Statement {
    Load(usize),
    Store(usize, u32),
    /// Sets the value that the lock guards.
    Set(usize, u32),
    /// Tries the lock, and reads the value that it guards.
    Try(usize),
    /// Locks and reads until the guarded value is the number.
    PollLocked(usize, u32),
    /// Tries the lock and reads until the guarded value is the number.
    PollTried(usize, u32),
    /// Polls until the exchange of the second number for the third succeeds.
    PollExchange(usize, u32, u32),
    /// Sets a variable and resets it in each iteration, until the other variable is the number.
    PollMarked(usize, u32),
    /// Polls until the variable is the number. Reads it while holding the lock.
    PollUnder(usize, usize, u32),
    /// Polls until the variable is the number, with a future that wakes itself.
    PollAwake(usize, u32),
    /// Polls until the variable is the number. Gives a park token in each iteration.
    PollUnparking(Whose, usize, u32),
    /// Polls until the variable is the number. Gives itself a token and takes it in each iteration.
    PollParked(usize, u32),
    Unpark(Whose),
    Park,
}

/// The thread whose park token is given.
#[derive(Clone, Copy, Debug)]
enum Whose {
    Own,
    Main,
}

impl Whose {
    fn of(self, thread: usize) -> usize {
        match self {
            Whose::Own => thread,
            Whose::Main => 0,
        }
    }
}

impl Statement {
    fn random(dice: &mut Dice) -> Statement {
        use Statement::*;
        let (which, number, lock) = (
            dice.roll(2) as usize,
            dice.roll(3) as u32,
            dice.roll(4) as usize,
        );
        let wanted = 1 + dice.roll(2) as u32;
        let whose = [Whose::Own, Whose::Main][lock % 2];
        match dice.roll(18) {
            0 => Load(which),
            1 | 2 => Store(which, number),
            3 | 4 => Set([0, 1, 2][lock % 3], number),
            5 => Try(lock),
            6 | 7 => PollLocked(lock, wanted),
            8 => PollTried(lock, wanted),
            9 => PollExchange(which, wanted, number),
            10 => PollMarked(which, wanted),
            11 => PollUnder(lock, which, wanted),
            12 | 13 => PollUnparking(whose, which, wanted),
            14 => PollParked(which, wanted),
            15 => Unpark(whose),
            16 => Park,
            _ => PollAwake(which, wanted),
        }
    }
}

type Program = Vec<Vec<Statement>>;

fn random_program(dice: &mut Dice) -> Program {
    let threads = 2 + dice.roll(2);
    let list = |dice: &mut Dice| {
        let length = 1 + dice.roll(5 - threads);
        (0..length).map(|_| Statement::random(dice)).collect()
    };
    (0..threads).map(|_| list(dice)).collect()
}

/// The values that each thread has read, and the final values of the variables.
type Seen = (Vec<Vec<u32>>, [u32; 2]);

struct Shared {
    main: thread::Thread,
    numbers: [AtomicU32; 2],
    locks: [Mutex<u32>; 2],
    both: RwLock<u32>,
}

impl Shared {
    fn new() -> Shared {
        Shared {
            main: thread::current(),
            numbers: Default::default(),
            locks: Default::default(),
            both: RwLock::default(),
        }
    }

    fn unpark(&self, whose: Whose) {
        match whose {
            Whose::Own => thread::current().unpark(),
            Whose::Main => self.main.unpark(),
        }
    }

    fn locked<R>(&self, lock: usize, act: impl FnOnce(&mut u32) -> R) -> R {
        match lock {
            2 => act(&mut self.both.write().unwrap()),
            3 => act(&mut { *self.both.read().unwrap() }),
            _ => act(&mut self.locks[lock].lock().unwrap()),
        }
    }

    fn tried(&self, lock: usize) -> Option<u32> {
        match lock {
            2 => self.both.try_write().ok().map(|guard| *guard),
            3 => self.both.try_read().ok().map(|guard| *guard),
            _ => self.locks[lock].try_lock().ok().map(|guard| *guard),
        }
    }

    fn under(&self, lock: usize, number: usize) -> u32 {
        let look = || self.numbers[number].load(SeqCst);
        match lock {
            2 => {
                let _guard = self.both.write().unwrap();
                look()
            }
            3 => {
                let _guard = self.both.read().unwrap();
                look()
            }
            _ => {
                let _guard = self.locks[lock].lock().unwrap();
                look()
            }
        }
    }

    fn run(&self, statements: &[Statement]) -> Vec<u32> {
        let mut seen = Vec::new();
        let until = |is_there: &dyn Fn() -> bool| {
            while !is_there() {
                thread::yield_now();
            }
        };
        for &statement in statements {
            match statement {
                Statement::Load(which) => seen.push(self.numbers[which].load(SeqCst)),
                Statement::Store(which, number) => self.numbers[which].store(number, SeqCst),
                Statement::Set(lock, number) => self.locked(lock, |data| *data = number),
                Statement::Try(lock) => seen.push(self.tried(lock).unwrap_or(9)),
                Statement::PollLocked(lock, wanted) => {
                    until(&|| self.locked(lock, |data| *data) == wanted);
                }
                Statement::PollTried(lock, wanted) => until(&|| self.tried(lock) == Some(wanted)),
                Statement::PollExchange(which, old, new) => until(&|| {
                    let result = self.numbers[which].compare_exchange(old, new, SeqCst, SeqCst);
                    result.is_ok()
                }),
                Statement::PollMarked(which, wanted) => until(&|| {
                    self.numbers[which].store(1, SeqCst);
                    let found = self.numbers[1 - which].load(SeqCst);
                    self.numbers[which].store(0, SeqCst);
                    found == wanted
                }),
                Statement::PollUnder(lock, which, wanted) => {
                    until(&|| self.under(lock, which) == wanted);
                }
                Statement::PollAwake(which, wanted) => block_on(poll_fn(|context| {
                    if self.numbers[which].load(SeqCst) == wanted {
                        return Poll::Ready(());
                    }
                    context.waker().wake_by_ref();
                    Poll::Pending
                })),
                Statement::PollUnparking(whose, which, wanted) => until(&|| {
                    self.unpark(whose);
                    self.numbers[which].load(SeqCst) == wanted
                }),
                Statement::PollParked(which, wanted) => until(&|| {
                    self.unpark(Whose::Own);
                    thread::park();
                    self.numbers[which].load(SeqCst) == wanted
                }),
                Statement::Unpark(whose) => self.unpark(whose),
                Statement::Park => thread::park(),
            }
        }
        seen
    }
}

fn run(program: &Program) -> Seen {
    let shared = Arc::new(Shared::new());
    let others: Vec<_> = program[1..]
        .iter()
        .map(|statements| {
            let (shared, statements) = (Arc::clone(&shared), statements.clone());
            thread::spawn(move || shared.run(&statements))
        })
        .collect();
    let mut seen = vec![shared.run(&program[0])];
    seen.extend(others.into_iter().map(|other| other.join().unwrap()));
    let numbers = [0, 1].map(|which: usize| shared.numbers[which].load(SeqCst));
    (seen, numbers)
}

/// A state of the interpreter.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct State {
    numbers: [u32; 2],
    /// The values that the two mutexes and the reader-writer lock guard.
    data: [u32; 3],
    /// Whether one thread holds the lock exclusively. The last lock is the reader-writer lock, and
    /// `readers` counts the threads that hold it for reading.
    held: [bool; 3],
    readers: u32,
    /// Whether the park tokens of the threads are available.
    tokens: [bool; 3],
    threads: Vec<Thread>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Thread {
    statement: usize,
    phase: u32,
    found: u32,
    seen: Vec<u32>,
}

impl State {
    /// Takes the lock if it is free. Returns whether it did.
    fn take(&mut self, lock: usize) -> bool {
        let index = lock.min(2);
        let is_free = !self.held[index] && (lock != 2 || self.readers == 0);
        if is_free && lock == 3 {
            self.readers += 1;
        } else if is_free {
            self.held[index] = true;
        }
        is_free
    }

    fn give_back(&mut self, lock: usize) {
        match lock {
            3 => self.readers -= 1,
            _ => self.held[lock] = false,
        }
    }

    /// Performs one step of the thread. Returns `None` if the thread has ended or waits for a lock.
    fn step(&self, program: &Program, thread: usize) -> Option<State> {
        let running = &self.threads[thread];
        let &statement = program[thread].get(running.statement)?;
        let mut next = self.clone();
        let mut found = running.found;
        let mut seen = None;
        // The next phase, or `None` if the statement is done.
        let phase = match (statement, running.phase) {
            (Statement::Load(which), _) => {
                seen = Some(self.numbers[which]);
                None
            }
            (Statement::Store(which, number), _) => {
                next.numbers[which] = number;
                None
            }
            (Statement::Try(lock), 0) => match next.take(lock) {
                true => Some(1),
                false => {
                    seen = Some(9);
                    None
                }
            },
            (Statement::Try(lock), _) => {
                seen = Some(self.data[lock.min(2)]);
                next.give_back(lock);
                None
            }
            (Statement::PollTried(lock, _), 0) => Some(u32::from(next.take(lock))),
            (
                Statement::Set(lock, _)
                | Statement::PollLocked(lock, _)
                | Statement::PollUnder(lock, ..),
                0,
            ) => next.take(lock).then_some(Some(1))?,
            (Statement::Set(lock, number), _) => {
                next.data[lock] = number;
                next.give_back(lock);
                None
            }
            (Statement::PollLocked(lock, wanted) | Statement::PollTried(lock, wanted), _) => {
                next.give_back(lock);
                (self.data[lock.min(2)] != wanted).then_some(0)
            }
            (Statement::PollUnder(_, which, _), 1) => {
                found = self.numbers[which];
                Some(2)
            }
            (Statement::PollUnder(lock, _, wanted), _) => {
                next.give_back(lock);
                (found != wanted).then_some(0)
            }
            (Statement::PollExchange(which, old, new), _) => {
                let is_there = self.numbers[which] == old;
                if is_there {
                    next.numbers[which] = new;
                }
                (!is_there).then_some(0)
            }
            (Statement::PollMarked(which, _), 0) => {
                next.numbers[which] = 1;
                Some(1)
            }
            (Statement::PollMarked(which, _), 1) => {
                found = self.numbers[1 - which];
                Some(2)
            }
            (Statement::PollMarked(which, wanted), _) => {
                next.numbers[which] = 0;
                (found != wanted).then_some(0)
            }
            (Statement::PollAwake(which, wanted), _)
            | (Statement::PollUnparking(_, which, wanted), 1)
            | (Statement::PollParked(which, wanted), 2) => {
                (self.numbers[which] != wanted).then_some(0)
            }
            (Statement::PollUnparking(whose, ..) | Statement::Unpark(whose), _) => {
                next.tokens[whose.of(thread)] = true;
                matches!(statement, Statement::PollUnparking(..)).then_some(1)
            }
            (Statement::PollParked(..), 0) => {
                next.tokens[thread] = true;
                Some(1)
            }
            (Statement::PollParked(..) | Statement::Park, _) => {
                next.tokens[thread] = self.tokens[thread].then_some(false)?;
                matches!(statement, Statement::PollParked(..)).then_some(2)
            }
        };
        let running = &mut next.threads[thread];
        running.seen.extend(seen);
        running.phase = phase.unwrap_or(0);
        running.statement += usize::from(phase.is_none());
        running.found = if running.phase == 2 { found } else { 0 };
        Some(next)
    }

    /// Returns the states until the thread returns to this state, or `None` if it does not return
    /// within four steps.
    fn round(&self, program: &Program, thread: usize) -> Option<Vec<State>> {
        let mut states = vec![self.clone()];
        for _ in 0..4 {
            let next = states.last()?.step(program, thread)?;
            if next == *self {
                return Some(states);
            }
            states.push(next);
        }
        None
    }

    /// Checks whether the state is a livelock: each thread that can run returns to this state, and
    /// the other threads can never run.
    fn is_stuck(&self, program: &Program) -> bool {
        let threads = 0..program.len();
        let stands = |&thread: &usize| self.step(program, thread).is_none();
        let (standing, going): (Vec<_>, Vec<_>) = threads.partition(stands);
        let rounds: Option<Vec<_>> = going
            .iter()
            .map(|&thread| self.round(program, thread))
            .collect();
        rounds.is_some_and(|rounds| {
            let mut states = rounds.iter().flatten();
            states.all(|state| {
                let mut standing = standing.iter();
                standing.all(|&thread| state.step(program, thread).is_none())
            })
        })
    }

    fn has_ended(&self, program: &Program) -> bool {
        let mut threads = self.threads.iter().zip(program);
        threads.all(|(thread, statements)| thread.statement == statements.len())
    }
}

/// Returns the outcomes of all executions, and whether one of them never ends.
fn enumerate(program: &Program) -> (BTreeSet<Seen>, bool) {
    let begin = State {
        threads: vec![Thread::default(); program.len()],
        ..State::default()
    };
    let mut known = BTreeSet::from([begin.clone()]);
    let mut open = vec![begin];
    let (mut outcomes, mut is_stuck) = (BTreeSet::new(), false);
    while let Some(state) = open.pop() {
        if state.has_ended(program) {
            let seen = state
                .threads
                .iter()
                .map(|thread| thread.seen.clone())
                .collect();
            outcomes.insert((seen, state.numbers));
        } else {
            is_stuck |= state.is_stuck(program);
        }
        for thread in 0..program.len() {
            let next = state.step(program, thread);
            open.extend(next.filter(|next| known.insert(next.clone())));
        }
    }
    (outcomes, is_stuck)
}

/// Compares a program. Returns false if the search was not exhaustive.
fn is_law_kept(program: &Program, algorithm: Algorithm) -> bool {
    let (expected, is_stuck) = enumerate(program);
    let checker = Checker::new()
        .algorithm(algorithm)
        .keep_going(true)
        .max_events(200)
        .max_executions(2_000);
    let (seen, report) = explored(checker, {
        let program = program.clone();
        move || run(&program)
    });
    let context = format!("{algorithm} of {program:?}: {report}");
    let is_end = |kind| matches!(kind, FailureKind::Stuck | FailureKind::Deadlock);
    assert!(
        report.errors.iter().all(|error| is_end(error.kind)),
        "{context}"
    );
    assert!(seen.is_subset(&expected), "invented: {context}");
    assert!(report.errors.is_empty() || is_stuck, "invented: {context}");
    let is_bounded = report.verdict == Verdict::Bounded || !report.bounds.is_empty();
    if !is_bounded {
        assert_eq!(seen, expected, "lost: {context}");
        assert_eq!(!report.errors.is_empty(), is_stuck, "lost: {context}");
    }
    !is_bounded
}

#[test]
fn loops_that_poll_lose_no_outcome_and_no_livelock() {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        text.parse::<u64>().ok()
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = number("MAZURKA_SEED").unwrap_or_else(|| now.map_or(1, |now| now.as_nanos() as u64));
    println!("MAZURKA_SEED={seed}");
    let mut dice = Dice(seed | 1);
    let programs = number("MAZURKA_PROGRAMS").unwrap_or(60);
    let algorithms = [
        Algorithm::Parsimonious,
        Algorithm::Optimal,
        Algorithm::Source,
    ];
    let mut compared = 0;
    for _ in 0..programs {
        let program = random_program(&mut dice);
        for algorithm in algorithms {
            compared += u64::from(is_law_kept(&program, algorithm));
        }
    }
    let all = programs * algorithms.len() as u64;
    println!("{compared} of {all} searches were exhaustive");
    // Four in five are exhaustive on average; all three searches of a program have the same result.
    assert!(compared * 2 > all, "{compared} of {all}");
}
