//! hang-up: a worker receives until all senders of its channel are gone, but main joins it before
//! dropping its sender. The repair: main drops the sender first.

use crate::entry::Entry;
use mazurka::sync::mpsc;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "hang-up",
    about: "main joins a worker before it drops the sender of the worker's channel",
    parameters: &[],
    body: |_| hang_up(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "hang-up-fixed",
    about: "main drops the sender of a worker's channel before it joins the worker",
    parameters: &[],
    body: |_| hang_up(true),
    expect: include_str!("fixed.toml"),
};

fn hang_up(is_fixed: bool) {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::spawn(move || receiver.iter().sum::<u32>());
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    if is_fixed {
        drop(sender);
    }
    assert_eq!(worker.join().unwrap(), 3);
}
