//! Parsimonious-OPtimal DPOR, POP (Abdulla, Atig, Das, Jonsson, Sagonas, CAV 2024).
//!
//! Every trace is executed exactly once, no execution is blocked, and memory use is polynomial. A
//! race is reversed at once, by the shortest schedule that does so. Instead of sleep sets, the
//! search carries a *characterization* of the read schedules that were explored before. It is a set
//! of expressions, which the code calls a sleep set, too.
//!
//! Terms: a *schedule* (σ) is the sequence of events that reverses a race. Its last event is the
//! *head*: the second event of the race, moved before the first. The head of a *read schedule* is a
//! read. Each schedule leads to a *child* of the current execution. The child keeps the events
//! before the schedule.
//!
//! Deviations, all checked against brute force: the recursion is a stack of executions whose
//! children are generated one at a time, last in first out. Compare-exchanges are reads where they
//! fail, so the characterization stores the value after the reversed event. Each alternative of an
//! operation is a schedule. Points that the paper leaves open are marked in [`expression`] and
//! [`characterization`].

mod candidate;
mod characterization;
mod compared;
mod contended;
mod deferred;
mod divided;
mod expression;
mod few;
mod generated;
mod record;
mod sleep_set;

use crate::execution::Performed;
use crate::execution::{Access, Event, EventId, Execution, Race, Request, Step, ThreadId};
use crate::program::{Divergence, Outcome, Pending, planned};
use crate::search::{Enabled, next_after};
use crate::strategy::{Decision, Ending, LEARNING, Part, Strategy};
use candidate::Candidate;
use compared::Compared;
use contended::Contended;
use deferred::Deferred;
use record::{Characterization, Record, Suffix};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A schedule to be executed: the events that reverse a race, with the head last.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
struct Plan {
    steps: Vec<Step>,
    characterization: Option<Characterization>,
}

impl Plan {
    /// Plans an alternative of an executed operation: a schedule of one event.
    fn branch(&mut self, event: &Event, choice: u32) {
        self.steps.clear();
        self.steps.push(Step {
            choice,
            ..event.step
        });
        self.characterization = None;
    }
}

/// An execution whose children are being explored. Only the events after those that the current
/// child keeps are stored.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
struct Frame {
    /// The number of events that the child keeps.
    kept: usize,
    suffix: Suffix,
    cursor: Cursor,
    /// Whether there is nothing to return to: the current child is the last one, or the others were
    /// given away.
    is_exhausted: bool,
}

impl Frame {
    /// Returns the alternative that follows the current child, if the current child is an
    /// alternative of the suffix's first event.
    fn next_choice(&self) -> Option<u32> {
        let is_alternative = !self.is_exhausted && self.cursor.choice > 0;
        let next = is_alternative.then_some(self.cursor.choice + 1)?;
        (next < self.suffix.first().alternatives).then_some(next)
    }

    /// Checks whether a later child may keep the same events as the current one.
    fn may_have_more_here(&self) -> bool {
        if self.next_choice().is_some() {
            return true;
        }
        let races = self.suffix.races();
        races
            .iter()
            .rev()
            .take(self.cursor.races.1 - self.cursor.race)
            .any(|race| race.first.index() >= self.kept)
    }
}

/// The position in the sequence of an execution's children: first the children from its races, then
/// those from the alternatives of its operations.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
struct Cursor {
    /// The index of the next race to try.
    race: usize,
    /// The index of the first race of this execution, and the number of all races. The races before
    /// the first one belong to ancestors.
    races: (usize, usize),
    /// Position of the next event that may have alternatives.
    event: usize,
    /// The last explored alternative of that event.
    choice: u32,
}

impl Cursor {
    /// Returns the fraction of the races that were done before the current child, and the fraction
    /// that includes the current child.
    fn progress(&self) -> (f64, f64) {
        let (first, all) = self.races;
        let part = |race: usize| (race - first + 1) as f64 / (all - first + 1) as f64;
        (
            part(self.race.saturating_sub(1).max(first)),
            part(self.race),
        )
    }
}

