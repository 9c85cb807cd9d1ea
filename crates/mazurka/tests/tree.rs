//! Compares the tree of a search with the executions that an observer sees.

use explore::{Algorithm, Observer, Outcome, Step, Strategy};
use mazurka::sync::Arc;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::{Checker, thread};
use report::End;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

/// The steps and the outcome of an execution.
type Ended = (Vec<Step>, Outcome);

/// Records each execution.
#[derive(Clone, Default)]
struct Seen(Rc<RefCell<Vec<Ended>>>);

impl Observer for Seen {
    fn ended(&mut self, outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
        let steps = strategy.execution().steps().copied().collect();
        self.0.borrow_mut().push((steps, outcome));
        ControlFlow::Continue(())
    }

    fn restarted(&mut self) {
        self.0.borrow_mut().clear();
    }
}

/// Threads that write, read and write again. With `fails`, an assertion fails in some executions.
fn program(fails: bool) -> impl Fn() + 'static {
    move || {
        let [x, y] = [(); 2].map(|()| Arc::new(AtomicU32::new(0)));
        let threads = [1, 2].map(|number| {
            let (x, y) = (x.clone(), y.clone());
            thread::spawn(move || {
                x.store(number, SeqCst);
                let seen = y.load(SeqCst);
                y.store(number, SeqCst);
                seen
            })
        });
        let [one, _] = threads.map(|thread| thread.join().unwrap());
        assert!(!fails || one != 2, "the other thread was faster");
    }
}

#[test]
fn branches_are_where_an_execution_leaves_the_one_before() {
    for algorithm in [
        Algorithm::Parsimonious,
        Algorithm::Optimal,
        Algorithm::Source,
        Algorithm::Exhaustive,
    ] {
        for fails in [false, true] {
            let seen = Seen::default();
            let report = Checker::new()
                .algorithm(algorithm)
                .keep_going(true)
                .draw(true)
                .observer(seen.clone())
                .check(program(fails));
            let tree = report.tree.unwrap();
            let seen = seen.0.borrow();
            assert!(tree.is_whole && seen.len() > 5);
            assert_eq!(tree.branches.len(), seen.len(), "{algorithm}");
            let mut before: &[Step] = &[];
            for (branch, (steps, outcome)) in tree.branches.iter().zip(&*seen) {
                let common = steps
                    .iter()
                    .zip(before)
                    .take_while(|(one, other)| one == other);
                assert_eq!(
                    (branch.kept, branch.events),
                    (common.count(), steps.len()),
                    "{algorithm}"
                );
                assert_eq!(branch.end == End::Bug, outcome.is_bug());
                before = steps;
            }
            assert_eq!(
                tree.branches.iter().any(|branch| branch.end == End::Bug),
                fails
            );
        }
    }
}

#[test]
fn a_tree_ends_with_the_search() {
    let report = Checker::new().draw(true).check(program(true));
    let tree = report.tree.unwrap();
    assert!(tree.is_whole);
    assert_eq!(tree.branches.len() as u64, report.executions);
    assert_eq!(tree.branches.last().unwrap().end, End::Bug);
    let report = Checker::new()
        .draw(true)
        .max_executions(3)
        .check(program(false));
    let tree = report.tree.unwrap();
    assert_eq!((tree.branches.len(), tree.is_whole), (3, false));
    assert!(Checker::new().check(program(false)).tree.is_none());
}
