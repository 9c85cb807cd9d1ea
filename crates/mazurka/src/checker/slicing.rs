//! Runs slices of a search.

use super::CheckError;
use super::audit::Samples;
use super::checkpoint::refused_if_contradictory;
use super::coverage::Covered;
use super::failures::Sighting;
use super::part::{End, Found, NamedFailure, Part, Portion, Position, Shown, Slice};
use super::search::{Next, Search, resumed};
use super::settings::Settings;
use super::unhinted_spin::Spin;
use explore::LEARNING;
use runtime::native::Learnt;
use runtime::{Model, Names};
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

/// A program whose slices run in this process.
pub(super) struct Sliced {
    program: Rc<dyn Fn()>,
    /// Findings about a native program, which save work in later slices.
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

    /// Runs a slice: a portion of the part.
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

    /// Runs a slice. Returns `None` if threads of a native program share memory that was not
    /// watched. The next attempt watches this memory.
    fn attempt(
        &mut self,
        mut settings: Settings,
        part: &Part,
        portion: Portion,
        spin: Option<Spin>,
    ) -> Result<Option<Slice>, CheckError> {
        settings.adopt(&part.names);
        let strategy = resumed(&settings, &part.strategy)?;
        let names = Names::clone(&part.names);
        let mut model = Model::with_names(settings.model_config(), names, self.program());
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
    /// Runs a slice in this search. Returns `None` in the same case as [`Sliced::attempt`].
    fn slice(&mut self, part: &Part, portion: Portion) -> Result<Option<Slice>, CheckError> {
        let mut part = part.clone();
        let mut before = self.strategy.estimate().unwrap_or(0.0);
        let mut is_anew = false;
        let (end, rest) = loop {
            if self.explore(portion, is_anew)? {
                if !is_anew && self.model.has_found_more_shared_memory() {
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
                // The rest stays undivided, because `shorten` still needs the strategy. The
                // executions that `shorten` runs belong to no part.
                _ if self.is_done_with_bugs() => (End::Done, vec![self.own_rest(&part)]),
                (halt, _) => {
                    let parts = match self.is_asked_for_early_end() {
                        true => portion.parts_at_early_end,
                        false => portion.parts,
                    };
                    let rest = self.rest(&part, before, parts);
                    (halt.map_or(End::Done, End::Halted), rest)
                }
            };
            self.shorten()?;
            // The search has started again in two cases: the failure was lost in `shorten`, or
            // `repeat_first` found a difference. The slice then starts again, too.
            if has_failed && self.failures.is_empty() || self.repeat_first()? {
                if !is_anew && self.model.has_found_more_shared_memory() {
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

    /// Explores until the portion is complete or interrupted. Returns whether the search restarted.
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
            runs >= executions || runs >= least && search.is_asked_for_early_end()
        };
        while !is_enough(self.tally.complete(), self) && self.continues() {
            match self.next_execution()? {
                Next::Nothing => break,
                Next::Ended(_) if !self.beginning.has_restarted => {}
                Next::Ended(_) | Next::BegunAnew => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Checks whether other jobs have nothing to do.
    fn is_asked_for_early_end(&self) -> bool {
        let asks = self.settings.asks_for_early_end.as_ref();
        asks.is_some_and(|asks| asks())
    }

    /// Returns the part with a new strategy and the present names, so that it starts from the
    /// beginning.
    fn begun(&self, part: Part) -> Part {
        let strategy = self.settings.algorithm.strategy(self.settings.options());
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
        let failure = |sighting: &Sighting| NamedFailure {
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
            failures: self.failures.sightings.iter().map(failure).collect(),
            warnings: self.model.warnings(),
            left_out: self.model.left_out(),
            suppressed: self.model.suppressed(),
            goals: self.model.goals().to_vec(),
            seen: self.covered.seen(&self.model),
        }
    }

    /// Returns the rest of the part if nothing of it is given away.
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

    /// Splits the rest of the part, giving away up to `parts` parts. `before` is the fraction that
    /// was done at the start, by estimate. The strategy cannot be used afterwards.
    fn rest(&mut self, part: &Part, before: f64, parts: u32) -> Vec<Part> {
        let whole = part.share / (1.0 - before).max(f64::EPSILON);
        let done = (self.strategy.estimate().unwrap_or(before) - before).max(0.0);
        let mut kept = Part {
            share: part.share - whole * done,
            ..self.own_rest(part)
        };
        let mut rest = Vec::new();
        for number in 0..parts {
            let Some(given) = self.strategy.give_away() else {
                break;
            };
            let share = (whole * given.share).min(kept.share);
            kept.share -= share;
            rest.push(Part {
                position: part.position.given(number),
                strategy: given.saved,
                share,
                ..kept.clone()
            });
        }
        kept.strategy = self.strategy.save();
        if kept.executions != Some(0) && self.strategy.backtrack() {
            rest.push(kept);
        }
        rest.reverse();
        rest
    }
}
