//! Submits jobs, waits for them, lists and cancels them.

use super::Server;
use super::job::{Job, Lead, Program, job, lead, read, report, version, written};
use crate::arguments::{AttachOptions, CancelOptions, SubmitTestOptions};
use crate::progress_line::ProgressLine;
use crate::refusal::Refusal;
use crate::runner::Executable;
use crate::{Done, exit_code, fatality, interruption, presentation, terminal};
use cluster::{Cluster, ClusterError};
use native::{Answer, ORDER, Order};
use report::quantity::count;
use report::{Limit, Recipe, Report};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// If no worker starts a job within this time, there may be no workers of its version.
const ALONE: Duration = Duration::from_secs(5);

/// Interval between two checks of a job.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Searches with the workers of a server.
pub fn search(
    server: &Server,
    (order, program, recipe): (Order, Program, Option<Recipe>),
    stop: &Arc<AtomicBool>,
    line: &ProgressLine,
) -> Result<Report, Refusal> {
    let cluster = server.connect()?.until(Arc::clone(stop));
    let submitted = Job {
        version: version()?,
        order: Order {
            folder: std::env::current_dir().ok(),
            ..order
        },
        program,
        recipe,
    };
    let id = new_id();
    submitted.program.store(&cluster, &id)?;
    cluster.write(&job(&id), &written(&submitted))?;
    cluster.create(&lead(&id), &written(&Lead::default()))?;
    let report = unless_interrupted(wait(&cluster, &id, &submitted, stop, line));
    line.clear();
    if let Err(Refusal::OtherVersion { .. }) = report {
        remove(&cluster, &id, &submitted)?;
    }
    match report? {
        Some(report) => Ok(report),
        None => {
            let mut report =
                fatality::unfinished(&submitted.order, None, Limit::Interrupted, false);
            report.warnings.push(format!(
                "the job continues on the server: `mazurka attach {url} {id}` waits for it, `mazurka cancel {url} {id}` cancels it",
                url = cluster::without_password(&server.url)
            ));
            Ok(report)
        }
    }
}

/// Returns an id that no other job has.
fn new_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_micros());
    format!("{now:x}-{:x}", std::process::id())
}

/// Turns the error of an interrupted wait into `None`.
fn unless_interrupted(waited: Result<Option<Report>, Refusal>) -> Result<Option<Report>, Refusal> {
    match waited {
        Err(Refusal::Cluster(ClusterError::Interrupted { .. })) => Ok(None),
        waited => waited,
    }
}

/// Waits for the report of a job and removes its data from the server. `None` on interruption.
fn wait(
    cluster: &Cluster,
    id: &str,
    submitted: &Job,
    stop: &AtomicBool,
    line: &ProgressLine,
) -> Result<Option<Report>, Refusal> {
    let mut asked = Instant::now();
    loop {
        if stop.load(Relaxed) {
            return Ok(None);
        }
        let Some((record, _)) = cluster.record(&lead(id))? else {
            return Err(Refusal::NoJob(id.to_owned()));
        };
        let lead: Lead = read(&record).unwrap_or_default();
        if lead.is_done {
            break;
        }
        if lead.term == 0 && asked.elapsed() > ALONE {
            let others = cluster.versions()?;
            if !others.is_empty() && !others.contains(&submitted.version) {
                return Err(Refusal::OtherVersion {
                    own: submitted.version.clone(),
                    others: others.join(", "),
                });
            }
            asked = Instant::now();
        }
        line.say(progress(&lead));
        thread::sleep(CHECK_INTERVAL);
    }
    let answer = cluster.load(&report(id))?;
    let answer = answer.and_then(|answer| read::<Answer>(&answer));
    remove(cluster, id, submitted)?;
    match answer {
        Some(Answer::Report(mut report)) => {
            for failure in &mut report.errors {
                failure.schedule.recipe.clone_from(&submitted.recipe);
            }
            Ok(Some(*report))
        }
        Some(Answer::Refused(reason)) => Err(Refusal::Worker {
            program: submitted.order.name.clone(),
            reason,
        }),
        _ => Err(Refusal::NoJob(id.to_owned())),
    }
}

