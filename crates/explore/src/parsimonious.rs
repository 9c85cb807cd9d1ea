//! Parsimonious-OPtimal DPOR, POP (Abdulla, Atig, Das, Jonsson, Sagonas, CAV 2024).
//!
//! Every trace is executed exactly once, no execution is blocked, and memory use is polynomial. A
//! race is reversed by the shortest schedule that does so. Instead of sleep sets, the
//! search carries a *characterization* of the read schedules that were explored before. It is a set
//! of expressions, which the code calls a sleep set, too.
//!
//! Terms: a *schedule* (σ) is the sequence of events that reverses a race. Its last event is the
//! *head*: the second event of the race, moved before the first. The head of a *read schedule* is a
//! read. Each schedule leads to a *child* of the current execution. The child keeps the events
//! before the schedule.
//!
//! Deviations, all checked against brute force: the recursion is a stack of the children that are
//! planned but not explored. All children of an execution are planned when it ends, because their
//! characterizations depend only on the execution. The child that keeps the most events is explored
//! first, so an execution need not be stored for its other children. Compare-exchanges are reads
//! where they fail, so the characterization stores the value after the reversed event. Each
//! alternative of an operation is a schedule. Points that the paper leaves open are marked in
//! [`expression`] and [`characterization`].

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
use crate::execution::{Access, EventId, Execution, Race, Request, Step, ThreadId};
use crate::program::{Divergence, Outcome, Pending, planned};
use crate::search::{Enabled, next_after};
use crate::strategy::{Decision, Ending, LEARNING, Part, Strategy};
use candidate::Candidate;
use compared::Compared;
use contended::Contended;
use deferred::Deferred;
use record::{Characterization, Record, Suffix};
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The limit for the number of events that are checked in a search from a file. The check of each
/// replaced part may go through its whole execution.
const MOST_CHECKED: usize = 1 << 30;

/// A schedule to be executed: the events that reverse a race, with the head last.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
struct Plan {
    steps: SmallVec<[Step; 2]>,
    characterization: Option<Characterization>,
}

/// A child that is planned but not explored.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Child {
    /// The number of events that the child keeps.
    kept: usize,
    plan: Plan,
    /// If the child begins with an alternative of an operation, the number of alternatives: the
    /// later ones are children, too. Otherwise 0.
    alternatives: u32,
    /// The estimated size of the child, as a fraction of the search.
    share: f64,
}

impl Child {
    /// Returns the number of children that this one stands for.
    fn number(&self) -> f64 {
        match self.alternatives {
            0 => 1.0,
            all => f64::from(all - self.plan.steps[0].choice),
        }
    }

    /// Checks whether the fields of a child that was read from a file fit together.
    fn is_consistent(&self) -> bool {
        let choice = self.plan.steps.first().map(|step| step.choice);
        let fits = |choice| self.alternatives == 0 || choice < self.alternatives;
        choice.is_some_and(fits) && is_share(self.share)
    }

    /// Returns the child with the next alternative, if there is one.
    fn next_alternative(&self) -> Option<Child> {
        let choice = self.plan.steps.first()?.choice + 1;
        (choice < self.alternatives).then(|| {
            let mut next = self.clone();
            next.plan.steps[0].choice = choice;
            next
        })
    }
}

/// Checks whether a number that was read from a file can be a fraction of the search. Sums of
/// fractions are not exact.
fn is_share(share: f64) -> bool {
    (0.0..1.5).contains(&share)
}

/// The unexplored children of an execution.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
struct Frame {
    /// Sorted by the number of events that they keep. The last one is explored first.
    children: Vec<Child>,
    /// The number of events at the start of the record that unexplored children of ancestors keep.
    needed: usize,
    /// The needed events that children of this execution have replaced, each part with its
    /// position. The last part was replaced last.
    replaced: Vec<(usize, Suffix)>,
}

impl Frame {
    /// Checks whether nothing needs to be done for the execution any more.
    fn is_over(&self) -> bool {
        self.children.is_empty() && self.replaced.is_empty()
    }

    /// Returns the number of events of the record that are needed after the current child.
    fn needed_later(&self) -> usize {
        let next = self.children.last().map_or(0, |child| child.kept);
        next.max(self.needed)
    }
}

/// POP as a strategy (Abdulla et al., CAV 2024).
#[derive(Serialize, Deserialize)]
pub struct Parsimonious {
    /// The current execution.
    record: Record,
    /// The steps to execute after the kept events.
    plan: Plan,
    /// The number of events that the current execution keeps from its parent.
    kept: usize,
    /// The number of events that children of ancestors of the current execution still keep.
    needed: usize,
    /// The estimated size of the current execution with its descendants, as a fraction of the
    /// search.
    share: f64,
    /// The fraction of the search that is done.
    done: f64,
    /// The current execution and its ancestors, as far as they have unexplored children or replaced
    /// events.
    frames: Vec<Frame>,
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

impl Default for Parsimonious {
    fn default() -> Parsimonious {
        Parsimonious::new()
    }
}

impl Parsimonious {
    /// Returns a new search.
    pub fn new() -> Parsimonious {
        Parsimonious {
            record: Record::default(),
            plan: Plan::default(),
            kept: 0,
            needed: 0,
            share: 1.0,
            done: 0.0,
            frames: Vec::new(),
            compared: Compared::default(),
            contended: Contended::default(),
            analysed: 0,
            has_begun: false,
            has_restarted: false,
            step: None,
            request: None,
            followers: Vec::new(),
            clock: Vec::new(),
            deferred: None,
            guide: Vec::new(),
            has_searched: false,
            is_first: false,
        }
    }

