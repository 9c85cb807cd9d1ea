//! Measures the cost of enforcement if no thread has to wait: hooks of plain accesses, atomics and
//! locks. `cargo bench -p mazurka-enforce`

use enforce::blocking::Mutex;
use enforce::{Order, adopt, again, end_thread, upcoming};
use explore::OpKind;
use report::{Case, Constraint, Point, SafeTrace};
use std::error::Error;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Runs the benchmarks in the main thread of a program that has a verified prefix.
fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let trace = folder.path().join("safe.trace");
    prefix().save(&trace)?;
    enforce::start(Order {
        trace,
        ..Order::default()
    })?;
    begin_prefix();
    operate(&AtomicU64::new(0));
    divan::main();
    Ok(())
}

const TIMES: usize = 1_000;

/// Returns a prefix. Events 1, 5, 9, … of the main thread wait for the first event of the child.
/// The second event of the child waits for events 3, 7, 11, … of the main thread.
fn prefix() -> SafeTrace {
    let point = |thread, index| Point { thread, index };
    let last = TIMES as u32;
    let waits = (1..=last).step_by(4).flat_map(|index| {
        let waits = (point(1, 1), point(0, index));
        let is_waited_for = (point(0, index + 2), point(1, 2));
        [waits, is_waited_for].map(|(first, then)| Constraint { first, then })
    });
    let case = Case {
        threads: ["0", "0.0"].map(str::to_owned).to_vec(),
        constraints: waits.collect(),
        events_of_prefix: u64::from(last) + 1,
        ..Case::default()
    };
    SafeTrace {
        cases: vec![case],
        ..SafeTrace::default()
    }
}

/// Starts the prefix again. The event for which the main thread waits is already performed.
fn begin_prefix() {
    again();
    let child = upcoming().expect("the main thread is enforced");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            adopt(&child);
            enforce::begin(OpKind::Store);
            enforce::end();
            end_thread();
        });
    });
}

/// Operations within the prefix, half of which have a constraint.
#[divan::bench(counters = [divan::counter::ItemsCount::new(TIMES)], sample_size = 1)]
fn atomic_operation_within_the_prefix(bencher: divan::Bencher<'_, '_>) {
    let word = AtomicU64::new(0);
    bencher
        .with_inputs(begin_prefix)
        .bench_local_values(|()| operate(&word));
}

/// Performs as many events as the prefix has.
fn operate(word: &AtomicU64) {
    for _ in 0..TIMES {
        enforce::begin(OpKind::ReadModifyWrite);
        word.fetch_add(1, SeqCst);
        enforce::end();
    }
}

#[divan::bench(counters = [divan::counter::ItemsCount::new(TIMES)])]
fn plain_access() {
    for _ in 0..TIMES {
        enforce::plain_read(black_box(8));
    }
}

#[divan::bench(counters = [divan::counter::ItemsCount::new(TIMES)])]
fn atomic_operation(bencher: divan::Bencher<'_, '_>) {
    let word = AtomicU64::new(0);
    bencher.bench_local(|| operate(&word));
}

#[divan::bench(counters = [divan::counter::ItemsCount::new(TIMES)])]
fn atomic_operation_without_enforcement(bencher: divan::Bencher<'_, '_>) {
    let word = AtomicU64::new(0);
    bencher.bench_local(|| {
        for _ in 0..TIMES {
            black_box(&word).fetch_add(1, SeqCst);
        }
    });
}

#[divan::bench(counters = [divan::counter::ItemsCount::new(TIMES)])]
fn lock_and_unlock(bencher: divan::Bencher<'_, '_>) {
    let mutex = Mutex::new();
    bencher.bench_local(|| {
        for _ in 0..TIMES {
            let _ = black_box(&mutex).lock();
            let _ = black_box(&mutex).unlock();
        }
    });
}
