//! park-token: main parks once for each of two threads, but two unparks before a park count as one.
//! The repair: finished work is counted. An unpark only means that main has to check again.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;
use std::sync::Arc;

pub(crate) const ENTRY: Entry = Entry {
    name: "park-token",
    about: "main parks twice for the unparks of two threads",
    parameters: &[],
    body: |_| park_token(),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "park-token-fixed",
    about: "main parks until both of two threads have counted",
    parameters: &[],
    body: |_| park_token_fixed(),
    expect: include_str!("fixed.toml"),
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

fn park_token_fixed() {
    let main = thread::current();
    let done = Arc::new(AtomicU32::new(0));
    for _ in 0..2 {
        let (main, done) = (main.clone(), Arc::clone(&done));
        thread::spawn(move || {
            done.fetch_add(1, SeqCst);
            main.unpark();
        });
    }
    while done.load(SeqCst) < 2 {
        thread::park();
    }
}
