//! Explanations of failures, compared with an enumeration of all interleavings of small programs.

use mazurka::Checker;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;
use report::{Failure, Report};

/// The operations of each thread, in order: loads and stores of one counter variable.
type Program = &'static [&'static [&'static str]];

/// Returns all interleavings of the threads, each as (thread, operation).
fn interleavings(program: Program) -> Vec<Vec<(usize, usize)>> {
    fn extend(
        program: Program,
        done: &mut Vec<usize>,
        order: &mut Vec<(usize, usize)>,
        all: &mut Vec<Vec<(usize, usize)>>,
    ) {
        let mut is_over = true;
        for thread in 0..program.len() {
            if done[thread] < program[thread].len() {
                is_over = false;
                order.push((thread, done[thread]));
                done[thread] += 1;
                extend(program, done, order, all);
                done[thread] -= 1;
                order.pop();
            }
        }
        if is_over {
            all.push(order.clone());
        }
    }
    let mut all = Vec::new();
    extend(
        program,
        &mut vec![0; program.len()],
        &mut Vec::new(),
        &mut all,
    );
    all
}

/// Returns the value of the counter after an interleaving.
fn result(program: Program, order: &[(usize, usize)]) -> u32 {
    let mut counter = 0;
    let mut loaded = vec![0; program.len()];
    for &(thread, operation) in order {
        match program[thread][operation] {
            "load" => loaded[thread] = counter,
            "store" => counter = loaded[thread] + 1,
            "add" => counter += 1,
            other => panic!("no operation is called {other}"),
        }
    }
    counter
}

fn check(program: Program, expected: u32) -> Report {
    Checker::new().explain(true).check(move || {
        let counter = AtomicU32::new(0);
        thread::scope(|scope| {
            for operations in program {
                let counter = &counter;
                scope.spawn(move || {
                    let mut loaded = 0;
                    for operation in *operations {
                        match *operation {
                            "load" => loaded = counter.load(SeqCst),
                            "store" => counter.store(loaded + 1, SeqCst),
                            _ => drop(counter.fetch_add(1, SeqCst)),
                        }
                    }
                });
            }
        });
        assert_eq!(counter.into_inner(), expected);
    })
}

/// Returns the operation of a row, as its thread and its number there.
fn operation(failure: &Failure, row: usize) -> (usize, usize) {
    let rows = &failure.interleaving.rows;
    let thread = rows[row].thread;
    let is_own = |other: &&report::Row| other.thread == thread && other.object.is_some();
    let before = rows[..row].iter().filter(is_own).count();
    let name = &failure.interleaving.threads[thread];
    (
        name[1..].parse().expect("threads are called T0, T1, …"),
        before,
    )
}

#[test]
fn all_interleavings_with_the_orders_fail_and_no_order_can_be_left_out() {
    let programs: [(Program, u32); 4] = [
        (&[&["load", "store"], &["load", "store"]], 2),
        (&[&["load", "store"], &["add"]], 2),
        (&[&["load", "store"], &["add", "add"]], 3),
        (&[&["load", "store"], &["add"], &["add"]], 3),
    ];
    for (program, expected) in programs {
        let report = check(program, expected);
        let failure = &report.errors[0];
        let why = failure.why.as_ref().expect("executions of these pass");
        let pairs = why.pairs.iter();
        let pairs = pairs.map(|pair| {
            (
                operation(failure, pair.first),
                operation(failure, pair.second),
            )
        });
        let pairs: Vec<_> = pairs.collect();
        let has = |order: &[(usize, usize)], (first, second)| {
            let place = |wanted| order.iter().position(|name| *name == wanted).unwrap();
            place(first) < place(second)
        };
        let all = interleavings(program);
        let passes = |order: &Vec<(usize, usize)>| result(program, order) == expected;
        for order in &all {
            let has_all = pairs.iter().all(|&pair| has(order, pair));
            assert!(
                !has_all || !passes(order),
                "{program:?}, {order:?}: {pairs:?}"
            );
        }
        for left_out in &pairs {
            let has_others = |order: &&Vec<(usize, usize)>| {
                let mut others = pairs.iter().filter(|pair| *pair != left_out);
                others.all(|&pair| has(order, pair))
            };
            assert!(
                all.iter().filter(has_others).any(passes),
                "{program:?}: {pairs:?} without {left_out:?}"
            );
        }
        let passing = failure.passing.as_ref().expect("one of them is shown");
        assert!(passing.rows.iter().all(|row| !row.failed));
    }
}

#[test]
fn nothing_is_said_where_everything_fails() {
    let program: Program = &[&["load", "store"], &["add"]];
    let failure = &check(program, 7).errors[0];
    assert_eq!((&failure.why, &failure.passing), (&None, &None));
    let report = Checker::new().check(|| {
        let counter = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| counter.store(1, SeqCst));
            assert_eq!(counter.load(SeqCst), 0);
        });
    });
    assert_eq!(report.errors[0].why, None);
}
