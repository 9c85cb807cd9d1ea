//! One step: a thread performs the operation that it announced, and announces its next operation.
//!
//! After each event at an object, everything that depends on the object's state is evaluated again:
//! whether a thread still waits for it, whether a compare-exchange would write, and which
//! alternatives an operation has, for example which threads a signal may wake.

use crate::engine::coroutine::{Fibre, Suspender};
use crate::engine::dependence::DependsOn;
use crate::engine::granularity::StepGranularity;
use crate::engine::guest::Guest;
use crate::engine::names::MOST_PARTS;
use crate::engine::place::Place;
use crate::engine::{Engine, Job, Panic};
use crate::guests::Guests;
use explore::{
    Access, Bound, EventId, Halt, ObjectId, OpKind, Pending, ReadsFrom, Request, Step, ThreadId,
    ValueId,
};
use objects::Coarsening;

impl Engine {
    /// Announces the next operation of the running thread.
    #[inline(always)]
    pub(crate) fn announce(&mut self, request: Request, location: Place) {
        let index = self.running.index();
        self.life.pending[index] = Pending::Enabled(self.after_yield(request));
        self.threads[index].life.location = location;
    }

    /// Returns the running thread's request. The request is marked if the thread has yielded since
    /// its last operation with an access.
    #[inline(always)]
    pub(crate) fn after_yield(&self, request: Request) -> Request {
        let yields = self.threads[self.running.index()].life.has_yielded;
        Request { yields, ..request }
    }

    /// Announces an operation whose access or alternatives depend on the state of its object.
    pub(crate) fn announce_conditional(
        &mut self,
        request: Request,
        on: DependsOn,
        location: Place,
    ) {
        self.announce(request, location);
        self.life.conditional.push((self.running, on));
    }

    /// Stops the running thread permanently.
    pub(crate) fn halt(&mut self, why: Halt) {
        self.life.pending[self.running.index()] = Pending::Halted(why);
    }

    /// Removes and returns the code of the running thread, which starts now.
    pub(crate) fn take_job(&mut self, suspender: &Suspender) -> Job {
        self.suspender = suspender;
        let thread = self.thread();
        thread.life.suspender = suspender;
        thread.job.take().expect("a thread that starts has code")
    }

    /// Ends the running thread, whose code has finished.
    pub(crate) fn finish(&mut self, panic: Option<Panic>) {
        self.life.live -= 1;
        let id = self.running;
        Guests::end(self);
        self.end_thread(id);
        if self.is_tearing_down {
            self.life.pending[id.index()] = Pending::Finished;
            return;
        }
        if self.config.symmetry {
            self.end_twin(id, panic.is_some());
        }
        match panic {
            Some(_) => self.life.objects.ends[id.index()].panic(),
            None => self.threads[id.index()].caught_panic = None,
        }
        self.life.pending[id.index()] = match panic {
            Some(panic) => Guests::unwound(self, id, panic),
            None => Pending::Finished,
        };
        self.poll(self.names.end(id));
    }

    /// Marks the thread as ended, so that no thread waits for it any more.
    #[inline(always)]
    pub(crate) fn end_thread(&mut self, id: ThreadId) {
        let last = self.threads[id.index()].life.last.unwrap_or(EventId(0));
        self.life.objects.ends[id.index()].finish(last);
    }

    /// Checks whether the end of the running thread is an event, because some thread polls for it.
    #[inline(always)]
    pub(crate) fn is_end_polled(&self) -> bool {
        self.names
            .is_coarse(self.names.end(self.running), Coarsening::Polled)
    }

    /// Records that the running thread never continues where it is suspended.
    pub(crate) fn abandon_running(&mut self) {
        self.life.live -= 1;
        self.thread().life.is_lost = true;
    }

    /// Records that the code of a thread was stopped before its end.
    pub(crate) fn ends_abruptly(&mut self) {
        self.life.live -= 1;
    }

    /// Checks whether the running thread is being unwound, given that some thread is. If
    /// `resume_unwind` began the unwinding, the panic hook did not run, so no thread is known to
    /// unwind. Then the running thread is assumed to be the one.
    pub(crate) fn is_unwinding(&mut self) -> bool {
        let may_be = |id: ThreadId| {
            let thread = &self.threads[id.index()];
            thread.life.tear_down_operations > 0 || thread.caught_panic.is_some()
        };
        let has_ended = |id: ThreadId| matches!(self.life.pending[id.index()], Pending::Finished);
        let is_elsewhere = || {
            let mut others = self.life.started.iter().filter(|&&id| id != self.running);
            others.any(|&id| may_be(id) && !has_ended(id))
        };
        may_be(self.running) || !is_elsewhere()
    }

