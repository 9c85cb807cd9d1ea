//! An additional thread, the follower. It loads new versions of the safe trace that have fewer
//! constraints (*relaxed* versions), and reports a lack of progress. The first thread that waits or
//! restarts the safe trace (`again`) after [`SHORT`] starts the follower. If the run is recorded or
//! has random delays, the follower starts at once.

use crate::thread::{self, Thread};
use crate::{Order, Plan, enforcement, failure, internally, threads};
use report::{Case, SafeTrace};
use rustix::fs::{Stat, stat};
use rustix::time::Timespec;
use std::io;
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
};
use std::time::{Duration, Instant};

/// Interval between two checks.
const PERIOD: Duration = Duration::from_millis(20);

/// Time without an event after which the lack of progress is reported.
const PATIENCE: Duration = Duration::from_secs(5);

/// A program that ends within this time gets no follower. An additional thread would make the
/// kernel distribute the program's threads to cores differently. It would gain little, because the
/// constrained events of such a program are soon over.
const SHORT: Duration = Duration::from_millis(100);

/// The attributes of a file that change when another file takes its name.
type Version = (u64, u64, i64, u64);

struct Follower {
    order: &'static Order,
    /// The case in force.
    case: Case,
    /// The version of the file at the last attempt to load it.
    seen: Option<Version>,
    /// The number of events at the last check.
    progress: u64,
    /// The time since which this number has not changed.
    since: Instant,
    /// Whether this lack of progress was reported.
    has_reported: bool,
}

/// The time at which the follower is to start; unset if nothing is enforced.
static START: OnceLock<Instant> = OnceLock::new();

static HAS_STARTED: AtomicBool = AtomicBool::new(false);

/// Starts the follower at once, or arranges a later start if the program is not short.
pub(crate) fn begin(at_once: bool) {
    let start = Instant::now() + if at_once { Duration::ZERO } else { SHORT };
    START.get_or_init(|| start);
    if at_once {
        start_once();
    }
}

/// Starts the follower if its time has come. Called when a thread waits or restarts the safe trace.
/// Returns how long to wait before the next call, or `None` if no further call is needed.
pub(crate) fn starts_in() -> Option<Timespec> {
    if HAS_STARTED.load(Relaxed) {
        return None;
    }
    let left = START.get()?.saturating_duration_since(Instant::now());
    if left.is_zero() {
        start_once();
        return None;
    }
    Timespec::try_from(left).ok()
}

#[cold]
fn start_once() {
    if HAS_STARTED.swap(true, SeqCst) {
        return;
    }
    let started = enforcement::order()
        .map(|(order, case)| internally(|| quietly(|| start(order, case.clone()))));
    if let Some(Err(error)) = started {
        failure::say(&format!("cannot follow the safe trace: {error}"));
    }
}

fn start(order: &'static Order, case: Case) -> io::Result<()> {
    let mut follower = Follower {
        order,
        case,
        seen: None,
        progress: 0,
        since: Instant::now(),
        has_reported: false,
    };
    let run = move || {
        // If the main thread ends early, the last thread ends the program. The follower must not be
        // this last thread.
        while !thread::all_have_ended() {
            follower.check();
            std::thread::sleep(PERIOD);
        }
    };
    let builder = std::thread::Builder::new().name("mazurka".to_owned());
    builder.stack_size(1 << 20).spawn(run).map(drop)
}

/// Runs a closure with all signals blocked, so that threads started by the closure receive no
/// signals.
fn quietly<R>(does: impl FnOnce() -> R) -> R {
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: both sets are written before they are read.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = does();
    // SAFETY: `before` was set above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    result
}

impl Follower {
    fn check(&mut self) {
        if !self.order.runs_free {
            self.take_over();
        }
        self.watch();
    }

    /// Enforces a relaxed version of the file from now on, if there is one. The first check loads
    /// the file in any case, because it may have changed since the start.
    fn take_over(&mut self) {
        let version = version(&self.order.trace);
        if version.is_none() || version == self.seen {
            return;
        }
        self.seen = version;
        let Ok(trace) = SafeTrace::load(&self.order.trace) else {
            // An unreadable file changes nothing: the current plan stays safe.
            return;
        };
        if let Some(case) = enforcement::another(&trace).filter(|case| case.relaxes(&self.case))
            && let Ok(plan) = Plan::of(case)
        {
            self.case = case.clone();
            enforcement::take_over(plan);
        }
    }

    fn watch(&mut self) {
        let progress = thread::progress();
        if progress != self.progress {
            (self.progress, self.since, self.has_reported) = (progress, Instant::now(), false);
            return;
        }
        let patience = self.order.patience.map_or(PATIENCE, Duration::from_millis);
        if !self.has_reported && self.since.elapsed() >= patience {
            self.has_reported = report_waiting();
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

/// Reports which threads wait and for which events. Returns false if no thread waits.
fn report_waiting() -> bool {
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
        "no progress: {}; the awaited events do not happen (the program itself may be stuck, or may wait for something \
         outside)",
        lines.join(", ")
    ));
    true
}