    /// Returns a search whose first execution prefers the thread `guide[i]` for event i. Executions
    /// that share a longer prefix with the first execution come earlier. The search keeps deferred
    /// children in memory.
    pub fn guided(guide: Vec<ThreadId>) -> Parsimonious {
        Parsimonious {
            guide,
            deferred: Some(Deferred::default()),
            ..Parsimonious::new()
        }
    }

    /// Plans the children of the current execution: those that reverse its races, and those from
    /// the alternatives of its operations. Events and races before the event at position `fresh`
    /// belong to ancestors.
    fn plan_children(&mut self, fresh: usize) -> Vec<Child> {
        let mut children = Vec::new();
        let races = self.record.execution.races();
        let first = races.len() - self.record.execution.races_from(fresh).len();
        for race in first..races.len() {
            let race = self.record.execution.races()[race];
            if self.is_parsimonious(race)
                && let Some(plan) = self.reverse(race)
            {
                children.push(Child {
                    kept: race.first.index(),
                    plan,
                    alternatives: 0,
                    share: 0.0,
                });
            }
        }
        for (id, event) in self.record.execution.events_from(fresh) {
            if event.step.choice == 0 && event.alternatives > 1 {
                children.push(Child {
                    kept: id.index(),
                    plan: Plan {
                        steps: smallvec![Step {
                            choice: 1,
                            ..event.step
                        }],
                        characterization: None,
                    },
                    alternatives: event.alternatives,
                    share: 0.0,
                });
            }
        }
        children
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
    /// second. Returns `None` if σ is characterized as explored.
    fn reverse(&mut self, race: Race) -> Option<Plan> {
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
                return None;
            }
        }

        let followers = self.followers.iter();
        let steps = followers.map(|&event| execution.event(event).step);
        let steps = steps.chain([second.step]).collect();
        let is_characterized = access == Access::Read || second.expects.is_some();
        let characterization = is_characterized
            .then(|| {
                let is_compared = self.compared.rely_on(second.op.object);
                characterization::of(race, &self.record, is_compared)
            })
            .filter(|expressions| !expressions.is_empty())
            .map(Arc::new);
        Some(Plan {
            steps,
            characterization,
        })
    }

    /// Begins with the next child of the frame. Stores the events that it replaces and that are
    /// needed later. Returns false if there is no child.
    fn descend(&mut self, frame: &mut Frame) -> bool {
        let Some(child) = frame.children.pop() else {
            return false;
        };
        frame.children.extend(child.next_alternative());
        if child.kept < frame.needed {
            let mut replaced = Suffix::default();
            self.record.truncate(frame.needed);
            self.record.split_off(child.kept, &mut replaced);
            frame.replaced.push((child.kept, replaced));
            frame.needed = child.kept;
        } else {
            self.record.truncate(child.kept);
        }
        self.needed = frame.needed_later();
        self.begin(child);
        true
    }

    /// Makes the child the next execution. The record has the events that the child keeps.
    fn begin(&mut self, child: Child) {
        self.kept = child.kept;
        self.plan = child.plan;
        self.share = child.share;
    }

    /// Restores the events that the children of the frame's execution have replaced.
    fn ascend(record: &mut Record, frame: &mut Frame) {
        while let Some((at, mut replaced)) = frame.replaced.pop() {
            record.restore(at, &mut replaced);
        }
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
        while let Some(mut frame) = self.frames.pop() {
            if self.descend(&mut frame) {
                if !frame.is_over() {
                    self.frames.push(frame);
                }
                return true;
            }
            Self::ascend(&mut self.record, &mut frame);
        }
        self.resume_deferred()
    }

    fn returns(&self) -> bool {
        let next = self.frames.last().and_then(|frame| frame.children.last());
        next.is_some_and(|child| child.kept == self.kept)
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
        let mut children = self.plan_children(fresh);
        let number: f64 = children.iter().map(Child::number).sum();
        let share = self.share / (1.0 + number);
        self.done += share;
        children.iter_mut().for_each(|child| child.share = share);
        self.defer(&mut children);
        // Of the children that keep the same events, the one that was planned first comes first.
        children.reverse();
        children.sort_by_key(|child| child.kept);
        if !children.is_empty() {
            self.frames.push(Frame {
                children,
                needed: self.needed,
                replaced: Vec::new(),
            });
        }
    }

    /// Checks the current execution, and then the frames from the innermost on.
    fn is_consistent(&self) -> bool {
        let mut execution = self.record.execution.clone();
        let mut checked = 0;
        let mut fits = |frame: &Frame| {
            let kept = frame.children.iter().map(|child| child.kept);
            let fits = kept.is_sorted() && frame.needed_later() <= execution.len();
            // Older frames need no more events than this one.
            execution.truncate(frame.needed);
            let mut replaced = frame.replaced.iter().rev();
            fits && replaced.all(|(at, part)| {
                checked += execution.len();
                checked <= MOST_CHECKED && execution.restores(*at, part.tail())
            })
        };
        let children = self.frames.iter().flat_map(|frame| &frame.children);
        !self.record.execution.is_weak()
            && self.record.execution.is_consistent()
            && self.frames.iter().rev().all(&mut fits)
            && is_share(self.share)
            && is_share(self.done)
            && { children }.all(Child::is_consistent)
    }

    fn has_restarted(&self) -> bool {
        self.has_restarted
    }

    fn execution(&self) -> &Execution {
        &self.record.execution
    }

    /// Assumes that the children of an execution and the execution itself have the same size.
    fn estimate(&self) -> Option<f64> {
        Some(self.done.min(1.0))
    }

    /// Gives away the remaining children of the oldest ancestor that has any.
    fn give_away(&mut self) -> Option<Part> {
        divided::give_away(self)
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a search consists of serializable data")
    }
}
