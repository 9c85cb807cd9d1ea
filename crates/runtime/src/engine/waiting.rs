//! The waits of threads: queries to objects, which are repeated after each event at the object.

use crate::engine::Objects;
use explore::{EventId, ThreadId};
use objects::Ticket;

/// The query of a waiting thread. Objects are identified by their numbers in their pools.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    Mutex(u32, Ticket),
    RwLock(u32, Ticket),
    Condvar(u32, Ticket),
    Semaphore(u32, Ticket),
    Barrier(u32, Ticket),
    Once(u32, Ticket),
    /// A once in which the thread has no entry. The once is done, or has failed more often than
    /// this.
    OnceOver(u32, usize),
    Send(u32, Ticket),
    Receive(u32, Ticket),
    /// The thread's own park token.
    Park(ThreadId),
    /// A token that is not bound to a thread.
    Notify(u32),
    Join(ThreadId),
    /// The end of a thread without a panic.
    Return(ThreadId),
    /// The letter at a position of a mailbox.
    Letter(u32, usize),
    /// The turn of a letter to be delivered.
    Delivery(u32, Ticket),
}

impl Objects {
    /// Checks whether the wait is over.
    pub(crate) fn is_granted(&self, wait: Wait) -> bool {
        match wait {
            Wait::Mutex(number, ticket) => self.mutexes.get(number).order.is_granted(ticket),
            Wait::RwLock(number, ticket) => self.rwlocks.get(number).is_granted(ticket),
            Wait::Condvar(number, ticket) => self.condvars.get(number).is_signalled(ticket),
            Wait::Semaphore(number, ticket) => self.semaphores.get(number).is_granted(ticket),
            Wait::Barrier(number, ticket) => self.barriers.get(number).is_granted(ticket),
            Wait::Once(number, ticket) => self.onces.get(number).order.is_granted(ticket),
            Wait::OnceOver(number, failures) => self.onces.get(number).order.is_over(failures),
            Wait::Send(number, ticket) => self.channels.get(number).is_send_over(ticket),
            Wait::Receive(number, ticket) => self.channels.get(number).is_receive_over(ticket),
            Wait::Park(thread) => self.parks[thread.index()].is_granted(),
            Wait::Notify(number) => self.notifies.get(number).is_granted(),
            Wait::Join(thread) => self.ends[thread.index()].is_finished(),
            Wait::Return(thread) => self.ends[thread.index()].has_returned(),
            Wait::Letter(number, position) => self.mailboxes.get(number).order.has(position),
            Wait::Delivery(number, ticket) => self.networks.get(number).is_deliverable(ticket),
        }
    }

    /// Adds the synchronization edges of a wait that is over.
    pub(crate) fn edges(&self, wait: Wait, edges: &mut Vec<EventId>) {
        match wait {
            Wait::Mutex(number, ticket) => self.mutexes.get(number).order.edges(ticket, edges),
            Wait::RwLock(number, ticket) => self.rwlocks.get(number).edges(ticket, edges),
            Wait::Condvar(number, ticket) => self.condvars.get(number).edges(ticket, edges),
            Wait::Semaphore(number, ticket) => self.semaphores.get(number).edges(ticket, edges),
            Wait::Barrier(number, ticket) => self.barriers.get(number).edges(ticket, edges),
            Wait::Once(number, ticket) => self.onces.get(number).order.edges(ticket, edges),
            Wait::OnceOver(number, _) => self.onces.get(number).order.end_edges(edges),
            Wait::Send(number, ticket) => self.channels.get(number).send_edges(ticket, edges),
            Wait::Receive(number, ticket) => self.channels.get(number).receive_edges(ticket, edges),
            Wait::Park(thread) => self.parks[thread.index()].edges(edges),
            Wait::Notify(number) => self.notifies.get(number).edges(edges),
            Wait::Join(thread) | Wait::Return(thread) => self.ends[thread.index()].edges(edges),
            Wait::Letter(number, position) => {
                self.mailboxes.get(number).order.edges(position, edges);
            }
            Wait::Delivery(number, ticket) => self.networks.get(number).edges(ticket, edges),
        }
    }

    /// Returns the threads that must act so that the wait ends, as far as they are known.
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
            Wait::Once(number, _) | Wait::OnceOver(number, _) => self
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
            | Wait::Notify(_)
            | Wait::Park(_) => Vec::new(),
        }
    }
}
