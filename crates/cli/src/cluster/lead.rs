//! Leads a job: gives errands out, accepts their results, and saves the rest of the search.

use super::job::{Job, Lead, Outcome, lead, read, report, written};
use crate::crew::{Trouble, finish};
use crate::fatality;
use crate::refusal::Refusal;
use crate::runner::{ATTEMPTS, Executable};
use cluster::{Cluster, LEASE, Load, Message, Place, Queue};
use mazurka::{Checker, Division, Errand};
use native::Answer;
use report::{Limit, Trailed};
use std::collections::HashMap;
use std::fs;
use std::ops::RangeInclusive;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::AtomicBool;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Bounds on the length of a slice, however many workers there are. Shorter slices would waste
/// time, because the server and the network cause a delay between two slices.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(60);

/// Upper bound on the length of a slice unless many workers make longer slices necessary.
const USUAL: Duration = Duration::from_millis(500);

/// The factor by which the estimate of the leader's work per slice may grow each second. Otherwise
/// the estimate is the minimum of all measurements. A measurement is too high when few slices
/// arrive at once.
const GROWTH: f64 = 1.01;

/// How long the leader waits for results at a time.
const RESULTS_TIMEOUT: Duration = Duration::from_millis(100);

/// The interval between two heartbeats. If the leader dies, the work since its last heartbeat is
/// lost.
const BEAT: Duration = Duration::from_secs(1);

/// Errands count as lost if the server reports none in progress at more than this many heartbeats
/// in a row.
const MOST_SILENT: u32 = 5;

/// Maximum number of messages taken at once.
const MOST: usize = 256;

/// A job that this worker leads.
pub struct Leader<'l> {
    pub cluster: &'l Cluster,
    pub id: &'l str,
    pub job: &'l Job,
    pub executable: &'l Executable,
    pub lead: Lead,
    /// The revision of the leader's record on the server that this worker wrote last.
    pub revision: u64,
    /// Set when this worker must stop.
    pub stop: &'l AtomicBool,
}

/// Whether this worker still leads the job.
enum Leads {
    Still,
    NoMore,
}

impl Leader<'_> {
    /// Leads the job until it is done or gone, or another worker leads it.
    pub fn lead(mut self, folder: &Path) -> Result<(), Refusal> {
        let answer = match self.search(folder) {
            Ok(Some(answer)) => answer,
            Ok(None) => return self.clean_up(),
            Err(refusal @ Refusal::Cluster(_)) => return Err(refusal),
            Err(refusal) => {
                Answer::Refused(without_name(&refusal.to_string(), &self.job.order.name))
            }
        };
        self.cluster
            .store(&report(self.id), answer.line().as_bytes())?;
        self.lead.is_done = true;
        self.lead.state = None;
        if let Leads::Still = self.beat()? {
            self.cluster.purge(&self.job.version, self.id)?;
            self.cluster.close_results(self.id);
            for part in ["state", "file", "Errand", "Result"] {
                self.cluster.remove_files(&format!("{}.{part}.", self.id))?;
            }
        }
        self.clean_up()
    }

    /// Removes all data of a job that is gone from the server, including data written just now.
    fn clean_up(&self) -> Result<(), Refusal> {
        if Job::of(self.cluster, self.id)?.is_none() {
            self.cluster.purge(&self.job.version, self.id)?;
            self.cluster.close_results(self.id);
            self.cluster.remove_files(&format!("{}.", self.id))?;
        }
        Ok(())
    }

    /// Returns the answer of the search, or `None` if this worker no longer leads the job.
    fn search(&mut self, folder: &Path) -> Result<Option<Answer>, Refusal> {
        let refused = |error| Refusal::Check {
            program: self.job.order.name.clone(),
            error,
        };
        let mut order = self.job.order.clone();
        let saved = folder.join("state");
        let (began, before) = (Instant::now(), self.lead.took);
        order.time_limit = order.time_limit.map(|limit| limit.saturating_sub(before));
        order.resume = None;
        if let Some(state) = &self.lead.state {
            let content = self.cluster.load(state)?.unwrap_or_default();
            fs::write(&saved, content).map_err(scratch)?;
            order.resume = Some(saved.clone());
        }
        order.checkpoint = Some(saved.clone());
        let checker = Checker::ordered(&order)
            .waiting_after_main(self.job.is_native())
            .by(&order.algorithm);
        let division = checker
            .and_then(|checker| checker.divide(2))
            .map_err(refused)?;
        let Ok(division) = division else {
            return Ok(Some(Answer::Refused(
                "this search cannot be divided".to_owned(),
            )));
        };
        division.set_pace(SHORTEST..=USUAL);
        // Messages of earlier terms are useless.
        self.cluster.purge(&self.job.version, self.id)?;
        let results = self.cluster.results(self.id)?;
        let workers = self.cluster.errands(&self.job.version)?;
        let trouble = {
            let mut round = Round {
                leader: &mut *self,
                division: &division,
                began,
                before,
                given: HashMap::new(),
                number: 0,
                silent: 0,
                trouble: None,
                warnings: Vec::new(),
            };
            match round.run(&results, &workers, &saved)? {
                Leads::Still => (round.trouble, round.warnings),
                Leads::NoMore => return Ok(None),
            }
        };
        let (trouble, warnings) = trouble;
        let order = native::Order {
            time_limit: self.job.order.time_limit,
            checkpoint: None,
            // The report must not mention that the search was resumed.
            resume: None,
            ..order
        };
        let mut report = finish(
            division,
            trouble,
            (self.executable, &order),
            None,
            self.stop,
        )?;
        report.warnings.extend(warnings);
        report.jobs = self.lead.jobs.max(1);
        Ok(Some(Answer::of(report)))
    }

    /// Announces that this worker is alive, and the state that it saved.
    fn beat(&mut self) -> Result<Leads, Refusal> {
        self.lead.beat += 1;
        let record = written(&self.lead);
        match self
            .cluster
            .replace(&lead(self.id), &record, self.revision)?
        {
            Some(revision) => {
                self.revision = revision;
                Ok(Leads::Still)
            }
            None => Ok(Leads::NoMore),
        }
    }
}

