//! The dependencies of a single step, for algorithms that compare states: the thread, the object
//! that it accesses, and all threads that continue in the same step because their waits end.
//!
//! A process receives letters (messages) from its own mailbox without an event, so the mailbox
//! belongs to the state of the process. How a network handles a letter depends on the other
//! letters, so all letters in transit belong to each step.

use crate::engine::Engine;
use explore::{Fingerprint, Footprint, ObjectId, Op, Pending, ThreadId};
use objects::Network;
use std::collections::BTreeSet;

impl Engine {
    /// Returns the dependencies of the thread's pending operation, if the model can determine them.
    pub(crate) fn footprint(&self, thread: ThreadId) -> Option<Footprint> {
        let Some(Pending::Enabled(request)) = self.life.pending.get(thread.index()) else {
            return None;
        };
        if self.opaque().is_some() {
            return None;
        }
        Some(Footprint {
            thread: self.closure([thread].into()),
            object: self.object_footprint(request.op)?,
            is_exposed: self.is_exposed(thread, request.op),
        })
    }

    /// Checks whether letters from other threads can change the step. Letters can do so if letters
    /// have arrived at the process, or if the step delivers a letter to another process that may be
    /// waiting for it. (Other threads receive values only by their own events.)
    fn is_exposed(&self, thread: ThreadId, op: Op) -> bool {
        let mut mailboxes = self.life.objects.mailboxes.iter();
        mailboxes.any(|mailbox| {
            mailbox.object == Some(op.object)
                || mailbox.thread == Some(thread) && mailbox.order.count() > 0
        })
    }

    /// Returns the state of the object, of the objects accessed with it, and of the threads that
    /// wait for it.
    fn object_footprint(&self, op: Op) -> Option<Fingerprint> {
        if !op.is_access() {
            return Some(Fingerprint::of(()));
        }
        let is_same = |other: ObjectId| self.names.representative(other) == op.object;
        let parts = self.guests.snapshots.states_of(is_same);
        let waiting = self.life.waiting.iter().filter(|wait| is_same(wait.1));
        let waiting = self.closure(waiting.map(|wait| wait.0).collect());
        (!parts.is_empty()).then(|| Fingerprint::of((parts, waiting)))
    }

    /// Returns a fingerprint of the states and mailboxes of these threads and of the threads that
    /// wait for their ends, directly or through other threads, and of the routes of all networks.
    fn closure(&self, mut threads: BTreeSet<ThreadId>) -> Fingerprint {
        let mut number = 0;
        while number != threads.len() {
            number = threads.len();
            let ends = |end| threads.iter().any(|&thread| self.names.end(thread) == end);
            let waiting = self.life.waiting.iter().filter(|wait| ends(wait.1));
            let waiting: Vec<ThreadId> = waiting.map(|wait| wait.0).collect();
            threads.extend(waiting);
        }
        let mailboxes = self.life.objects.mailboxes.iter();
        let mailboxes = mailboxes
            .filter(|mailbox| mailbox.thread.is_some_and(|owner| threads.contains(&owner)));
        let mailboxes: BTreeSet<ObjectId> =
            mailboxes.filter_map(|mailbox| mailbox.object).collect();
        let states: Vec<_> = threads
            .iter()
            .map(|&thread| self.state_of(thread))
            .collect();
        let letters = self
            .guests
            .snapshots
            .states_of(|object| mailboxes.contains(&object));
        let networks = self.life.objects.networks.iter();
        let routes: Vec<_> = networks.map(Network::routes).collect();
        Fingerprint::of((states, letters, routes))
    }
}
