//! The remaining parts of a search that several jobs share, and the results so far. Jobs run the
//! parts in slices (see `part.rs`).
//!
//! Each waiting part is searched once. A *share* of a part is its estimated fraction of the search.
//! A slice counts when its result is returned; a lost slice has no effect. When the whole search
//! restarts, an epoch ends and the counts of its slices are dropped.

use super::CheckError;
use super::as_json;
use super::numbering::{Numbering, merged};
use super::part::{End, Found, NamedFailure, Part, Portion, Position, Slice};
use super::settings::Settings;
use super::tally::Tally;
use super::unhinted_spin::Spin;
use explore::LEARNING;
use report::{FailureKind, Limit};
use runtime::Names;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

/// The minimum and maximum duration of a slice. Between these limits, a slice takes 1/`PART` of the
/// search time so far. Very short slices would waste time, because starting a slice takes time.
/// Very long slices would delay other jobs, because not every job can be asked to end a slice
/// early.
const PACE: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_millis(300);
const PART: u32 = 40;

/// The minimum duration of a slice that is ended early.
const LEAST_BEFORE_EARLY_END: Duration = Duration::from_millis(1);

/// The minimum and maximum number of executions of a slice, except for the first one.
const FEW: u64 = 16;
const MANY: u64 = 1 << 20;

/// The number of waiting parts per job for which the ledger aims, so that no job becomes idle.
const WAITING_PER_JOB: usize = 2;

/// Asks the job that runs a slice to end it soon.
pub type EarlyEnd = Box<dyn FnOnce() + Send>;

/// The shared record of a divided search (see the module).
pub(super) struct Ledger {
    jobs: AtomicUsize,
    settings: Settings,
    /// The maximum number of executions of the search, if there is one.
    limit: Option<u64>,
    /// Set to stop all jobs.
    pub stop: Arc<AtomicBool>,
    started: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    epoch: u64,
    waiting: BTreeMap<Position, Part>,
    /// Slices of this epoch that jobs are running.
    under_way: BTreeMap<Position, UnderWay>,
    /// Number of slices that jobs are running, including those of earlier epochs.
    working: usize,
    found: Found,
    /// Executions of slices that were broken off.
    broken_off: Tally,
    /// Number of executions of each slice of this epoch.
    runs: BTreeMap<Position, u64>,
    /// Failures of earlier epochs, with the numbers of their executions.
    before: Vec<(NamedFailure, u64)>,
    /// Number of executions in earlier epochs.
    earlier: u64,
    /// Executions per second of one job.
    rate: f64,
    /// Minimum and maximum duration of a slice.
    pace: RangeInclusive<Duration>,
    halt: Option<Limit>,
    spin: Option<Spin>,
    error: Option<CheckError>,
    /// Whether the search is over, so that no more slices start.
    is_over: bool,
    /// The names of the threads and objects with which this epoch began.
    names: Arc<Names>,
}

/// A slice that a job is running.
struct UnderWay {
    part: Part,
    /// The maximum number of executions.
    executions: u64,
    /// Asks the job to end the slice soon. `None` after use.
    early_end: Option<EarlyEnd>,
}

/// A slice to run.
pub(super) struct Task<'l> {
    ledger: &'l Ledger,
    epoch: u64,
    pub part: Part,
    pub portion: Portion,
    pub spin: Option<Spin>,
}

/// The results of a search, final or so far.
#[derive(Serialize, Deserialize)]
pub(super) struct Known {
    pub found: Found,
    /// The failures in the order of the report, with the numbers of their executions.
    pub failures: Vec<(NamedFailure, u64)>,
    /// The number of failures from earlier epochs. These come first in `failures`.
    pub older: usize,
    #[serde(with = "as_json")]
    pub halt: Option<Limit>,
    /// A thread that spins without a hint. Not sent to other processes, because it contains a time
    /// by the clock of this process.
    #[serde(skip)]
    pub spin: Option<Spin>,
    pub names: Arc<Names>,
    /// The parts that are not explored yet, in the order of a search by one job.
    pub rest: Vec<Part>,
    /// Saved for a process that resumes the search.
    pub numbering: Numbering,
    /// Executions that are counted, but will be repeated by a process that resumes.
    pub broken_off: Tally,
}

