//! Nondeterministic programs: the checker reports them, whatever they do, and keeps working.

use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::sync::mpsc::channel;
use mazurka::sync::{Arc, Condvar, Mutex, RwLock, Semaphore};
use mazurka::{Algorithm, CheckError, Checker, choose, thread};
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Random numbers that continue from one execution to the next.
struct Dice(AtomicU64);

impl Dice {
    /// xorshift64 (Marsaglia 2003).
    fn roll(&self, sides: u64) -> u64 {
        let mut x = self.0.load(SeqCst);
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0.store(x, SeqCst);
        x % sides
    }
}

#[derive(Default)]
struct Shared {
    numbers: [AtomicU32; 2],
    locks: [Mutex<u32>; 2],
    both: RwLock<u32>,
    condvar: Condvar,
}

/// Performs a few random operations, including spawns.
fn rolls(dice: &'static Dice, shared: &Arc<Shared>, depth: u32) {
    for _ in 0..dice.roll(4) {
        let which = dice.roll(2) as usize;
        match dice.roll(13) {
            0 => drop(shared.numbers[which].load(SeqCst)),
            1 => shared.numbers[which].store(dice.roll(3) as u32, SeqCst),
            2 => {
                let new = dice.roll(3) as u32;
                let _ = shared.numbers[which].compare_exchange(0, new, SeqCst, SeqCst);
            }
            3 => drop(shared.locks[which].lock()),
            4 => drop(shared.locks[which].try_lock()),
            5 => drop(shared.both.read()),
            6 => drop(shared.both.try_write()),
            7 => shared.condvar.notify_one(),
            8 => {
                let guard = shared.locks[which].lock().unwrap();
                drop(shared.condvar.wait_timeout(guard, Duration::ZERO));
            }
            9 => drop(choose(1 + dice.roll(3) as u32)),
            10 => drop(Semaphore::new(1).try_acquire()),
            11 => {
                let (sender, receiver) = channel();
                sender.send(1).unwrap();
                let _ = receiver.try_recv();
            }
            _ if depth < 3 => {
                let shared = Arc::clone(shared);
                let other = thread::spawn(move || rolls(dice, &shared, depth + 1));
                if dice.roll(2) == 0 {
                    other.join().unwrap();
                }
            }
            _ => thread::park_timeout(Duration::ZERO),
        }
    }
}

#[test]
fn random_programs_are_refused_and_do_no_harm() {
    let mut refused = 0;
    for seed in 1..=400_u64 {
        for algorithm in Algorithm::general() {
            let dice: &'static Dice = Box::leak(Box::new(Dice(AtomicU64::new(seed * 7919))));
            let checker = Checker::new()
                .algorithm(algorithm)
                .keep_going(true)
                .max_executions(30);
            match checker.try_check(move || {
                let shared = Arc::new(Shared::default());
                let other = thread::spawn({
                    let shared = Arc::clone(&shared);
                    move || rolls(dice, &shared, 0)
                });
                rolls(dice, &shared, 0);
                other.join().unwrap();
            }) {
                Ok(_) => {}
                Err(CheckError::Nondeterministic(_) | CheckError::Outlived) => refused += 1,
                Err(error) => panic!("seed {seed} with {algorithm}: {error}"),
            }
        }
    }
    // Some programs do not have two executions that could differ.
    assert!(refused > 600, "{refused}");
}

#[test]
fn a_map_with_random_seeds_is_no_problem_where_its_order_is_not_seen() {
    mazurka::model(|| {
        let map = Arc::new(Mutex::new(HashMap::new()));
        let other = thread::spawn({
            let map = Arc::clone(&map);
            move || map.lock().unwrap().insert("other", 1)
        });
        map.lock().unwrap().insert("main", 2);
        other.join().unwrap();
        assert_eq!(map.lock().unwrap().len(), 2);
    });
}

#[test]
fn an_order_that_depends_on_random_seeds_is_refused() {
    let result = Checker::new().try_check(|| {
        let numbers: HashMap<u32, AtomicU32> = (0..20).map(|n| (n, AtomicU32::new(n))).collect();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| numbers.values().for_each(|number| number.store(0, SeqCst)));
            }
        });
    });
    assert!(
        matches!(result, Err(CheckError::Nondeterministic(_))),
        "{result:?}"
    );
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn a_failure_that_is_another_one_when_it_is_recorded_is_refused() {
    let runs = AtomicU64::new(0);
    let result = Checker::new().try_check(move || {
        let x = AtomicU32::new(0);
        x.store(1, SeqCst);
        assert!(runs.fetch_add(1, SeqCst) > 0, "only the first time");
        std::process::abort();
    });
    let error = result.expect_err("the program is not deterministic");
    let text = error.to_string();
    assert!(matches!(error, CheckError::Inconstant { .. }), "{text}");
    assert!(
        text.contains("(panic) led to another one (abort)"),
        "{text}"
    );
}

#[test]
fn a_failure_that_does_not_come_again_is_refused() {
    let runs = AtomicU64::new(0);
    let result = Checker::new().try_check(move || {
        assert!(runs.fetch_add(1, SeqCst) > 0, "only the first time");
    });
    let error = result
        .expect_err("the program is not deterministic")
        .to_string();
    assert!(error.contains("(panic) led to none"), "{error}");
}

#[test]
fn state_in_a_static_of_std_is_noticed_though_one_execution_is_all() {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let result = Checker::new().try_check(|| {
        let shared = AtomicU32::new(0);
        shared.store(COUNT.fetch_add(1, SeqCst) as u32, SeqCst);
    });
    let error = result.expect_err("the static goes on counting");
    assert!(error.to_string().contains("not deterministic"), "{error}");
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let result = Checker::new().try_check(|| assert_eq!(CALLS.fetch_add(1, SeqCst), 0));
    let error = result.expect_err("the assertion holds only once");
    assert!(error.to_string().contains("not deterministic"), "{error}");
    // The second execution fails, and so does every later one.
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let result = Checker::new().try_check(|| {
        let shared = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || other.store(1, SeqCst));
        shared.store(2, SeqCst);
        other.join().unwrap();
        assert_eq!(RUNS.fetch_add(1, SeqCst), 0);
    });
    let error = result.expect_err("the assertion holds only once");
    assert!(error.to_string().contains("not deterministic"), "{error}");
    // A static that is initialized once and never changes makes no difference.
    static ONCE: std::sync::OnceLock<Vec<u32>> = std::sync::OnceLock::new();
    let report = Checker::new().check(|| {
        let length = ONCE.get_or_init(|| vec![1, 2, 3]).len();
        AtomicU32::new(0).store(length as u32, SeqCst);
    });
    assert_eq!(report.verdict, mazurka::Verdict::Verified);
}
