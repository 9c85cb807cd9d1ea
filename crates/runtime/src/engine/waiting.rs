//! The waits of threads: queries to objects, which are repeated after each event at the object.

use crate::engine::Engine;
use crate::engine::granularity::StepGranularity;
use crate::engine::pools::Wait;
use crate::trace::source::Place;
use explore::{Bound, EventId, Halt, Op, Pending, Request, ThreadId};
use objects::ChannelWait;

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
                Wait::Unpark(thread) => self.happens_before.parked(thread),
                Wait::Channel(_, ChannelWait::Send(_))
                | Wait::Condvar(..)
                | Wait::Letter(..)
                | Wait::Network(..)
                | Wait::Park(..) => {}
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
