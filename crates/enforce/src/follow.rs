//! A thread of the process beside the program's: takes over relaxed versions of the file, and tells when nothing moves.

use crate::thread::{self, Thread};
use crate::{Order, Plan, enforcement, failure, internally, threads};
use report::SafeTrace;
use rustix::fs::{Stat, stat};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often it looks.
const PERIOD: Duration = Duration::from_millis(20);

/// After which time without an event somebody is told.
const PATIENCE: Duration = Duration::from_secs(5);

/// What of a file changes when another one takes its name.
type Version = (u64, u64, i64, u64);

struct Follower {
    order: Order,
    seen: Option<Version>,
    progress: u64,
    since: Instant,
    has_told: bool,
}

/// Starts the thread.
pub(crate) fn start(order: &Order) -> io::Result<()> {
    let mut follower = Follower {
        order: order.clone(),
        seen: None,
        progress: 0,
        since: Instant::now(),
        has_told: false,
    };
    let run = move || {
        loop {
            follower.look();
            std::thread::sleep(PERIOD);
        }
    };
    internally(|| {
        let builder = std::thread::Builder::new().name("mazurka".to_owned());
        builder.stack_size(256 * 1024).spawn(run).map(drop)
    })
}

impl Follower {
    fn look(&mut self) {
        if !self.order.runs_free {
            self.take_over();
        }
        self.watch();
    }

    /// The first look takes over, too: the file may have changed since the start.
    fn take_over(&mut self) {
        let version = version(&self.order.trace);
        if version.is_none() || version == self.seen {
            return;
        }
        self.seen = version;
        let Ok(trace) = SafeTrace::load(&self.order.trace) else {
            // Whatever it is, what is enforced stays safe.
            return;
        };
        if let Ok(plan) = Plan::for_inputs(&trace, &self.order.inputs) {
            enforcement::take_over(plan);
        }
    }

    fn watch(&mut self) {
        let progress = thread::progress();
        if progress != self.progress {
            (self.progress, self.since, self.has_told) = (progress, Instant::now(), false);
            return;
        }
        let patience = self.order.patience.map_or(PATIENCE, Duration::from_millis);
        if !self.has_told && self.since.elapsed() >= patience {
            self.has_told = tells();
        }
    }
}

fn version(path: &PathBuf) -> Option<Version> {
    let Stat {
        st_ino,
        st_mtime,
        st_mtime_nsec,
        st_size,
        ..
    } = stat(path).ok()?;
    Some((st_ino, st_mtime_nsec, st_mtime, st_size as u64))
}

/// Says who waits for what; whether anybody does.
fn tells() -> bool {
    let plan = enforcement::plan();
    let line = |thread: &&Thread| {
        let first = thread.awaited()?;
        let first = plan.describe(first);
        Some(format!("thread {} waits for {first}", thread.name()))
    };
    let mut lines: Vec<String> =
        threads::with_all(|threads| threads.iter().filter_map(line).collect());
    lines.sort();
    if lines.is_empty() {
        return false;
    }
    failure::say(&format!(
        "nothing moves: {}; the threads that are waited for do not come (the program itself may be stuck, or wait for \
         something outside)",
        lines.join(", ")
    ));
    true
}
