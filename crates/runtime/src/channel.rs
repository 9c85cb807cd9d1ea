//! Channels: unbounded, bounded and rendezvous.

use std::marker::PhantomData;

/// A channel with its messages. Who may send and who may receive is the caller's business; there is
/// one receiver at a time.
pub struct Channel<T> {
    messages: PhantomData<T>,
}

/// Why a message was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendError<T> {
    /// There is no room (a try), or there was none in time (a timed send).
    Full(T),
    /// The receiver is gone.
    Disconnected(T),
}

/// Why no message was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiveError {
    /// There is no message (a try), or there was none in time (a timed receive).
    Empty,
    /// There is no message and all senders are gone.
    Disconnected,
}

impl<T> Channel<T> {
    /// A channel with one sender; `capacity` none is unbounded, 0 rendezvous.
    #[track_caller]
    pub fn new(_capacity: Option<usize>) -> Channel<T> {
        todo!()
    }

    /// Sends a message, waits for room. Fails with `Disconnected` only.
    #[track_caller]
    pub fn send(&self, _message: T) -> Result<(), SendError<T>> {
        todo!()
    }

    /// Sends a message if there is room.
    #[track_caller]
    pub fn try_send(&self, _message: T) -> Result<(), SendError<T>> {
        todo!()
    }

    /// Sends a message, waits for room for some time.
    #[track_caller]
    pub fn send_timed(&self, _message: T) -> Result<(), SendError<T>> {
        todo!()
    }

    /// Waits for a message. Fails with `Disconnected` only.
    #[track_caller]
    pub fn receive(&self) -> Result<T, ReceiveError> {
        todo!()
    }

    /// Receives a message if there is one.
    #[track_caller]
    pub fn try_receive(&self) -> Result<T, ReceiveError> {
        todo!()
    }

    /// Waits for a message for some time. `Empty` is: none in time.
    #[track_caller]
    pub fn receive_timed(&self) -> Result<T, ReceiveError> {
        todo!()
    }

    /// One more sender; no event.
    pub fn add_sender(&self) {
        todo!()
    }

    /// A sender is gone.
    #[track_caller]
    pub fn drop_sender(&self) {
        todo!()
    }

    /// The receiver is gone. The messages that nobody will receive are dropped.
    #[track_caller]
    pub fn drop_receiver(&self) {
        todo!()
    }
}
