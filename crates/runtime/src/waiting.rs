//! What a thread waits for: a question to an object, asked again after each event at the object.

use crate::engine::Objects;
use explore::{EventId, ThreadId};
use objects::Ticket;

/// What the wait of a thread asks. The numbers are those of the objects in their pools.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    Mutex(u32, Ticket),
    RwLock(u32, Ticket),
    Condvar(u32, Ticket),
    Semaphore(u32, Ticket),
    Barrier(u32, Ticket),
    Once(u32, Ticket),
    Send(u32, Ticket),
    Receive(u32, Ticket),
    /// The thread's own park token.
    Park(ThreadId),
    Join(ThreadId),
    /// The end of a thread, but not by a panic.
    Return(ThreadId),
    /// The letter at a position of a mailbox.
    Letter(u32, usize),
    /// Its turn to be delivered.
    Delivery(u32, Ticket),
}

impl Objects {
    /// Whether the wait is over.
    pub(crate) fn is_granted(&self, wait: Wait) -> bool {
        match wait {
            Wait::Mutex(number, ticket) => self.mutexes.get(number).order.is_granted(ticket),
            Wait::RwLock(number, ticket) => self.rwlocks.get(number).is_granted(ticket),
            Wait::Condvar(number, ticket) => self.condvars.get(number).is_signalled(ticket),
            Wait::Semaphore(number, ticket) => self.semaphores.get(number).is_granted(ticket),
            Wait::Barrier(number, ticket) => self.barriers.get(number).is_granted(ticket),
            Wait::Once(number, ticket) => self.onces.get(number).order.is_granted(ticket),
            Wait::Send(number, ticket) => self.channels.get(number).is_send_over(ticket),
            Wait::Receive(number, ticket) => self.channels.get(number).is_receive_over(ticket),
            Wait::Park(thread) => self.parks[thread.index()].is_granted(),
            Wait::Join(thread) => self.ends[thread.index()].is_finished(),
            Wait::Return(thread) => self.ends[thread.index()].has_returned(),
            Wait::Letter(number, position) => self.mailboxes.get(number).order.has(position),
            Wait::Delivery(number, ticket) => self.networks.get(number).is_deliverable(ticket),
        }
    }

    /// The after edges of a wait that is over.
    pub(crate) fn edges(&self, wait: Wait, edges: &mut Vec<EventId>) {
        match wait {
            Wait::Mutex(number, ticket) => self.mutexes.get(number).order.edges(ticket, edges),
            Wait::RwLock(number, ticket) => self.rwlocks.get(number).edges(ticket, edges),
            Wait::Condvar(number, ticket) => self.condvars.get(number).edges(ticket, edges),
            Wait::Semaphore(number, ticket) => self.semaphores.get(number).edges(ticket, edges),
            Wait::Barrier(number, ticket) => self.barriers.get(number).edges(ticket, edges),
            Wait::Once(number, ticket) => self.onces.get(number).order.edges(ticket, edges),
            Wait::Send(number, ticket) => self.channels.get(number).send_edges(ticket, edges),
            Wait::Receive(number, ticket) => self.channels.get(number).receive_edges(ticket, edges),
            Wait::Park(thread) => self.parks[thread.index()].edges(edges),
            Wait::Join(thread) | Wait::Return(thread) => self.ends[thread.index()].edges(edges),
            Wait::Letter(number, position) => {
                self.mailboxes.get(number).order.edges(position, edges);
            }
            Wait::Delivery(number, ticket) => self.networks.get(number).edges(ticket, edges),
        }
    }

    /// The threads that would have to move for the wait to be over, where that is known.
    pub(crate) fn awaited(&self, wait: Wait) -> Vec<ThreadId> {
        match wait {
            Wait::Mutex(number, _) => self
                .mutexes
                .get(number)
                .order
                .holder()
                .into_iter()
                .collect(),
            Wait::RwLock(number, _) => self.rwlocks.get(number).holders().collect(),
            Wait::Once(number, _) => self
                .onces
                .get(number)
                .order
                .initialiser()
                .into_iter()
                .collect(),
            Wait::Join(thread) | Wait::Return(thread) => vec![thread],
            Wait::Condvar(..)
            | Wait::Semaphore(..)
            | Wait::Barrier(..)
            | Wait::Send(..)
            | Wait::Receive(..)
            | Wait::Letter(..)
            | Wait::Delivery(..)
            | Wait::Park(_) => Vec::new(),
        }
    }
}
