//! barrier-reuse: after the barrier, each thread reads the other's value, but nothing prevents the
//! other from writing for the next round already. In the repaired program, a second wait at the
//! barrier separates the writes of the next round from the reads of this one.

use crate::entry::Entry;
use mazurka::sync::Barrier;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "barrier-reuse",
    about: "two threads work in rounds and wait at a barrier once per round",
    parameters: &[],
    body: |_| barrier_reuse(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "barrier-reuse-fixed",
    about: "two threads work in rounds and wait at a barrier twice per round",
    parameters: &[],
    body: |_| barrier_reuse(true),
    expect: include_str!("fixed.toml"),
};

const ROUNDS: u32 = 2;

fn barrier_reuse(is_fixed: bool) {
    let barrier = Barrier::new(2);
    let rounds = [0, 0].map(AtomicU32::new);
    thread::scope(|scope| {
        let work = |me: usize| {
            let mut is_in_step = true;
            for round in 1..=ROUNDS {
                rounds[me].store(round, SeqCst);
                barrier.wait();
                is_in_step &= rounds[1 - me].load(SeqCst) == round;
                if is_fixed {
                    barrier.wait();
                }
            }
            is_in_step
        };
        let other = scope.spawn(move || work(1));
        assert!(work(0), "the other thread is a round ahead");
        assert!(other.join().unwrap(), "main is a round ahead");
    });
}