    /// Begins a step. Returns the thread's coroutine, or `None` if the thread cannot perform the
    /// step.
    #[inline(always)]
    pub(crate) fn begin_step(&mut self, step: Step) -> Option<*mut Fibre> {
        let index = step.thread.index();
        let request = self.life.pending.get(index)?.enabled()?;
        let is_later = |source: EventId| source >= self.event();
        if step.choice >= request.alternatives
            || step.reads_from != ReadsFrom::LAST && step.reads_from.event().is_some_and(is_later)
        {
            return None;
        }
        self.op = request.op;
        self.choice = step.choice;
        self.reads_from = step.reads_from;
        self.before = ValueId::default();
        self.after = ValueId::default();
        self.life.next_edges.clear();
        self.edges.clear();
        let event = self.event();
        self.running = step.thread;
        let running = &mut self.threads[index];
        self.suspender = running.life.suspender;
        let fibre = &raw mut *running.fibre;
        if !running.life.edges.is_empty() {
            std::mem::swap(&mut self.edges, &mut running.life.edges);
        }
        running.life.operations += 1;
        running.life.has_yielded &= self.op.access == Access::None;
        running.life.last = Some(event);
        self.life.is_in_event = true;
        Guests::begin_event(self, step);
        let may_be_conditional = || {
            matches!(
                self.op.kind,
                OpKind::CompareExchange | OpKind::CondvarSignal | OpKind::ReadModifyWrite
            )
        };
        if !self.life.conditional.is_empty() && may_be_conditional() {
            self.forget_condition(step.thread);
        }
        Some(fibre)
    }

    #[inline(never)]
    fn forget_condition(&mut self, thread: ThreadId) {
        self.life.conditional.retain(|&(other, _)| other != thread);
    }

    /// Returns the coroutine of a thread that runs without an event.
    pub(crate) fn begin_run(&mut self, id: ThreadId) -> *mut Fibre {
        self.running = id;
        Guests::enter(self, id);
        let thread = &mut self.threads[id.index()];
        self.suspender = thread.life.suspender;
        &raw mut *thread.fibre
    }

    /// Ends a step, and re-evaluates everything that depends on its event.
    #[inline(always)]
    pub(crate) fn end_step(&mut self, thread: ThreadId) {
        self.life.is_in_event = false;
        Guests::complete_event(self);
        self.halt_at_bound(thread);
        let object = self.op.object;
        self.poll(object);
        if !self.life.conditional.is_empty() && self.op.access == Access::Write {
            self.refresh(object);
        }
        if self.watch.is_on() {
            Guests::end_event(self, thread);
        }
        self.life.events += 1;
    }

    /// Re-evaluates the waits of the threads that wait for the object.
    #[inline(always)]
    pub(crate) fn poll(&mut self, object: ObjectId) {
        let mut index = 0;
        while let Some(&(thread, about)) = self.life.waiting.get(index) {
            // The parts of an object have consecutive ids.
            if object.0.wrapping_sub(about.0) < MOST_PARTS && self.wakes(thread) {
                self.life.waiting.swap_remove(index);
            } else {
                index += 1;
            }
        }
    }

    /// Checks whether the wait of the thread is over. If so, the thread may continue.
    #[inline(never)]
    fn wakes(&mut self, thread: ThreadId) -> bool {
        let wait = self.threads[thread.index()]
            .life
            .wait
            .expect("a waiting thread has a wait");
        let is_granted = self.life.objects.is_granted(wait);
        match self.life.pending[thread.index()] {
            Pending::Waiting(_) if is_granted && self.granularity == StepGranularity::Accesses => {
                // Count the wait as if it had been over at once. The schedule decides which of the
                // two happens, and the limit of operations must not depend on that.
                self.threads[thread.index()].life.operations += 1;
                Guests::wake(self, thread, wait);
                self.is_ready(thread);
            }
            Pending::Waiting(request) if is_granted => {
                self.life.pending[thread.index()] = Pending::Enabled(request);
                self.life.woken.push_back(thread);
            }
            _ => {}
        }
        is_granted
    }

    /// Updates pending operations that depend on the state of an object that was written.
    #[inline(never)]
    fn refresh(&mut self, object: ObjectId) {
        for index in 0..self.life.conditional.len() {
            let (thread, on) = self.life.conditional[index];
            let Pending::Enabled(mut request) = self.life.pending[thread.index()] else {
                continue;
            };
            if request.op.object != object {
                continue;
            }
            match on {
                DependsOn::Value => request.op.access = request.access_at(self.after),
                _ => request.alternatives = Guests::alternatives(self, on),
            }
            self.life.pending[thread.index()] = Pending::Enabled(request);
        }
    }

    /// Stops the thread if it has reached its limit of operations.
    #[inline(always)]
    pub(crate) fn halt_at_bound(&mut self, thread: ThreadId) {
        if self.threads[thread.index()].life.operations >= self.config.conditions.max_events {
            self.halt_for_good(thread);
        }
    }

    #[cold]
    fn halt_for_good(&mut self, thread: ThreadId) {
        if let Pending::Enabled(_) | Pending::Waiting(_) = self.life.pending[thread.index()] {
            self.life.pending[thread.index()] = Pending::Halted(Halt::Bound(Bound::Events));
            self.forget_condition(thread);
            self.life.waiting.retain(|&(other, _)| other != thread);
        }
    }

    /// Counts a timeout of the running thread. Returns whether the thread has exceeded the limit of
    /// timeouts.
    pub(crate) fn expire(&mut self) -> bool {
        let timeouts = self.config.conditions.timeouts;
        let thread = self.thread();
        thread.life.expiries += 1;
        thread.life.expiries > timeouts
    }
}
