//! overdraft: the balance is read under the lock and
//! changed under the lock, but the lock is free in between.

use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "overdraft",
    about: "two withdrawals look at the balance in one critical section and change it in another",
    parameters: &[],
    body: |_| overdraft(),
    expect: include_str!("expect.toml"),
};

fn overdraft() {
    let account = Mutex::new(100);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let balance = *account.lock().unwrap();
                if balance >= 80 {
                    *account.lock().unwrap() -= 80;
                }
            });
        }
    });
    assert!(*account.lock().unwrap() >= 0, "the account is overdrawn");
}
