//! park-token: main parks once for each of two threads. Two unparks before a park count as one.

use crate::entry::Entry;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "park-token",
    about: "main parks twice for the unparks of two threads",
    parameters: &[],
    body: |_| park_token(),
    expect: include_str!("expect.toml"),
};

fn park_token() {
    let main = thread::current();
    for _ in 0..2 {
        let main = main.clone();
        thread::spawn(move || main.unpark());
    }
    thread::park();
    thread::park();
}
