//! hang-up: a worker receives until all senders of its channel
//! are gone, but main joins it before dropping its sender.

use crate::entry::Entry;
use mazurka::sync::mpsc;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "hang-up",
    about: "main joins a worker whose channel it did not hang up",
    parameters: &[],
    body: |_| hang_up(),
    expect: include_str!("expect.toml"),
};

fn hang_up() {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::spawn(move || receiver.iter().sum::<u32>());
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    assert_eq!(worker.join().unwrap(), 3);
}
