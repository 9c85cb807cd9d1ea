//! Channel with any number of senders, one receiver: unbounded, bounded, or rendezvous (bound 0).
//!
//! Sends are ordered among themselves, and so are receives. A send and a receive commute. The i-th
//! receive gets the message of the i-th send. This module keeps only the order; the front-end
//! stores the messages by the tickets of their sends.
//!
//! A *timed* operation has a timeout. A try or timed operation takes a place. A later step
//! *resolves* it: without a grant, the operation gives up its place. A try or timed receive first
//! checks whether all senders are dropped, because a later check could miss a message. So once a
//! channel is used with tries (`tried`), dropping a sender has an access.
//!
//! At a rendezvous, two tries must not succeed with each other. So if a rendezvous channel is used
//! with tries, sends and receives are ordered on one part. A try is one event there, which succeeds
//! iff the other side waits. A timed operation takes a place and resolves it, as in other channels.

use crate::order::Order;
use crate::{Form, Object, Ticket};
use explore::{EventId, OpKind};

/// The number of messages that a channel holds for the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Capacity {
    /// Any number of messages.
    #[default]
    Unbounded,
    /// At most this number of messages. Zero is a rendezvous.
    Bounded(usize),
}

impl Capacity {
    /// Checks whether a send waits for its receive.
    pub const fn is_rendezvous(self) -> bool {
        matches!(self, Capacity::Bounded(0))
    }
}

/// The result of a send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// The channel accepted the message.
    Accepted,
    /// The channel had no room in time.
    Full,
    /// The receiver is dropped.
    Disconnected,
}

/// The result of a receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Received {
    /// The message of this send.
    Message(Ticket),
    /// No message arrived in time.
    Empty,
    /// The channel has no message, and all senders are dropped.
    Disconnected,
}

/// A wait for the other side of a channel.
#[derive(Clone, Copy, Debug)]
pub enum ChannelWait {
    /// The wait of a send for room.
    Send(Ticket),
    /// The wait of a receive for a message or for disconnection.
    Receive(Ticket),
}

/// The order of a channel's sends and receives, and the dropped handles.
#[derive(Clone, Default, Debug)]
pub struct Channel {
    capacity: Capacity,
    sends: Order,
    receives: Order,
    /// The number of sender handles that are not dropped.
    senders: usize,
    sender_drops: Vec<EventId>,
    receiver_drop: Option<EventId>,
}

const SENDS: u32 = 0;
const RECEIVES: u32 = 1;
const CLOSED: u32 = 2;

/// Returns the part that orders receives.
const fn receives(capacity: Capacity, tried: bool) -> u32 {
    if tried && capacity.is_rendezvous() {
        SENDS
    } else {
        RECEIVES
    }
}

impl Channel {
    /// Takes a place for a send: [`send_request`](Channel::send_request).
    pub const SEND_REQUEST: Form = Form::write(OpKind::SendRequest, SENDS);
    /// Waits for room. An unbounded channel does not need this.
    pub const SEND_WAIT: Form = Form::none(OpKind::SendWait);
    /// First step of a try or timed send: [`send_request`](Channel::send_request).
    pub const SEND_TRY_PLACE: Form = Form::write(OpKind::SendTryPlace, SENDS);
    /// Waits for a message or for disconnection.
    pub const RECEIVE_WAIT: Form = Form::none(OpKind::ReceiveWait);
    /// First step of a try or timed receive: [`is_disconnected`](Channel::is_disconnected).
    pub const CLOSED_CHECK: Form = Form::write(OpKind::ClosedCheck, CLOSED);
    /// The form of [`drop_receiver`](Channel::drop_receiver).
    pub const RECEIVER_DROP: Form = Form::write(OpKind::ReceiverDrop, SENDS);
    /// The form of [`try_send`](Channel::try_send) at a rendezvous.
    pub const RENDEZVOUS_TRY_SEND: Form = Form::write(OpKind::SendTryResult, SENDS);
    /// The form of [`try_receive`](Channel::try_receive) at a rendezvous.
    pub const RENDEZVOUS_TRY_RECEIVE: Form = Form::write(OpKind::ReceiveTryResult, SENDS);

