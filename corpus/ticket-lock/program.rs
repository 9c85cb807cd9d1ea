//! ticket-lock: a thread takes its ticket with a load and a store. Two threads may get the same
//! ticket and enter together. Repair: a thread takes its ticket with `fetch_add`.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "ticket-lock",
    about: "a ticket lock whose tickets are taken with a load and a store",
    parameters: &[],
    body: |_| ticket_lock(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "ticket-lock-fixed",
    about: "a ticket lock whose tickets are taken with fetch_add",
    parameters: &[],
    body: |_| ticket_lock(true),
    expect: include_str!("fixed.toml"),
};

struct TicketLock {
    next: AtomicU32,
    serving: AtomicU32,
}

impl TicketLock {
    fn take_ticket(&self, is_fixed: bool) -> u32 {
        if is_fixed {
            return self.next.fetch_add(1, SeqCst);
        }
        let ticket = self.next.load(SeqCst);
        self.next.store(ticket + 1, SeqCst);
        ticket
    }

    fn lock(&self, is_fixed: bool) {
        let ticket = self.take_ticket(is_fixed);
        while self.serving.load(SeqCst) < ticket {
            hint::spin_loop();
        }
    }

    fn unlock(&self) {
        self.serving.fetch_add(1, SeqCst);
    }
}

fn ticket_lock(is_fixed: bool) {
    let lock = TicketLock {
        next: AtomicU32::new(0),
        serving: AtomicU32::new(0),
    };
    let count = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                lock.lock(is_fixed);
                count.store(count.load(SeqCst) + 1, SeqCst);
                lock.unlock();
            });
        }
    });
    assert_eq!(count.load(SeqCst), 2, "both threads were inside");
}
