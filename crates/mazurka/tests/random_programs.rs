//! Random programs with Mazurka's versions of types of `std`: all algorithms agree with brute
//! force, and so do the weak memory models, because all atomic accesses are `SeqCst`. The seed is
//! printed. `MAZURKA_SEED` sets it, and `MAZURKA_PROGRAMS` sets the number of
//! programs.

mod outcomes;

use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::sync::mpsc::{Receiver, Sender, channel};
use mazurka::sync::{Condvar, Mutex, Notify, Once, RwLock, Semaphore, Weak};
use mazurka::{Algorithm, Checker, MemoryModel, Report, choose, thread};
use outcomes::explored;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of executions for brute force.
const MOST: u64 = 20_000;

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

/// An action of a thread. Each returns a number.
#[derive(Clone, Copy, Debug)]
enum Action {
    Load(usize),
    Store(usize, u32),
    Add(usize),
    Exchange(usize, u32, u32),
    Lock(usize),
    TryLock(usize),
    Read,
    Write,
    TryRead,
    TryWrite,
    Wait,
    TimedWait,
    NotifyOne,
    NotifyAll,
    Acquire,
    TryAcquire,
    Release,
    Send,
    Receive,
    TryReceive,
    CallOnce,
    IsCompleted,
    Choose,
    Park,
    TimedPark,
    UnparkMain,
    Spawn(usize),
    /// Only the main thread takes the token.
    TakeToken,
    GiveToken,
    CloneShare,
    DropShare,
    CountShares,
    Upgrade,
    SwapStatic(u32),
    LockStatic,
}

impl Action {
    fn random(dice: &mut Dice) -> Action {
        let which = dice.roll(2) as usize;
        let small = dice.roll(3) as u32;
        match dice.roll(36) {
            0 | 1 => Action::Load(which),
            2 | 3 => Action::Store(which, small),
            4 => Action::Add(which),
            5 => Action::Exchange(which, small, dice.roll(3) as u32),
            6 => Action::Lock(which),
            7 => Action::TryLock(which),
            8 => Action::Read,
            9 => Action::Write,
            10 => Action::TryRead,
            11 => Action::TryWrite,
            12 => Action::Wait,
            13 => Action::TimedWait,
            14 => Action::NotifyOne,
            15 => Action::NotifyAll,
            16 => Action::Acquire,
            17 => Action::TryAcquire,
            18 => Action::Release,
            19 => Action::Send,
            20 => Action::Receive,
            21 => Action::TryReceive,
            22 => Action::CallOnce,
            23 => Action::IsCompleted,
            24 => Action::Choose,
            25 => Action::TimedPark,
            26 => {
                if dice.roll(2) == 0 {
                    Action::Park
                } else {
                    Action::UnparkMain
                }
            }
            27 => Action::Spawn(which),
            28 => Action::TakeToken,
            29 => Action::GiveToken,
            30 => Action::CloneShare,
            31 => Action::DropShare,
            32 => Action::CountShares,
            33 => Action::Upgrade,
            34 => Action::SwapStatic(small),
            _ => Action::LockStatic,
        }
    }
}

/// A static, which starts with its initial value in each execution.
static NUMBER: AtomicU32 = AtomicU32::new(5);
static LOCK: Mutex<u32> = Mutex::new(0);

/// The actions of the threads. The main thread performs the first list and joins the others.
#[derive(Clone, Debug)]
struct Program {
    threads: Vec<Vec<Action>>,
}

impl Program {
    fn random(dice: &mut Dice) -> Program {
        let threads = 2 + dice.roll(2);
        let most = if threads == 2 { 4 } else { 3 };
        let list = |dice: &mut Dice| {
            let length = dice.roll(most);
            (0..length).map(|_| Action::random(dice)).collect()
        };
        Program {
            threads: (0..threads).map(|_| list(dice)).collect(),
        }
    }
}

struct Shared {
    numbers: [AtomicU32; 2],
    locks: [Mutex<u32>; 2],
    both: RwLock<u32>,
    condvar: Condvar,
    semaphore: Semaphore,
    once: Once,
    token: Notify,
    weak: Weak<u32>,
    main: thread::Thread,
}

/// The ends of a channel that a thread owns, and its share of a value.
struct Ends {
    share: RefCell<Option<mazurka::sync::Arc<u32>>>,
    sender: Option<Sender<u32>>,
    receiver: Option<Receiver<u32>>,
}

