//! once-lock-fixed: checking and setting is one operation.

use crate::entry::Entry;
use mazurka::sync::OnceLock;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "once-lock-fixed",
    about: "two threads use OnceLock::get_or_init",
    parameters: &[],
    body: |_| once_lock_fixed(),
    expect: include_str!("expect.toml"),
};

fn once_lock_fixed() {
    let cell = OnceLock::new();
    let fill = |value| *cell.get_or_init(|| value);
    thread::scope(|scope| {
        let other = scope.spawn(|| fill(1));
        assert_eq!(fill(2), other.join().unwrap());
    });
}
