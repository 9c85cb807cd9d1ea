//! channel-order-fixed: the receiver takes the messages in any order.

use crate::entry::Entry;
use mazurka::sync::mpsc;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "channel-order-fixed",
    about: "a receiver takes the messages of two senders in any order",
    parameters: &[],
    body: |_| channel_order_fixed(),
    expect: include_str!("expect.toml"),
};

fn channel_order_fixed() {
    let (sender, receiver) = mpsc::channel();
    for thread in 1..=2 {
        let sender = sender.clone();
        thread::spawn(move || sender.send(thread).unwrap());
    }
    let first: u32 = receiver.recv().unwrap();
    assert_eq!(first + receiver.recv().unwrap(), 3);
}
