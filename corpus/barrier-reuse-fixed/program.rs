//! barrier-reuse-fixed: a second barrier separates the writes of the next round from these reads.

use crate::entry::Entry;
use mazurka::sync::Barrier;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "barrier-reuse-fixed",
    about: "two threads work in rounds with two barriers per round",
    parameters: &[],
    body: |_| barrier_reuse_fixed(),
    expect: include_str!("expect.toml"),
};

const ROUNDS: u32 = 2;

fn barrier_reuse_fixed() {
    let barrier = Barrier::new(2);
    let rounds = [0, 0].map(AtomicU32::new);
    thread::scope(|scope| {
        let work = |me: usize| {
            let mut is_in_step = true;
            for round in 1..=ROUNDS {
                rounds[me].store(round, SeqCst);
                barrier.wait();
                is_in_step &= rounds[1 - me].load(SeqCst) == round;
                barrier.wait();
            }
            is_in_step
        };
        let other = scope.spawn(move || work(1));
        assert!(work(0), "the other thread is a round ahead");
        assert!(other.join().unwrap(), "main is a round ahead");
    });
}
