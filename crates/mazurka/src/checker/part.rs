//! Parts of a search: each is a search of its own, which is done in slices.
//!
//! A slice runs some executions of a part from what was saved, in a model of its own, and gives what it found and what is left.
//! It depends on nothing else, so a slice that is lost is done again.

use super::CheckError;
use super::as_json;
use super::audit::Samples;
use super::checkpoint::refused_if_contradictory;
use super::configuration::config_of;
use super::coverage::{Covered, Seen};
use super::failures::{Sighting, Symptom};
use super::search::{Next, Search, resumed};
use super::settings::Settings;
use super::tally::Tally;
use super::unhinted_spin::Spin;
use explore::{LEARNING, Strategy};
use report::{Goal, LeftOut, Limit, SavedStep, Sighted, Suppressed};
use runtime::native::Learnt;
use runtime::{Model, Names};
use serde::{Deserialize, Serialize};
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

/// Where a slice comes among all slices of the search: in this order one job does the same executions one after the other.
///
/// The slices of a part count upwards. What is given away in a slice comes behind all later slices of the part, and what is given
/// away in a later one before it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Position(Vec<u32>);

impl Position {
    /// The first slice of the whole search.
    pub fn first() -> Position {
        Position(vec![0, 0])
    }

    fn is_first(&self) -> bool {
        self.0 == [0, 0]
    }

    /// The next slice of the same part.
    fn next(&self) -> Position {
        let mut next = self.clone();
        if let Some(slice) = next.0.last_mut() {
            *slice = slice.saturating_add(1);
        }
        next
    }

    /// What is left of this slice, before the next one.
    fn within(&self) -> Position {
        let mut within = self.clone();
        within.0.extend([0, 0]);
        within
    }

    /// The first slice of the part that is given away in this slice after `number` others.
    fn given(&self, number: u32) -> Position {
        let mut given = self.0.clone();
        let slice = given.pop().unwrap_or_default();
        given.pop();
        given.extend([u32::MAX - slice, u32::MAX - number, 0, 0]);
        Position(given)
    }
}

/// A part of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub position: Position,
    /// What the ids of the strategy stand for.
    pub names: Arc<Names>,
    /// What the strategy saved.
    pub strategy: Vec<u8>,
    /// How large it is taken to be, as a part of the whole.
    pub share: f64,
    /// Executions before it, at least: all those of a search without end.
    pub before: u64,
    /// How many executions it has, if it is a part of a search without end.
    pub executions: Option<u64>,
}

impl Part {
    /// A whole search.
    pub fn whole(names: Arc<Names>, strategy: Vec<u8>) -> Part {
        Part {
            position: Position::first(),
            names,
            strategy,
            share: 1.0,
            before: 0,
            executions: None,
        }
    }

    /// Takes the next executions out of a search without end; what comes behind them is left.
    pub fn take_executions(
        &mut self,
        settings: &Settings,
        executions: u64,
    ) -> Result<Part, CheckError> {
        let mut strategy = resumed(settings, &self.strategy)?;
        strategy.skip(executions);
        let rest = Part {
            position: self.position.next(),
            strategy: strategy.save(),
            before: self.before.saturating_add(executions),
            ..self.clone()
        };
        (self.executions, self.share) = (Some(executions), 0.0);
        Ok(rest)
    }

    /// Whether this is the beginning of a search, where nothing is given away: strategies learn from the first executions.
    pub fn is_first(&self) -> bool {
        self.position.is_first()
    }
}

/// How much is done in a slice.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Portion {
    pub executions: u64,
    /// How many parts are given away at the end.
    pub parts: u32,
    /// After so many executions it ends if others have nothing to do.
    pub least: u64,
    /// And how many parts it then gives away.
    pub parts_in_haste: u32,
    /// Executions of other parts before.
    pub earlier: u64,
}

/// What became of a slice.
#[derive(Serialize, Deserialize)]
pub(super) struct Slice {
    pub found: Found,
    /// What is left to do, what comes first in front.
    pub rest: Vec<Part>,
    /// If the whole search has begun anew and knows more than before: that. The slice is then the first one of this search.
    pub anew: Option<Arc<Names>>,
    pub end: End,
    /// What it took.
    pub elapsed_s: f64,
    /// Of the clock of this process.
    #[serde(skip)]
    pub spin: Option<Spin>,
}

/// How a slice ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum End {
    /// The portion was done.
    Done,
    /// A limit was reached, between two executions.
    Halted(#[serde(with = "as_json")] Limit),
    /// It was stopped in the middle of an execution: nobody can go on from there.
    BrokenOff(#[serde(with = "as_json")] Limit),
}

/// What was found in parts of a search.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Found {
    pub tally: Tally,
    pub met: Vec<Met>,
    pub warnings: Vec<String>,
    pub left_out: Vec<LeftOut>,
    pub suppressed: Vec<Suppressed>,
    pub goals: Vec<Goal>,
    pub seen: Seen,
}

/// A failure that was met, in names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Met {
    /// The slice in which it was met.
    pub position: Position,
    pub shown: Shown,
    /// A shorter execution that fails likewise, and how many were tried.
    pub shortest: Option<Shown>,
    pub extra: u64,
}