/// POP as a strategy (Abdulla et al., CAV 2024).
#[derive(Default, Serialize, Deserialize)]
pub struct Parsimonious {
    /// The current execution.
    record: Record,
    /// The steps to execute after the kept events.
    plan: Plan,
    /// The number of events that the current execution keeps from its parent.
    kept: usize,
    /// The next child of the current execution.
    cursor: Cursor,
    /// The ancestors of the current execution.
    #[expect(
        clippy::vec_box,
        reason = "frames move from one stack to the other with each execution"
    )]
    frames: Vec<Box<Frame>>,
    compared: Compared,
    contended: Contended,
    /// The number of executions analysed, up to [`LEARNING`].
    analysed: u32,
    has_begun: bool,
    has_restarted: bool,
    /// The last step that `extend` returned, and the request of its thread.
    #[serde(skip)]
    step: Option<Step>,
    #[serde(skip)]
    request: Option<Request>,
    /// Frames for reuse.
    #[serde(skip)]
    #[expect(clippy::vec_box, reason = "as above")]
    spare: Vec<Box<Frame>>,
    /// σ without its head, while a race is analysed.
    #[serde(skip)]
    followers: Vec<EventId>,
    /// A computed clock. The field only keeps its memory.
    #[serde(skip)]
    clock: Vec<u32>,
    /// Deferred children, if the search prefers those that share most with the first execution.
    /// Such a search is not saved.
    #[serde(skip)]
    deferred: Option<Deferred>,
    /// `guide[i]` is the thread that the first execution prefers for event i.
    #[serde(skip)]
    guide: Vec<ThreadId>,
    /// Whether the search for an operation without a known race has failed in this execution.
    #[serde(skip)]
    has_searched: bool,
    /// Whether the current execution is the first one.
    #[serde(skip)]
    is_first: bool,
}

impl Parsimonious {
    /// Returns a new search.
    pub fn new() -> Parsimonious {
        Parsimonious::default()
    }

    /// Returns a search whose first execution prefers the thread `guide[i]` for event i. Executions
    /// that share a longer prefix with the first execution come earlier. The search keeps deferred
    /// children in memory.
    pub fn guided(guide: Vec<ThreadId>) -> Parsimonious {
        Parsimonious {
            guide,
            deferred: Some(Deferred::default()),
            ..Parsimonious::default()
        }
    }

    /// Plans the next unexplored child. Returns how many events of the execution the child keeps,
    /// or `None` if there is no further child.
    fn next_child(&mut self) -> Option<usize> {
        while let Some(&race) = self.record.execution.races().get(self.cursor.race) {
            self.cursor.race += 1;
            if self.is_parsimonious(race) && self.reverse(race) {
                return Some(race.first.index());
            }
        }
        self.next_alternative()
    }

    /// Checks whether the race must be reversed here. It is reversed elsewhere if its first event
    /// is part of a schedule, or if the second event does not depend on every schedule between the
    /// two events. Of several alternatives of an operation, only the first has races that are
    /// reversed.
    fn is_parsimonious(&self, race: Race) -> bool {
        let execution = &self.record.execution;
        execution.event(race.second).step.choice == 0
            && !self.record.is_scheduled(race.first)
            && self
                .record
                .heads_between(race.first, race.second)
                .all(|head| execution.happens_before(head, race.second))
    }

    /// Plans σ: the events between the race's events that happen before the second, then the
    /// second. Returns false if σ is characterized as explored.
    fn reverse(&mut self, race: Race) -> bool {
        let execution = &self.record.execution;
        let second = execution.event(race.second);
        let access = execution.reversed_access(race);
        execution.between(race, &mut self.followers);
        let sleep = self.record.sleep_after(race.first.index());
        if !sleep.is_empty() {
            let head = (access == Access::Read).then(|| {
                execution.clock_as_reversed_read(race, &mut self.clock);
                Candidate::reversed(execution, race, &self.clock)
            });
            let followers = self.followers.iter();
            let schedule = followers.map(|&event| Candidate::of(execution, event));
            if sleep.blocks_schedule(schedule, head.as_ref()) {
                return false;
            }
        }

        self.plan.steps.clear();
        self.plan.steps.extend(
            self.followers
                .iter()
                .map(|&event| execution.event(event).step),
        );
        self.plan.steps.push(second.step);
        let is_characterized = access == Access::Read || second.expects.is_some();
        self.plan.characterization = is_characterized
            .then(|| {
                let is_compared = self.compared.rely_on(second.op.object);
                characterization::of(race, &self.record, is_compared)
            })
            .filter(|expressions| !expressions.is_empty())
            .map(Arc::new);
        true
    }

