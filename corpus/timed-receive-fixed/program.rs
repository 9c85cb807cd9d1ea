//! timed-receive-fixed: after the timeout, main waits without a limit.

use crate::entry::Entry;
use mazurka::sync::mpsc;
use mazurka::thread;
use std::time::Duration;

pub(crate) const ENTRY: Entry = Entry {
    name: "timed-receive-fixed",
    about: "main waits on where a second was not enough",
    parameters: &[],
    body: |_| timed_receive_fixed(),
    expect: include_str!("expect.toml"),
};

fn timed_receive_fixed() {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(7));
    let answer = receiver
        .recv_timeout(Duration::from_secs(1))
        .or_else(|_| receiver.recv())
        .unwrap();
    assert_eq!(answer, 7);
}