/// An execution that fails.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Shown {
    pub symptom: Symptom,
    /// Its number in the slice, from 1.
    pub execution: u64,
    pub steps: Vec<SavedStep>,
}

impl Shown {
    pub fn of(sighting: &Sighting, names: &Names) -> Shown {
        Shown {
            symptom: sighting.symptom.clone(),
            execution: sighting.execution,
            steps: names.save(&sighting.schedule),
        }
    }

    /// What the trail of a process shows.
    pub fn sighted(sighted: &Sighted) -> Shown {
        Shown {
            symptom: Symptom {
                kind: sighted.kind,
                message: sighted.message.clone(),
                location: sighted.location.clone(),
            },
            execution: sighted.execution,
            steps: sighted.steps.clone(),
        }
    }

    /// The same for the trail of a search in which the execution has this number.
    pub fn into_sighted(self, execution: u64) -> Sighted {
        Sighted {
            kind: self.symptom.kind,
            message: self.symptom.message,
            location: self.symptom.location,
            execution,
            steps: self.steps,
        }
    }

    /// The same in the ids of these names.
    pub fn sighting(&self, execution: u64, names: &mut Names) -> Result<Sighting, CheckError> {
        let schedule = names.load(&self.steps);
        Ok(Sighting {
            symptom: self.symptom.clone(),
            execution,
            schedule: schedule.map_err(|error| CheckError::Misfit(error.to_string()))?,
        })
    }
}

impl Found {
    /// Adds what was found elsewhere.
    pub fn add(&mut self, other: Found) {
        self.tally.add(&other.tally);
        self.met.extend(other.met);
        extend(&mut self.warnings, other.warnings);
        extend(&mut self.left_out, other.left_out);
        extend(&mut self.suppressed, other.suppressed);
        for goal in other.goals {
            let mut own = self.goals.iter_mut();
            match own.find(|own| (&own.name, &own.location) == (&goal.name, &goal.location)) {
                Some(own) => own.is_reached |= goal.is_reached,
                None => self.goals.push(goal),
            }
        }
        self.seen.add(other.seen);
    }
}

/// Adds what is not there yet.
fn extend<T: PartialEq>(all: &mut Vec<T>, others: Vec<T>) {
    for other in others {
        if !all.contains(&other) {
            all.push(other);
        }
    }
}

/// A program of which slices are done in this process.
pub(super) struct Sliced {
    program: Rc<dyn Fn()>,
    learnt: Learnt,
}

impl Sliced {
    pub fn new(program: impl Fn() + 'static) -> Sliced {
        Sliced {
            program: Rc::new(program),
            learnt: Learnt::default(),
        }
    }

    pub fn program(&self) -> impl Fn() + 'static {
        let program = Rc::clone(&self.program);
        move || program()
    }

    /// Does a portion of the part.
    pub fn slice(
        &mut self,
        settings: &Settings,
        part: &Part,
        portion: Portion,
        spin: Option<Spin>,
    ) -> Result<Slice, CheckError> {
        let work = || loop {
            if let Some(slice) = self.attempt(settings.clone(), part, portion, spin.clone())? {
                return Ok(slice);
            }
        };
        refused_if_contradictory(settings.resume.clone(), work)
    }

    /// None if an execution shares memory that nobody watched. The next attempt will watch it.
    fn attempt(
        &mut self,
        settings: Settings,
        part: &Part,
        portion: Portion,
        spin: Option<Spin>,
    ) -> Result<Option<Slice>, CheckError> {
        let strategy = resumed(&settings, &part.strategy)?;
        let names = Names::clone(&part.names);
        let mut model = Model::with_names(config_of(&settings), names, self.program());
        model.take_up(mem::take(&mut self.learnt));
        let mut search = Search::of(settings, Box::new(()), model, strategy, 0.0)?;
        search.covered = Covered::of(search.settings.algorithm, part.before);
        search.spin = spin;
        search.earlier = portion.earlier;
        if !part.is_first() {
            search.samples = Samples::of_part(portion.earlier);
        }
        let slice = search.slice(part, portion);
        self.learnt = search.model.take_learnt();
        slice
    }
}