impl Ledger {
    /// Creates the ledger of a search with these remaining parts and results.
    pub fn new(
        jobs: usize,
        settings: &Settings,
        parts: Vec<Part>,
        names: Arc<Names>,
        (mut found, numbering): (Found, Option<Numbering>),
    ) -> Ledger {
        let is_over = found.ends_search(settings);
        let numbering = numbering.unwrap_or_else(|| Numbering {
            earlier: found.tally.runs(),
            ..Numbering::default()
        });
        let (before, failures) = numbering.split(std::mem::take(&mut found.failures));
        found.failures = failures;
        Ledger {
            jobs: AtomicUsize::new(jobs),
            limit: settings.limit(),
            settings: settings.clone(),
            stop: Arc::default(),
            started: Instant::now(),
            state: Mutex::new(State {
                epoch: 0,
                waiting: parts
                    .into_iter()
                    .map(|part| (part.position.clone(), part))
                    .collect(),
                under_way: BTreeMap::new(),
                working: 0,
                found,
                broken_off: Tally::default(),
                runs: numbering.runs,
                earlier: numbering.earlier,
                before,
                rate: 0.0,
                pace: PACE,
                halt: None,
                spin: None,
                error: None,
                is_over,
                names,
            }),
            changed: Condvar::new(),
        }
    }

    /// Sets the number of jobs.
    pub fn set_jobs(&self, jobs: usize) {
        self.jobs.store(jobs, Relaxed);
    }

    /// Sets the minimum and maximum duration of later slices.
    pub fn set_pace(&self, pace: RangeInclusive<Duration>) {
        self.state().pace = pace;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks whether there is work for more than one job.
    pub fn has_parts(&self) -> bool {
        let is_endless = !self.settings.algorithm.proves();
        let waiting = self.state().waiting.len();
        waiting > 1 || is_endless && waiting == 1
    }

    /// Waits for the next slice; `None` if the search is over. `early_end` asks the job to end it
    /// soon.
    pub fn take(&self, early_end: EarlyEnd) -> Option<Task<'_>> {
        let mut early_end = Some(early_end);
        let mut state = self.state();
        loop {
            if let Poll::Ready(task) = self.next(&mut state, &mut early_end) {
                return task;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the next slice without waiting, for a job that cannot be asked to end a slice early.
    /// The result is pending if there is no slice now but there may be one later.
    pub fn poll(&self) -> Poll<Option<Task<'_>>> {
        self.next(&mut self.state(), &mut None)
    }

    fn next(&self, state: &mut State, early_end: &mut Option<EarlyEnd>) -> Poll<Option<Task<'_>>> {
        let is_done = state.working == 0 && state.waiting.is_empty();
        if is_done || state.is_over {
            return Poll::Ready(None);
        }
        let left = self.left(state);
        match left {
            Some(0) if state.working == 0 => {
                state.halt = Some(Limit::Executions);
                state.is_over = true;
                self.changed.notify_all();
                Poll::Ready(None)
            }
            Some(0) => Poll::Pending,
            Some(_) | None => {
                let next = match self.next_part(state) {
                    Some(part) => Poll::Ready(self.task(state, part, left, early_end.take())),
                    None => Poll::Pending,
                };
                let proves = self.settings.algorithm.proves();
                if proves && state.waiting.len() + 1 < self.jobs.load(Relaxed) {
                    state.ask_for_early_end();
                }
                next
            }
        }
    }

    /// Removes and returns the largest waiting part, so that small parts come last and all jobs end
    /// at about the same time. Parts of endless searches (`random` and `pct`) are taken in order.
    fn next_part(&self, state: &mut State) -> Option<Part> {
        if !self.settings.algorithm.proves() {
            return state.waiting.pop_first().map(|(_, part)| part);
        }
        let by_share =
            |(_, a): &(&Position, &Part), (_, b): &(&Position, &Part)| a.share.total_cmp(&b.share);
        let position = state.waiting.iter().max_by(by_share)?.0.clone();
        state.waiting.remove(&position)
    }

    /// Returns how many more executions may be started, if there is a limit.
    fn left(&self, state: &State) -> Option<u64> {
        let reserved: u64 = state
            .under_way
            .values()
            .map(|under_way| under_way.executions)
            .sum();
        let begun = state.found.tally.runs() + reserved;
        self.limit.map(|limit| limit.saturating_sub(begun))
    }

    /// Creates the task that runs a slice of this part. Returns `None` and ends the search if the
    /// part is inconsistent.
    fn task(
        &self,
        state: &mut State,
        mut part: Part,
        left: Option<u64>,
        early_end: Option<EarlyEnd>,
    ) -> Option<Task<'_>> {
        let jobs = self.jobs.load(Relaxed);
        let (short, long) = (*state.pace.start(), *state.pace.end());
        let slice = match state.waiting.len() + 1 < jobs && early_end.is_none() {
            // Other jobs will soon wait for the parts that this slice gives away.
            true => short,
            false => (self.started.elapsed() / PART).clamp(short, long),
        };
        let usual = (state.rate * slice.as_secs_f64()) as u64;
        let usual = usual.clamp(FEW, MANY);
        let executions = match part.is_first() {
            // Strategies learn from the first executions.
            true => usual.max(LEARNING),
            false => usual,
        };
        let executions = executions.min(left.unwrap_or(u64::MAX));
        let executions = executions.min(part.executions.unwrap_or(u64::MAX));
        if !self.settings.algorithm.proves() && part.executions.is_none() && !part.is_first() {
            match part.take_executions(&self.settings, executions) {
                Ok(rest) => state.waiting.insert(rest.position.clone(), rest),
                Err(error) => {
                    state.error.get_or_insert(error);
                    self.end(state);
                    self.changed.notify_all();
                    return None;
                }
            };
        }
        let parts = |waiting: usize| match jobs {
            1 => 0,
            _ => {
                u32::try_from((WAITING_PER_JOB * jobs).saturating_sub(waiting)).unwrap_or(u32::MAX)
            }
        };
        let least = (state.rate * LEAST_BEFORE_EARLY_END.as_secs_f64()) as u64;
        state.working += 1;
        let under_way = UnderWay {
            part: part.clone(),
            executions,
            early_end: early_end.filter(|_| !part.is_first()),
        };
        state.under_way.insert(part.position.clone(), under_way);
        Some(Task {
            ledger: self,
            epoch: state.epoch,
            part,
            portion: Portion {
                executions,
                parts: parts(state.waiting.len()),
                least: least.max(FEW),
                parts_at_early_end: parts(0),
                earlier: state.found.tally.complete(),
            },
            spin: state.spin.clone(),
        })
    }