    /// Second step of a try or timed send: [`resolve_send`](Channel::resolve_send).
    pub const fn send_try_result(capacity: Capacity) -> Form {
        if capacity.is_rendezvous() {
            Form::write(OpKind::SendTryResult, SENDS)
        } else {
            Form::read(OpKind::SendTryResult, RECEIVES)
        }
    }

    /// Takes a place for a receive: [`receive_request`](Channel::receive_request).
    pub const fn receive_request_form(capacity: Capacity, tried: bool) -> Form {
        Form::write(OpKind::ReceiveRequest, receives(capacity, tried))
    }

    /// Second step of a try or timed receive: [`receive_request`](Channel::receive_request).
    pub const fn receive_try_place(capacity: Capacity) -> Form {
        Form::write(OpKind::ReceiveTryPlace, receives(capacity, true))
    }

    /// Third step of a try or timed receive: [`resolve_receive`](Channel::resolve_receive).
    pub const fn receive_try_result(capacity: Capacity) -> Form {
        if capacity.is_rendezvous() {
            Form::write(OpKind::ReceiveTryResult, SENDS)
        } else {
            Form::read(OpKind::ReceiveTryResult, SENDS)
        }
    }

    /// Returns the form of [`drop_sender`](Channel::drop_sender). `tried` says whether the channel
    /// has try or timed receives.
    pub const fn sender_drop(tried: bool) -> Form {
        if tried {
            Form::read(OpKind::SenderDrop, CLOSED)
        } else {
            Form::none(OpKind::SenderDrop)
        }
    }

    /// Takes a place for a send of any kind, by the event `at`. Returns `None` if the receiver is
    /// dropped.
    pub fn send_request(&mut self, at: EventId) -> Option<Ticket> {
        self.receiver_drop.is_none().then(|| self.sends.push(at))
    }

    /// Checks whether there is room for the message or the receiver is dropped.
    pub fn is_send_over(&self, ticket: Ticket) -> bool {
        self.has_room(ticket) || self.receiver_drop.is_some()
    }

    /// Returns the result of a send whose wait is over.
    pub fn sent(&self, ticket: Ticket) -> Sent {
        if self.has_room(ticket) {
            Sent::Accepted
        } else {
            Sent::Disconnected
        }
    }

    /// Appends to `edges` the events from which synchronization edges lead to a send's wait.
    pub fn send_edges(&self, ticket: Ticket, edges: &mut Vec<EventId>) {
        if self.has_room(ticket) {
            edges.extend(
                self.room_maker(ticket)
                    .map(|receive| self.receives.event(receive)),
            );
        } else {
            edges.extend(self.receiver_drop);
        }
    }

    /// Returns the result of a try or timed send. Without room, the send gives up its place.
    pub fn resolve_send(&mut self, ticket: Ticket) -> Sent {
        if self.has_room(ticket) {
            return Sent::Accepted;
        }
        self.sends.leave(ticket);
        // At a rendezvous, this event conflicts with the drop of the receiver. In other channels it
        // does not, so the result must not depend on the drop.
        match self.capacity.is_rendezvous() && self.receiver_drop.is_some() {
            true => Sent::Disconnected,
            false => Sent::Full,
        }
    }

    /// Sends at a rendezvous, by the event `at`, if the receiver waits. Otherwise returns the
    /// reason why nothing was sent.
    pub fn try_send(&mut self, at: EventId) -> Result<Ticket, Sent> {
        debug_assert!(
            self.capacity.is_rendezvous(),
            "a try is one event only at a rendezvous"
        );
        if self.receiver_drop.is_some() {
            return Err(Sent::Disconnected);
        }
        if self.receives.len() <= self.sends.len() {
            return Err(Sent::Full);
        }
        Ok(self.sends.push(at))
    }

    /// Takes a place for a receive of any kind, by the event `at`.
    pub fn receive_request(&mut self, at: EventId) -> Ticket {
        self.receives.push(at)
    }

    /// Checks whether there is a message or all senders are dropped.
    pub fn is_receive_over(&self, ticket: Ticket) -> bool {
        self.message(ticket).is_some() || self.is_disconnected()
    }

    /// Returns the result of a receive whose wait is over.
    pub fn received(&self, ticket: Ticket) -> Received {
        self.message(ticket)
            .map_or(Received::Disconnected, Received::Message)
    }

