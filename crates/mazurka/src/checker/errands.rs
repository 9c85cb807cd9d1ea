//! Divides a search among processes. An *errand* is work for another process: it runs a slice (see
//! `part.rs`) or makes the report. Errands and results are sent as bytes.
//!
//! The failures must run again for the report. The process that divides the search has no model of
//! the program, so another process makes the report. A lost errand has no effect and may be
//! repeated.

use super::checkpoint::{State, refused_if_contradictory};
use super::jobs::{Keeper, Work, by_one_job, conclude, indivisible, is_possible};
use super::ledger::{EarlyEnd, Known, Task};
use super::memory::peak_rss_bytes;
use super::part::{End, Found, NamedFailure, Part, Portion, Shown, Slice};
use super::settings::shared_words;
use super::slicing::Sliced;
use super::tally::Tally;
use super::{CheckError, Checker};
use explore::MemoryModel;
use report::{Errands, Limit, Report, Trail, Trailed};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

/// A search that is divided among processes.
#[doc(hidden)]
pub struct Division {
    work: Work,
    keeper: Mutex<Keeper>,
    jobs: usize,
}

/// A slice to run.
#[doc(hidden)]
pub struct Errand<'d> {
    task: Task<'d>,
    time_left: Option<Duration>,
}

/// An errand in serialized form.
#[derive(Serialize, Deserialize)]
enum ErrandMessage {
    Slice {
        part: Part,
        portion: Portion,
        time_left: Option<Duration>,
    },
    /// Requests the report.
    Conclusion {
        known: Box<Known>,
        elapsed_s: f64,
        jobs: usize,
    },
}

/// The result of a slice.
#[derive(Serialize, Deserialize)]
enum Done {
    Slice {
        slice: Box<Slice>,
        peak_rss_bytes: u64,
    },
    /// An error prevented the slice.
    Refused {
        message: String,
        is_nondeterminism: bool,
    },
}

/// The result of an errand.
enum Brought {
    /// The result of a slice, for [`Errand::complete`].
    Slice(Vec<u8>),
    /// The report at the end of the search.
    Report(Box<Report>),
}

impl Checker {
    /// Divides the search among this number of jobs, or returns why it cannot be divided.
    #[doc(hidden)]
    pub fn divide(&self, jobs: usize) -> Result<Result<Division, String>, CheckError> {
        is_possible(jobs)?;
        let settings = &self.settings;
        if let Some(whole) = indivisible(settings) {
            return Ok(Err(by_one_job(&whole)));
        }
        settings.contradiction()?;
        let saved = State::of(settings)?;
        let work = refused_if_contradictory(settings.resume.clone(), || {
            Ok(Work::begin(settings, saved, jobs))
        })?;
        let mut keeper = Keeper::of(settings);
        keeper.save(&work)?;
        Ok(Ok(Division {
            work,
            keeper: Mutex::new(keeper),
            jobs,
        }))
    }

    /// Makes slices end soon when this trail (a file that two processes share) asks for an early
    /// end. Steps are not recorded in the trail.
    ///
    /// # Errors
    /// Returns an error if the file cannot be mapped.
    #[doc(hidden)]
    pub fn with_early_end_by(mut self, trail: &Path) -> Result<Checker, CheckError> {
        self.settings.asks_for_early_end = Some(early_end_by(shared_words(trail)?));
        Ok(self)
    }

    /// Carries out errands until one of them makes the report. Calls `on_result` after each of the
    /// other errands.
    ///
    /// # Errors
    /// Returns an error if the search is over without a report, or if the process that gives the
    /// errands has ended. An error in a slice is returned to that process instead.
    #[doc(hidden)]
    pub fn run_errands(
        mut self,
        errands: &Errands,
        program: impl Fn() + 'static,
        mut on_result: impl FnMut(),
    ) -> Result<Report, CheckError> {
        let gone = |error| {
            CheckError::Misfit(format!(
                "the process that assigns the work has ended: {error}"
            ))
        };
        let mut sliced = Sliced::new(program);
        loop {
            let words = errands.next().map_err(gone)?;
            match self.run_errand(&words, &mut sliced)? {
                Brought::Slice(words) => {
                    errands.store_result(&words).map_err(gone)?;
                    on_result();
                }
                Brought::Report(report) => return Ok(*report),
            }
        }
    }