/// A term in which this worker leads.
struct Round<'l, 'w, 'd> {
    leader: &'l mut Leader<'w>,
    division: &'d Division,
    began: Instant,
    /// The search time of earlier leaders.
    before: Duration,
    /// The errands that workers have not completed yet, by number.
    given: HashMap<u64, Errand<'d>>,
    number: u64,
    /// The number of heartbeats in a row at which no errand was in progress.
    silent: u32,
    trouble: Option<Trouble>,
    warnings: Vec<String>,
}

impl<'d> Round<'_, '_, 'd> {
    /// Runs until no errand is left or this worker no longer leads.
    fn run(&mut self, results: &Queue, workers: &Queue, saved: &Path) -> Result<Leads, Refusal> {
        let mut beaten = None::<Instant>;
        let mut most = 2;
        let (mut busy, mut slices) = (Duration::ZERO, 0_u32);
        let mut each = None::<Duration>;
        loop {
            if beaten.is_none_or(|beaten| beaten.elapsed() >= BEAT) {
                let load = self.leader.cluster.load_of(workers)?;
                let jobs = (load.under_way + load.idle).max(1);
                self.division.set_jobs(jobs);
                self.leader.lead.jobs = self.leader.lead.jobs.max(jobs);
                self.give_again_what_is_lost(load, [workers, results])?;
                most = jobs + jobs / 2 + 1;
                if let Some(now) = busy.checked_div(slices) {
                    each = Some(each.map_or(now, |least| now.min(least.mul_f64(GROWTH))));
                }
                let each = each.unwrap_or_default();
                self.division.set_pace(pace(each, self.given.len(), jobs));
                (busy, slices) = (Duration::ZERO, 0);
                if let Leads::NoMore = self.save(saved)? {
                    return Ok(Leads::NoMore);
                }
                beaten = Some(Instant::now());
            }
            if self.division.time_left() == Some(Duration::ZERO) {
                self.division.halt(Limit::Time);
            }
            if self.leader.stop.load(std::sync::atomic::Ordering::Relaxed) {
                return Ok(Leads::NoMore);
            }
            let began = Instant::now();
            if self.give(most)? {
                break;
            }
            busy += began.elapsed();
            let brought = self.leader.cluster.take(results, MOST, RESULTS_TIMEOUT)?;
            if !brought.is_empty() {
                self.silent = 0;
            }
            let began = Instant::now();
            for message in &brought {
                self.take(message);
                self.leader.cluster.settle(message)?;
            }
            busy += began.elapsed();
            slices += u32::try_from(brought.len()).unwrap_or(u32::MAX);
        }
        Ok(Leads::Still)
    }

    /// Gives errands to workers until `most` are in progress. Returns whether the search is over.
    fn give(&mut self, most: usize) -> Result<bool, Refusal> {
        let mut errands = Vec::new();
        while self.given.len() + errands.len() < most {
            match self.division.poll() {
                Poll::Pending => break,
                Poll::Ready(None) => return Ok(true),
                Poll::Ready(Some(errand)) => errands.push(errand),
            }
        }
        self.leave(errands)?;
        Ok(self.division.is_stopped())
    }

    /// Puts errands on the server, each with its own number.
    fn leave(&mut self, errands: Vec<Errand<'d>>) -> Result<(), Refusal> {
        let Leader {
            cluster,
            id,
            job,
            lead,
            ..
        } = &*self.leader;
        let mut messages = Vec::new();
        for errand in errands {
            self.number += 1;
            messages.push((format!("{}-{}", lead.term, self.number), errand.words()));
            self.given.insert(self.number, errand);
        }
        Ok(cluster.leave((Place::Errand, &job.version, id), &messages)?)
    }

