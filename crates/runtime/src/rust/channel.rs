//! Channels: unbounded, bounded and rendezvous.

#[cfg(feature = "enforce")]
mod real;

use crate::engine::Engine;
use crate::engine::perform::{self, perform, silently};
use crate::engine::place::Place;
use crate::rust::mutex::expire;
use crate::rust::outside::outside;
use crate::rust::pools::Wait;
use crate::watch::seen::Seen;
use explore::ObjectId;
use objects::{
    Capacity, Channel as Order, ChannelWait, Coarsening, Object, Received, Sent, Ticket,
};
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::panic::Location;
use std::time::Duration;

/// A function that shows a value in a trace.
type Show<T> = fn(&T) -> String;

/// A channel with its messages. The caller controls which threads may send and receive. A channel
/// has one receiver at a time.
pub struct Channel<T> {
    pub(crate) object: ObjectId,
    number: u32,
    capacity: Capacity,
    /// Whether the channel is known to be used with try or timed operations.
    is_tried: bool,
    /// How traces show a message, if the program defines that.
    show: Cell<Option<Show<T>>>,
    /// The messages, indexed by the tickets (numbers) of their sends. A message is kept until it is
    /// received.
    messages: UnsafeCell<Vec<Option<(Ticket, T)>>>,
    /// The real channel, if it was created outside of models.
    #[cfg(feature = "enforce")]
    outside: Option<enforce::blocking::Channel<T>>,
}

// SAFETY: only the one thread of the operating system that runs the model accesses the function
// and, in `with_messages`, the messages. Both move between threads of the model, and no reference
// to them escapes.
unsafe impl<T: Send> Sync for Channel<T> {}

/// The reason why a message was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendError<T> {
    /// The channel has no room (a try), or had none in time (a timed send).
    Full(T),
    /// The receiver is gone.
    Disconnected(T),
}

/// The reason why no message was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiveError {
    /// The channel has no message (a try), or had none in time (a timed receive).
    Empty,
    /// The channel has no message, and all senders are gone.
    Disconnected,
}

impl<T> Channel<T> {
    /// Creates a channel with one sender. A `capacity` of `None` is unbounded, and 0 is a
    /// rendezvous.
    #[track_caller]
    pub fn new(capacity: Option<usize>) -> Channel<T> {
        outside!(Channel::outside(capacity));
        let location = Location::caller();
        let capacity = capacity.map_or(Capacity::Unbounded, Capacity::Bounded);
        silently(|engine| {
            let object = engine.create(Order::PARTS);
            engine.name_object(object, "Channel", location);
            let number = engine.life.objects.channels.create(capacity);
            let is_tried = engine.names.is_coarse(object, Coarsening::Tried);
            Channel {
                object,
                number,
                capacity,
                is_tried,
                show: Cell::new(None),
                messages: UnsafeCell::new(Vec::new()),
                #[cfg(feature = "enforce")]
                outside: None,
            }
        })
    }

