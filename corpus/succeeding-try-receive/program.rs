//! succeeding-try-receive: a try_recv finds a message. loom 0.7.2 misses this.

use crate::entry::Entry;
use mazurka::sync::mpsc;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "succeeding-try-receive",
    about: "try_recv may find a message that another thread sends",
    parameters: &[],
    body: |_| succeeding_try_receive(),
    expect: include_str!("expect.toml"),
};

fn succeeding_try_receive() {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(1));
    assert!(receiver.try_recv().is_err(), "the message is there");
}
