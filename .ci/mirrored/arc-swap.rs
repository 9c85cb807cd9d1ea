//! A value lives while it is read, and no update is lost.

use arc_swap::ArcSwap;
use mazurka::sync::atomic::{AtomicBool, Ordering::SeqCst};
use mazurka::{sync::Arc, thread};

/// Sets `is_dropped`, which outlives the value, when it is dropped.
struct Value {
    number: u32,
    is_dropped: Arc<AtomicBool>,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.is_dropped.store(true, SeqCst);
    }
}

#[mazurka::test]
fn a_value_lives_while_it_is_read() {
    let is_dropped = Arc::new(AtomicBool::new(false));
    let value = |number, is_dropped: &Arc<AtomicBool>| {
        let is_dropped = Arc::clone(is_dropped);
        Arc::new(Value { number, is_dropped })
    };
    let swap = Arc::new(ArcSwap::new(value(1, &is_dropped)));
    let writer = thread::spawn({
        let new = value(2, &Arc::default());
        let swap = Arc::clone(&swap);
        move || swap.store(new)
    });
    let read = swap.load();
    assert!(read.number == 2 || !is_dropped.load(SeqCst));
    drop(read);
    writer.join().unwrap();
}

#[mazurka::test]
fn no_update_is_lost() {
    let count = Arc::new(ArcSwap::from_pointee(0));
    let add = |count: &ArcSwap<u32>| drop(count.rcu(|count| **count + 1));
    let other = thread::spawn({
        let count = Arc::clone(&count);
        move || add(&count)
    });
    add(&count);
    other.join().unwrap();
    assert_eq!(**count.load(), 2);
}

#[mazurka::test]
fn each_old_value_is_given_to_one_thread() {
    let swap = Arc::new(ArcSwap::from_pointee(0));
    let other = thread::spawn({
        let swap = Arc::clone(&swap);
        move || *swap.swap(Arc::new(1))
    });
    let old = *swap.swap(Arc::new(2));
    let mut all = [old, other.join().unwrap(), **swap.load()];
    all.sort();
    assert_eq!(all, [0, 1, 2]);
}
