//! Messages arrive, and threads that wait for the other side wake up.

use mazurka::thread;

#[mazurka::test]
fn a_receiver_gets_the_message() {
    let (sender, receiver) = flume::unbounded();
    let producer = thread::spawn({
        let sender = sender.clone();
        move || sender.send(1).unwrap()
    });
    assert_eq!(receiver.recv(), Ok(1));
    producer.join().unwrap();
}

#[mazurka::test]
fn a_full_channel_lets_its_sender_go_on() {
    let (sender, receiver) = flume::bounded(1);
    let producer = thread::spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(receiver.recv(), Ok(2));
    producer.join().unwrap();
}

#[mazurka::test]
fn a_receiver_learns_that_there_are_no_senders() {
    let (sender, receiver) = flume::unbounded::<u32>();
    let producer = thread::spawn(move || drop(sender));
    assert!(receiver.recv().is_err());
    producer.join().unwrap();
}

#[mazurka::test]
fn a_sender_waits_for_its_receiver() {
    let (sender, receiver) = flume::bounded(0);
    let (done, is_done) = flume::bounded(1);
    let producer = thread::spawn(move || {
        done.send(0).unwrap();
        sender.send(1).unwrap();
        done.send(2).unwrap();
    });
    assert_eq!(is_done.recv(), Ok(0));
    assert!(is_done.is_empty());
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(is_done.recv(), Ok(2));
    producer.join().unwrap();
}
