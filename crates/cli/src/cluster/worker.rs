//! `mazurka worker`: carries out errands of jobs on a server, and leads jobs that have no leader.

use super::job::{Job, Lead, Outcome, lead, read, version, written};
use super::lead::{Leader, SILENCE};
use crate::arguments::WorkerOptions;
use crate::refusal::Refusal;
use crate::runner::{Carried, Executable, Runner};
use crate::{Done, interruption, terminal};
use cluster::{Cluster, ClusterError, LEASE, Message, Place, Queue};
use native::Order;
use report::Trailed;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

/// How long a worker waits for an errand at a time.
const WAIT: Duration = Duration::from_secs(2);

/// Interval between two checks for jobs without a leader.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// After this number of deliveries without a result, an errand counts as lost.
const DELIVERIES: u64 = 20;

/// A process without an errand ends after this time.
const IDLE: Duration = Duration::from_secs(10);

/// Carries out errands until it is interrupted or fails.
pub fn work(options: &WorkerOptions) -> Done {
    if !options.as_root && is_root() {
        return Err(Refusal::Root);
    }
    let stop = interruption::gentle_flag(false)?;
    let cluster = options.server.connect()?.until(Arc::clone(&stop));
    let scratch = tempfile::tempdir().map_err(|error| Refusal::System {
        what: "create a scratch folder",
        error,
    })?;
    std::env::set_current_dir(scratch.path()).map_err(|error| Refusal::System {
        what: "change to the scratch folder",
        error,
    })?;
    let version = version()?;
    let shop = Workshop {
        errands: cluster.errands(&version)?,
        cluster,
        version,
        folder: scratch.path().to_owned(),
        jobs: Mutex::default(),
        stop,
        trouble: Mutex::default(),
    };
    terminal::complain(&format!(
        "{}: waiting for jobs, with {} parallel tasks",
        cluster::without_password(&options.server.url),
        options.number()
    ));
    thread::scope(|scope| {
        for _ in 0..options.number() {
            scope.spawn(|| shop.ends_with(shop.do_errands()));
        }
        shop.ends_with(shop.find_jobs(scope));
    });
    let trouble = shop.trouble.into_inner();
    match trouble.unwrap_or_else(PoisonError::into_inner) {
        Some(refusal) => Err(refusal),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Checks whether this process runs as root.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

/// The data that the threads of a worker share.
struct Workshop {
    cluster: Cluster,
    version: String,
    errands: Queue,
    folder: PathBuf,
    /// The known jobs, without those that are gone. `None` for a job that this machine cannot run.
    jobs: Mutex<HashMap<String, Option<Arc<AtHand>>>>,
    stop: Arc<AtomicBool>,
    /// The reason why this worker ends.
    trouble: Mutex<Option<Refusal>>,
}

/// A job whose program is on this machine.
struct AtHand {
    job: Job,
    /// The order that processes get.
    order: Order,
    executable: Executable,
}

impl Workshop {
    fn stops(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Stops the worker if one of its threads has failed, for example because the server failed.
    fn ends_with(&self, result: Result<(), Refusal>) {
        match result {
            // A signal stops this worker.
            Ok(()) | Err(Refusal::Cluster(ClusterError::Interrupted { .. })) => {}
            Err(refusal) => {
                let trouble = self.trouble.lock();
                trouble
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(refusal);
                self.stop.store(true, Relaxed);
            }
        }
    }

    /// Returns the job with its program. Returns `None` if the job is gone or cannot be run on this
    /// machine.
    fn at_hand(&self, id: &str) -> Result<Option<Arc<AtHand>>, Refusal> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = jobs.get(id) {
            return Ok(known.clone());
        }
        let Some(job) = Job::of(&self.cluster, id)? else {
            return Ok(None);
        };
        let fetched = match job.version == self.version {
            true => job
                .program
                .fetch(&self.cluster, id, &self.folder.join(id))?,
            false => Some(Err(format!(
                "it was submitted by another version of mazurka ({}; this is {})",
                job.version, self.version
            ))),
        };
        let known = match fetched {
            None => return Ok(None),
            Some(Ok(executable)) => Some(Arc::new(AtHand {
                order: Order {
                    checkpoint: None,
                    resume: None,
                    ..job.order.clone()
                },
                job,
                executable,
            })),
            Some(Err(why)) => {
                terminal::complain(&format!("job {id} is left to other workers: {why}"));
                None
            }
        };
        jobs.insert(id.to_owned(), known.clone());
        Ok(known)
    }

    /// Carries out errands, in one process at a time.
    fn do_errands(&self) -> Result<(), Refusal> {
        let mut next: Option<Message> = None;
        while !self.stops() {
            let message = match next.take() {
                Some(message) => Some(message),
                None => self.cluster.take(&self.errands, 1, WAIT)?.pop(),
            };
            let Some(message) = message else {
                continue;
            };
            let id = message.job.clone();
            match self.at_hand(&id)? {
                Some(hand) => next = self.serve(&id, &hand, message)?,
                // Errands of a job that is gone are dropped. Errands that this machine cannot run
                // go to another worker.
                None if !Job::exists(&self.cluster, &id)? => self.cluster.settle(&message)?,
                None => {}
            }
        }
        Ok(())
    }

    /// Carries out this errand and the next ones of the same job, until an errand of another job
    /// arrives. Returns that errand, or `None` if no errand arrives for some time or the worker
    /// stops.
    fn serve(&self, id: &str, hand: &AtHand, first: Message) -> Result<Option<Message>, Refusal> {
        let mut runner = Runner {
            executable: &hand.executable,
            order: &hand.order,
            stop: &self.stop,
            guard: None,
            ended: 0,
        };
        let mut message = first;
        let mut idle = Instant::now();
        loop {
            if let Some(outcome) = self.outcome(&mut runner, &message) {
                let place = (Place::Result, self.version.as_str(), id);
                let result = (message.name.clone(), written(&outcome));
                self.cluster.leave(place, &[result])?;
                self.cluster.settle(&message)?;
                idle = Instant::now();
            }
            message = loop {
                if self.stops() || idle.elapsed() > IDLE {
                    return Ok(None);
                }
                match self.cluster.take(&self.errands, 1, WAIT)?.pop() {
                    Some(next) if next.job == id => break next,
                    Some(other) => return Ok(Some(other)),
                    None => {}
                }
            };
        }
    }

    /// Returns the outcome of the errand, or `None` if this worker stops first.
    fn outcome(&self, runner: &mut Runner<'_>, message: &Message) -> Option<Outcome> {
        if message.delivered > DELIVERIES {
            return Some(Outcome::Lost(Trailed::default(), 0));
        }
        let renewed = Cell::new(Instant::now());
        let stops = || {
            if renewed.get().elapsed() > LEASE / 3 {
                self.cluster.renew(message);
                renewed.set(Instant::now());
            }
            self.stops()
        };
        match runner.carry_out(&message.content, stops) {
            Ok(_) if self.stops() => None,
            Ok(Carried::Brought(words)) => Some(Outcome::Brought(words)),
            Ok(Carried::Crashed(trailed, ended)) => {
                Some(Outcome::Crashed(trailed, ended.into_raw()))
            }
            Ok(Carried::Lost(trailed, ended)) => Some(Outcome::Lost(trailed, ended.into_raw())),
            Ok(Carried::Stopped(..)) => None,
            Err(Refusal::Worker { reason, .. }) => Some(Outcome::Refused(reason)),
            Err(refusal) => Some(Outcome::Refused(refusal.to_string())),
        }
    }

    /// Leads jobs that have no leader.
    fn find_jobs<'s>(&'s self, scope: &'s Scope<'s, '_>) -> Result<(), Refusal> {
        let mut seen: HashMap<String, (u64, Instant)> = HashMap::new();
        let mine: Arc<Mutex<HashSet<String>>> = Arc::default();
        while !self.stops() {
            let names = self.cluster.records("lead")?;
            seen.retain(|name, _| names.contains(name));
            self.forget(&names);
            for name in names {
                let Some((record, revision)) = self.cluster.record(&name)? else {
                    continue;
                };
                let led: Lead = read(&record).unwrap_or_default();
                let entry = seen
                    .entry(name.clone())
                    .or_insert((revision, Instant::now()));
                if entry.0 != revision {
                    *entry = (revision, Instant::now());
                }
                let is_led = led.term > 0 && entry.1.elapsed() < SILENCE;
                let lock = || mine.lock().unwrap_or_else(PoisonError::into_inner);
                if led.is_done || is_led || lock().contains(&name) {
                    continue;
                }
                let id = name.trim_start_matches("lead.").to_owned();
                let Some(hand) = self.at_hand(&id)? else {
                    continue;
                };
                let led = Lead {
                    term: led.term + 1,
                    ..led
                };
                if let Some(revision) =
                    self.cluster.replace(&lead(&id), &written(&led), revision)?
                {
                    lock().insert(name.clone());
                    let mine = Arc::clone(&mine);
                    scope.spawn(move || {
                        self.ends_with(self.lead(&id, &hand, led, revision));
                        mine.lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .remove(&name);
                    });
                }
            }
            thread::sleep(CHECK_INTERVAL);
        }
        Ok(())
    }

    fn lead(&self, id: &str, hand: &AtHand, lead: Lead, revision: u64) -> Result<(), Refusal> {
        let folder = self.folder.join(format!("{id}.lead"));
        std::fs::create_dir_all(&folder).map_err(|error| Refusal::System {
            what: "write to the scratch folder",
            error,
        })?;
        let leader = Leader {
            cluster: &self.cluster,
            id,
            job: &hand.job,
            executable: &hand.executable,
            lead,
            revision,
            stop: &self.stop,
        };
        leader.lead(&folder)
    }

    /// Drops all data of jobs that are gone.
    fn forget(&self, leads: &[String]) {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.retain(|id, _| {
            let stays = leads.contains(&lead(id));
            if !stays {
                // Files that cannot be removed now are removed with the scratch folder.
                let _ = std::fs::remove_dir_all(self.folder.join(id));
                let _ = std::fs::remove_dir_all(self.folder.join(format!("{id}.lead")));
            }
            stays
        });
    }
}
