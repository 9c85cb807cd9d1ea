//! A search that runs next to the interactive exploration and is shown on the page.

use super::explored::Explored;
use crate::progress_line::ProgressLine;
use report::{Report, ScheduleFile, Style, Tree};
use serde::Serialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The search, if one was started.
#[derive(Default)]
pub struct Watch(Arc<Mutex<State>>);

/// The time that a search gets to end its processes after the command was interrupted.
const PATIENCE: Duration = Duration::from_secs(2);

/// The interval between two checks whether the search has ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

#[derive(Default)]
enum State {
    #[default]
    Idle,
    Runs {
        started: Instant,
        /// The progress of the search.
        line: Arc<Mutex<String>>,
        /// The tree of its first executions.
        tree: Option<Tree>,
    },
    Done(Result<Box<Report>, String>),
}

/// The state of the search as the page gets it.
#[derive(Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Seen {
    Idle,
    Runs {
        line: String,
        elapsed_s: f64,
        tree: Option<Tree>,
    },
    Done {
        error: Option<String>,
        /// The report as text.
        text: String,
        failures: Vec<Found>,
        tree: Option<Tree>,
    },
}

/// A bug that the search has found.
#[derive(Serialize)]
pub struct Found {
    kind: report::FailureKind,
    message: String,
    schedule: ScheduleFile,
}

impl Watch {
    /// Starts the search unless one is running.
    pub fn start(&self, explored: &Arc<Explored>) {
        let line = ProgressLine::new(false);
        {
            let mut state = self.lock();
            if let State::Runs { .. } = *state {
                return;
            }
            *state = State::Runs {
                started: Instant::now(),
                line: line.watched(),
                tree: None,
            };
        }
        let (state, explored) = (Arc::clone(&self.0), Arc::clone(explored));
        thread::spawn(move || {
            let sketch = explored.sketch();
            if let State::Runs { tree, .. } =
                &mut *state.lock().unwrap_or_else(PoisonError::into_inner)
            {
                *tree = sketch;
            }
            let found = explored.search(&line);
            let found = found.map(Box::new).map_err(|refusal| refusal.to_string());
            *state.lock().unwrap_or_else(PoisonError::into_inner) = State::Done(found);
        });
    }

    /// Waits until an interrupted search has ended its processes.
    pub fn end(&self) {
        let since = Instant::now();
        let is_running = || matches!(*self.lock(), State::Runs { .. });
        while is_running() && since.elapsed() < PATIENCE {
            thread::sleep(CHECK_INTERVAL);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state of the search.
    pub fn seen(&self) -> Seen {
        match &*self.lock() {
            State::Idle => Seen::Idle,
            State::Runs {
                started,
                line,
                tree,
            } => Seen::Runs {
                line: line.lock().unwrap_or_else(PoisonError::into_inner).clone(),
                elapsed_s: started.elapsed().as_secs_f64(),
                tree: tree.clone(),
            },
            State::Done(Ok(report)) => Seen::Done {
                error: None,
                text: report.text(Style::default()),
                failures: report
                    .errors
                    .iter()
                    .map(|failure| Found {
                        kind: failure.kind,
                        message: failure.message.clone(),
                        schedule: failure.schedule.clone(),
                    })
                    .collect(),
                tree: report.tree.clone(),
            },
            State::Done(Err(refusal)) => Seen::Done {
                error: Some(refusal.clone()),
                text: String::new(),
                failures: Vec::new(),
                tree: None,
            },
        }
    }
}