    /// Starts no more slices, and stops those that are running.
    fn end(&self, state: &mut State) {
        state.is_over = true;
        self.stop.store(true, Relaxed);
    }

    /// Returns the number of executions, and the fraction of the search that is done.
    pub fn progress(&self) -> (u64, f64) {
        let state = self.state();
        let waiting = state.waiting.values();
        let under_way = state.under_way.values();
        let parts = waiting.chain(under_way.map(|under_way| &under_way.part));
        let left: f64 = parts.map(|part| part.share).sum();
        (state.found.tally.runs(), (1.0 - left).clamp(0.0, 1.0))
    }

    /// Stops the search for this reason, unless it is over.
    pub fn halt(&self, limit: Limit) {
        let mut state = self.state();
        if !state.is_over {
            state.halt = Some(limit);
            self.end(&mut state);
            self.changed.notify_all();
        }
    }

    /// Returns the results so far.
    pub fn so_far(&self) -> Known {
        self.state().known()
    }

    /// Returns the final results, after all jobs have ended.
    pub fn close(self) -> Result<Known, CheckError> {
        let state = self.state.into_inner();
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        match state.error.take() {
            Some(error) => Err(error),
            None => Ok(state.known()),
        }
    }
}

impl Task<'_> {
    /// Records the result of the slice.
    pub fn complete(self, slice: Result<Slice, CheckError>) {
        let ledger = self.ledger;
        let mut state = ledger.state();
        match slice {
            Ok(slice) => self.settle(&mut state, slice),
            Err(error) if error.is_nondeterminism() && state.knows_a_race() => {
                if !state.is_over {
                    state.halt = Some(Limit::Race);
                }
                ledger.end(&mut state);
            }
            Err(error) => {
                state.error.get_or_insert(error);
                ledger.end(&mut state);
            }
        }
    }

    fn settle(&self, state: &mut State, slice: Slice) {
        let ledger = self.ledger;
        let runs = slice.found.tally.complete();
        if runs > 0 && slice.elapsed_s > 0.0 {
            state.rate = runs as f64 / slice.elapsed_s;
        }
        state.spin = state.spin.take().or(slice.spin);
        if self.epoch != state.epoch {
            // The slice is of an earlier epoch. Its executions are dropped; its failures are real.
            state.found.tally.given_up += slice.found.tally.runs();
            let number = state.found.tally.runs();
            let failures = slice
                .found
                .failures
                .into_iter()
                .map(|failure| (failure, number));
            state.before.extend(failures);
            return;
        }
        let mut position = self.part.position.clone();
        if let Some(names) = slice.anew {
            state.end_epoch(names);
            position = Position::first();
        }
        match slice.end {
            End::BrokenOff(_) => {
                state.broken_off.add(&slice.found.tally);
                state.found.failures.extend(slice.found.failures);
            }
            End::Done | End::Halted(_) => {
                state.under_way.remove(&position);
                state.runs.insert(position, runs);
                state.found.add(slice.found);
            }
        }
        let rest = slice.rest.into_iter();
        let rest = rest.map(|part| (part.position.clone(), part));
        state.waiting.extend(rest);
        if let End::Halted(limit) | End::BrokenOff(limit) = slice.end
            && !state.is_over
        {
            state.halt = Some(limit);
            ledger.end(state);
        }
        if state.found.ends_search(&ledger.settings) {
            ledger.end(state);
        }
    }
}