    /// Plans the next alternative of an operation that was executed for the first time. Returns how
    /// many events of the execution the child keeps, or `None` if there is none.
    fn next_alternative(&mut self) -> Option<usize> {
        let fresh = self.record.execution.events_from(self.cursor.event);
        for (id, event) in fresh {
            if self.cursor.event < id.index() {
                self.cursor.choice = 0;
            }
            self.cursor.event = id.index();
            self.cursor.choice += 1;
            if event.step.choice == 0 && self.cursor.choice < event.alternatives {
                self.plan.branch(event, self.cursor.choice);
                return Some(id.index());
            }
        }
        None
    }

    /// Plans the next alternative of the event at which the frame's current child branches. The
    /// frame's execution need not be restored for this. Returns false if no alternative is left, or
    /// if children may be deferred.
    fn branches_again(&mut self, frame: &mut Frame) -> bool {
        let Some(choice) = frame.next_choice().filter(|_| self.deferred.is_none()) else {
            return false;
        };
        frame.cursor.choice = choice;
        self.plan.branch(frame.suffix.first(), choice);
        self.record.truncate(frame.kept);
        self.kept = frame.kept;
        true
    }

    /// Moves from the current execution to its planned child, which keeps the given number of
    /// events.
    fn descend(&mut self, kept: usize) {
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.is_exhausted = self.is_last_child() && self.keeps_ancestors(kept);
        match frame.is_exhausted {
            true => {
                self.record.truncate(kept);
                frame.suffix.clear();
            }
            false => self.record.split_off(kept, &mut frame.suffix),
        }
        frame.cursor = self.cursor;
        frame.kept = kept;
        self.frames.push(frame);
        self.kept = kept;
    }

    /// Checks whether the child that was just planned is known to be the last child of the current
    /// execution, without searching for another one.
    fn is_last_child(&self) -> bool {
        let execution = &self.record.execution;
        self.cursor.race == execution.races().len()
            && execution
                .events_from(self.cursor.event)
                .all(|(_, event)| event.alternatives == 1)
    }

    /// Checks whether the given number of events includes the prefix that the ancestors' suffixes
    /// extend.
    fn keeps_ancestors(&self, kept: usize) -> bool {
        let ancestor = self.frames.iter().rev().find(|frame| !frame.is_exhausted);
        ancestor.is_none_or(|ancestor| ancestor.kept <= kept)
    }

    /// Returns to the execution whose child was explored.
    fn ascend(&mut self, mut frame: Box<Frame>) {
        self.record.restore(frame.kept, &mut frame.suffix);
        self.cursor = frame.cursor;
        self.spare.push(frame);
    }

    /// Returns the thread to prefer: a thread whose operation has no known race, or else the thread
    /// of the last event on an object with known races. The first execution follows the guide, and
    /// after a yield another thread is preferred.
    fn preferred(&mut self, pending: &[Pending]) -> Option<ThreadId> {
        let execution = &self.record.execution;
        let last = execution.last_thread();
        if self.is_first {
            let guided = self.guide.get(execution.len()).copied();
            return guided.or_else(|| next_after(last, pending));
        }
        let next = next_after(last, pending);
        if next != last {
            return next;
        }
        let request = last.and_then(|last| pending[last.index()].enabled());
        if request.is_some_and(|request| self.contended.spares(request)) {
            return last;
        }
        if !self.has_searched {
            let spared = self.contended.first_spared(pending);
            self.has_searched = spared.is_none();
            if spared.is_some() {
                return spared;
            }
        }
        self.contended.last_thread(execution)
    }

    /// Returns the first enabled thread whose next operation is not characterized as explored, or
    /// `None` if no thread is enabled.
    fn pick<'p>(&mut self, pending: &'p [Pending]) -> Option<(ThreadId, &'p Request)> {
        let preferred = self.preferred(pending);
        let enabled = Enabled::new(pending, preferred);
        match self.record.has_sleepers() {
            true => self.pick_awake(enabled),
            false => enabled.first(),
        }
    }

    #[inline(never)]
    fn pick_awake<'p>(&mut self, enabled: Enabled<'p>) -> Option<(ThreadId, &'p Request)> {
        let execution = &self.record.execution;
        let sleep = self.record.sleep();
        let mut is_maximal = true;
        for (thread, request) in enabled.iter() {
            is_maximal = false;
            self.compared.announce(request);
            let may_be_blocked =
                request.op.access == Access::Read && sleep.is_about(request.op.object);
            let is_blocked = may_be_blocked && {
                execution.clock_of_next_read(thread, request.op.object, &mut self.clock);
                sleep.blocks(&Candidate::next(execution, thread, request, &self.clock))
            };
            if !is_blocked {
                return Some((thread, request));
            }
        }
        assert!(
            is_maximal,
            "at every prefix that is not maximal, some enabled thread is not blocked"
        );
        None
    }
}