    /// Appends to `edges` the events from which synchronization edges lead to a receive's wait.
    pub fn receive_edges(&self, ticket: Ticket, edges: &mut Vec<EventId>) {
        match self.message(ticket) {
            Some(send) => edges.push(self.sends.event(send)),
            None => edges.extend_from_slice(&self.sender_drops),
        }
    }

    /// Returns the result of a try or timed receive. Without a message, the receive gives up its
    /// place. `was_disconnected` is the result of the check before the receive took its place.
    pub fn resolve_receive(&mut self, ticket: Ticket, was_disconnected: bool) -> Received {
        if let Some(send) = self.message(ticket) {
            return Received::Message(send);
        }
        self.receives.leave(ticket);
        if was_disconnected {
            Received::Disconnected
        } else {
            Received::Empty
        }
    }

    /// Receives at a rendezvous, by the event `at`, if a sender waits. `was_disconnected` is the
    /// result of the earlier check, as for `resolve_receive`.
    pub fn try_receive(&mut self, at: EventId, was_disconnected: bool) -> Received {
        debug_assert!(
            self.capacity.is_rendezvous(),
            "a try is one event only at a rendezvous"
        );
        let ticket = self.receives.push(at);
        self.resolve_receive(ticket, was_disconnected)
    }

    /// Adds a sender handle. This is not an event, because the thread that clones a handle already
    /// has a handle.
    pub fn clone_sender(&mut self) {
        self.senders += 1;
    }

    /// Drops a sender handle, by the event `at`.
    pub fn drop_sender(&mut self, at: EventId) {
        self.senders -= 1;
        self.sender_drops.push(at);
    }

    /// Drops the receiver, by the event `at`.
    pub fn drop_receiver(&mut self, at: EventId) {
        self.receiver_drop = Some(at);
    }

    /// Checks whether all senders are dropped.
    pub fn is_disconnected(&self) -> bool {
        self.senders == 0
    }

    /// Checks whether enough receives have a place for the send to have room.
    fn has_room(&self, ticket: Ticket) -> bool {
        match self.capacity {
            Capacity::Unbounded => true,
            Capacity::Bounded(bound) => self.sends.position(ticket) < self.receives.len() + bound,
        }
    }

    /// Returns the receive that makes room for a send. Returns `None` if the send needs no receive,
    /// or if this receive has not been requested.
    fn room_maker(&self, ticket: Ticket) -> Option<Ticket> {
        match self.capacity {
            Capacity::Unbounded => None,
            Capacity::Bounded(bound) => self
                .receives
                .at(self.sends.position(ticket).checked_sub(bound)?),
        }
    }

    /// Returns the send whose message a receive gets, or `None` if this send has not been
    /// requested.
    fn message(&self, ticket: Ticket) -> Option<Ticket> {
        self.sends.at(self.receives.position(ticket))
    }
}

impl Object for Channel {
    type Size = Capacity;
    type Wait = ChannelWait;

    /// The number of objects of a channel: sends, receives, and whether all senders are dropped.
    const PARTS: u32 = 3;

    fn clear(&mut self, capacity: Capacity) {
        self.capacity = capacity;
        self.sends.clear();
        self.receives.clear();
        self.senders = 1;
        self.sender_drops.clear();
        self.receiver_drop = None;
    }

    fn is_granted(&self, wait: ChannelWait) -> bool {
        match wait {
            ChannelWait::Send(ticket) => self.is_send_over(ticket),
            ChannelWait::Receive(ticket) => self.is_receive_over(ticket),
        }
    }

