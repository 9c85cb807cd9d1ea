//! channel-order: two threads send to one channel, and the receiver assumes that the first message
//! is from the first thread. In the repaired program, it accepts the messages in any order.

use crate::entry::Entry;
use mazurka::sync::mpsc;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "channel-order",
    about: "a receiver relies on the order of two senders",
    parameters: &[],
    body: |_| channel_order(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "channel-order-fixed",
    about: "a receiver accepts the messages of two senders in any order",
    parameters: &[],
    body: |_| channel_order(true),
    expect: include_str!("fixed.toml"),
};

fn channel_order(is_fixed: bool) {
    let (sender, receiver) = mpsc::channel();
    for thread in 1..=2 {
        let sender = sender.clone();
        thread::spawn(move || sender.send(thread).unwrap());
    }
    let first = receiver.recv().unwrap();
    if !is_fixed {
        assert_eq!(first, 1);
    }
    let second = receiver.recv().unwrap();
    assert_eq!(first + second, 3);
}
