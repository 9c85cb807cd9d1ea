//! two-fives: the introductory example of context-sensitive DPOR (Albert et al., CAV 2017), with
//! threads, which report no state. So the two writes count as dependent, unlike in three-tasks.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "two-fives",
    about: "two threads write 5 to x, one reads x",
    parameters: &[],
    body: |_| two_fives(),
    expect: include_str!("expect.toml"),
};

fn two_fives() {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| x.store(5, SeqCst));
        scope.spawn(|| x.store(5, SeqCst));
        scope.spawn(|| {
            let read = x.load(SeqCst);
            assert!(read == 0 || read == 5);
        });
    });
}
