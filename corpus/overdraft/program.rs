//! overdraft: the balance is read under the lock and changed under the lock, but the lock is free
//! in between. The repair: the balance is read and changed in one critical section.

use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "overdraft",
    about: "two withdrawals read the balance in one critical section and change it in another",
    parameters: &[],
    body: |_| overdraft(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "overdraft-fixed",
    about: "two withdrawals read the balance and change it in one critical section",
    parameters: &[],
    body: |_| overdraft(true),
    expect: include_str!("fixed.toml"),
};

fn overdraft(is_fixed: bool) {
    let account = Mutex::new(100);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut balance = account.lock().unwrap();
                if *balance >= 80 {
                    if !is_fixed {
                        drop(balance); // The bug: the other thread may withdraw here.
                        balance = account.lock().unwrap();
                    }
                    *balance -= 80;
                }
            });
        }
    });
    assert!(*account.lock().unwrap() >= 0, "the account is overdrawn");
}
