//! dining-philosophers-fixed(N): each of N philosophers takes the fork with the lower number first.

use crate::entry::{Entry, Parameter};
use mazurka::sync::Mutex;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "dining-philosophers-fixed",
    about: "N philosophers around a table, each takes the lower fork first",
    parameters: &[Parameter::new("N", 3, 2..=100)],
    body: |sizes| dining_philosophers_fixed(sizes[0] as usize),
    expect: include_str!("expect.toml"),
};

fn dining_philosophers_fixed(n: usize) {
    let forks: Vec<Mutex<u32>> = (0..n).map(|_| Mutex::new(0)).collect();
    thread::scope(|scope| {
        for philosopher in 0..n {
            let forks = &forks;
            scope.spawn(move || {
                let neighbour = (philosopher + 1) % n;
                let (first, second) = (philosopher.min(neighbour), philosopher.max(neighbour));
                let mut first = forks[first].lock().unwrap();
                let mut second = forks[second].lock().unwrap();
                *first += 1;
                *second += 1;
            });
        }
    });
    assert!(forks.iter().all(|fork| *fork.lock().unwrap() == 2));
}
