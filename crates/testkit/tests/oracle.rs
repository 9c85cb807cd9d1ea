//! Tests the oracle on programs whose behaviour is small enough to be known.

use explore::Outcome;
use std::collections::BTreeMap;
use testkit::{Oracle, Program, direct};

fn oracle(text: &str) -> Oracle {
    let program: Program = text.parse().expect("it is a program");
    Oracle::new(&program, 10_000).expect("it is small")
}

/// Returns how often each outcome occurs among the traces.
fn outcomes(text: &str) -> BTreeMap<Outcome, usize> {
    let mut outcomes = BTreeMap::new();
    for outcome in oracle(text).traces.into_values() {
        *outcomes.entry(outcome).or_default() += 1;
    }
    outcomes
}

#[test]
fn reads_commute_and_writes_do_not() {
    let reads = oracle("load x0 | load x0 | load x0");
    assert_eq!((reads.traces.len(), reads.interleavings), (1, 6));
    let writes = oracle("store x0 1 | store x0 2 | store x0 3");
    assert_eq!((writes.traces.len(), writes.interleavings), (6, 6));
}

#[test]
fn a_failed_compare_exchange_is_a_read() {
    assert_eq!(oracle("cas x0 1 2 | cas x0 1 2").traces.len(), 1);
    assert_eq!(oracle("cas x0 0 1 | cas x0 0 1").traces.len(), 2);
}

#[test]
fn two_locks_in_two_orders_may_deadlock() {
    let outcomes =
        outcomes("lock m0; lock m1; unlock m1; unlock m0 | lock m1; lock m0; unlock m0; unlock m1");
    assert!(outcomes[&Outcome::Deadlock] > 0 && outcomes[&Outcome::Completed] > 0);
}

#[test]
fn a_choice_has_all_its_alternatives() {
    let oracle = oracle("r0 = choose 3; assume r0 != 1");
    assert_eq!((oracle.traces.len(), oracle.interleavings), (3, 3));
    assert_eq!(
        outcomes("r0 = choose 3; assume r0 != 1")[&Outcome::Halted],
        1
    );
}

#[test]
fn a_deadlock_of_a_recursive_reader_depends_on_the_policy() {
    let text = "rdlock l0; rdlock l0; release l0; release l0 | wrlock l0; release l0";
    let oracle = oracle(text);
    assert!(outcomes(text)[&Outcome::Deadlock] > 0);
    let program = text.parse().expect("it is a program");
    let direct = direct::finals(&program, 1000).expect("it is small");
    assert_eq!(oracle.finals_that_prefer_readers, direct);
    assert!(oracle.finals.len() > direct.len());
}

/// A waiter may be signalled before it has unlocked, and a try can observe this.
#[test]
fn a_try_can_look_into_the_window_between_enqueue_and_unlock() {
    let text = "lock m0; wait c0 m0; store x0 1; unlock m0 | signal c0; r0 = trylock m0; \
                if r0 == 0 { store x1 1 } | r0 = load x1; if r0 == 1 { lock m0; r1 = load x0; unlock m0 }";
    let program = text.parse().expect("it is a program");
    let direct = direct::finals(&program, 10_000).expect("it is small");
    let split = oracle(text).finals;
    assert!(direct.is_subset(&split) && split.len() > direct.len());
}
