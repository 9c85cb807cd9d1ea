//! weak-chase-lev: the work-stealing deque of Chase and Lev (2005), with the orderings of Lê, Pop,
//! Cohen and Zappa Nardelli (PPoPP 2013). The owner takes tasks at the bottom, and a thief steals
//! them at the top. The bug: in take, no fence is between the store of the bottom and the load of
//! the top. So the owner may see an old top, while the thief sees the old bottom, and both get the
//! second task. The repair: a SeqCst fence.

use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicI32,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    fence,
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "weak-chase-lev",
    about: "a Chase-Lev deque whose owner takes tasks without a fence",
    parameters: &[],
    body: |_| weak_chase_lev(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "weak-chase-lev-fixed",
    about: "a Chase-Lev deque whose owner takes tasks with a fence",
    parameters: &[],
    body: |_| weak_chase_lev(true),
    expect: include_str!("fixed.toml"),
};

#[derive(Default)]
struct Deque {
    top: AtomicI32,
    bottom: AtomicI32,
    tasks: [AtomicI32; 2],
}

impl Deque {
    fn push(&self, task: i32) {
        let end = self.bottom.load(Relaxed);
        self.tasks[end as usize].store(task, Relaxed);
        self.bottom.store(end + 1, Release);
    }

    /// Returns 0 if the thief was faster.
    fn take(&self, has_fence: bool) -> i32 {
        let last = self.bottom.load(Relaxed) - 1;
        self.bottom.store(last, Relaxed);
        if has_fence {
            fence(SeqCst);
        }
        let top = self.top.load(Relaxed);
        let mut task = 0;
        if top <= last {
            task = self.tasks[last as usize].load(Relaxed);
        }
        let exchange = || self.top.compare_exchange(top, top + 1, SeqCst, Relaxed);
        if top == last && exchange().is_err() {
            task = 0;
        }
        if top >= last {
            self.bottom.store(last + 1, Relaxed);
        }
        task
    }

    /// Returns 0 if there is no task or the owner was faster.
    fn steal(&self) -> i32 {
        let top = self.top.load(Acquire);
        fence(SeqCst);
        if top >= self.bottom.load(Acquire) {
            return 0;
        }
        let task = self.tasks[top as usize].load(Relaxed);
        let stolen = self.top.compare_exchange(top, top + 1, SeqCst, Relaxed);
        stolen.map_or(0, |_| task)
    }
}

fn weak_chase_lev(has_fence: bool) {
    let deque = Deque::default();
    deque.push(1);
    deque.push(10);
    let sum = thread::scope(|scope| {
        let thief = scope.spawn(|| deque.steal() + deque.steal());
        deque.take(has_fence) + thief.join().unwrap()
    });
    // Each digit counts how often a task was done.
    assert!(sum % 10 <= 1 && sum / 10 <= 1, "a task was done twice");
}
