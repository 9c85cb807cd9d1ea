//! overdraft-fixed: the balance is read and changed in one critical section.

use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "overdraft-fixed",
    about: "two withdrawals look at the balance and change it in one critical section",
    parameters: &[],
    body: |_| overdraft_fixed(),
    expect: include_str!("expect.toml"),
};

fn overdraft_fixed() {
    let account = Mutex::new(100);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut balance = account.lock().unwrap();
                if *balance >= 80 {
                    *balance -= 80;
                }
            });
        }
    });
    assert!(*account.lock().unwrap() >= 0, "the account is overdrawn");
}