    /// Returns the state of the channel.
    fn order<'e>(&self, engine: &'e mut Engine) -> &'e mut Order {
        engine.life.objects.channels.get_mut(self.number)
    }

    /// Makes traces show messages from now on. The function must not perform operations.
    pub fn show(&self, show: Show<T>) {
        self.show.set(Some(show));
    }

    /// Returns the text of a message for traces. The text is empty in executions that are not
    /// recorded.
    fn text_of(&self, message: &T) -> String {
        match self.show.get() {
            Some(show) if perform::is_recorded() => show(message),
            _ => String::new(),
        }
    }

    /// Sends a message and waits for room. Fails with `Disconnected` only.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        outside!(self.real().send(message).map_err(SendError::of));
        let location = Location::caller();
        let shown = self.text_of(&message);
        let mut message = Some(message);
        let ticket = perform(Order::SEND_REQUEST.on(self.object), location, |engine| {
            let ticket = self.request_send(engine, &mut message);
            engine.record(|name| match ticket {
                Some(_) => format!("{name}.send({shown})"),
                None => format!("{name}.send({shown}) -> disconnected"),
            });
            ticket
        });
        let Some(ticket) = ticket else {
            return Err(SendError::Disconnected(
                message.expect("the message was not taken"),
            ));
        };
        if self.capacity == Capacity::Unbounded {
            return Ok(());
        }
        let wait = Wait::Channel(self.number, ChannelWait::Send(ticket));
        perform::wait(Order::SEND_WAIT.on(self.object), wait, location, |_| ());
        match silently(|engine| self.order(engine).sent(ticket)) {
            Sent::Accepted => Ok(()),
            Sent::Full | Sent::Disconnected => Err(SendError::Disconnected(self.take(ticket))),
        }
    }

    /// Sends a message if there is room.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), SendError<T>> {
        outside!(self.real().try_send(message).map_err(SendError::of));
        match self.capacity.is_rendezvous() {
            true => self.try_rendezvous(message, Location::caller()),
            false => self.send_by_try(message, Location::caller()),
        }
    }

    /// Sends a message and waits for room with a time limit, which may expire at any time.
    #[track_caller]
    pub fn send_timed(&self, message: T) -> Result<(), SendError<T>> {
        if self.capacity.is_rendezvous() {
            self.record_try();
        }
        let result = self.send_by_try(message, Location::caller());
        if let Err(SendError::Full(_)) = result {
            expire();
        }
        result
    }

    /// Tries to send at a rendezvous, in one event.
    fn try_rendezvous(&self, message: T, location: Place) -> Result<(), SendError<T>> {
        self.record_try();
        let shown = self.text_of(&message);
        let mut message = Some(message);
        let sent = perform(
            Order::RENDEZVOUS_TRY_SEND.on(self.object),
            location,
            |engine| {
                let event = engine.event();
                let sent = self.order(engine).try_send(event);
                if let Ok(ticket) = sent {
                    self.put(ticket, message.take());
                    self.left_message(engine);
                }
                self.record_send_result(
                    engine,
                    sent.map_or_else(|failed| failed, |_| Sent::Accepted),
                    &shown,
                );
                sent
            },
        );
        match (sent, message) {
            (Err(Sent::Disconnected), Some(message)) => Err(SendError::Disconnected(message)),
            (Err(Sent::Full), Some(message)) => Err(SendError::Full(message)),
            (Err(Sent::Accepted) | Ok(_), _) | (Err(_), None) => Ok(()),
        }
    }

    /// Sends without waiting, or with a time limit: takes a place in the order of the channel, and
    /// gives it up if there is no room.
    // Not inlined: the await rule compares the program's frames between the rounds of a loop, and
    // the numbers of places differ in each round.
    #[inline(never)]
    fn send_by_try(&self, message: T, location: Place) -> Result<(), SendError<T>> {
        let shown = self.text_of(&message);
        let mut message = Some(message);
        let ticket = perform(Order::SEND_TRY_PLACE.on(self.object), location, |engine| {
            self.request_send(engine, &mut message)
        });
        let Some(ticket) = ticket else {
            return Err(SendError::Disconnected(
                message.expect("the message was not taken"),
            ));
        };
        let result = Order::send_try_result(self.capacity).on(self.object);
        let sent = perform(result, location, |engine| {
            let sent = self.order(engine).resolve_send(ticket);
            self.record_send_result(engine, sent, &shown);
            sent
        });
        match sent {
            Sent::Accepted => Ok(()),
            Sent::Full => Err(SendError::Full(self.take(ticket))),
            Sent::Disconnected => Err(SendError::Disconnected(self.take(ticket))),
        }
    }

    fn request_send(&self, engine: &mut Engine, message: &mut Option<T>) -> Option<Ticket> {
        let event = engine.event();
        let ticket = self.order(engine).send_request(event)?;
        self.put(ticket, message.take());
        self.left_message(engine);
        Some(ticket)
    }

    fn request_receive(&self, engine: &mut Engine) -> Ticket {
        let event = engine.event();
        self.makes_room(engine);
        self.order(engine).receive_request(event)
    }

    /// Records that the current event may make room for a send.
    fn makes_room(&self, engine: &mut Engine) {
        if self.capacity != Capacity::Unbounded {
            engine.may_grant(engine.event());
        }
    }

    fn left_message(&self, engine: &mut Engine) {
        engine.may_grant(engine.event());
    }

    fn record_send_result(&self, engine: &mut Engine, sent: Sent, shown: &str) {
        match sent {
            Sent::Accepted => engine.take_effect(),
            Sent::Full | Sent::Disconnected => engine.see(Seen::NoRoom(self.number)),
        }
        engine.record(|name| format!("{name}.try_send({shown}) -> {sent:?}"));
    }

    /// Waits for a message. Fails with `Disconnected` only.
    #[track_caller]
    pub fn receive(&self) -> Result<T, ReceiveError> {
        outside!(self.real().receive().map_err(ReceiveError::of));
        let location = Location::caller();
        let request = Order::receive_request_form(self.capacity, self.is_tried).on(self.object);
        let ticket = perform(request, location, |engine| self.request_receive(engine));
        let wait = Wait::Channel(self.number, ChannelWait::Receive(ticket));
        perform::wait(Order::RECEIVE_WAIT.on(self.object), wait, location, |_| ());
        let received = silently(|engine| self.order(engine).received(ticket));
        self.result(received)
    }

    /// Receives a message if there is one.
    #[track_caller]
    pub fn try_receive(&self) -> Result<T, ReceiveError> {
        outside!(self.real().try_receive().map_err(ReceiveError::of));
        let location = Location::caller();
        let was_disconnected = self.check_senders(location);
        match self.capacity.is_rendezvous() {
            true => self.try_receive_rendezvous(was_disconnected, location),
            false => self.receive_by_try(was_disconnected, location),
        }
    }

    /// Waits for a message with a time limit, which a model ignores. Returns `Empty` if no message
    /// came in time.
    #[track_caller]
    #[cfg_attr(not(feature = "enforce"), allow(unused_variables))]
    pub fn receive_timed(&self, limit: Duration) -> Result<T, ReceiveError> {
        outside!({
            let deadline = enforce::blocking::Deadline::after(limit);
            let received = self.real().receive_until(Some(deadline));
            received.map_err(ReceiveError::of)
        });
        let location = Location::caller();
        let was_disconnected = self.check_senders(location);
        let result = self.receive_by_try(was_disconnected, location);
        if let Err(ReceiveError::Empty) = result {
            expire();
        }
        result
    }

    /// Checks whether all senders are gone. This check comes first, because a later check could
    /// miss a message that is sent before the last sender is dropped.
    fn check_senders(&self, location: Place) -> bool {
        self.record_try();
        perform(Order::CLOSED_CHECK.on(self.object), location, |engine| {
            self.order(engine).is_disconnected()
        })
    }

    fn try_receive_rendezvous(&self, was_disconnected: bool, at: Place) -> Result<T, ReceiveError> {
        let op = Order::RENDEZVOUS_TRY_RECEIVE.on(self.object);
        let received = perform(op, at, |engine| {
            let event = engine.event();
            self.makes_room(engine);
            let order = self.order(engine);
            let received = order.try_receive(event, was_disconnected);
            self.record_receive_result(engine, None, received);
            received
        });
        self.result(received)
    }

    /// Receives without waiting, or with a time limit: takes a place in the order of the channel,
    /// and gives it up if there is no message.
    // Not inlined: the await rule compares the program's frames between the rounds of a loop, and
    // the numbers of places differ in each round.
    #[inline(never)]
    fn receive_by_try(&self, was_disconnected: bool, location: Place) -> Result<T, ReceiveError> {
        let place = Order::receive_try_place(self.capacity).on(self.object);
        let ticket = perform(place, location, |engine| self.request_receive(engine));
        let result = Order::receive_try_result(self.capacity).on(self.object);
        let received = perform(result, location, |engine| {
            let order = self.order(engine);
            let received = order.resolve_receive(ticket, was_disconnected);
            self.record_receive_result(engine, Some(ticket), received);
            received
        });
        self.result(received)
    }

    fn record_receive_result(
        &self,
        engine: &mut Engine,
        ticket: Option<Ticket>,
        received: Received,
    ) {
        match received {
            Received::Message(_) => engine.take_effect(),
            Received::Empty => engine.see(Seen::NoMessage(self.number)),
            Received::Disconnected => {}
        }
        if let (Some(ticket), Received::Message(_)) = (ticket, received) {
            let wait = ChannelWait::Receive(ticket);
            engine.follows_grant(Wait::Channel(self.number, wait));
        }
        engine.record(|name| match received {
            Received::Message(_) => format!("{name}.try_recv() -> a message"),
            Received::Empty => format!("{name}.try_recv() -> empty"),
            Received::Disconnected => format!("{name}.try_recv() -> disconnected"),
        });
    }

    fn result(&self, received: Received) -> Result<T, ReceiveError> {
        match received {
            Received::Message(ticket) => {
                let message = self.take(ticket);
                self.record_received(&message);
                Ok(message)
            }
            Received::Empty => Err(ReceiveError::Empty),
            Received::Disconnected => Err(ReceiveError::Disconnected),
        }
    }

    fn record_received(&self, message: &T) {
        let shown = self.text_of(message);
        if !shown.is_empty() {
            silently(|engine| engine.record(|name| format!("{name}.recv() -> {shown}")));
        }
    }

    /// Adds a sender. This is not an event.
    #[track_caller]
    pub fn add_sender(&self) {
        outside!(self.real().add_sender());
        silently(|engine| self.order(engine).clone_sender());
    }

    /// Removes a sender.
    #[track_caller]
    pub fn drop_sender(&self) {
        outside!(self.real().drop_sender());
        let form = Order::sender_drop(self.is_tried);
        perform(form.on(self.object), Location::caller(), |engine| {
            let event = engine.event();
            self.order(engine).drop_sender(event);
            if engine.watch.races {
                engine.guests.happens_before.leave(engine.running, event);
            }
        });
    }

    /// Removes the receiver. Drops the accepted messages, which can no longer be received.
    #[track_caller]
    pub fn drop_receiver(&self) {
        outside!(self.real().drop_receiver());
        perform(
            Order::RECEIVER_DROP.on(self.object),
            Location::caller(),
            |engine| {
                let event = engine.event();
                self.order(engine).drop_receiver(event);
            },
        );
        let left: Vec<(Ticket, T)> = silently(|engine| {
            let order = self.order(engine);
            let is_accepted =
                |&mut (ticket, _): &mut (Ticket, T)| order.sent(ticket) == Sent::Accepted;
            self.with_messages(|messages| {
                messages
                    .iter_mut()
                    .filter_map(|message| message.take_if(is_accepted))
                    .collect()
            })
        });
        drop(left);
    }

    /// Records that the channel is used with try operations. If this was unknown, the exploration
    /// starts again. Then the drop of a sender is an access, and the operations at a rendezvous are
    /// ordered with each other.
    fn record_try(&self) {
        if !self.is_tried {
            silently(|engine| engine.coarsen_object(self.object, Coarsening::Tried));
        }
    }

    fn put(&self, ticket: Ticket, message: Option<T>) {
        self.with_messages(|messages| {
            messages.resize_with(messages.len().max(ticket.index() + 1), || None);
            messages[ticket.index()] = message.map(|message| (ticket, message));
        });
    }

    fn take(&self, ticket: Ticket) -> T {
        let message = self.with_messages(|messages| messages[ticket.index()].take());
        message
            .expect("a message is there from its send until it is received or taken back")
            .1
    }

    fn with_messages<R>(&self, change: impl FnOnce(&mut Vec<Option<(Ticket, T)>>) -> R) -> R {
        // SAFETY: the threads of a model take turns, and `change` does not run another thread.
        change(unsafe { &mut *self.messages.get() })
    }
}

impl<T> fmt::Debug for Channel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").finish_non_exhaustive()
    }
}