impl Shared {
    fn act(self: &Arc<Shared>, action: Action, ends: &Ends) -> u32 {
        let soon = Duration::ZERO;
        match action {
            Action::Load(which) => self.numbers[which].load(SeqCst),
            Action::Store(which, value) => {
                self.numbers[which].store(value, SeqCst);
                0
            }
            Action::Add(which) => self.numbers[which].fetch_add(1, SeqCst),
            Action::Exchange(which, old, new) => {
                let result = self.numbers[which].compare_exchange(old, new, SeqCst, SeqCst);
                result.unwrap_or_else(|found| found + 10)
            }
            Action::Lock(which) => {
                let mut value = self.locks[which].lock().unwrap();
                *value += 1;
                *value + 10 * self.numbers[which].load(SeqCst)
            }
            Action::TryLock(which) => self.locks[which].try_lock().map_or(9, |value| *value),
            Action::Read => *self.both.read().unwrap(),
            Action::Write => {
                *self.both.write().unwrap() += 1;
                0
            }
            Action::TryRead => self.both.try_read().map_or(9, |value| *value),
            Action::TryWrite => self.both.try_write().map_or(9, |mut value| {
                *value += 2;
                *value
            }),
            Action::Wait => *self.condvar.wait(self.locks[0].lock().unwrap()).unwrap(),
            Action::TimedWait => {
                let guard = self.locks[0].lock().unwrap();
                let (value, result) = self.condvar.wait_timeout(guard, soon).unwrap();
                *value + 10 * u32::from(result.timed_out())
            }
            Action::NotifyOne => {
                self.condvar.notify_one();
                0
            }
            Action::NotifyAll => {
                self.condvar.notify_all();
                0
            }
            Action::Acquire => {
                self.semaphore.acquire();
                0
            }
            Action::TryAcquire => u32::from(self.semaphore.try_acquire()),
            Action::Release => {
                self.semaphore.release();
                0
            }
            Action::Send => ends
                .sender
                .as_ref()
                .map_or(8, |sender| u32::from(sender.send(1).is_ok())),
            Action::Receive => ends
                .receiver
                .as_ref()
                .map_or(8, |receiver| receiver.recv().unwrap_or(9)),
            Action::TryReceive => ends.receiver.as_ref().map_or(8, |receiver| {
                receiver
                    .try_recv()
                    .unwrap_or_else(|error| 20 + error as u32)
            }),
            Action::CallOnce => {
                let mut was_first = 0;
                self.once
                    .call_once(|| was_first = 1 + self.numbers[0].load(SeqCst));
                was_first
            }
            Action::IsCompleted => u32::from(self.once.is_completed()),
            Action::Choose => choose(2),
            Action::Park => {
                thread::park();
                0
            }
            Action::TimedPark => {
                thread::park_timeout(soon);
                0
            }
            Action::UnparkMain => {
                self.main.unpark();
                0
            }
            Action::TakeToken => {
                if ends.receiver.is_some() {
                    self.token.wait();
                }
                0
            }
            Action::GiveToken => {
                self.token.notify();
                0
            }
            Action::CloneShare => {
                let clone = ends.share.borrow().clone();
                clone.map_or(9, |share| *share)
            }
            Action::DropShare => {
                drop(ends.share.take());
                0
            }
            Action::CountShares => {
                let share = ends.share.borrow();
                let count = share.as_ref().map_or(99, mazurka::sync::Arc::strong_count);
                count as u32
            }
            Action::Upgrade => self.weak.upgrade().map_or(9, |share| *share),
            Action::SwapStatic(value) => NUMBER.swap(value, SeqCst),
            Action::LockStatic => {
                let mut value = LOCK.lock().unwrap();
                *value += 1;
                *value + 10 * NUMBER.load(SeqCst)
            }
            Action::Spawn(which) => {
                let shared = Arc::clone(self);
                let other = thread::spawn(move || shared.numbers[which].swap(7, SeqCst));
                let early = other.is_finished();
                other.join().unwrap() + 10 * u32::from(early)
            }
        }
    }

    fn run(self: &Arc<Shared>, actions: &[Action], ends: Ends) -> Vec<u32> {
        actions
            .iter()
            .map(|&action| self.act(action, &ends))
            .collect()
    }
}

