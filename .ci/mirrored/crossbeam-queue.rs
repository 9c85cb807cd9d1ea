//! Each pushed value is popped exactly once.

use crossbeam_queue::{ArrayQueue, SegQueue};
use mazurka::thread;
use std::sync::Arc;

#[mazurka::test]
fn two_producers_lose_nothing() {
    let queue = Arc::new(ArrayQueue::new(2));
    let producer = thread::spawn({
        let queue = Arc::clone(&queue);
        move || queue.push(1).unwrap()
    });
    queue.push(2).unwrap();
    producer.join().unwrap();
    assert_eq!(queue.pop().unwrap() + queue.pop().unwrap(), 3);
}

#[mazurka::test]
fn two_consumers_get_different_values() {
    let queue = Arc::new(ArrayQueue::new(2));
    queue.push(1).unwrap();
    queue.push(2).unwrap();
    let consumer = thread::spawn({
        let queue = Arc::clone(&queue);
        move || queue.pop().unwrap()
    });
    let own = queue.pop().unwrap();
    assert_eq!(own + consumer.join().unwrap(), 3);
}

#[mazurka::test]
fn two_consumers_of_an_unbounded_queue_get_different_values() {
    let queue = Arc::new(SegQueue::new());
    queue.push(1);
    queue.push(2);
    let consumer = thread::spawn({
        let queue = Arc::clone(&queue);
        move || queue.pop().unwrap()
    });
    let own = queue.pop().unwrap();
    assert_eq!(own + consumer.join().unwrap(), 3);
}
