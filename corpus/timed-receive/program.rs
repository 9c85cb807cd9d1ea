//! timed-receive: main expects an answer within one second, but the other thread may run later.
//! Repair: after the timeout, main waits without a limit.

use crate::entry::Entry;
use mazurka::sync::mpsc;
use mazurka::thread;
use std::time::Duration;

pub(crate) const ENTRY: Entry = Entry {
    name: "timed-receive",
    about: "main expects an answer within one second",
    parameters: &[],
    body: |_| timed_receive(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "timed-receive-fixed",
    about: "main waits without a limit when one second was too short",
    parameters: &[],
    body: |_| timed_receive(true),
    expect: include_str!("fixed.toml"),
};

fn timed_receive(is_fixed: bool) {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(7));
    let answer = receiver.recv_timeout(Duration::from_secs(1));
    let answer = if is_fixed {
        answer.or_else(|_| receiver.recv()).unwrap()
    } else {
        answer.expect("a second is enough")
    };
    assert_eq!(answer, 7);
}
