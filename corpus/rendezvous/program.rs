//! rendezvous: two threads send to each other on channels without capacity, and neither receives.

use crate::entry::Entry;
use mazurka::sync::mpsc;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "rendezvous",
    about: "two threads both send first at channels without room",
    parameters: &[],
    body: |_| rendezvous(),
    expect: include_str!("expect.toml"),
};

fn rendezvous() {
    let (to_worker, from_main) = mpsc::sync_channel(0);
    let (to_main, from_worker) = mpsc::sync_channel(0);
    let worker = thread::spawn(move || {
        to_main.send(2).unwrap();
        assert_eq!(from_main.recv(), Ok(1));
    });
    to_worker.send(1).unwrap();
    assert_eq!(from_worker.recv(), Ok(2));
    worker.join().unwrap();
}
