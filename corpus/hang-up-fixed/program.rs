//! hang-up-fixed: main drops the sender before it joins the worker.

use crate::entry::Entry;
use mazurka::sync::mpsc;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "hang-up-fixed",
    about: "main hangs up before it joins the worker",
    parameters: &[],
    body: |_| hang_up_fixed(),
    expect: include_str!("expect.toml"),
};

fn hang_up_fixed() {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::spawn(move || receiver.iter().sum::<u32>());
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    drop(sender);
    assert_eq!(worker.join().unwrap(), 3);
}
