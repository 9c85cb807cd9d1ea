//! Iteratively relaxed scheduling: starting from a first correct execution, shorter and shorter
//! prefixes are verified. A prefix is verified if all executions that begin with it are correct.
//! Each verified prefix is published at once, so that running programs can follow it.

use super::search::{Beginning, Next, Search, diverged};
use super::{CheckError, Checker};
use explore::{Algorithm, Execution, Options, Outcome, Strategy, ThreadId, Verification};
use report::{Case, Choice, Constraint, Limit, Point, Report};
use runtime::{Described, Names};
use std::ops::ControlFlow;

/// Number of executions from which one with few waiting threads is chosen.
const CANDIDATES: u64 = 200;

/// The choice of the first execution. Every verified prefix is a prefix of it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Preference {
    /// The first correct execution that a search finds.
    #[default]
    Any,
    /// Of several correct executions, the one with the fewest waiting threads
    /// ([`explore::Execution::waiting`]).
    FewWaiting,
}

/// The result of a verification.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The report on the executions, with the bugs that were found.
    pub report: Report,
    /// The shortest verified prefix; `None` if no correct execution was found.
    pub case: Option<Case>,
}

impl Checker {
    /// Verifies a program piece by piece, so that it can run safely before the verification is
    /// complete.
    ///
    /// The method first finds a correct execution. It then verifies shorter and shorter prefixes of
    /// it: all executions that begin with the prefix are correct. It calls `publish` for each
    /// verified prefix, with the ordering constraints that keep a run to these executions.
    /// `publish` may stop the verification. If there is a bug, the constraints that prevent it
    /// remain. (Metzler, Saissi, Bokor, Suri; [`Algorithm::verifier`].)
    ///
    /// ```
    /// use mazurka::sync::Arc;
    /// use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
    /// use mazurka::{Checker, Preference, thread};
    /// use std::ops::ControlFlow;
    ///
    /// let lost_update = || {
    ///     let x = Arc::new(AtomicU32::new(0));
    ///     let add = |x: Arc<AtomicU32>| move || x.store(x.load(SeqCst) + 1, SeqCst);
    ///     let threads = [0, 1].map(|_| thread::spawn(add(x.clone())));
    ///     threads.map(|thread| thread.join().unwrap());
    ///     assert_eq!(x.load(SeqCst), 2);
    /// };
    /// let mut published = 0;
    /// let verified = Checker::new().verify(Preference::Any, lost_update, |_case| {
    ///     published += 1;
    ///     ControlFlow::Continue(())
    /// });
    /// let case = verified.unwrap().case.unwrap();
    /// // One thread's load waits for the other's store.
    /// assert_eq!(case.constraints.len(), 1);
    /// assert!(published > 0 && case.excluded[0].contains("left == right"));
    /// ```
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Checker::try_check`], and if the algorithm does not
    /// search in the required order.
    pub fn verify(
        self,
        preference: Preference,
        program: impl Fn() + 'static,
        mut publish: impl FnMut(&Case) -> ControlFlow<()>,
    ) -> Result<Verified, CheckError> {
        self.settings.contradiction()?;
        let settings = &self.settings;
        if settings.algorithm.verifier(Vec::new()).is_none()
            || settings.options.preemptions.is_some()
        {
            return Err(CheckError::Contradiction(
                "a verification needs the algorithm source, optimal or parsimonious, without a preemption bound",
            ));
        }
        let mut search = Search::new(self, program)?;
        loop {
            if let Some(verified) = search.verify(preference, &mut publish)? {
                return Ok(verified);
            }
        }
    }
}

impl Search {
    /// Verifies the program. Returns `None` if the verification must start again.
    fn verify(
        &mut self,
        preference: Preference,
        publish: &mut dyn FnMut(&Case) -> ControlFlow<()>,
    ) -> Result<Option<Verified>, CheckError> {
        let first = self.first_correct()?;
        let first = match (preference, first) {
            (Preference::FewWaiting, Some(first)) => match self.with_few_waits(first)? {
                None => return Ok(None),
                first => first,
            },
            (_, first) => first,
        };
        let Some(first) = first else {
            let report = self.take_report()?;
            return Ok(Some(Verified { report, case: None }));
        };
        let described = self.model.describe(&first).map_err(diverged)?;
        self.relax(&first, described, publish)
    }

    /// Returns the first correct execution in which each choice takes its first alternative.
    fn first_correct(&mut self) -> Result<Option<Execution>, CheckError> {
        self.strategy = self.settings.algorithm.strategy(Options::default());
        self.restart(None);
        while self.limit_is_left() {
            match self.next_execution()? {
                Next::Ended(Outcome::Completed) => {
                    let execution = self.strategy.execution();
                    if takes_first_alternatives(execution) {
                        return Ok(Some(execution.clone()));
                    }
                }
                Next::Ended(_) | Next::BegunAnew => {}
                Next::Nothing => break,
            }
        }
        Ok(None)
    }

    /// Returns the correct execution with the fewest waits, among the first one and random ones.
    /// Returns `None` if the verification must start again.
    fn with_few_waits(&mut self, first: Execution) -> Result<Option<Execution>, CheckError> {
        let mut best = (first.waiting(), first);
        for algorithm in [Algorithm::Random, Algorithm::Pct] {
            self.strategy = algorithm.strategy(Options::default());
            self.restart(None);
            for _ in 0..CANDIDATES / 2 {
                if !self.limit_is_left() {
                    break;
                }
                let next = self.next_execution()?;
                if next == Next::BegunAnew {
                    return Ok(None);
                }
                let execution = self.strategy.execution();
                if next == Next::Ended(Outcome::Completed) && takes_first_alternatives(execution) {
                    let waiting = execution.waiting();
                    if waiting < best.0 {
                        best = (waiting, execution.clone());
                    }
                }
            }
        }
        Ok(Some(best.1))
    }

    /// Explores from this execution and publishes verified prefixes. Returns `None` if the
    /// verification must start again.
    fn relax(
        &mut self,
        first: &Execution,
        described: Vec<Described>,
        publish: &mut dyn FnMut(&Case) -> ControlFlow<()>,
    ) -> Result<Option<Verified>, CheckError> {
        let guide = first.events().map(|(_, event)| event.thread()).collect();
        let strategy = self.settings.algorithm.verifier(guide);
        self.strategy = strategy.expect("the algorithm was checked before");
        self.restart(None);
        let mut relaxation = Relaxation::new(described);
        let mut is_stopped = false;
        while !is_stopped && self.limit_is_left() {
            let next = self.next_execution()?;
            let is_news = match next {
                Next::BegunAnew => return Ok(None),
                Next::Nothing if self.halt.is_some() => break,
                Next::Nothing => relaxation.exhausted(),
                Next::Ended(outcome) => {
                    let is_cut = outcome == Outcome::Halted && !self.tally.bounds.is_empty();
                    let execution = self.strategy.execution();
                    relaxation.ended(self.beginning, (outcome, is_cut), execution)
                }
            };
            is_stopped = next == Next::Nothing || relaxation.verification.has_failed();
            if is_news
                && relaxation
                    .publish_prefix(self.model.names(), publish)
                    .is_break()
            {
                self.halt.get_or_insert(Limit::Observer);
            }
        }
        self.finish(relaxation, publish)
    }

    fn finish(
        &mut self,
        mut relaxation: Relaxation,
        publish: &mut dyn FnMut(&Case) -> ControlFlow<()>,
    ) -> Result<Option<Verified>, CheckError> {
        let Some(case) = &mut relaxation.case else {
            // The search was stopped before the first execution ended.
            let report = self.take_report()?;
            return Ok(Some(Verified { report, case: None }));
        };
        case.is_complete = case.events_of_prefix == 0;
        let mut case = case.clone();
        let report = self.take_report()?;
        let errors = report.errors.iter();
        case.excluded = errors.map(|error| error.message.clone()).collect();
        // The verification is over, so a request to stop has no effect.
        let _ = publish(&case);
        let case = Some(case);
        Ok(Some(Verified { report, case }))
    }
}

fn takes_first_alternatives(execution: &Execution) -> bool {
    execution.events().all(|(_, event)| event.step.choice == 0)
}

/// A verification, and its published state.
struct Relaxation {
    verification: Verification,
    /// Descriptions of the events of the first execution.
    described: Vec<Described>,
    /// The published threads, in the order of their published numbers.
    threads: Vec<ThreadId>,
    case: Option<Case>,
    executions: u64,
    /// Number of executions needed for the verified prefix.
    needed: u64,
}

impl Relaxation {
    fn new(described: Vec<Described>) -> Relaxation {
        Relaxation {
            verification: Verification::default(),
            described,
            threads: Vec::new(),
            case: None,
            executions: 0,
            needed: 0,
        }
    }

    /// Records an execution that has ended. Returns whether more is verified than before. An
    /// execution that was cut off at a bound is not verified.
    fn ended(
        &mut self,
        beginning: Beginning,
        (outcome, is_cut): (Outcome, bool),
        execution: &Execution,
    ) -> bool {
        if beginning.has_restarted {
            self.verification = Verification::default();
            self.executions = 0;
        }
        let is_first = self.verification.first().is_none();
        let before = self.verification.verified();
        self.verification.begins(beginning.kept);
        let is_news = is_first || self.verification.verified() != before;
        if is_news {
            self.needed = self.executions.max(1);
        }
        self.executions += 1;
        let outcome = match is_cut {
            true => Outcome::Failed,
            false => outcome,
        };
        self.verification.ended(outcome, execution);
        is_news
    }

    /// Records that no execution is left. Returns whether more is verified than before.
    fn exhausted(&mut self) -> bool {
        let before = self.verification.verified();
        self.verification.exhausted();
        self.needed = self.executions;
        self.verification.verified() != before
    }

    /// Publishes the verified prefix.
    fn publish_prefix(
        &mut self,
        names: &Names,
        publish: &mut dyn FnMut(&Case) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(first) = self.verification.first().cloned() else {
            return ControlFlow::Continue(());
        };
        if self.case.is_none() {
            // Runs under this version must know all threads that later versions may mention.
            first
                .events()
                .for_each(|(_, event)| _ = self.point(event.point()));
        }
        let length = self.verification.verified();
        let constraints = self.verification.constraints();
        let constraints: Vec<Constraint> = constraints
            .into_iter()
            .map(|constraint| Constraint {
                first: self.point(constraint.first),
                then: self.point(constraint.then),
            })
            .collect();
        let inside = first.events().take(length);
        let choices = inside.filter(|(_, event)| event.alternatives > 1);
        let choices: Vec<Choice> = choices
            .map(|(_, event)| Choice {
                at: self.point(event.point()),
                alternative: event.step.choice,
            })
            .collect();
        let at_first = self.case.as_ref().map(|case| case.constraints_at_first);
        let case = Case {
            events: self.shown(&constraints, &choices),
            threads: self
                .threads
                .iter()
                .map(|&thread| names.spawn_path(thread))
                .collect(),
            // More conflicts with the execution may be found later.
            constraints_at_first: at_first.unwrap_or(0).max(constraints.len() as u64),
            constraints,
            choices,
            events_of_execution: first.len() as u64,
            events_of_prefix: length as u64,
            executions: self.needed,
            ..Case::default()
        };
        let flow = publish(&case);
        self.case = Some(case);
        flow
    }

    /// Returns the point with the published number of its thread.
    fn point(&mut self, point: explore::Point) -> Point {
        let known = self
            .threads
            .iter()
            .position(|&thread| thread == point.thread);
        let thread = known.unwrap_or_else(|| {
            self.threads.push(point.thread);
            self.threads.len() - 1
        });
        Point {
            thread: thread as u32,
            index: point.index,
        }
    }

    /// Returns descriptions of the events in the constraints and choices.
    fn shown(&self, constraints: &[Constraint], choices: &[Choice]) -> Vec<report::Described> {
        let mut points: Vec<Point> = constraints
            .iter()
            .flat_map(|constraint| [constraint.first, constraint.then])
            .chain(choices.iter().map(|choice| choice.at))
            .collect();
        points.sort_unstable();
        points.dedup();
        let shown = points.into_iter().filter_map(|at| {
            let thread = self.threads[at.thread as usize];
            let mut described = self.described.iter();
            let event =
                described.find(|event| event.at.thread == thread && event.at.index == at.index)?;
            Some(report::Described {
                at,
                operation: event.text.clone(),
                kind: format!("{:?}", event.kind),
                place: event.location.clone(),
            })
        });
        shown.collect()
    }
}
