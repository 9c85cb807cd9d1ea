//! Channels: order, capacity, disconnection, tries and timeouts.

mod outcomes;

use mazurka::sync::mpsc::{
    RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError, channel, sync_channel,
};
use mazurka::{Checker, FailureKind, Style, Verdict, thread};
use outcomes::outcomes;
use std::collections::BTreeSet;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);

#[test]
fn messages_of_one_sender_keep_their_order() {
    let report = Checker::new().check(|| {
        let (sender, receiver) = channel();
        let other = thread::spawn(move || (0..3).for_each(|n| sender.send(n).unwrap()));
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(receiver.recv(), Err(RecvError));
        other.join().unwrap();
    });
    assert_eq!(
        report.verdict,
        Verdict::Verified,
        "{}",
        report.text(Style::default())
    );
    assert_eq!(report.executions, 1);
}

#[test]
fn messages_of_two_senders_come_in_any_order() {
    let seen = outcomes(|| {
        let (sender, receiver) = channel();
        for n in 0..3 {
            let sender = sender.clone();
            thread::spawn(move || sender.send(n).unwrap());
        }
        drop(sender);
        receiver.into_iter().collect::<Vec<_>>()
    });
    assert_eq!(seen.len(), 6);
}

#[test]
fn try_recv_succeeds_and_fails() {
    // loom misses the success.
    let seen = outcomes(|| {
        let (sender, receiver) = channel();
        let other = thread::spawn(move || sender.send(1));
        let tried = receiver.try_recv();
        other.join().unwrap().unwrap();
        match tried {
            Ok(1) => "message",
            Ok(_) => unreachable!("nobody sends it"),
            Err(TryRecvError::Empty) => "empty",
            Err(TryRecvError::Disconnected) => "disconnected",
        }
    });
    assert_eq!(seen, BTreeSet::from(["message", "empty"]));
}

#[test]
fn the_hang_up_of_the_sender_is_seen() {
    let seen = outcomes(|| {
        let (sender, receiver) = channel::<()>();
        let other = thread::spawn(move || drop(sender));
        let tried = receiver.try_recv().unwrap_err();
        let timed = receiver.recv_timeout(SOON).unwrap_err();
        assert_eq!(receiver.recv(), Err(RecvError));
        other.join().unwrap();
        (
            tried == TryRecvError::Disconnected,
            timed == RecvTimeoutError::Disconnected,
        )
    });
    assert_eq!(
        seen,
        BTreeSet::from([(false, false), (false, true), (true, true)])
    );
}

#[test]
fn the_hang_up_of_the_receiver_is_seen() {
    let seen = outcomes(|| {
        let (sender, receiver) = channel();
        let other = thread::spawn(move || drop(receiver));
        let sent = sender.send(7);
        other.join().unwrap();
        assert_eq!(sender.send(8), Err(SendError(8)));
        sent.is_ok()
    });
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn a_full_channel_blocks_the_sender() {
    let seen = outcomes(|| {
        let (sender, receiver) = sync_channel(1);
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            match sender.try_send(2) {
                Ok(()) => "sent",
                Err(TrySendError::Full(2)) => "full",
                Err(TrySendError::Disconnected(2)) => "disconnected",
                Err(_) => unreachable!("the message comes back"),
            }
        });
        assert_eq!(receiver.recv(), Ok(1));
        drop(receiver);
        other.join().unwrap()
    });
    assert_eq!(seen, BTreeSet::from(["sent", "full", "disconnected"]));
}

#[test]
fn a_bounded_channel_without_a_receiver_deadlocks() {
    let report = Checker::new().check(|| {
        let (sender, _receiver) = sync_channel(1);
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
}

#[test]
fn a_rendezvous_waits_for_the_receiver() {
    mazurka::model(|| {
        let (sender, receiver) = sync_channel(0);
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(receiver.recv(), Ok(2));
        other.join().unwrap();
        assert_eq!(receiver.recv(), Err(RecvError));
    });
    let report = Checker::new().check(|| {
        let (sender, _receiver) = sync_channel(0);
        sender.send(()).unwrap();
    });
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
}

#[test]
fn a_blocked_sender_learns_that_the_receiver_is_gone() {
    let seen = outcomes(|| {
        let (sender, receiver) = sync_channel(0);
        let other = thread::spawn(move || sender.send(5));
        drop(receiver);
        other.join().unwrap() == Err(SendError(5))
    });
    assert_eq!(seen, BTreeSet::from([true]));
}

#[test]
fn a_timed_receive_gets_the_message_or_expires() {
    let seen = outcomes(|| {
        let (sender, receiver) = channel();
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            sender
        });
        let timed = receiver.recv_timeout(SOON);
        other.join().unwrap();
        match timed {
            Ok(1) => "message",
            Ok(_) => unreachable!("nobody sends it"),
            Err(RecvTimeoutError::Timeout) => "expired",
            Err(RecvTimeoutError::Disconnected) => "disconnected",
        }
    });
    assert_eq!(seen, BTreeSet::from(["message", "expired"]));
}

#[test]
fn messages_that_nobody_receives_are_dropped() {
    mazurka::model(|| {
        let witness = mazurka::sync::Arc::new(());
        let (sender, receiver) = channel();
        sender.send(mazurka::sync::Arc::clone(&witness)).unwrap();
        drop(receiver);
        drop(sender);
        assert_eq!(mazurka::sync::Arc::strong_count(&witness), 1);
    });
}
