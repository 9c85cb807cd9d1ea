//! Parsimonious-OPtimal DPOR, POP (Abdulla, Atig, Das, Jonsson, Sagonas, CAV 2024).
//!
//! Every trace is executed exactly once and no execution is blocked, in polynomial memory: a race
//! is reversed at once, by the shortest schedule that does it, and instead of sleep sets a
//! *characterisation* of the read schedules that were explored before is carried along.
//!
//! Deviations, all checked against brute force: the recursion is a stack of executions whose
//! children are generated one at a time, last in first out; compare-exchanges are reads where they
//! fail, so that the characterisation knows the value after the reversed event; an operation with
//! alternatives is one schedule for each. Points on which the paper is silent are marked in
//! [`expression`] and [`characterisation`].

mod characterisation;
mod compared;
mod expression;

use crate::execution::{Access, EventId, Execution, Race, Request, Step, Tail};
use crate::program::{Divergence, Outcome, Pending, Performed};
use crate::replay;
use crate::search::Enabled;
use crate::strategy::{Decision, Ending, Strategy};
use compared::Compared;
use expression::{Candidate, Expression, SleepSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How an event came into the execution. Belongs to the execution, not to the event: it changes
/// when the event is executed as part of another schedule.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// It is part of a schedule that reversed a race.
    is_scheduled: bool,
    /// It is the last event of such a schedule: the racing event that was brought forward.
    is_head: bool,
    /// Of a head: what characterises the read schedules that are explored before its own (φ).
    characterisation: Option<Arc<Vec<Expression>>>,
}

/// A step of a schedule that is to be executed.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Planned {
    step: Step,
    mark: Mark,
}

/// An execution whose children are being explored: what it has from the branch of the current
/// child on.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
struct Frame {
    /// Number of events that the child keeps.
    kept: usize,
    tail: Tail,
    marks: Vec<Mark>,
    sleep: Vec<SleepSet>,
    cursor: Cursor,
}

/// The next child of an execution: first its races, then the alternatives of its operations.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
struct Cursor {
    /// The first new event: second events of races before it belong to ancestors.
    fresh: usize,
    race: usize,
    event: usize,
    choice: u32,
}

/// POP as a strategy.
#[derive(Clone, Serialize, Deserialize)]
pub struct Parsimonious {
    execution: Execution,
    /// marks[i] belongs to event i.
    marks: Vec<Mark>,
    /// sleep[i] characterises what need not be explored after the first i events.
    sleep: Vec<SleepSet>,
    /// Positions of the heads, sorted.
    heads: Vec<usize>,
    /// The schedule that is executed after the events that are kept.
    planned: Vec<Planned>,
    /// Number of events that are replayed.
    kept: usize,
    /// Number of steps performed since the program was reset.
    position: usize,
    /// The next child of the execution at hand.
    cursor: Cursor,
    /// The ancestors of the execution at hand.
    frames: Vec<Frame>,
    compared: Compared,
    has_begun: bool,
    has_restarted: bool,
    #[serde(skip)]
    step: Option<(Step, Request)>,
    #[serde(skip)]
    spare: Vec<Frame>,
    #[serde(skip)]
    clock: Vec<u32>,
}

impl Parsimonious {
    /// A search from the start.
    pub fn new() -> Parsimonious {
        Parsimonious {
            execution: Execution::default(),
            marks: Vec::new(),
            sleep: vec![SleepSet::default()],
            heads: Vec::new(),
            planned: Vec::new(),
            kept: 0,
            position: 0,
            cursor: Cursor::default(),
            frames: Vec::new(),
            compared: Compared::default(),
            has_begun: false,
            has_restarted: false,
            step: None,
            spare: Vec::new(),
            clock: Vec::new(),
        }
    }

    /// The next unexplored child: the schedule, and how many events of the execution it keeps.
    fn next_child(&mut self) -> Option<usize> {
        while let Some(&race) = self.execution.races().get(self.cursor.race) {
            self.cursor.race += 1;
            if self.is_parsimonious(race) && self.reverse(race) {
                return Some(race.first.index());
            }
        }
        self.next_alternative()
    }

