//! Like `std::sync::mpsc`.

use runtime::{Channel, ReceiveError};
use std::cell::Cell;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// Creates an unbounded channel.
///
/// ```
/// use mazurka::sync::mpsc::channel;
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let (sender, receiver) = channel();
///     thread::spawn(move || sender.send(7).unwrap());
///     assert_eq!(receiver.recv(), Ok(7));
///     assert!(receiver.recv().is_err(), "the sender is gone");
/// });
/// ```
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(None));
    (
        Sender {
            channel: Arc::clone(&channel),
        },
        Receiver::of(channel),
    )
}

/// Creates a channel with room for this number of messages. With 0, each send waits until its
/// message is received.
///
/// ```
/// use mazurka::sync::mpsc::sync_channel;
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let (sender, receiver) = sync_channel(1);
///     thread::spawn(move || (0..3).for_each(|n| sender.send(n).unwrap()));
///     assert_eq!(receiver.iter().sum::<i32>(), 3);
/// });
/// ```
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(Some(bound)));
    (
        SyncSender {
            channel: Arc::clone(&channel),
        },
        Receiver::of(channel),
    )
}

/// Like `std::sync::mpsc::Sender`.
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
}

/// Like `std::sync::mpsc::SyncSender`.
pub struct SyncSender<T> {
    channel: Arc<Channel<T>>,
}

/// Like `std::sync::mpsc::Receiver`.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    /// Makes the receiver `!Sync`: only one thread at a time uses it.
    not_shared: PhantomData<Cell<()>>,
}

/// Makes both traits hold for each end of a channel, as in `std`.
macro_rules! unwind_safe {
    ($($End:ident),*) => {
        $(
            impl<T> UnwindSafe for $End<T> {}
            impl<T> RefUnwindSafe for $End<T> {}
        )*
    };
}

unwind_safe!(Sender, SyncSender, Receiver);

/// Implements `named` and `shown`, for each end of a channel.
macro_rules! shown_in_traces {
    ($($End:ident),*) => {
        $(impl<T> $End<T> {
            /// Sets the name of the channel in traces, which otherwise show where it is created.
            /// Naming costs nothing in executions that the report does not show.
            #[track_caller]
            pub fn named(self, name: &str) -> Self {
                self.channel.call(name);
                self
            }

            /// Makes traces show messages, formatted by `Debug`. The implementation of `Debug` must
            /// not perform operations on shared objects. This costs nothing in executions that the
            /// report does not show.
            pub fn shown(self) -> Self
            where
                T: fmt::Debug,
            {
                self.channel.show(|message| format!("{message:?}"));
                self
            }
        })*
    };
}

shown_in_traces!(Sender, SyncSender, Receiver);

impl<T> Sender<T> {
    /// Sends a message.
    ///
    /// # Errors
    ///
    /// Returns the message, if the receiver is dropped.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.channel.send(message).map_err(unsent)
    }
}

impl<T> SyncSender<T> {
    /// Sends a message, waiting until there is room.
    ///
    /// # Errors
    ///
    /// Returns the message, if the receiver is dropped.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.channel.send(message).map_err(unsent)
    }

    /// Sends a message if there is room.
    ///
    /// # Errors
    ///
    /// Returns the message, if there is no room or the receiver is dropped.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.channel.try_send(message).map_err(|error| match error {
            runtime::SendError::Full(message) => TrySendError::Full(message),
            runtime::SendError::Disconnected(message) => TrySendError::Disconnected(message),
        })
    }
}

/// Converts the error of a blocking send, which fails only if the receiver is dropped.
fn unsent<T>(error: runtime::SendError<T>) -> SendError<T> {
    match error {
        runtime::SendError::Full(message) | runtime::SendError::Disconnected(message) => {
            SendError(message)
        }
    }
}

impl<T> Receiver<T> {
    fn of(channel: Arc<Channel<T>>) -> Receiver<T> {
        Receiver {
            channel,
            not_shared: PhantomData,
        }
    }

    /// Waits for a message.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no message and all senders are dropped.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.channel.receive().map_err(|_| RecvError)
    }

    /// Receives a message if there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no message.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.channel.try_receive().map_err(|error| match error {
            ReceiveError::Empty => TryRecvError::Empty,
            ReceiveError::Disconnected => TryRecvError::Disconnected,
        })
    }

    /// Waits for a message; the wait may expire at any moment.
    ///
    /// # Errors
    ///
    /// Returns an error if the wait expires, or if there is no message and all senders are dropped.
    #[track_caller]
    pub fn recv_timeout(&self, limit: Duration) -> Result<T, RecvTimeoutError> {
        self.channel
            .receive_timed(limit)
            .map_err(|error| match error {
                ReceiveError::Empty => RecvTimeoutError::Timeout,
                ReceiveError::Disconnected => RecvTimeoutError::Disconnected,
            })
    }

    /// Iterates over the messages, waiting for each, until all senders are dropped.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// Iterates over the messages that have already arrived.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.channel.add_sender();
        Sender {
            channel: Arc::clone(&self.channel),
        }
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> SyncSender<T> {
        self.channel.add_sender();
        SyncSender {
            channel: Arc::clone(&self.channel),
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.channel.drop_sender();
    }
}

impl<T> Drop for SyncSender<T> {
    fn drop(&mut self) {
        self.channel.drop_sender();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.channel.drop_receiver();
    }
}

/// Like `std::sync::mpsc::Iter`.
#[derive(Debug)]
pub struct Iter<'a, T> {
    receiver: &'a Receiver<T>,
}

/// Like `std::sync::mpsc::TryIter`.
#[derive(Debug)]
pub struct TryIter<'a, T> {
    receiver: &'a Receiver<T>,
}

/// Like `std::sync::mpsc::IntoIter`.
#[derive(Debug)]
pub struct IntoIter<T> {
    receiver: Receiver<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> FusedIterator for Iter<'_, T> {}

impl<T> FusedIterator for IntoIter<T> {}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