/// Describes the progress of a job.
fn progress(lead: &Lead) -> String {
    if lead.term == 0 {
        return "waiting for a worker: `mazurka worker` starts one".to_owned();
    }
    let done = lead
        .done
        .map(|done| format!(", about {:.0} %", 100.0 * done));
    format!(
        "{} executions{} by {} jobs",
        count(lead.executions),
        done.unwrap_or_default(),
        lead.jobs
    )
}

/// Removes the data of a job from the server. Its leader then stops.
fn remove(cluster: &Cluster, id: &str, submitted: &Job) -> Result<(), Refusal> {
    cluster.remove(&lead(id))?;
    cluster.remove(&job(id))?;
    cluster.purge(&submitted.version, id)?;
    cluster.close_results(id);
    Ok(cluster.remove_files(&format!("{id}."))?)
}

fn submitted(cluster: &Cluster, id: &str) -> Result<Job, Refusal> {
    Job::of(cluster, id)?.ok_or_else(|| Refusal::NoJob(id.to_owned()))
}

/// `mazurka jobs`: lists the jobs at a server.
pub fn jobs(server: &Server) -> Done {
    let cluster = server.connect()?;
    let mut text = String::new();
    for name in cluster.records("job")? {
        let id = name.trim_start_matches("job.");
        let (Some(job), Some((record, _))) = (Job::of(&cluster, id)?, cluster.record(&lead(id))?)
        else {
            continue;
        };
        let lead: Lead = read(&record).unwrap_or_default();
        let state = match lead.is_done {
            true => "done: `mazurka attach` shows its report".to_owned(),
            false => progress(&lead),
        };
        text.push_str(&format!(
            "{id}  {}  {state}\n",
            report::harmless(&job.order.name)
        ));
    }
    if text.is_empty() {
        text.push_str("no jobs\n");
    }
    terminal::print(&text).map_err(|error| Refusal::System {
        what: "print the jobs",
        error,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// `mazurka attach`: waits for a job that was submitted before.
pub fn attach(options: &AttachOptions) -> Done {
    let stop = interruption::gentle_flag(false)?;
    let cluster = options.server.connect()?.until(Arc::clone(&stop));
    let job = submitted(&cluster, &options.job)?;
    let line = ProgressLine::new(!options.report.quiet);
    let report = unless_interrupted(wait(&cluster, &options.job, &job, &stop, &line));
    line.clear();
    let Some(report) = report? else {
        return Ok(ExitCode::from(crate::UNFINISHED));
    };
    presentation::show(&report, &options.report)?;
    Ok(exit_code(report.verdict))
}

/// Submits a test in Rust, and prints its report as an answer.
pub fn submit_test(options: &SubmitTestOptions) -> Done {
    let order = std::env::var(ORDER).unwrap_or_default();
    let order = Order::read(&order).map_err(|error| Refusal::System {
        what: "read the order of the test",
        error,
    })?;
    let arguments = ["test", options.name.as_str(), "--exact", "--nocapture"];
    let program = Program::of(&Executable {
        path: options.executable.clone(),
        arguments: arguments.map(Into::into).into(),
        libraries: None,
    })?;
    let stop = interruption::gentle_flag(false)?;
    let line = ProgressLine::new(true);
    let report = search(&options.server, (order, program, None), &stop, &line)?;
    let answer = Answer::Report(Box::new(report));
    terminal::print(&format!("{}\n", answer.line())).map_err(|error| Refusal::System {
        what: "print the report",
        error,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// `mazurka cancel`: ends a job and removes its data from the server.
pub fn cancel(options: &CancelOptions) -> Done {
    let cluster = options.server.connect()?;
    let job = submitted(&cluster, &options.job)?;
    remove(&cluster, &options.job, &job)?;
    Ok(ExitCode::SUCCESS)
}
