//! The states of systems of state machines, seen from outside the model.
#![allow(dead_code, reason = "each test uses only some of the items")]

use explore::{Outcome, Strategy};
use mazurka::{Checker, Observer, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// The place outside the model where processes show their states. It is not part of their state.
#[derive(Clone, Default)]
pub struct Window(Arc<Mutex<BTreeMap<String, String>>>);

impl Window {
    pub fn show(&self, process: &str, state: impl ToString) {
        let mut shown = self.0.lock().unwrap();
        shown.insert(process.to_owned(), state.to_string());
    }
}

impl PartialEq for Window {
    fn eq(&self, _: &Window) -> bool {
        true
    }
}

impl Eq for Window {}

impl Hash for Window {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// The results of all maximal executions: for each, the last states that were shown, and how it
/// ended.
pub type Finals = BTreeSet<(BTreeMap<String, String>, Outcome)>;

/// Reads the window at the end of each execution.
struct Collector {
    window: Window,
    finals: Arc<Mutex<Finals>>,
}

impl Observer for Collector {
    fn ended(&mut self, outcome: Outcome, _: &dyn Strategy) -> ControlFlow<()> {
        let shown = std::mem::take(&mut *self.window.0.lock().unwrap());
        if outcome.is_maximal() {
            self.finals.lock().unwrap().insert((shown, outcome));
        }
        ControlFlow::Continue(())
    }

    fn restarted(&mut self) {
        self.window.0.lock().unwrap().clear();
        self.finals.lock().unwrap().clear();
    }
}

/// Explores the system completely and continues after bugs.
pub fn explored(checker: Checker, body: impl Fn(&Window) + 'static) -> (Finals, Report) {
    let collector = Collector {
        window: Window::default(),
        finals: Arc::default(),
    };
    let (window, finals) = (collector.window.clone(), Arc::clone(&collector.finals));
    let checker = checker.keep_going(true);
    // Probes (runs outside the exploration, which compare states) also show states. So each run
    // first clears the window.
    let program = move || {
        window.0.lock().unwrap().clear();
        body(&window);
    };
    let report = checker.observer(collector).check(program);
    let finals = finals.lock().unwrap().clone();
    (finals, report)
}
