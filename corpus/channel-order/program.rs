//! channel-order: two threads send to one channel, and the receiver
//! assumes that the first message is from the first thread.

use crate::entry::Entry;
use mazurka::sync::mpsc;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "channel-order",
    about: "a receiver relies on the order of two senders",
    parameters: &[],
    body: |_| channel_order(),
    expect: include_str!("expect.toml"),
};

fn channel_order() {
    let (sender, receiver) = mpsc::channel();
    for thread in 1..=2 {
        let sender = sender.clone();
        thread::spawn(move || sender.send(thread).unwrap());
    }
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(receiver.recv(), Ok(2));
}
