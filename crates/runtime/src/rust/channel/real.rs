//! Channels outside of models.

use super::{Channel, ReceiveError, SendError};
use enforce::blocking::{self, Unreceived, Unsent};
use explore::ObjectId;
use objects::Capacity;
use std::cell::{Cell, UnsafeCell};

impl<T> Channel<T> {
    pub(super) fn outside(bound: Option<usize>) -> Channel<T> {
        Channel {
            object: ObjectId::NONE,
            number: 0,
            capacity: bound.map_or(Capacity::Unbounded, Capacity::Bounded),
            is_tried: false,
            show: Cell::new(None),
            messages: UnsafeCell::new(Vec::new()),
            outside: Some(blocking::Channel::new(bound)),
        }
    }

    pub(super) fn real(&self) -> &blocking::Channel<T> {
        let real = self.outside.as_ref();
        real.expect("a channel created in a model is used outside of it")
    }
}

impl<T> SendError<T> {
    pub(super) fn of(unsent: Unsent<T>) -> SendError<T> {
        match unsent {
            Unsent::Full(message) => SendError::Full(message),
            Unsent::Disconnected(message) => SendError::Disconnected(message),
        }
    }
}

impl ReceiveError {
    pub(super) fn of(unreceived: Unreceived) -> ReceiveError {
        match unreceived {
            Unreceived::Empty => ReceiveError::Empty,
            Unreceived::Disconnected => ReceiveError::Disconnected,
        }
    }
}
