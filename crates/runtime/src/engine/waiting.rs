//! The waits of threads: queries to objects, which are repeated after each event at the object.

use crate::engine::granularity::StepGranularity;
use crate::engine::place::Place;
use crate::engine::{Engine, Objects};
use explore::{Bound, EventId, Halt, Op, Pending, Request, ThreadId};
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

impl Engine {
    /// Checks whether the running thread need not be suspended for this wait.
    #[inline]
    pub(crate) fn is_over_at_once(&mut self, wait: Wait) -> bool {
        self.granularity == StepGranularity::Accesses
            && self.may_go_on()
            && self.life.objects.is_granted(wait)
            && self.begin_wait(wait)
    }

    /// Announces a wait of the running thread.
    pub(crate) fn announce_wait(&mut self, op: Op, wait: Wait, location: Place) {
        let index = self.running.index();
        let request = self.after_yield(Request::plain(op));
        self.threads[index].life.location = location;
        self.threads[index].life.wait = Some(wait);
        self.life.pending[index] = match (self.life.objects.is_granted(wait), self.granularity) {
            (true, StepGranularity::Operations) => Pending::Enabled(request),
            (true, StepGranularity::Accesses) if self.begin_wait(wait) => {
                self.is_ready(self.running);
                Pending::Waiting(request)
            }
            (true, StepGranularity::Accesses) => Pending::Halted(Halt::Bound(Bound::Events)),
            (false, _) => {
                self.life.waiting.push((self.running, op.object));
                Pending::Waiting(request)
            }
        };
        self.stop_at_deadlock();
    }

    /// Ends the wait of the running thread.
    #[inline]
    pub(crate) fn end_wait(&mut self, wait: Wait) {
        self.thread().life.wait = None;
        if let Wait::Join(thread) | Wait::Return(thread) = wait {
            self.end_join(thread);
        } else {
            self.end_grant(wait);
        }
    }

    fn end_grant(&mut self, wait: Wait) {
        let mut edges = std::mem::take(&mut self.granting);
        edges.clear();
        self.life.objects.edges(wait, &mut edges);
        for &edge in &edges {
            self.comes_after(edge);
        }
        if self.watch.races {
            match wait {
                Wait::Park(thread) => self.happens_before.parked(thread),
                Wait::Send(..)
                | Wait::Condvar(..)
                | Wait::Letter(..)
                | Wait::Delivery(..)
                | Wait::Notify(_) => {}
                _ => self.happens_before.take_up(self.running, &edges),
            }
        }
        self.granting = edges;
        if self.watch.states {
            self.learns_by_wait();
        }
    }

    /// Joins the thread without a separate step, if possible.
    pub(crate) fn joins_at_once(&mut self, thread: ThreadId) -> bool {
        let is_possible = self.granularity == StepGranularity::Accesses
            && self.may_go_on()
            && !self.is_tearing_down
            && self.life.objects.ends[thread.index()].is_finished()
            && self.begin_part();
        if is_possible {
            self.end_join(thread);
        }
        is_possible
    }

    #[inline]
    fn end_join(&mut self, thread: ThreadId) {
        let joined = thread.index();
        // The main thread may be joined before it has joined all other threads.
        self.native.life.joined += usize::from(thread != ThreadId::MAIN);
        if let Some(last) = self.threads[joined].life.last {
            self.comes_after(last);
        }
        for index in 0..self.threads[joined].life.edges.len() {
            self.comes_after(self.threads[joined].life.edges[index]);
        }
        if self.watch.compares {
            self.hidden.joined(self.running, thread);
        }
        if self.watch.races {
            self.happens_before.joined(self.running, thread);
            if self.watch.audits {
                self.native.audit.joined(self.running, thread);
            }
        }
    }

    /// Adds a synchronization edge to the current event if that event is the wait, and to the next
    /// event of the running thread if not.
    #[inline(always)]
    fn comes_after(&mut self, event: EventId) {
        match self.granularity {
            StepGranularity::Operations => self.edges.push(event),
            StepGranularity::Accesses => self.order_after(self.running, event),
        }
    }

    /// Returns the wait of the thread.
    pub(crate) fn wait_of(&self, thread: ThreadId) -> Option<Wait> {
        self.threads[thread.index()].life.wait
    }
}
