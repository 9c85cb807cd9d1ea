//! missed-wakeup: the flag is set and the condition signalled between the check of the flag and the
//! wait. There is no further signal. The repair: the mutex protects the flag, so that it cannot
//! change between the check and the wait.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, Ordering::SeqCst};
use mazurka::sync::{Condvar, Mutex};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "missed-wakeup",
    about: "a thread checks a flag and then waits for a signal that may already be over",
    parameters: &[],
    body: |_| missed_wakeup(),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "missed-wakeup-fixed",
    about: "a thread checks a flag under the mutex with which it waits",
    parameters: &[],
    body: |_| missed_wakeup_fixed(),
    expect: include_str!("fixed.toml"),
};

fn missed_wakeup() {
    let is_ready = AtomicBool::new(false);
    let (mutex, condvar) = (Mutex::new(()), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            if !is_ready.load(SeqCst) {
                let guard = mutex.lock().unwrap();
                drop(condvar.wait(guard));
            }
        });
        is_ready.store(true, SeqCst);
        condvar.notify_one();
    });
}

fn missed_wakeup_fixed() {
    let (is_ready, condvar) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut guard = is_ready.lock().unwrap();
            while !*guard {
                guard = condvar.wait(guard).unwrap();
            }
        });
        *is_ready.lock().unwrap() = true;
        condvar.notify_one();
    });
}
