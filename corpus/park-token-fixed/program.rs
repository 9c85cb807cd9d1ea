//! park-token-fixed: finished work is counted. An unpark only means that main has to check again.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;
use std::sync::Arc;

pub(crate) const ENTRY: Entry = Entry {
    name: "park-token-fixed",
    about: "main parks until both of two threads have counted",
    parameters: &[],
    body: |_| park_token_fixed(),
    expect: include_str!("expect.toml"),
};

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