impl Strategy for Parsimonious {
    fn backtrack(&mut self) -> bool {
        self.has_restarted = self.compared.is_refuted();
        if self.has_restarted {
            let mut compared = std::mem::take(&mut self.compared);
            compared.begin_again();
            *self = Parsimonious {
                compared,
                contended: std::mem::take(&mut self.contended),
                has_restarted: true,
                deferred: self.deferred.take().map(|_| Deferred::default()),
                guide: std::mem::take(&mut self.guide),
                ..Parsimonious::new()
            };
        }
        self.has_searched = false;
        self.is_first = !self.has_begun;
        if self.is_first {
            self.has_begun = true;
            return true;
        }
        loop {
            if let Some(kept) = self.next_child() {
                if self.defers(kept) {
                    continue;
                }
                self.descend(kept);
                return true;
            }
            let Some(mut frame) = self.frames.pop() else {
                return self.resume_deferred();
            };
            if frame.is_exhausted {
                self.spare.push(frame);
            } else if self.branches_again(&mut frame) {
                self.frames.push(frame);
                return true;
            } else {
                self.ascend(frame);
            }
        }
    }

    fn returns(&self) -> bool {
        self.frames
            .last()
            .is_some_and(|frame| frame.may_have_more_here())
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        let position = self.record.execution.len();
        let (step, request) = match self.plan.steps.get(position - self.kept) {
            Some(&step) => (step, planned(position, step, pending)?),
            None => match self.pick(pending) {
                Some((thread, request)) => (Step::of(thread), request),
                None => return Ok(Decision::Stop(Ending::Maximal)),
            },
        };
        self.step = Some(step);
        self.request = Some(*request);
        Ok(Decision::Run(step))
    }

    fn performed(&mut self, performed: &Performed<'_>) {
        let step = self.step.expect("a step was requested");
        let request = self.request.as_ref().expect("a step was requested");
        self.compared.announce(request);
        self.record.push(step, request, performed);
        if self.record.execution.len() == self.kept + self.plan.steps.len() {
            self.record
                .close_schedule(self.kept, self.plan.characterization.take());
        }
    }

    fn analyse(&mut self, _outcome: Outcome) {
        let execution = &self.record.execution;
        let fresh = self.kept + self.plan.steps.len().saturating_sub(1);
        let all = execution.races().len();
        let race = all - execution.races_from(fresh).len();
        if u64::from(self.analysed) < LEARNING {
            self.analysed += 1;
            for race in &execution.races()[race..] {
                self.contended
                    .insert(execution.event(race.second).op.object);
            }
        }
        self.cursor = Cursor {
            race,
            races: (race, all),
            event: fresh,
            choice: 0,
        };
    }

    /// Checks the current execution, and then each ancestor from the innermost on.
    fn is_consistent(&self) -> bool {
        let mut execution = self.record.execution.clone();
        let ancestors = self.frames.iter().rev();
        let mut ancestors = ancestors.filter(|frame| !frame.is_exhausted);
        !execution.is_weak()
            && execution.is_consistent()
            && ancestors.all(|frame| execution.restores(frame.kept, frame.suffix.tail()))
    }

    fn has_restarted(&self) -> bool {
        self.has_restarted
    }

    fn execution(&self) -> &Execution {
        &self.record.execution
    }

    /// Assumes that every race leads to a child of the same size.
    fn estimate(&self) -> Option<f64> {
        if !self.has_begun {
            return Some(0.0);
        }
        let (innermost, _) = self.cursor.progress();
        Some(self.frames.iter().rev().fold(innermost, |inner, frame| {
            let (before, after) = frame.cursor.progress();
            before + (after - before) * inner
        }))
    }

    /// Gives away the remaining children of the oldest ancestor that has any.
    fn give_away(&mut self) -> Option<Part> {
        divided::give_away(self)
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a search consists of serializable data")
    }
}