/// Stops the other jobs if the leading job panics.
pub(super) struct Leading<'l>(pub &'l Ledger);

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.halt(Limit::Interrupted);
        }
    }
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        let mut state = self.ledger.state();
        state.working -= 1;
        if std::thread::panicking() {
            self.ledger.end(&mut state);
        }
        self.ledger.changed.notify_all();
    }
}

impl State {
    /// Asks one job to end its slice and give parts away: the job with the largest part that was
    /// not asked before.
    fn ask_for_early_end(&mut self) {
        let slices = self.under_way.values_mut();
        let not_asked = slices.filter(|slice| slice.early_end.is_some());
        let largest = not_asked.max_by(|a, b| a.part.share.total_cmp(&b.part.share));
        if let Some(early_end) = largest.and_then(|slice| slice.early_end.take()) {
            early_end();
        }
    }

    /// Ends the epoch: drops its counts; keeps warnings, omissions, suppressed findings and goals.
    fn end_epoch(&mut self, names: Arc<Names>) {
        let numbered = self.numbered();
        self.before.extend(numbered);
        self.earlier = self.found.tally.runs();
        self.epoch += 1;
        self.runs.clear();
        self.under_way.clear();
        self.waiting.clear();
        self.names = names;
        let found = std::mem::take(&mut self.found);
        self.found = Found {
            warnings: found.warnings,
            left_out: found.left_out,
            suppressed: found.suppressed,
            goals: found.goals,
            ..Found::default()
        };
        self.found.tally.given_up = self.earlier;
        self.found.tally.add_restarts(&found.tally);
    }

    /// Checks whether a data race is known. After a data race, the same steps may have different
    /// effects.
    fn knows_a_race(&self) -> bool {
        let mut failures = self
            .found
            .failures
            .iter()
            .chain(self.before.iter().map(|(failure, _)| failure));
        let mut suppressed = self.found.suppressed.iter();
        failures.any(|failure| failure.shown.symptom.kind == FailureKind::DataRace)
            || suppressed.any(|suppression| suppression.kind == FailureKind::DataRace)
    }

    /// Returns the failures of this epoch, with the numbers of their executions.
    fn numbered(&self) -> Vec<(NamedFailure, u64)> {
        let mut failures: Vec<&NamedFailure> = self.found.failures.iter().collect();
        failures.sort_by(|a, b| {
            (&a.position, a.shown.execution).cmp(&(&b.position, b.shown.execution))
        });
        let number = |failure: &NamedFailure| {
            let before = self.runs.range(..&failure.position).map(|(_, runs)| *runs);
            let before = before.fold(self.earlier, u64::saturating_add);
            before.saturating_add(failure.shown.execution)
        };
        failures
            .into_iter()
            .map(|failure| (failure.clone(), number(failure)))
            .collect()
    }

    fn known(&self) -> Known {
        let found = Found {
            tally: self.found.tally.clone(),
            failures: Vec::new(),
            warnings: self.found.warnings.clone(),
            left_out: self.found.left_out.clone(),
            suppressed: self.found.suppressed.clone(),
            goals: self.found.goals.clone(),
            seen: self.found.seen.clone(),
        };
        let older = self.before.len();
        let under_way = self.under_way.values();
        let rest = self
            .waiting
            .values()
            .chain(under_way.map(|under_way| &under_way.part));
        let mut rest: Vec<Part> = rest.cloned().collect();
        rest.sort_by(|a, b| a.position.cmp(&b.position));
        let numbered = self.numbered();
        let failures = self.found.failures.iter().map(|failure| &failure.position);
        Known {
            found,
            numbering: Numbering {
                earlier: self.earlier,
                runs: merged(
                    &self.runs,
                    rest.iter().map(|part| &part.position).chain(failures),
                ),
                failures: numbered
                    .iter()
                    .map(|(failure, _)| (failure.position.clone(), failure.shown.execution))
                    .collect(),
            },
            failures: self.before.iter().cloned().chain(numbered).collect(),
            older,
            halt: self.halt.filter(|_| !rest.is_empty()),
            spin: self.spin.clone(),
            names: Arc::clone(&self.names),
            rest,
            broken_off: self.broken_off.clone(),
        }
    }
}
