//! spin-forever: two threads each spin until the other's flag is set, and then set their own.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, Ordering::SeqCst};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "spin-forever",
    about: "two threads spin for each other",
    parameters: &[],
    body: |_| spin_forever(),
    expect: include_str!("expect.toml"),
};

fn spin_forever() {
    let (ping, pong) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            await_flag(&ping);
            pong.store(true, SeqCst);
        });
        await_flag(&pong);
        ping.store(true, SeqCst);
    });
}

fn await_flag(flag: &AtomicBool) {
    while !flag.load(SeqCst) {
        hint::spin_loop();
    }
}
