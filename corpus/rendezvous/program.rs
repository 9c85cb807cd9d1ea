//! rendezvous: two threads send to each other on channels without capacity. The bug: both send
//! first, so neither receives. The repair: one thread receives first.

use crate::entry::Entry;
use mazurka::sync::mpsc;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "rendezvous",
    about: "two threads both send first on channels without capacity",
    parameters: &[],
    body: |_| rendezvous(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "rendezvous-fixed",
    about: "of two threads that send on channels without capacity, one receives first",
    parameters: &[],
    body: |_| rendezvous(true),
    expect: include_str!("fixed.toml"),
};

fn rendezvous(is_fixed: bool) {
    let (to_worker, from_main) = mpsc::sync_channel(0);
    let (to_main, from_worker) = mpsc::sync_channel(0);
    let worker = thread::spawn(move || {
        if is_fixed {
            assert_eq!(from_main.recv(), Ok(1));
            to_main.send(2).unwrap();
        } else {
            to_main.send(2).unwrap();
            assert_eq!(from_main.recv(), Ok(1));
        }
    });
    to_worker.send(1).unwrap();
    assert_eq!(from_worker.recv(), Ok(2));
    worker.join().unwrap();
}