/// Returns the results of each thread's actions.
fn run(program: &Program) -> Vec<Vec<u32>> {
    let share = mazurka::sync::Arc::new(7);
    let shared = Arc::new(Shared {
        token: Notify::new(),
        weak: mazurka::sync::Arc::downgrade(&share),
        numbers: Default::default(),
        locks: Default::default(),
        both: RwLock::new(0),
        condvar: Condvar::new(),
        semaphore: Semaphore::new(1),
        once: Once::new(),
        main: thread::current(),
    });
    let (sender, receiver) = channel();
    let others: Vec<_> = program.threads[1..]
        .iter()
        .map(|actions| {
            let (shared, actions) = (Arc::clone(&shared), actions.clone());
            let ends = Ends {
                share: RefCell::new(Some(share.clone())),
                sender: Some(sender.clone()),
                receiver: None,
            };
            thread::spawn(move || shared.run(&actions, ends))
        })
        .collect();
    drop(sender);
    let ends = Ends {
        share: RefCell::new(Some(share)),
        sender: None,
        receiver: Some(receiver),
    };
    let mut seen = vec![shared.run(&program.threads[0], ends)];
    seen.extend(others.into_iter().map(|other| other.join().unwrap()));
    seen
}

type Seen = BTreeSet<Vec<Vec<u32>>>;

fn explore(program: &Program, algorithm: Algorithm, memory: MemoryModel) -> (Seen, Report) {
    let checker = Checker::new()
        .algorithm(algorithm)
        .memory(memory)
        .keep_going(true)
        .max_executions(MOST);
    let program = program.clone();
    explored(checker, move || run(&program))
}

/// Checks all algorithms. Returns false if the program is too large to compare.
fn is_law_kept(program: &Program) -> bool {
    let (expected, all) = explore(program, Algorithm::Exhaustive, MemoryModel::Sc);
    let is_too_large = all.bounds.iter().any(|bound| bound.contains("executions"));
    if is_too_large {
        return false;
    }
    let deadlocks = |report: &Report| report.deadlocks > 0;
    let (_, optimal) = explore(program, Algorithm::Optimal, MemoryModel::Sc);
    let traces = optimal.executions + optimal.halted;
    for algorithm in Algorithm::general().filter(|algorithm| algorithm.proves()) {
        let (seen, report) = explore(program, algorithm, MemoryModel::Sc);
        let context = format!("{algorithm} of {program:?}");
        assert_eq!(seen, expected, "{context}");
        assert_eq!(report.verdict, all.verdict, "{context}");
        assert_eq!(deadlocks(&report), deadlocks(&all), "{context}");
        let runs = report.executions + report.halted;
        assert!(runs >= traces, "{context}: {runs} for {traces} traces");
        if algorithm.is_optimal() {
            assert_eq!((runs, report.blocked), (traces, 0), "{context}");
            assert_eq!(report.deadlocks, optimal.deadlocks, "{context}");
        }
    }
    for memory in [MemoryModel::Tso, MemoryModel::Rc11] {
        let (seen, report) = explore(program, Algorithm::Parsimonious, memory);
        let context = format!("{memory} of {program:?}");
        assert_eq!(report.blocked, 0, "{context}");
        // A count of shares is a relaxed load, after which a thread may still read old values.
        let mut actions = program.threads.iter().flatten();
        if memory == MemoryModel::Rc11
            && actions.any(|action| matches!(action, Action::CountShares))
        {
            assert!(seen.is_superset(&expected), "{context}");
            continue;
        }
        assert_eq!(seen, expected, "{context}");
        assert_eq!(report.verdict, all.verdict, "{context}");
        assert_eq!(deadlocks(&report), deadlocks(&all), "{context}");
    }
    true
}

#[test]
fn every_algorithm_and_memory_model_sees_what_brute_force_sees() {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = number("MAZURKA_SEED").unwrap_or_else(|| now.map_or(1, |now| now.as_nanos() as u64));
    println!("MAZURKA_SEED={seed}");
    let mut dice = Dice(seed | 1);
    let programs = number("MAZURKA_PROGRAMS").unwrap_or(60);
    let mut compared = 0;
    while compared < programs {
        compared += u64::from(is_law_kept(&Program::random(&mut dice)));
    }
}
