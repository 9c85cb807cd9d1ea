//! missed-wakeup: the flag is set and the condition signalled between
//! the check of the flag and the wait. There is no further signal.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, Ordering::SeqCst};
use mazurka::sync::{Condvar, Mutex};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "missed-wakeup",
    about: "a thread looks at a flag and then waits for the signal that may have come in between",
    parameters: &[],
    body: |_| missed_wakeup(),
    expect: include_str!("expect.toml"),
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
