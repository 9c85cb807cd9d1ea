//! spin-forever: two threads each have a flag. The bug: both spin until the other's flag is set,
//! and then set their own. The repair: one thread sets its flag before it spins.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, Ordering::SeqCst};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "spin-forever",
    about: "two threads each spin until the other's flag is set",
    parameters: &[],
    body: |_| spin_forever(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "spin-forever-fixed",
    about: "of two threads that spin until the other's flag is set, one sets its own flag first",
    parameters: &[],
    body: |_| spin_forever(true),
    expect: include_str!("fixed.toml"),
};

fn spin_forever(is_fixed: bool) {
    let (ping, pong) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            if is_fixed {
                pong.store(true, SeqCst);
                await_flag(&ping);
            } else {
                await_flag(&ping);
                pong.store(true, SeqCst);
            }
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