    /// Whether the race is not reversed elsewhere: its first event was not scheduled, and every
    /// schedule between the two is needed for the second.
    fn is_parsimonious(&self, race: Race) -> bool {
        let second = self.execution.event(race.second);
        second.step.choice == 0
            && !self.marks[race.first.index()].is_scheduled
            && self
                .heads
                .iter()
                .rev()
                .skip_while(|&&head| head >= race.second.index())
                .take_while(|&&head| head > race.first.index())
                .all(|&head| {
                    self.execution
                        .happens_before(EventId::at(head), race.second)
                })
    }

    /// Plans σ = what lies between the race's events and happens before the second, then the second;
    /// false if it is characterised as explored.
    fn reverse(&mut self, race: Race) -> bool {
        let execution = &self.execution;
        let second = execution.event(race.second);
        let scheduled = |event: &EventId| execution.happens_before(*event, race.second);
        let between = (race.first.index() + 1..race.second.index()).map(EventId::at);
        let access = execution.reversed_access(race);

        let sleep = &self.sleep[race.first.index()];
        if !sleep.is_empty() {
            let schedule = between.clone().filter(scheduled);
            let schedule = schedule.map(|event| Candidate::of(execution, event));
            let head = (access == Access::Read).then(|| {
                execution.clock_as_reversed_read(race, &mut self.clock);
                Candidate::reversed(execution, race, &self.clock)
            });
            if sleep.blocks_schedule(schedule, head.as_ref()) {
                return false;
            }
        }

        self.planned.clear();
        self.planned
            .extend(between.filter(scheduled).map(|event| Planned {
                step: execution.event(event).step,
                mark: Mark {
                    is_scheduled: true,
                    ..Mark::default()
                },
            }));
        let is_characterised = access == Access::Read || second.expects.is_some();
        let characterisation = is_characterised
            .then(|| {
                let is_compared = self.compared.rely_on(second.op.object);
                characterisation::of(race, execution, &self.marks, is_compared)
            })
            .filter(|expressions| !expressions.is_empty())
            .map(Arc::new);
        self.planned.push(Planned {
            step: second.step,
            mark: Mark {
                is_scheduled: true,
                is_head: true,
                characterisation,
            },
        });
        true
    }

    /// Plans the next alternative of an operation that was executed for the first time: a schedule
    /// of one event.
    fn next_alternative(&mut self) -> Option<usize> {
        while self.cursor.event < self.execution.len() {
            let at = self.cursor.event;
            let event = self.execution.event(EventId::at(at));
            self.cursor.choice += 1;
            if event.step.choice == 0 && self.cursor.choice < event.alternatives {
                let step = Step {
                    choice: self.cursor.choice,
                    ..event.step
                };
                let characterisation = self.marks[at].characterisation.clone();
                let mark = Mark {
                    is_scheduled: true,
                    is_head: true,
                    characterisation,
                };
                self.planned.clear();
                self.planned.push(Planned { step, mark });
                return Some(at);
            }
            self.cursor.event += 1;
            self.cursor.choice = 0;
        }
        None
    }

    /// Leaves the execution at hand for its child that keeps so many events.
    fn descend(&mut self, kept: usize) {
        let mut frame = self.spare.pop().unwrap_or_default();
        self.execution.split_off(kept, &mut frame.tail);
        frame.marks.extend(self.marks.drain(kept..));
        frame.sleep.extend(self.sleep.drain(kept + 1..));
        frame.cursor = self.cursor;
        frame.kept = kept;
        self.frames.push(frame);
        self.heads
            .truncate(self.heads.partition_point(|&head| head < kept));
        self.kept = kept;
    }

    /// Returns to the execution whose child was explored.
    fn ascend(&mut self, mut frame: Frame) {
        let kept = frame.kept;
        self.execution.truncate(kept);
        self.marks.truncate(kept);
        self.sleep.truncate(kept + 1);
        self.heads
            .truncate(self.heads.partition_point(|&head| head < kept));
        self.execution.append(&frame.tail);
        for mark in frame.marks.drain(..) {
            if mark.is_head {
                self.heads.push(self.marks.len());
            }
            self.marks.push(mark);
        }
        self.sleep.append(&mut frame.sleep);
        self.cursor = frame.cursor;
        self.spare.push(frame);
    }

