//! A binary for verification and for runs under a safe trace. Its first argument names a program of
//! this file or of the corpus.

#![forbid(unsafe_code)]

use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::sync::{Arc, Mutex, OnceLock};
use mazurka::{input, thread};
use std::fs;

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    match name.as_str() {
        "lost-update" => mazurka::program(|| repeated(loses_no_update)),
        "atomicity-violation" => mazurka::program(|| repeated(withdraws_no_more_than_there_is)),
        "order-violation" => mazurka::program(|| repeated(uses_what_is_made)),
        "unique" => mazurka::program(|| repeated(takes_the_value_first)),
        "cells" => mazurka::program(cells),
        "late-writer" => mazurka::program(late_writer),
        "poison" => mazurka::program(poison),
        "shares" => mazurka::program(shares),
        "unsteady" => mazurka::program(unsteady),
        "many-threads" => mazurka::program(many_threads),
        _ => match corpus::parse(&name) {
            Ok(instance) => {
                mazurka::program(instance.program());
                await_others();
            }
            Err(error) => eprintln!("{error}"),
        },
    }
}

/// Waits until only the main thread and Mazurka's threads are left. Then all events are recorded.
fn await_others() {
    while fs::read_dir("/proc/self/task").map_or(0, Iterator::count) > 2 {
        std::thread::yield_now();
    }
}

/// Runs the program once, and panics if it fails. If the environment variable REPEAT is set, runs
/// the program that many times instead, and prints the number of failures.
fn repeated(is_right: impl Fn() -> bool) {
    let Ok(times) = std::env::var("REPEAT") else {
        return assert!(is_right(), "it went wrong");
    };
    let goes_wrong = |_: &u32| {
        mazurka::again();
        !is_right()
    };
    let times: u32 = times.parse().unwrap();
    println!("{}", (0..times).filter(goes_wrong).count());
}

/// Two threads increment a counter, each with a load and a store.
fn loses_no_update() -> bool {
    static X: AtomicU32 = AtomicU32::new(0);
    X.store(0, SeqCst);
    let threads = [(); 2].map(|()| thread::spawn(|| X.store(X.load(SeqCst) + 1, SeqCst)));
    for thread in threads {
        thread.join().unwrap();
    }
    X.load(SeqCst) == 2
}

/// A thread checks a balance under a lock. The balance may have changed when the thread takes the
/// lock again to withdraw.
fn withdraws_no_more_than_there_is() -> bool {
    let balance = Mutex::new(10);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let is_enough = *balance.lock().unwrap() >= 7;
                if is_enough {
                    *balance.lock().unwrap() -= 7;
                }
            });
        }
    });
    let left = *balance.lock().unwrap();
    left >= 0
}

/// A thread uses a value that another thread may not have made yet.
fn uses_what_is_made() -> bool {
    let shared = Arc::new(OnceLock::new());
    let cells = Arc::clone(&shared);
    let producer = thread::spawn(move || cells.set(7).unwrap());
    let consumer = thread::spawn(move || shared.get() == Some(&7));
    producer.join().unwrap();
    consumer.join().unwrap()
}

/// The value is taken from the weak reference before the other thread looks for it.
fn takes_the_value_first() -> bool {
    let mut value = Arc::new_cyclic(|_| 1);
    let weak = Arc::downgrade(&value);
    let looking = thread::spawn(move || weak.upgrade().is_none());
    *Arc::make_mut(&mut value) += 1;
    looking.join().unwrap()
}

/// Each thread adds one to the cell that its input names.
fn cells() {
    let cells: Arc<[AtomicU32; 3]> = Arc::default();
    let threads = ["x", "y"].map(|name| {
        let (cells, number) = (Arc::clone(&cells), input(name, 0..=2));
        thread::spawn(move || cells[number as usize].fetch_add(1, SeqCst))
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

/// A thread performs many operations before it writes a variable that another thread reads.
fn late_writer() {
    static OWN: AtomicU32 = AtomicU32::new(0);
    static X: AtomicU32 = AtomicU32::new(0);
    let writer = thread::spawn(|| {
        (0..1500).for_each(|_| _ = OWN.fetch_add(1, SeqCst));
        X.store(1, SeqCst);
    });
    let reader = thread::spawn(|| _ = X.load(SeqCst));
    writer.join().unwrap();
    reader.join().unwrap();
}

/// Asks for an input that was not verified, if the environment says so.
fn unsteady() {
    let name = std::env::var("ASKS").map_or("x", |_| "more");
    assert!(input(name, 0..=1) < 2);
}

/// Performs an operation that cannot be enforced.
fn poison() {
    assert!(!Mutex::new(0).is_poisoned());
}

/// The order of two accesses depends on the number of owners, which the program reads.
fn shares() {
    let shared = Arc::new(AtomicU32::new(0));
    let cells = Arc::clone(&shared);
    let other = thread::spawn(move || cells.fetch_add(1, SeqCst));
    if Arc::strong_count(&shared) == 1 {
        shared.store(5, SeqCst);
    }
    other.join().unwrap();
    assert!(Arc::try_unwrap(shared).is_ok());
}

/// If the environment says so, starts and joins unverified threads, and prints by how many pages
/// the resident memory grows.
fn many_threads() {
    let start = |pairs| {
        let x = Arc::new(AtomicU32::new(0));
        for _ in 0..pairs {
            let threads = [(); 2].map(|()| {
                let x = Arc::clone(&x);
                thread::spawn(move || x.fetch_add(1, SeqCst))
            });
            for thread in threads {
                thread.join().unwrap();
            }
        }
    };
    start(1);
    if std::env::var_os("GOES_ON").is_some() {
        start(500);
        let before = resident();
        start(10_000);
        println!("{}", resident() - before);
    }
}

/// Returns the number of resident pages of the process.
fn resident() -> i64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse().unwrap()
}
