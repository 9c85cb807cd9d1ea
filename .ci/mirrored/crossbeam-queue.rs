//! Each value that is pushed is popped once, as it was pushed.

use crossbeam_queue::{ArrayQueue, SegQueue};
use mazurka::thread;
use std::sync::Arc;

#[mazurka::test]
fn a_popped_value_is_complete() {
    let queue = Arc::new(ArrayQueue::new(2));
    let producer = thread::spawn({
        let queue = Arc::clone(&queue);
        move || queue.push([7_u64; 4]).unwrap()
    });
    if let Some(value) = queue.pop() {
        assert_eq!(value, [7; 4]);
    }
    producer.join().unwrap();
}

#[mazurka::test]
fn a_value_is_not_overwritten_while_it_is_popped() {
    let queue = Arc::new(ArrayQueue::new(1));
    queue.push([1_u64; 4]).unwrap();
    let producer = thread::spawn({
        let queue = Arc::clone(&queue);
        move || drop(queue.push([2; 4]))
    });
    assert_eq!(queue.pop(), Some([1; 4]));
    producer.join().unwrap();
}

#[mazurka::test]
fn an_unbounded_queue_waits_for_the_value() {
    let queue = Arc::new(SegQueue::new());
    let producer = thread::spawn({
        let queue = Arc::clone(&queue);
        move || queue.push([7_u64; 4])
    });
    if let Some(value) = queue.pop() {
        assert_eq!(value, [7; 4]);
    }
    producer.join().unwrap();
}
