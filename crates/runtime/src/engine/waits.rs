//! The waits of threads. A wait is a step, or a part of the step before it.

use crate::engine::Engine;
use crate::engine::granularity::StepGranularity;
use crate::engine::guest::Guest;
use crate::engine::place::Place;
use crate::guests::{Guests, Wait};
use explore::{Bound, EventId, Halt, Op, Pending, Request, ThreadId};

impl Engine {
    /// Checks whether a thread may continue without a switch at an operation. If the await rule
    /// compares registers, every operation needs a switch, because a switch changes registers.
    #[inline(always)]
    pub(crate) fn may_continue(&self) -> bool {
        !self.watch.stacks
    }

    /// Begins an operation of the running thread as a part of the current step. Returns false if
    /// the thread has reached its limit of operations.
    #[inline(always)]
    pub(crate) fn begin_part(&mut self) -> bool {
        let begins = self.count_part();
        if begins {
            Guests::perform_part(self, None);
        }
        begins
    }

    /// Begins a wait of the running thread as a part of the current step. Returns false if the
    /// thread has reached its limit of operations.
    fn begin_wait(&mut self, wait: Wait) -> bool {
        let begins = self.count_part();
        if begins {
            Guests::perform_part(self, Some(wait));
        }
        begins
    }

    #[inline(always)]
    fn count_part(&mut self) -> bool {
        let most = self.config.conditions.max_events;
        let thread = self.thread();
        let begins = thread.life.operations < most;
        thread.life.operations += u32::from(begins);
        begins
    }

    /// Begins the wait as a part of the current step if it is over at once, so that the running
    /// thread need not be suspended. Returns whether it has begun.
    #[inline]
    pub(crate) fn is_over_at_once(&mut self, wait: Wait) -> bool {
        self.granularity == StepGranularity::Accesses
            && self.may_continue()
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
        Guests::wait(self);
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
        Guests::end_wait(self, wait, &edges);
        self.granting = edges;
    }

    /// Joins the thread without a separate step, if possible. Returns whether it was possible.
    pub(crate) fn joins_at_once(&mut self, thread: ThreadId) -> bool {
        let is_possible = self.granularity == StepGranularity::Accesses
            && self.may_continue()
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
        if let Some(last) = self.threads[joined].life.last {
            self.comes_after(last);
        }
        for index in 0..self.threads[joined].life.edges.len() {
            self.comes_after(self.threads[joined].life.edges[index]);
        }
        match self.config.symmetry {
            true => self.join_twin(thread),
            false => Guests::join(self, thread),
        }
    }

    /// Adds a synchronization edge that starts at `event`. If waits are events, the edge leads to
    /// the current event, which is the wait. Otherwise it leads to the next event of the running
    /// thread.
    #[inline(always)]
    pub(crate) fn comes_after(&mut self, event: EventId) {
        match self.granularity {
            StepGranularity::Operations => self.edges.push(event),
            StepGranularity::Accesses => self.order_after(self.running, event),
        }
    }

    /// Returns the wait that the thread has announced and not performed yet, if there is one.
    pub(crate) fn wait_of(&self, thread: ThreadId) -> Option<Wait> {
        self.threads[thread.index()].life.wait
    }
}