    fn run_errand(&mut self, words: &[u8], sliced: &mut Sliced) -> Result<Brought, CheckError> {
        let message: ErrandMessage = postcard::from_bytes(words)
            .map_err(|error| CheckError::Misfit(format!("invalid assignment of work: {error}")))?;
        self.settings.trail_words = self.settings.trail_words()?;
        match message {
            ErrandMessage::Slice {
                part,
                portion,
                time_left,
            } => {
                let mut settings = self.settings.of_slices(time_left);
                if let Some(words) = settings.trail_words {
                    settings.asks_for_early_end = Some(early_end_by(words));
                }
                let done = match sliced.slice(&settings, &part, portion, None) {
                    Ok(slice) => Done::Slice {
                        slice: Box::new(slice),
                        peak_rss_bytes: peak_rss_bytes(),
                    },
                    Err(error) => Done::Refused {
                        message: error.to_string(),
                        is_nondeterminism: error.is_nondeterminism(),
                    },
                };
                Ok(Brought::Slice(bytes(&done)))
            }
            ErrandMessage::Conclusion {
                known,
                elapsed_s,
                jobs,
            } => {
                let settings = self.settings.clone();
                let observer = Box::new(());
                let known = *known;
                let mut report = conclude(settings, observer, known, elapsed_s, sliced.program())?;
                report.jobs = jobs;
                Ok(Brought::Report(Box::new(report)))
            }
        }
    }
}

/// Returns a function that checks whether the words of the trail ask for an early end.
fn early_end_by(words: &'static [AtomicU64]) -> Arc<dyn Fn() -> bool + Send + Sync> {
    Arc::new(|| Trail::asks_for_early_end(words))
}

/// Returns the errand with a quarter of its executions, so that it is less likely to be lost again.
/// The first slice of a search, and errands that are not slices, are returned unchanged.
#[doc(hidden)]
pub fn shorter(words: &[u8]) -> Vec<u8> {
    match postcard::from_bytes(words) {
        Ok(ErrandMessage::Slice {
            part,
            mut portion,
            time_left,
        }) if !part.is_first() => {
            portion.executions = (portion.executions / 4).max(1);
            bytes(&ErrandMessage::Slice {
                part,
                portion,
                time_left,
            })
        }
        _ => words.to_vec(),
    }
}

fn bytes(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("plain data is serializable")
}

impl Errand<'_> {
    /// Returns the errand as bytes, for the process that carries it out.
    pub fn words(&self) -> Vec<u8> {
        bytes(&ErrandMessage::Slice {
            part: self.task.part.clone(),
            portion: self.task.portion,
            time_left: self.time_left,
        })
    }

    /// Takes the result of a process. Returns the peak of that process's resident memory in bytes,
    /// or `None` if the process did not run the slice.
    pub fn complete(self, words: &[u8]) -> Option<u64> {
        let (done, peak) = match postcard::from_bytes(words) {
            Ok(Done::Slice {
                slice,
                peak_rss_bytes,
            }) => (Ok(*slice), Some(peak_rss_bytes)),
            Ok(Done::Refused {
                message,
                is_nondeterminism,
            }) => {
                let error = CheckError::Elsewhere {
                    message,
                    is_nondeterminism,
                };
                (Err(error), None)
            }
            Err(error) => {
                let what = format!("the result of a job cannot be read: {error}");
                (Err(CheckError::Misfit(what)), None)
            }
        };
        self.task.complete(done);
        peak
    }

    /// Records that the process was ended for this reason during the errand. `trailed` has the
    /// results that it left in its trail.
    pub fn break_off(self, trailed: &Trailed, limit: Limit) {
        let failures = trailed.sighted.iter().map(|sighted| NamedFailure {
            position: self.task.part.position.clone(),
            shown: Shown::sighted(sighted),
            shortest: None,
            extra: 0,
        });
        let found = Found {
            tally: Tally::of(&trailed.counts),
            failures: failures.collect(),
            ..Found::default()
        };
        self.task.complete(Ok(Slice {
            found,
            rest: Vec::new(),
            anew: None,
            end: End::BrokenOff(limit),
            elapsed_s: 0.0,
            spin: None,
        }));
    }
}

