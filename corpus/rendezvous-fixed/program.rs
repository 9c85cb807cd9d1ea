//! rendezvous-fixed: one thread sends first, the other receives first.

use crate::entry::Entry;
use mazurka::sync::mpsc;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "rendezvous-fixed",
    about: "of two threads at channels without room one receives first",
    parameters: &[],
    body: |_| rendezvous_fixed(),
    expect: include_str!("expect.toml"),
};

fn rendezvous_fixed() {
    let (to_worker, from_main) = mpsc::sync_channel(0);
    let (to_main, from_worker) = mpsc::sync_channel(0);
    let worker = thread::spawn(move || {
        assert_eq!(from_main.recv(), Ok(1));
        to_main.send(2).unwrap();
    });
    to_worker.send(1).unwrap();
    assert_eq!(from_worker.recv(), Ok(2));
    worker.join().unwrap();
}
