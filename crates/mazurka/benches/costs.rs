//! Costs: `cargo bench -p mazurka`. Limits: 2 µs for an empty execution, 1 µs for each additional
//! thread, 60 ns for an atomic operation in a thread that runs until it blocks.

use divan::Bencher;
use divan::counter::ItemsCount;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::{Checker, Verdict, choose, thread};

fn main() {
    divan::main();
}

/// Executions of one check. The first choice multiplies them.
const EXECUTIONS: u32 = 1_000;

/// Operations of one thread in an execution.
const OPERATIONS: u32 = 1_000;

/// Executions of a check that measures operations.
const RUNS: u32 = 1_000;

fn verify(program: fn()) {
    let report = Checker::new().check(program);
    assert_eq!(report.verdict, Verdict::Verified);
}

/// Executions without operations, with this number of threads besides the main thread.
#[divan::bench(args = [0, 1, 4, 16])]
fn executions(bencher: Bencher<'_, '_>, threads: u32) {
    let program: fn() = match threads {
        0 => || {
            choose(EXECUTIONS);
        },
        1 => || {
            choose(EXECUTIONS);
            start(1);
        },
        4 => || {
            choose(EXECUTIONS);
            start(4);
        },
        _ => || {
            choose(EXECUTIONS);
            start(16);
        },
    };
    bencher
        .counter(ItemsCount::new(EXECUTIONS))
        .bench(|| verify(program));
}

fn start(threads: u32) {
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| ());
        }
    });
}

/// Operations of one uninterrupted thread, in executions that repeat only the first choice.
#[divan::bench]
fn operations(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(RUNS * OPERATIONS))
        .bench(|| {
            verify(|| {
                choose(RUNS);
                let x = AtomicU32::new(0);
                for _ in 0..OPERATIONS {
                    x.load(SeqCst);
                }
            });
        });
}

/// Operations of one execution, including the costs of its memory and of sampling it.
#[divan::bench]
fn operations_of_one_execution(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(OPERATIONS)).bench(|| {
        verify(|| {
            let x = AtomicU32::new(0);
            for _ in 0..OPERATIONS {
                x.load(SeqCst);
            }
        });
    });
}

/// Operations of two threads that take turns.
#[divan::bench]
fn operations_of_two_threads(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(2 * RUNS * OPERATIONS))
        .bench(|| {
            verify(|| {
                choose(RUNS);
                let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
                thread::scope(|scope| {
                    for place in [&x, &y] {
                        scope.spawn(|| {
                            for _ in 0..OPERATIONS {
                                place.load(SeqCst);
                            }
                        });
                    }
                });
            });
        });
}
