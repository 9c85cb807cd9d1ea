//! work-stealing: the owner of a deque takes the last task without a compare-exchange, and a thief
//! may steal the task meanwhile. Repair: a compare-exchange decides whether the owner or a thief
//! gets the last task (Chase and Lev, SPAA 2005).

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "work-stealing",
    about: "a work-stealing deque whose owner takes the last task without a compare-exchange",
    parameters: &[],
    body: |_| work_stealing(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "work-stealing-fixed",
    about: "a work-stealing deque whose owner takes the last task with a compare-exchange",
    parameters: &[],
    body: |_| work_stealing(true),
    expect: include_str!("fixed.toml"),
};

const TASKS: usize = 2;

/// Tasks are between `top` and `bottom`. The owner takes at the bottom, thieves steal at the top.
struct Deque {
    top: AtomicUsize,
    bottom: AtomicUsize,
}

impl Deque {
    fn take(&self, is_fixed: bool) -> Option<usize> {
        let bottom = self.bottom.load(SeqCst).checked_sub(1)?;
        self.bottom.store(bottom, SeqCst);
        let top = self.top.load(SeqCst);
        if top < bottom {
            return Some(bottom);
        }
        let is_mine = top == bottom && (!is_fixed || self.advance(top));
        self.bottom.store(bottom + 1, SeqCst);
        is_mine.then_some(bottom)
    }

    fn steal(&self) -> Option<usize> {
        let top = self.top.load(SeqCst);
        if top >= self.bottom.load(SeqCst) {
            return None;
        }
        self.advance(top).then_some(top)
    }

    /// Removes the task at the top if the top is still `top`.
    fn advance(&self, top: usize) -> bool {
        self.top
            .compare_exchange(top, top + 1, SeqCst, SeqCst)
            .is_ok()
    }
}

fn work_stealing(is_fixed: bool) {
    let deque = Deque {
        top: AtomicUsize::new(0),
        bottom: AtomicUsize::new(TASKS),
    };
    let mut times = [0; TASKS];
    thread::scope(|scope| {
        let thief = scope.spawn(|| [deque.steal(), deque.steal()]);
        let taken = [deque.take(is_fixed), deque.take(is_fixed)];
        for task in taken.into_iter().chain(thief.join().unwrap()).flatten() {
            times[task] += 1;
        }
    });
    assert!(
        times.iter().all(|times| *times <= 1),
        "a task was done twice"
    );
}
