//! Divided searches whose slices are done by other processes: an errand is a slice in bytes, and so is what it brings.
//!
//! The process that divides the search has no model of the program. Even the report is put together by one that has: failures
//! are run once more for it. What is done of an errand that is lost counts for nothing, and it may be done again.

use super::checkpoint::{State, refused_if_contradictory};
use super::jobs::{Keeper, Work, by_one_job, conclude, indivisible, is_possible};
use super::ledger::{Haste, Known, Task};
use super::memory::peak_rss_bytes;
use super::part::{End, Found, Met, Part, Portion, Shown, Slice};
use super::settings::shared_words;
use super::slicing::Sliced;
use super::tally::Tally;
use super::{CheckError, Checker};
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

/// A slice that is to be done.
#[doc(hidden)]
pub struct Errand<'d> {
    task: Task<'d>,
    time_left: Option<Duration>,
}

/// An errand in words.
#[derive(Serialize, Deserialize)]
enum Told {
    Slice {
        part: Part,
        portion: Portion,
        time_left: Option<Duration>,
    },
    Conclusion {
        known: Box<Known>,
        elapsed_s: f64,
        jobs: usize,
    },
}

/// What has become of a slice.
#[derive(Serialize, Deserialize)]
enum Done {
    Slice {
        slice: Box<Slice>,
        peak_rss_bytes: u64,
    },
    Refused {
        message: String,
        is_nondeterminism: bool,
    },
}

/// What an errand comes to.
enum Brought {
    /// What became of a slice, for [`Errand::bring`].
    Slice(Vec<u8>),
    /// The end of the search.
    Report(Box<Report>),
}

impl Checker {
    /// Divides the search among so many jobs, or says why it cannot be.
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

    /// Its slices end soon when this trail asks for haste. No steps are kept in it.
    ///
    /// # Errors
    /// If the file cannot be mapped.
    #[doc(hidden)]
    pub fn hurried_by(mut self, trail: &Path) -> Result<Checker, CheckError> {
        self.settings.asks_for_haste = Some(haste_by(shared_words(trail)?));
        Ok(self)
    }

    /// Does errands until one makes the report. `tell` says that one is done before.
    ///
    /// # Errors
    /// If the search is over and has no report, or the process that gives the errands has ended. What goes wrong in a slice is
    /// brought back.
    #[doc(hidden)]
    pub fn run_errands(
        mut self,
        errands: &Errands,
        program: impl Fn() + 'static,
        mut tell: impl FnMut(),
    ) -> Result<Report, CheckError> {
        let gone = |error| CheckError::Misfit(format!("who gives the errands is gone: {error}"));
        let mut sliced = Sliced::new(program);
        loop {
            let words = errands.next().map_err(gone)?;
            match self.run_errand(&words, &mut sliced)? {
                Brought::Slice(words) => {
                    errands.bring(&words).map_err(gone)?;
                    tell();
                }
                Brought::Report(report) => return Ok(*report),
            }
        }
    }

