//! dining-philosophers(N): each of N philosophers takes the left fork, then the right one. All may
//! hold one fork and wait for the next. In the repaired program, each takes the fork with the lower
//! number first, so there is no cycle of waits.

use crate::entry::{Entry, Parameter};
use mazurka::sync::Mutex;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "dining-philosophers",
    about: "N philosophers around a table, each takes the left fork first",
    parameters: &[Parameter::new("N", 3, 2..=100)],
    body: |sizes| dining_philosophers(sizes[0] as usize, false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "dining-philosophers-fixed",
    about: "N philosophers around a table, each takes the fork with the lower number first",
    parameters: &[Parameter::new("N", 3, 2..=100)],
    body: |sizes| dining_philosophers(sizes[0] as usize, true),
    expect: include_str!("fixed.toml"),
};

fn dining_philosophers(n: usize, is_fixed: bool) {
    let forks: Vec<Mutex<u32>> = (0..n).map(|_| Mutex::new(0)).collect();
    thread::scope(|scope| {
        for philosopher in 0..n {
            let forks = &forks;
            scope.spawn(move || {
                let (left, right) = (philosopher, (philosopher + 1) % n);
                let (first, second) = if is_fixed {
                    (left.min(right), left.max(right))
                } else {
                    (left, right)
                };
                let mut first = forks[first].lock().unwrap();
                let mut second = forks[second].lock().unwrap();
                *first += 1;
                *second += 1;
            });
        }
    });
    assert!(forks.iter().all(|fork| *fork.lock().unwrap() == 2));
}
