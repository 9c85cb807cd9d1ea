//! timed-receive: one second seems enough, but the other thread need not run within it.

use crate::entry::Entry;
use mazurka::sync::mpsc;
use mazurka::thread;
use std::time::Duration;

pub(crate) const ENTRY: Entry = Entry {
    name: "timed-receive",
    about: "main expects an answer within a second",
    parameters: &[],
    body: |_| timed_receive(),
    expect: include_str!("expect.toml"),
};

fn timed_receive() {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(7));
    let answer = receiver
        .recv_timeout(Duration::from_secs(1))
        .expect("a second is enough");
    assert_eq!(answer, 7);
}
