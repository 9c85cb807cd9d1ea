//! What enforcement costs where nothing has to wait: the hooks before plain accesses, atomic operations, locks.
//! `cargo bench -p mazurka-enforce`

use enforce::blocking::Mutex;
use explore::OpKind;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

fn main() {
    divan::main();
}

const TIMES: usize = 1_000;

#[divan::bench(counters = [divan::counter::ItemsCount::new(TIMES)])]
fn plain_access() {
    for _ in 0..TIMES {
        enforce::plain_read(black_box(8));
    }
}

#[divan::bench(counters = [divan::counter::ItemsCount::new(TIMES)])]
fn atomic_operation(bencher: divan::Bencher<'_, '_>) {
    let word = AtomicU64::new(0);
    bencher.bench_local(|| {
        for _ in 0..TIMES {
            enforce::begin(OpKind::ReadModifyWrite);
            word.fetch_add(1, SeqCst);
            enforce::end();
        }
    });
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
