//! Channels with many senders and one receiver: unbounded, bounded, or a rendezvous (bound 0).
//!
//! The i-th receive gets the message of the i-th send. A send without room also takes its place,
//! and its message is queued. Such a message is accepted once enough receives have places.

use super::Deadline;
use super::bell::Bell;
use super::latch::Latch;
use crate::{begin, end, enforcement};
use explore::OpKind;
use std::cell::UnsafeCell;
use std::collections::VecDeque;

/// A channel with its messages. The channel has one receiver at a time.
pub struct Channel<T> {
    latch: Latch,
    bell: Bell,
    state: UnsafeCell<State<T>>,
}

// SAFETY: the state is used only under the latch; messages are sent from thread to thread.
unsafe impl<T: Send> Sync for Channel<T> {}

struct State<T> {
    /// Messages not received yet, the oldest first, with the numbers of their sends.
    messages: VecDeque<(u64, T)>,
    /// The number of the next send.
    next: u64,
    /// Number of receives that have a place but no message: 1 while the receiver waits.
    receives: usize,
    /// Number of messages for which there is room while the receiver does not wait; `None` if it is
    /// unlimited.
    bound: Option<usize>,
    senders: usize,
    has_receiver: bool,
}

/// The reason why a message was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unsent<T> {
    /// There is no room, or no room became free in time.
    Full(T),
    /// The receiver is gone.
    Disconnected(T),
}

/// The reason why no message was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unreceived {
    /// There is no message, or no message arrived in time.
    Empty,
    /// There is no message, and all senders are gone.
    Disconnected,
}

impl<T> Channel<T> {
    /// Creates a channel with one sender and room for `bound` messages. `None` means unlimited
    /// room, 0 a rendezvous.
    pub fn new(bound: Option<usize>) -> Channel<T> {
        Channel {
            latch: Latch::new(),
            bell: Bell::new(),
            state: UnsafeCell::new(State {
                messages: VecDeque::new(),
                next: 0,
                receives: 0,
                bound,
                senders: 1,
                has_receiver: true,
            }),
        }
    }

    fn with<R>(&self, does: impl FnOnce(&mut State<T>) -> R) -> R {
        // SAFETY: under the latch, and no closure passed to this function calls it again.
        self.latch.hold(|| does(unsafe { &mut *self.state.get() }))
    }

    fn is_rendezvous(&self) -> bool {
        self.with(|state| state.bound == Some(0))
    }

    /// Sends a message and waits until there is room for it.
    ///
    /// # Errors
    /// Returns an error if the receiver is gone.
    pub fn send(&self, message: T) -> Result<(), Unsent<T>> {
        begin(OpKind::SendRequest);
        let sent = self.with(|state| state.push(message));
        end();
        let number = sent?;
        self.bell.ring();
        self.bell.wait(None, || {
            self.with(|state| state.has_room(number) || !state.has_receiver)
        });
        match self.with(|state| state.take_back(number)) {
            None => Ok(()),
            Some(message) => Err(Unsent::Disconnected(message)),
        }
    }

    /// Sends a message if there is room.
    ///
    /// # Errors
    /// Returns an error if there is no room, or if the receiver is gone.
    pub fn try_send(&self, message: T) -> Result<(), Unsent<T>> {
        if self.is_rendezvous() {
            return self.try_rendezvous(message);
        }
        begin(OpKind::SendTryPlace);
        let sent = self.with(|state| state.push(message));
        end();
        let number = sent?;
        self.bell.ring();
        begin(OpKind::SendTryResult);
        let back = self.with(|state| state.take_back(number));
        end();
        match back {
            None => Ok(()),
            Some(message) => Err(Unsent::Full(message)),
        }
    }

    /// Sends at a rendezvous if the receiver waits.
    fn try_rendezvous(&self, message: T) -> Result<(), Unsent<T>> {
        begin(OpKind::SendTryResult);
        let sent =
            self.with(
                |state| match state.has_receiver && state.receives <= state.messages.len() {
                    true => Err(Unsent::Full(message)),
                    false => state.push(message),
                },
            );
        end();
        self.bell.ring();
        sent.map(drop)
    }

    /// Waits for a message and receives it.
    ///
    /// # Errors
    /// Returns an error if there is no message and all senders are gone.
    pub fn receive(&self) -> Result<T, Unreceived> {
        begin(OpKind::ReceiveRequest);
        self.with(|state| state.receives += 1);
        end();
        self.bell.ring();
        self.bell.wait(None, || {
            self.with(|state| !state.messages.is_empty() || state.senders == 0)
        });
        let message = self.with(State::take);
        message.ok_or(Unreceived::Disconnected)
    }

    /// Receives a message if there is one.
    ///
    /// # Errors
    /// Returns an error if there is no message: `Disconnected` if all senders are gone, otherwise
    /// `Empty`.
    pub fn try_receive(&self) -> Result<T, Unreceived> {
        match self.is_rendezvous() {
            true => {
                let was_disconnected = self.check_senders();
                self.ends_receive(was_disconnected, |state| state.receives += 1)
            }
            false => self.receive_until(None),
        }
    }

    /// Receives a message that is available or, with a deadline, that arrives in time.
    ///
    /// # Errors
    /// Returns an error if there is no message.
    pub fn receive_until(&self, deadline: Option<Deadline>) -> Result<T, Unreceived> {
        let was_disconnected = self.check_senders();
        begin(OpKind::ReceiveTryPlace);
        self.with(|state| state.receives += 1);
        end();
        self.bell.ring();
        if deadline.is_some() && !enforcement::decides_next() {
            self.bell.wait(deadline, || {
                self.with(|state| !state.messages.is_empty() || state.senders == 0)
            });
        }
        self.ends_receive(was_disconnected, |_| ())
    }

