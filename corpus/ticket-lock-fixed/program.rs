//! ticket-lock-fixed: every thread draws a different ticket.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "ticket-lock-fixed",
    about: "a ticket lock that draws tickets by fetch_add",
    parameters: &[],
    body: |_| ticket_lock_fixed(),
    expect: include_str!("expect.toml"),
};

struct TicketLock {
    next: AtomicU32,
    serving: AtomicU32,
}

impl TicketLock {
    fn lock(&self) {
        let ticket = self.next.fetch_add(1, SeqCst);
        while self.serving.load(SeqCst) < ticket {
            hint::spin_loop();
        }
    }

    fn unlock(&self) {
        self.serving.fetch_add(1, SeqCst);
    }
}

fn ticket_lock_fixed() {
    let lock = TicketLock {
        next: AtomicU32::new(0),
        serving: AtomicU32::new(0),
    };
    let count = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                lock.lock();
                count.store(count.load(SeqCst) + 1, SeqCst);
                lock.unlock();
            });
        }
    });
    assert_eq!(count.load(SeqCst), 2, "both threads were inside");
}
