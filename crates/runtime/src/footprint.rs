//! What one step depends on, for algorithms that compare states: the thread and the object that it
//! accesses, and whoever goes on in the same step since what they wait for is there.
//!
//! A process receives letters of its own mailbox without an event, so that its mailbox belongs to it. What a
//! network does with a letter depends on the other letters, so that all that it has under way belongs to each.

use crate::engine::Engine;
use explore::{Fingerprint, Footprint, ObjectId, Op, Pending, ThreadId};
use objects::Network;
use std::collections::BTreeSet;

impl Engine {
    /// What the pending operation of the thread depends on, if the model can tell.
    pub(crate) fn footprint(&self, thread: ThreadId) -> Option<Footprint> {
        let Some(Pending::Enabled(request)) = self.pending.get(thread.index()) else {
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

    /// Whether letters that others send can change what the step does: they have come in at the process, or the step
    /// brings one to another, which may have begun to wait for it. (Other threads get nothing but by their events.)
    fn is_exposed(&self, thread: ThreadId, op: Op) -> bool {
        let mut mailboxes = self.objects.mailboxes.iter();
        mailboxes.any(|own| {
            own.object == Some(op.object) || own.thread == Some(thread) && own.order.count() > 0
        })
    }

    /// The object with all that are accessed together with it, and those who wait for it.
    fn object_footprint(&self, op: Op) -> Option<Fingerprint> {
        if !op.is_access() {
            return Some(Fingerprint::of(()));
        }
        let is_same = |other: ObjectId| self.names.representative(other) == op.object;
        let parts = self.snapshots.told(is_same);
        let waiting = self.waiting.iter().filter(|wait| is_same(wait.1));
        let waiting = self.closure(waiting.map(|wait| wait.0).collect());
        (!parts.is_empty()).then(|| Fingerprint::of((parts, waiting)))
    }

    /// These threads, and those who wait for their ends.
    fn closure(&self, mut threads: BTreeSet<ThreadId>) -> Fingerprint {
        let mut number = 0;
        while number != threads.len() {
            number = threads.len();
            let ends = |end| threads.iter().any(|&thread| self.names.end(thread) == end);
            let waiting = self.waiting.iter().filter(|wait| ends(wait.1));
            let waiting: Vec<ThreadId> = waiting.map(|wait| wait.0).collect();
            threads.extend(waiting);
        }
        let mailboxes = self.objects.mailboxes.iter();
        let own = mailboxes.filter(|own| own.thread.is_some_and(|owner| threads.contains(&owner)));
        let own: BTreeSet<ObjectId> = own.filter_map(|mailbox| mailbox.object).collect();
        let states: Vec<_> = threads
            .iter()
            .map(|&thread| self.state_of(thread))
            .collect();
        let letters = self.snapshots.told(|object| own.contains(&object));
        let networks = self.objects.networks.iter();
        let routes: Vec<_> = networks.map(Network::routes).collect();
        Fingerprint::of((states, letters, routes))
    }
}