    /// The first thread that is enabled and not characterised as explored.
    fn pick(&mut self, pending: &[Pending]) -> Option<(Step, Request)> {
        let enabled = Enabled::new(pending, self.execution.last_thread());
        let sleep = self.sleep.last().expect("a sleep set precedes every event");
        if sleep.is_empty() {
            return enabled
                .iter()
                .next()
                .map(|(thread, &request)| (Step::of(thread), request));
        }
        let mut is_maximal = true;
        for (thread, &request) in enabled.iter() {
            is_maximal = false;
            self.compared.announce(&request);
            let is_blocked = request.op.access == Access::Read && {
                self.execution
                    .clock_of_next_read(thread, request.op.object, &mut self.clock);
                sleep.blocks(&Candidate::next(
                    &self.execution,
                    thread,
                    &request,
                    &self.clock,
                ))
            };
            if !is_blocked {
                return Some((Step::of(thread), request));
            }
        }
        assert!(
            is_maximal,
            "at every prefix that is not maximal some enabled thread is not blocked"
        );
        None
    }
}

impl Default for Parsimonious {
    fn default() -> Parsimonious {
        Parsimonious::new()
    }
}

impl Strategy for Parsimonious {
    fn backtrack(&mut self) -> bool {
        self.position = 0;
        self.has_restarted = self.compared.is_refuted();
        if self.has_restarted {
            let mut compared = std::mem::take(&mut self.compared);
            compared.begin_again();
            *self = Parsimonious {
                compared,
                has_restarted: true,
                ..Parsimonious::new()
            };
        }
        if !self.has_begun {
            self.has_begun = true;
            return true;
        }
        loop {
            if let Some(kept) = self.next_child() {
                self.descend(kept);
                return true;
            }
            let Some(frame) = self.frames.pop() else {
                return false;
            };
            self.ascend(frame);
        }
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        if self.position < self.kept {
            let step = self.execution.event(EventId::at(self.position)).step;
            replay::announced(&self.execution, self.position, step, pending)?;
            return Ok(Decision::Run(step));
        }
        self.step = match self.planned.get(self.position - self.kept) {
            Some(&Planned { step, .. }) => {
                Some((step, replay::planned(self.position, step, pending)?))
            }
            None => self.pick(pending),
        };
        Ok(match self.step {
            Some((step, _)) => Decision::Run(step),
            None => Decision::Stop(Ending::Maximal),
        })
    }

    fn performed(&mut self, performed: Performed<'_>) -> Result<(), Divergence> {
        let position = self.position;
        self.position += 1;
        if position < self.kept {
            return replay::same(&self.execution, position, &performed);
        }
        let (step, request) = self.step.expect("a step was asked for");
        self.compared.announce(&request);
        self.execution.push(step, &request, &performed);
        let mark = match self.planned.get_mut(position - self.kept) {
            Some(planned) => std::mem::take(&mut planned.mark),
            None => Mark::default(),
        };
        let mut sleep = self.sleep[position].clone();
        sleep
            .update(&Candidate::of(&self.execution, EventId::at(position)))
            .expect("an event that is executed is not blocked");
        if mark.is_head {
            self.heads.push(position);
            if performed.op.access == Access::Read {
                sleep.activate(mark.characterisation.as_deref());
            }
        }
        self.sleep.push(sleep);
        self.marks.push(mark);
        Ok(())
    }

    fn analyse(&mut self, _outcome: Outcome) {
        let fresh = self.kept + self.planned.len().saturating_sub(1);
        let race = self.execution.races().len() - self.execution.races_from(fresh).len();
        self.cursor = Cursor {
            fresh,
            race,
            event: fresh,
            choice: 0,
        };
    }

    fn has_restarted(&self) -> bool {
        self.has_restarted
    }

    fn execution(&self) -> &Execution {
        &self.execution
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a search is plain data")
    }
}
