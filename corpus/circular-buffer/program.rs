//! circular-buffer(N): a producer and a consumer take turns at a buffer under one mutex
//! (SCTBench, `CS.circular_buffer`; the variables are plain there and atomic here).

use crate::entry::{Entry, Parameter};
use mazurka::sync::Mutex;
use mazurka::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "circular-buffer",
    about: "producer and consumer, N rounds each, one mutex, flags that say whose turn it is",
    parameters: &[Parameter::new("N", 5, 1..=1000)],
    body: |sizes| circular_buffer(sizes[0]),
    expect: include_str!("expect.toml"),
};

struct Log {
    buffer: Vec<AtomicU32>,
    first: AtomicUsize,
    next: AtomicUsize,
}

fn circular_buffer(n: u32) {
    let log = Log {
        buffer: (0..=n).map(|_| AtomicU32::new(0)).collect(),
        first: AtomicUsize::new(0),
        next: AtomicUsize::new(0),
    };
    let send = AtomicBool::new(true);
    let receive = AtomicBool::new(false);
    let mutex = Mutex::new(());
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut sent = 0;
            for _ in 0..n {
                let _turn = mutex.lock().unwrap();
                if send.load(SeqCst) {
                    log.insert(sent);
                    sent += 1;
                    send.store(false, SeqCst);
                    receive.store(true, SeqCst);
                }
            }
        });
        scope.spawn(|| {
            let mut received = 0;
            for _ in 0..n {
                let _turn = mutex.lock().unwrap();
                if receive.load(SeqCst) {
                    assert_eq!(log.remove(), received);
                    received += 1;
                    receive.store(false, SeqCst);
                    send.store(true, SeqCst);
                }
            }
        });
    });
}

impl Log {
    fn insert(&self, element: u32) {
        let next = self.next.load(SeqCst);
        self.buffer[next].store(element, SeqCst);
        self.next.store((next + 1) % self.buffer.len(), SeqCst);
    }

    fn remove(&self) -> u32 {
        let first = self.first.load(SeqCst);
        self.first.store((first + 1) % self.buffer.len(), SeqCst);
        self.buffer[first].load(SeqCst)
    }
}