    /// Checks whether all senders are gone. This check comes before the receiver looks for a
    /// message. In the other order, it could report `Disconnected` although a message was sent
    /// before the last sender was dropped.
    fn check_senders(&self) -> bool {
        begin(OpKind::ClosedCheck);
        let is_disconnected = self.with(|state| state.senders == 0);
        end();
        is_disconnected
    }

    /// Ends a try or timed receive. `place` takes a place for the receive if it has none yet.
    fn ends_receive(
        &self,
        was_disconnected: bool,
        place: impl FnOnce(&mut State<T>),
    ) -> Result<T, Unreceived> {
        begin(OpKind::ReceiveTryResult);
        let message = self.with(|state| {
            place(state);
            state.take()
        });
        end();
        self.bell.ring();
        message.ok_or(match was_disconnected {
            true => Unreceived::Disconnected,
            false => Unreceived::Empty,
        })
    }

    /// Adds a sender. This is not an event.
    pub fn add_sender(&self) {
        self.with(|state| state.senders += 1);
    }

    /// Removes a sender.
    pub fn drop_sender(&self) {
        begin(OpKind::SenderDrop);
        self.with(|state| state.senders -= 1);
        end();
        self.bell.ring();
    }

    /// Removes the receiver, and drops the accepted messages, which no thread will receive.
    pub fn drop_receiver(&self) {
        begin(OpKind::ReceiverDrop);
        let left = self.with(|state| {
            state.has_receiver = false;
            state.accepted()
        });
        end();
        self.bell.ring();
        drop(left);
    }
}

impl<T> State<T> {
    /// Takes a place for a send, and queues the message. Returns the number of the send.
    fn push(&mut self, message: T) -> Result<u64, Unsent<T>> {
        if !self.has_receiver {
            return Err(Unsent::Disconnected(message));
        }
        let number = self.next;
        self.next += 1;
        self.messages.push_back((number, message));
        Ok(number)
    }

    /// Returns the number of messages in the queue that can count as sent.
    fn room(&self) -> usize {
        self.bound
            .map_or(usize::MAX, |bound| bound.saturating_add(self.receives))
    }

    fn place(&self, number: u64) -> Option<usize> {
        let found = self
            .messages
            .binary_search_by_key(&number, |message| message.0);
        found.ok()
    }

    /// Checks whether the message with this number was received or has room.
    fn has_room(&self, number: u64) -> bool {
        self.place(number).is_none_or(|place| place < self.room())
    }

    /// Removes and returns the message with this number if it has no room.
    fn take_back(&mut self, number: u64) -> Option<T> {
        let place = self.place(number).filter(|&place| place >= self.room())?;
        self.messages.remove(place).map(|(_, message)| message)
    }

    /// Removes and returns the first message, for a receive that has a place. Gives up the place
    /// even if there is no message.
    fn take(&mut self) -> Option<T> {
        self.receives -= 1;
        self.messages.pop_front().map(|(_, message)| message)
    }

    /// Removes and returns the messages that have room.
    fn accepted(&mut self) -> VecDeque<(u64, T)> {
        let number = self.room().min(self.messages.len());
        self.messages.drain(..number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn messages_arrive_once_and_in_order_whatever_the_room() {
        for bound in [None, Some(0), Some(1), Some(3)] {
            let channel = &Channel::new(bound);
            channel.add_sender();
            std::thread::scope(|scope| {
                for sender in 0..2 {
                    scope.spawn(move || {
                        (0..500).for_each(|number| channel.send((sender, number)).unwrap());
                        channel.drop_sender();
                    });
                }
                let mut next = [0, 0];
                while let Ok((sender, number)) = channel.receive() {
                    assert_eq!(number, next[sender]);
                    next[sender] += 1;
                }
                assert_eq!(next, [500, 500]);
            });
        }
    }

    #[test]
    fn tries_succeed_where_there_is_room_or_a_message() {
        let channel = Channel::new(Some(1));
        assert_eq!(channel.try_receive(), Err(Unreceived::Empty));
        assert_eq!(channel.try_send(1), Ok(()));
        assert_eq!(channel.try_send(2), Err(Unsent::Full(2)));
        assert_eq!(channel.try_receive(), Ok(1));
        let now = Deadline::after(Duration::ZERO);
        assert_eq!(channel.receive_until(Some(now)), Err(Unreceived::Empty));
        channel.drop_sender();
        assert_eq!(channel.try_receive(), Err(Unreceived::Disconnected));
        channel.drop_receiver();
        assert_eq!(channel.send(3), Err(Unsent::Disconnected(3)));
    }

    #[test]
    fn a_try_at_a_rendezvous_succeeds_iff_the_other_side_waits() {
        let channel = &Channel::new(Some(0));
        assert_eq!(channel.try_send(1), Err(Unsent::Full(1)));
        assert_eq!(channel.try_receive(), Err(Unreceived::Empty));
        std::thread::scope(|scope| {
            let receiver = scope.spawn(|| channel.receive());
            while channel.try_send(2).is_err() {
                std::thread::yield_now();
            }
            assert_eq!(receiver.join().unwrap(), Ok(2));
        });
    }

    #[test]
    fn a_send_that_waits_for_room_gets_its_message_back_when_the_receiver_goes() {
        let channel = &Channel::new(Some(0));
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| channel.send(5));
            while channel.with(|state| state.messages.is_empty()) {
                std::thread::yield_now();
            }
            channel.drop_receiver();
            assert_eq!(sender.join().unwrap(), Err(Unsent::Disconnected(5)));
        });
    }
}