impl Search {
    /// None as for [`Sliced::attempt`].
    fn slice(&mut self, part: &Part, portion: Portion) -> Result<Option<Slice>, CheckError> {
        let mut part = part.clone();
        let mut before = self.strategy.estimate().unwrap_or(0.0);
        let mut is_anew = false;
        let (end, rest) = loop {
            if self.explore(portion, is_anew)? {
                if !is_anew && self.model.has_met_more_shared_memory() {
                    return Ok(None);
                }
                is_anew = true;
                (part, before) = (Part::whole(part.names, Vec::new()), 0.0);
                continue;
            }
            let has_failed = !self.failures.is_empty();
            let (end, rest) = match (self.halt, self.is_broken_off) {
                (Some(limit), true) if is_anew => {
                    (End::BrokenOff(limit), vec![self.begun(part.clone())])
                }
                (Some(limit), true) => (End::BrokenOff(limit), Vec::new()),
                // What is run for a shorter execution belongs to nobody's part.
                _ if self.is_done_with_bugs() => (End::Done, vec![self.own_rest(&part)]),
                (halt, _) => {
                    let parts = match self.is_asked_for_haste() {
                        true => portion.parts_in_haste,
                        false => portion.parts,
                    };
                    let rest = self.rest(&part, before, parts);
                    (halt.map_or(End::Done, End::Halted), rest)
                }
            };
            self.shorten()?;
            // The strategy has begun anew, too, unless the search goes on.
            if has_failed && self.failures.is_empty() || self.repeat_first()? {
                if !is_anew && self.model.has_met_more_shared_memory() {
                    return Ok(None);
                }
                is_anew = true;
                (part, before) = (Part::whole(part.names, Vec::new()), 0.0);
                continue;
            }
            break (end, rest);
        };
        self.audit();
        Ok(Some(Slice {
            found: self.found(&part.position),
            rest,
            anew: is_anew.then(|| Arc::new(self.model.names().clone())),
            end,
            elapsed_s: self.brake.elapsed_s(),
            spin: self.spin.take(),
        }))
    }

    /// Explores until the portion is done or something ends it; whether the whole search has begun anew.
    fn explore(&mut self, portion: Portion, is_anew: bool) -> Result<bool, CheckError> {
        let executions = match is_anew {
            true => portion.executions.max(LEARNING),
            false => portion.executions,
        };
        let least = match is_anew {
            true => portion.least.max(LEARNING),
            false => portion.least,
        };
        let is_enough = |runs: u64, search: &Search| {
            runs >= executions || runs >= least && search.is_asked_for_haste()
        };
        while !is_enough(self.tally.complete(), self) && self.goes_on() {
            match self.next_execution()? {
                Next::Nothing => break,
                Next::Ended(_) if !self.beginning.has_restarted => {}
                Next::Ended(_) | Next::BegunAnew => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Whether others have nothing to do.
    fn is_asked_for_haste(&self) -> bool {
        let asks = self.settings.asks_for_haste.as_ref();
        asks.is_some_and(|asks| asks())
    }

    /// The search from its beginning.
    fn begun(&self, part: Part) -> Part {
        let strategy = self.settings.algorithm.strategy(self.settings.options);
        Part {
            names: self.arc_of_names(),
            strategy: strategy.save(),
            ..part
        }
    }

    fn arc_of_names(&self) -> Arc<Names> {
        Arc::new(self.model.names().clone())
    }

    fn found(&self, position: &Position) -> Found {
        let names = self.model.names();
        let met = |sighting: &Sighting| Met {
            position: position.clone(),
            shown: Shown::of(sighting, names),
            shortest: self
                .shortest
                .as_ref()
                .map(|shortest| Shown::of(shortest, names)),
            extra: self.extra,
        };
        Found {
            tally: self.tally.clone(),
            met: self.failures.sightings.iter().map(met).collect(),
            warnings: self.model.warnings(),
            left_out: self.model.left_out(),
            suppressed: self.model.suppressed(),
            goals: self.model.goals().to_vec(),
            seen: self.covered.seen(&self.model),
        }
    }

    /// What is left of the part if nothing of it is given away.
    fn own_rest(&self, part: &Part) -> Part {
        let done = self.tally.complete();
        Part {
            position: match part.executions {
                Some(_) => part.position.within(),
                None => part.position.next(),
            },
            names: self.arc_of_names(),
            strategy: self.strategy.save(),
            share: part.share,
            before: part.before.saturating_add(done),
            executions: part
                .executions
                .map(|executions| executions.saturating_sub(done)),
        }
    }

    /// What is left of the part that began at this estimate, so many parts apart. The strategy is of no use afterwards.
    fn rest(&mut self, part: &Part, before: f64, parts: u32) -> Vec<Part> {
        let whole = part.share / (1.0 - before).max(f64::EPSILON);
        let done = (self.strategy.estimate().unwrap_or(before) - before).max(0.0);
        let mut own = Part {
            share: part.share - whole * done,
            ..self.own_rest(part)
        };
        let mut rest = Vec::new();
        for number in 0..parts {
            let Some(given) = self.strategy.give_away() else {
                break;
            };
            let share = (whole * given.share).min(own.share);
            own.share -= share;
            rest.push(Part {
                position: part.position.given(number),
                strategy: given.saved,
                share,
                ..own.clone()
            });
        }
        own.strategy = self.strategy.save();
        if own.executions != Some(0) && self.strategy.backtrack() {
            rest.push(own);
        }
        rest.reverse();
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_away_comes_behind_the_rest_and_first_what_was_given_last() {
        let first = Position::first();
        let second = first.next();
        let order = [
            first.clone(),
            first.within(),
            second.clone(),
            second.next(),
            second.given(1),
            second.given(0),
            second.given(0).next(),
            first.given(2),
            first.given(0),
            first.given(0).next(),
            first.given(0).given(0),
        ];
        assert!(order.is_sorted(), "{order:?}");
        assert!(order.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
