//! dining-philosophers(N): each of N philosophers takes the left fork, then the right one.

use crate::entry::{Entry, Parameter};
use mazurka::sync::Mutex;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "dining-philosophers",
    about: "N philosophers around a table, each takes the left fork first",
    parameters: &[Parameter::new("N", 3, 2..=100)],
    body: |sizes| dining_philosophers(sizes[0] as usize),
    expect: include_str!("expect.toml"),
};

fn dining_philosophers(n: usize) {
    let forks: Vec<Mutex<u32>> = (0..n).map(|_| Mutex::new(0)).collect();
    thread::scope(|scope| {
        for philosopher in 0..n {
            let forks = &forks;
            scope.spawn(move || {
                let (first, second) = (philosopher, (philosopher + 1) % n);
                let mut first = forks[first].lock().unwrap();
                let mut second = forks[second].lock().unwrap();
                *first += 1;
                *second += 1;
            });
        }
    });
    assert!(forks.iter().all(|fork| *fork.lock().unwrap() == 2));
}
