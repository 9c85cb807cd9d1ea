//! The outcomes of the executions of a system of processes.
#![allow(dead_code, reason = "each test uses only some of the items")]

use explore::{Outcome, Strategy};
use mazurka::{Algorithm, Checker, Observer, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use testkit::Key;

/// The notes of the processes in one execution, one line per process.
pub type Seen = BTreeSet<String>;

/// The place where processes note what they observe.
#[derive(Clone, Default)]
pub struct Notes(Arc<Mutex<Seen>>);

impl Notes {
    pub fn add(&self, note: impl Into<String>) {
        self.0.lock().unwrap().insert(note.into());
    }
}

/// The maximal executions of a search.
#[derive(Clone, Default, Debug)]
pub struct Found {
    /// The notes, and how the execution ended.
    pub finals: BTreeSet<(Seen, Outcome)>,
    /// How often each trace was explored.
    pub traces: BTreeMap<Key, u64>,
}

impl Found {
    pub fn seen(&self) -> BTreeSet<Vec<&str>> {
        let lines = self.finals.iter().map(|(seen, _)| seen.iter());
        lines
            .map(|lines| lines.map(String::as_str).collect())
            .collect()
    }
}

struct Collector {
    notes: Notes,
    found: Arc<Mutex<Found>>,
}

impl Observer for Collector {
    fn ended(&mut self, outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
        let seen = std::mem::take(&mut *self.notes.0.lock().unwrap());
        if outcome.is_maximal() {
            let mut found = self.found.lock().unwrap();
            found.finals.insert((seen, outcome));
            let key = Key::of_execution(strategy.execution());
            *found.traces.entry(key).or_default() += 1;
        }
        ControlFlow::Continue(())
    }

    fn restarted(&mut self) {
        self.notes.0.lock().unwrap().clear();
        *self.found.lock().unwrap() = Found::default();
    }
}

/// Explores the system with an algorithm and continues after bugs.
pub fn explored(algorithm: Algorithm, body: impl Fn(&Notes) + 'static) -> (Found, Report) {
    explored_by(Checker::new().algorithm(algorithm).keep_going(true), body)
}

/// Explores the system.
pub fn explored_by(checker: Checker, body: impl Fn(&Notes) + 'static) -> (Found, Report) {
    let notes = Notes::default();
    let found = Arc::new(Mutex::new(Found::default()));
    let collector = Collector {
        notes: notes.clone(),
        found: Arc::clone(&found),
    };
    let report = checker.observer(collector).check(move || body(&notes));
    let found = found.lock().unwrap().clone();
    (found, report)
}

/// Explores the system with every algorithm that proves something, except brute force, which is too
/// slow for some systems. All must find the same; optimal ones explore each trace once.
pub fn agreed(body: impl Fn(&Notes) + Clone + 'static) -> Found {
    let (all, _) = explored(Algorithm::Sleep, body.clone());
    for algorithm in Algorithm::general() {
        if !algorithm.proves() || algorithm.is_exhaustive() {
            continue;
        }
        let (found, report) = explored(algorithm, body.clone());
        assert_eq!(found.finals, all.finals, "{algorithm}");
        // Ids of threads and objects follow the order of discovery, which differs between searches.
        assert_eq!(found.traces.len(), all.traces.len(), "{algorithm}");
        if algorithm.is_optimal() {
            assert!(found.traces.values().all(|&times| times == 1));
            assert_eq!(report.blocked, 0, "{algorithm}");
        }
    }
    all
}
