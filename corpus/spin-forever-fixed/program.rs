//! spin-forever-fixed: one of the two threads sets its flag before it spins.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, Ordering::SeqCst};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "spin-forever-fixed",
    about: "of two threads that spin for each other one sets its flag first",
    parameters: &[],
    body: |_| spin_forever_fixed(),
    expect: include_str!("expect.toml"),
};

fn spin_forever_fixed() {
    let (ping, pong) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            pong.store(true, SeqCst);
            await_flag(&ping);
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