    /// Gives all errands out again if the server has lost them or their results, because a killed
    /// server loses unwritten data. A sign of this is that the server repeatedly reports no errand
    /// in progress although workers wait.
    fn give_again_what_is_lost(&mut self, load: Load, queues: [&Queue; 2]) -> Result<(), Refusal> {
        let is_lost = load.under_way == 0 && load.idle > 0 && !self.given.is_empty();
        self.silent = if is_lost { self.silent + 1 } else { 0 };
        if self.silent > MOST_SILENT {
            self.silent = 0;
            let Leader {
                cluster, job, id, ..
            } = &*self.leader;
            cluster.purge(&job.version, id)?;
            for queue in queues {
                cluster.open_anew(queue)?;
            }
            let lost = std::mem::take(&mut self.given).into_values();
            self.leave(lost.collect())?;
        }
        Ok(())
    }

    /// Accepts the outcome of an errand, unless it is already settled or belongs to an earlier
    /// term.
    fn take(&mut self, message: &Message) {
        let Some((term, number)) = message.name.split_once('-') else {
            return;
        };
        let (Ok(term), Ok(number)) = (term.parse::<u64>(), number.parse::<u64>()) else {
            return;
        };
        if self.leader.lead.term != term {
            return;
        }
        let Some(errand) = self.given.remove(&number) else {
            return;
        };
        match read::<Outcome>(&message.content) {
            Some(Outcome::Brought(words)) => _ = errand.complete(&words),
            Some(Outcome::Crashed(trailed, status)) => {
                errand.break_off(&trailed, Limit::Interrupted);
                let ended = ExitStatus::from_raw(status);
                self.record_trouble(Trouble::Crashed(Box::new(trailed), ended));
            }
            Some(Outcome::Lost(trailed, status)) => self.lose(errand, &trailed, status),
            Some(Outcome::Refused(reason)) => {
                let program = self.leader.job.order.name.clone();
                self.record_trouble(Trouble::Refused(Box::new(Refusal::Worker {
                    program,
                    reason,
                })));
            }
            None => self.lose(errand, &Trailed::default(), 0),
        }
    }

    fn lose(&mut self, errand: Errand<'_>, trailed: &Trailed, status: i32) {
        errand.break_off(trailed, Limit::Interrupted);
        let ended = ExitStatus::from_raw(status);
        let warnings = fatality::warnings_of_lost(trailed, ended, ATTEMPTS);
        self.warnings.extend(warnings);
        self.record_trouble(Trouble::Lost);
    }

    fn record_trouble(&mut self, trouble: Trouble) {
        self.trouble.get_or_insert(trouble);
        self.division.halt(Limit::Interrupted);
    }

    /// Saves the rest of the search on the server, and announces that this worker is alive.
    fn save(&mut self, saved: &Path) -> Result<Leads, Refusal> {
        let leader = &mut *self.leader;
        let refused = |error| Refusal::Check {
            program: leader.job.order.name.clone(),
            error,
        };
        let (executions, done) = self.division.progress();
        let old = leader.lead.state.clone();
        let is_new = old.is_none() || executions != leader.lead.executions;
        if is_new {
            self.division.save().map_err(refused)?;
            let content = fs::read(saved).map_err(scratch)?;
            let state = format!(
                "{}.state.{}.{}",
                leader.id, leader.lead.term, leader.lead.beat
            );
            leader.cluster.store(&state, &content)?;
            leader.lead.state = Some(state);
        }
        (leader.lead.executions, leader.lead.done) = (executions, done);
        leader.lead.took = self.before + self.began.elapsed();
        let leads = leader.beat()?;
        if let (Leads::Still, true, Some(old)) = (&leads, is_new, old) {
            leader.cluster.remove_file(&old)?;
        }
        Ok(leads)
    }
}

impl Job {
    fn is_native(&self) -> bool {
        matches!(self.program, super::Program::Executable { .. })
    }
}

/// Returns the bounds on the length of a slice. The leader needs the time `each` for every slice.
/// If slices have the minimum length, the leader is busy for a quarter of the time with `under_way`
/// errands in progress. If they have the maximum length, it is busy for an eighth of the time with
/// one errand per job.
fn pace(each: Duration, under_way: usize, jobs: usize) -> RangeInclusive<Duration> {
    let times = |count: usize| each.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
    let short = times(4 * under_way).clamp(SHORTEST, LONGEST);
    short..=times(8 * jobs).clamp(USUAL.max(short), LONGEST)
}

/// Another worker takes over when the leader has sent no heartbeat for this long.
pub const SILENCE: Duration = Duration::from_secs(2 * LEASE.as_secs());

fn scratch(error: std::io::Error) -> Refusal {
    Refusal::System {
        what: "write to the scratch folder",
        error,
    }
}

/// Removes the name of the program, which is shown before the text anyway.
fn without_name(text: &str, name: &str) -> String {
    let rest = text
        .strip_prefix(name)
        .and_then(|text| text.strip_prefix(": "));
    rest.unwrap_or(text).to_owned()
}