    fn edges(&self, wait: ChannelWait, edges: &mut Vec<EventId>) {
        match wait {
            ChannelWait::Send(ticket) => self.send_edges(ticket, edges),
            ChannelWait::Receive(ticket) => self.receive_edges(ticket, edges),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(channel: &mut Channel, at: u32) -> Ticket {
        channel
            .send_request(EventId(at))
            .expect("the receiver is there")
    }

    fn send_edges(channel: &Channel, ticket: Ticket) -> Vec<EventId> {
        let mut edges = Vec::new();
        channel.send_edges(ticket, &mut edges);
        edges
    }

    fn receive_edges(channel: &Channel, ticket: Ticket) -> Vec<EventId> {
        let mut edges = Vec::new();
        channel.receive_edges(ticket, &mut edges);
        edges
    }

    #[test]
    fn messages_arrive_in_the_order_of_their_sends() {
        let mut channel = Channel::new(Capacity::Unbounded);
        let (first, second) = (send(&mut channel, 0), send(&mut channel, 1));
        let receives = [2, 3, 4].map(|at| channel.receive_request(EventId(at)));
        assert_eq!(channel.received(receives[0]), Received::Message(first));
        assert_eq!(channel.received(receives[1]), Received::Message(second));
        assert_eq!(receive_edges(&channel, receives[1]), [EventId(1)]);
        assert!(!channel.is_receive_over(receives[2]));
    }

    #[test]
    fn a_bounded_send_waits_for_the_receive_that_makes_room() {
        let mut channel = Channel::new(Capacity::Bounded(1));
        let (first, second) = (send(&mut channel, 0), send(&mut channel, 1));
        assert!(channel.is_send_over(first) && !channel.is_send_over(second));
        channel.receive_request(EventId(2));
        assert!(channel.is_send_over(second));
        assert_eq!(send_edges(&channel, first), []);
        assert_eq!(send_edges(&channel, second), [EventId(2)]);
    }

    #[test]
    fn a_rendezvous_needs_both_sides() {
        let mut channel = Channel::new(Capacity::Bounded(0));
        let sent = send(&mut channel, 0);
        assert!(!channel.is_send_over(sent));
        let receive = channel.receive_request(EventId(1));
        assert!(channel.is_send_over(sent) && channel.is_receive_over(receive));
        assert_eq!(send_edges(&channel, sent), [EventId(1)]);
        assert_eq!(receive_edges(&channel, receive), [EventId(0)]);
    }

    #[test]
    fn a_rendezvous_try_succeeds_iff_the_other_side_waits() {
        let mut channel = Channel::new(Capacity::Bounded(0));
        assert_eq!(channel.try_send(EventId(0)), Err(Sent::Full));
        assert_eq!(channel.try_receive(EventId(1), false), Received::Empty);
        let waiting = send(&mut channel, 2);
        assert_eq!(
            channel.try_receive(EventId(3), false),
            Received::Message(waiting)
        );
        let receive = channel.receive_request(EventId(4));
        let tried = channel.try_send(EventId(5)).expect("the receiver waits");
        assert_eq!(channel.received(receive), Received::Message(tried));
    }

    #[test]
    fn a_failed_try_leaves_and_the_places_behind_it_move_up() {
        let mut channel = Channel::new(Capacity::Bounded(1));
        let first = send(&mut channel, 0);
        let failing = send(&mut channel, 1);
        let third = send(&mut channel, 2);
        assert_eq!(channel.resolve_send(failing), Sent::Full);
        let receives = [3, 4].map(|at| channel.receive_request(EventId(at)));
        assert_eq!(channel.received(receives[0]), Received::Message(first));
        assert_eq!(channel.received(receives[1]), Received::Message(third));
        let failing = channel.receive_request(EventId(5));
        assert_eq!(channel.resolve_receive(failing, false), Received::Empty);
    }

    #[test]
    fn the_hang_up_of_all_senders_ends_a_receive_after_the_last_message() {
        let mut channel = Channel::new(Capacity::Unbounded);
        channel.clone_sender();
        let message = send(&mut channel, 0);
        let first = channel.receive_request(EventId(1));
        let second = channel.receive_request(EventId(2));
        channel.drop_sender(EventId(3));
        assert!(!channel.is_receive_over(second));
        channel.drop_sender(EventId(4));
        assert_eq!(channel.received(first), Received::Message(message));
        assert_eq!(channel.received(second), Received::Disconnected);
        assert_eq!(receive_edges(&channel, second), [EventId(3), EventId(4)]);
    }

    #[test]
    fn the_drop_of_the_receiver_ends_a_blocked_send_and_fails_later_ones() {
        let mut channel = Channel::new(Capacity::Bounded(1));
        let (held, blocked) = (send(&mut channel, 0), send(&mut channel, 1));
        channel.drop_receiver(EventId(2));
        assert_eq!(channel.sent(held), Sent::Accepted);
        assert_eq!(channel.sent(blocked), Sent::Disconnected);
        assert_eq!(send_edges(&channel, blocked), [EventId(2)]);
        assert_eq!(channel.send_request(EventId(3)), None);
    }
}