impl Division {
    /// Waits for the next errand. Returns `None` if the search is over. Until the errand is done,
    /// calling `early_end` asks its process to finish soon.
    pub fn take(&self, early_end: EarlyEnd) -> Option<Errand<'_>> {
        Some(Errand {
            task: self.work.ledger.take(early_end)?,
            time_left: self.work.time_left(),
        })
    }

    /// Returns the number of jobs.
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// Returns the next errand as [`take`](Division::take) does, without waiting. The result is
    /// pending if there is no errand now but there may be one later.
    pub fn poll(&self) -> Poll<Option<Errand<'_>>> {
        self.work.ledger.poll().map(|task| {
            Some(Errand {
                task: task?,
                time_left: self.work.time_left(),
            })
        })
    }

    /// Sets the minimum and maximum duration of later slices.
    pub fn set_pace(&self, pace: RangeInclusive<Duration>) {
        self.work.ledger.set_pace(pace);
    }

    /// Sets the number of jobs.
    pub fn set_jobs(&self, jobs: usize) {
        self.work.ledger.set_jobs(jobs);
    }

    /// Checks whether there is work for more than one job.
    pub fn has_parts(&self) -> bool {
        self.work.ledger.has_parts()
    }

    /// Checks whether the jobs must stop.
    pub fn is_stopped(&self) -> bool {
        self.work.ledger.stop.load(Relaxed)
    }

    /// Stops the search for this reason.
    pub fn halt(&self, limit: Limit) {
        self.work.ledger.halt(limit);
    }

    /// Returns the rest of the time limit, if there is one.
    pub fn time_left(&self) -> Option<Duration> {
        self.work.time_left()
    }

    /// Returns the number of executions and, if known, the fraction of the search that is done.
    pub fn progress(&self) -> (u64, Option<f64>) {
        self.work.progress()
    }

    /// Returns the results so far, in the form that a process leaves in its trail.
    pub fn trailed(&self) -> Trailed {
        let known = self.work.ledger.so_far();
        let failures = known.failures.into_iter();
        let sighted = failures.map(|(failure, number)| failure.shown.into_sighted(number));
        let mut tally = known.found.tally.clone();
        tally.add(&known.broken_off);
        Trailed {
            execution: tally.runs(),
            counts: tally.counts(),
            coarse: known.names.save_coarse(),
            memory: known
                .names
                .chosen_memory()
                .map_or(MemoryModel::Sc, |(memory, _)| memory),
            steps: Vec::new(),
            sighted: sighted.collect(),
        }
    }

    /// Saves the state of the search if a checkpoint is set and enough executions were counted
    /// since the last save.
    ///
    /// # Errors
    /// Returns an error if the first save fails. The search then ends. If a later save fails, the
    /// search continues, and [`unsaved`](Division::unsaved) returns a warning.
    pub fn save(&self) -> Result<(), CheckError> {
        let keeper = self.keeper.lock();
        let mut keeper = keeper.unwrap_or_else(PoisonError::into_inner);
        keeper.save_in_time(&self.work)
    }

    /// Returns the warning for the report if the last state could not be saved.
    pub fn unsaved(&self) -> Option<String> {
        let keeper = self.keeper.lock();
        keeper.unwrap_or_else(PoisonError::into_inner).unsaved()
    }

    /// Returns the duration of the search, in seconds.
    pub fn elapsed_s(&self) -> f64 {
        self.work.elapsed_s()
    }

    /// Ends the search. Returns an errand that makes the report.
    ///
    /// # Errors
    /// Returns the error that ended the search.
    pub fn close(self) -> Result<Vec<u8>, CheckError> {
        let elapsed_s = self.work.elapsed_s();
        Ok(bytes(&ErrandMessage::Conclusion {
            known: Box::new(self.work.ledger.close()?),
            elapsed_s,
            jobs: self.jobs,
        }))
    }
}
