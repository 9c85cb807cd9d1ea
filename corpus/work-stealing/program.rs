//! work-stealing: the owner takes the last task without a
//! compare-exchange, and a thief may steal it meanwhile.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "work-stealing",
    about: "a work-stealing deque whose owner just takes the last task",
    parameters: &[],
    body: |_| work_stealing(),
    expect: include_str!("expect.toml"),
};

const TASKS: usize = 2;

/// Tasks are between `top` and `bottom`. The owner takes at the bottom, thieves steal at the top.
struct Deque {
    top: AtomicUsize,
    bottom: AtomicUsize,
}

impl Deque {
    fn take(&self) -> Option<usize> {
        let bottom = self.bottom.load(SeqCst).checked_sub(1)?;
        self.bottom.store(bottom, SeqCst);
        let top = self.top.load(SeqCst);
        if top < bottom {
            return Some(bottom);
        }
        let is_mine = top == bottom;
        self.bottom.store(bottom + 1, SeqCst);
        is_mine.then_some(bottom)
    }

    fn steal(&self) -> Option<usize> {
        let top = self.top.load(SeqCst);
        if top >= self.bottom.load(SeqCst) {
            return None;
        }
        let is_mine = self
            .top
            .compare_exchange(top, top + 1, SeqCst, SeqCst)
            .is_ok();
        is_mine.then_some(top)
    }
}

fn work_stealing() {
    let deque = Deque {
        top: AtomicUsize::new(0),
        bottom: AtomicUsize::new(TASKS),
    };
    let mut times = [0; TASKS];
    thread::scope(|scope| {
        let thief = scope.spawn(|| [deque.steal(), deque.steal()]);
        let taken = [deque.take(), deque.take()];
        for task in taken.into_iter().chain(thief.join().unwrap()).flatten() {
            times[task] += 1;
        }
    });
    assert!(
        times.iter().all(|times| *times <= 1),
        "a task was done twice"
    );
}