    fn run_errand(&mut self, words: &[u8], sliced: &mut Sliced) -> Result<Brought, CheckError> {
        let told: Told = postcard::from_bytes(words)
            .map_err(|error| CheckError::Misfit(format!("no errand: {error}")))?;
        self.settings.trail_words = self.settings.trail_words()?;
        match told {
            Told::Slice {
                part,
                portion,
                time_left,
            } => {
                let mut settings = self.settings.of_slices(time_left);
                if let Some(words) = settings.trail_words {
                    settings.asks_for_haste = Some(haste_by(words));
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
            Told::Conclusion {
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

/// What asks for haste by the words of the trail.
fn haste_by(words: &'static [AtomicU64]) -> Arc<dyn Fn() -> bool + Send + Sync> {
    Arc::new(|| Trail::asks_for_haste(words))
}

/// The same errand with a quarter of its executions, for another attempt: a slice that takes less time is less likely to be lost.
#[doc(hidden)]
pub fn shorter(words: &[u8]) -> Vec<u8> {
    match postcard::from_bytes(words) {
        Ok(Told::Slice {
            part,
            mut portion,
            time_left,
        }) if !part.is_first() => {
            portion.executions = (portion.executions / 4).max(1);
            bytes(&Told::Slice {
                part,
                portion,
                time_left,
            })
        }
        _ => words.to_vec(),
    }
}

fn bytes(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("plain data is serialisable")
}

impl Errand<'_> {
    /// The errand for the process that does it.
    pub fn words(&self) -> Vec<u8> {
        bytes(&Told::Slice {
            part: self.task.part.clone(),
            portion: self.task.portion,
            time_left: self.time_left,
        })
    }

    /// Takes what a process has brought, and tells the peak of its resident memory in bytes.
    pub fn bring(self, words: &[u8]) -> Option<u64> {
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
                let what = format!("what a job brought cannot be read: {error}");
                (Err(CheckError::Misfit(what)), None)
            }
        };
        self.task.bring(done);
        peak
    }

    /// The process was ended for this reason in the middle of it, and had done this.
    pub fn break_off(self, trailed: &Trailed, limit: Limit) {
        let met = trailed.sighted.iter().map(|sighted| Met {
            position: self.task.part.position.clone(),
            shown: Shown::sighted(sighted),
            shortest: None,
            extra: 0,
        });
        let found = Found {
            tally: Tally::of(&trailed.counts),
            met: met.collect(),
            ..Found::default()
        };
        self.task.bring(Ok(Slice {
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
    /// The next errand, which may have to be waited for; none if the search is over. While it is done, `haste` asks whoever does it to
    /// end it soon.
    pub fn take(&self, haste: Haste) -> Option<Errand<'_>> {
        Some(Errand {
            task: self.work.ledger.take(haste)?,
            time_left: self.work.time_left(),
        })
    }

    /// How many jobs there are.
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// The same without waiting.
    pub fn poll(&self) -> Poll<Option<Errand<'_>>> {
        self.work.ledger.poll().map(|task| {
            Some(Errand {
                task: task?,
                time_left: self.work.time_left(),
            })
        })
    }

    /// How long a slice takes from now on, at least and at most.
    pub fn set_pace(&self, pace: RangeInclusive<Duration>) {
        self.work.ledger.set_pace(pace);
    }

    /// There are so many jobs from now on.
    pub fn set_jobs(&self, jobs: usize) {
        self.work.ledger.set_jobs(jobs);
    }

    /// Whether more than one job has something to do.
    pub fn has_parts(&self) -> bool {
        self.work.ledger.has_parts()
    }

    /// Whether the jobs are to stop.
    pub fn is_stopped(&self) -> bool {
        self.work.ledger.stop.load(Relaxed)
    }

    /// Stops the search for this reason.
    pub fn halt(&self, limit: Limit) {
        self.work.ledger.halt(limit);
    }

    /// What is left of the limit of time, if there is one.
    pub fn time_left(&self) -> Option<Duration> {
        self.work.time_left()
    }

    /// How far it is: executions, and the part that is done, if that can be told.
    pub fn progress(&self) -> (u64, Option<f64>) {
        self.work.progress()
    }

    /// What was found until now, as a process would leave it.
    pub fn trailed(&self) -> Trailed {
        let known = self.work.ledger.so_far();
        let met = known.met.into_iter();
        let sighted = met.map(|(met, number)| met.shown.into_sighted(number));
        let mut tally = known.found.tally.clone();
        tally.add(&known.broken_off);
        Trailed {
            execution: tally.runs(),
            counts: tally.counts(),
            coarse: known.names.save_coarse(),
            steps: Vec::new(),
            sighted: sighted.collect(),
        }
    }

    /// Saves the state of the search if there is something new, and it is to be saved.
    ///
    /// # Errors
    /// If that fails, which ends the search.
    pub fn save(&self) -> Result<(), CheckError> {
        let keeper = self.keeper.lock();
        let mut keeper = keeper.unwrap_or_else(PoisonError::into_inner);
        keeper.save_in_time(&self.work)
    }

    /// What the search has taken, in seconds.
    pub fn elapsed_s(&self) -> f64 {
        self.work.elapsed_s()
    }

    /// What is left of a search that is over: an errand that makes the report.
    ///
    /// # Errors
    /// What ended it.
    pub fn close(self) -> Result<Vec<u8>, CheckError> {
        let elapsed_s = self.work.elapsed_s();
        Ok(bytes(&Told::Conclusion {
            known: Box::new(self.work.ledger.close()?),
            elapsed_s,
            jobs: self.jobs,
        }))
    }
}
