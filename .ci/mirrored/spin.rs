//! Locks exclude other threads, and a value is initialized once.

use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;
use std::sync::Arc;

#[mazurka::test]
fn a_ticket_lets_one_thread_in() {
    let count = Arc::new(spin::mutex::TicketMutex::<_>::new(AtomicU32::new(0)));
    let add = |count: &spin::mutex::TicketMutex<AtomicU32>| {
        let count = count.lock();
        count.store(count.load(SeqCst) + 1, SeqCst);
    };
    let other = thread::spawn({
        let count = Arc::clone(&count);
        move || add(&count)
    });
    add(&count);
    other.join().unwrap();
    assert_eq!(count.lock().load(SeqCst), 2);
}

#[mazurka::test]
fn no_reader_is_beside_a_writer() {
    let pair = Arc::new(spin::RwLock::<_>::new([AtomicU32::new(0), AtomicU32::new(0)]));
    let writer = thread::spawn({
        let pair = Arc::clone(&pair);
        move || {
            for number in pair.write().iter_mut() {
                number.store(1, SeqCst);
            }
        }
    });
    if let Some(pair) = pair.try_read() {
        assert_eq!(pair[0].load(SeqCst), pair[1].load(SeqCst));
    }
    writer.join().unwrap();
}

#[mazurka::test]
fn a_value_is_made_once() {
    let made = Arc::new((spin::Once::<u32>::new(), AtomicU32::new(0)));
    let make = |made: &(spin::Once<u32>, AtomicU32)| *made.0.call_once(|| made.1.fetch_add(1, SeqCst));
    let other = thread::spawn({
        let made = Arc::clone(&made);
        move || make(&made)
    });
    assert_eq!(make(&made), 0);
    assert_eq!(other.join().unwrap(), 0);
}

#[mazurka::test(unroll = 1)]
fn a_barrier_lets_all_through_together() {
    let shared = Arc::new((spin::barrier::Barrier::<spin::Spin>::new(2), AtomicU32::new(0)));
    let come = |shared: &(spin::barrier::Barrier<spin::Spin>, AtomicU32)| {
        shared.1.fetch_add(1, SeqCst);
        let is_leader = shared.0.wait().is_leader();
        assert_eq!(shared.1.load(SeqCst), 2);
        is_leader
    };
    let other = thread::spawn({
        let shared = Arc::clone(&shared);
        move || come(&shared)
    });
    assert!(come(&shared) != other.join().unwrap());
}

#[mazurka::test(unroll = 1)]
fn who_upgrades_is_alone() {
    let number = Arc::new(spin::RwLock::<_>::new(AtomicU32::new(0)));
    let add = |number: &spin::RwLock<AtomicU32>| {
        let number = number.upgradeable_read();
        let before = number.load(SeqCst);
        number.upgrade().store(before + 1, SeqCst);
    };
    let other = thread::spawn({
        let number = Arc::clone(&number);
        move || add(&number)
    });
    let read = number.read();
    assert_eq!(read.load(SeqCst), read.load(SeqCst));
    drop(read);
    add(&number);
    other.join().unwrap();
    assert_eq!(number.read().load(SeqCst), 2);
}

/// Checks that each execution initializes its own static with the function given to `Lazy::new`.
#[mazurka::test]
fn a_static_value_is_made_in_each_execution() {
    static VALUE: spin::Lazy<Vec<u32>> = spin::Lazy::new(|| vec![7]);
    let other = thread::spawn(|| assert_eq!(*VALUE, [7]));
    assert_eq!(*VALUE, [7]);
    other.join().unwrap();
}
