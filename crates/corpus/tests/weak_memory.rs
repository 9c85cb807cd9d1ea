//! Tests the programs of the corpus whose results are those of RC11: a search must choose this
//! model automatically, and sequential consistency must hide the bug unless `expect.toml` says
//! otherwise.

use corpus::{Expectation, Expected, Instance, Tested};
use mazurka::{Checker, FailureKind, MemoryModel, Report, Verdict};

#[test]
fn the_search_chooses_rc11_and_explores_each_graph_once() {
    for (instance, expectation) in weak() {
        let report = check(&instance, MemoryModel::Auto);
        assert_eq!(report.memory, MemoryModel::Rc11, "{instance}");
        let expected = instance.expected().expect("it is a tested size");
        let found = (report.executions, report.halted);
        // The numbers of a program that spins hold for one build.
        assert!(
            expectation.spins || found == (expected.executions, expected.halted),
            "{instance}: {found:?}"
        );
        assert_eq!(report.blocked, 0, "{instance}");
        let failure = expectation.failure;
        has_verdict(&instance, &report, expectation.verdict, failure);
    }
}

#[test]
fn sequential_consistency_hides_the_bug() {
    for (instance, expectation) in weak() {
        let report = check(&instance, MemoryModel::Sc);
        let verdict = match expectation.sc {
            Some(_) => Expected::Bug,
            None => Expected::Verified,
        };
        has_verdict(&instance, &report, verdict, expectation.sc);
    }
}

/// Returns the tested sizes of the programs whose results are those of RC11.
fn weak() -> Vec<(Instance, Expectation)> {
    let mut weak = Vec::new();
    for entry in corpus::all() {
        let expectation = entry.expectation();
        let sizes = expectation.sizes.iter();
        for known in sizes.filter(|known| known.tested == Tested::Always) {
            if expectation.memory == MemoryModel::Rc11 {
                let instance = entry.with_sizes(&known.size);
                let instance = instance.expect("a test checks the sizes");
                weak.push((instance, expectation.clone()));
            }
        }
    }
    assert!(weak.len() >= 22);
    weak
}

fn has_verdict(
    instance: &Instance,
    report: &Report,
    verdict: Expected,
    failure: Option<FailureKind>,
) {
    let verdict = match verdict {
        Expected::Verified => Verdict::Verified,
        Expected::Bug => Verdict::Bug,
    };
    assert_eq!(report.verdict, verdict, "{instance}: {report}");
    for error in &report.errors {
        assert_eq!(Some(error.kind), failure, "{instance}: {}", error.message);
    }
}

fn check(instance: &Instance, memory: MemoryModel) -> Report {
    let checker = Checker::new().memory(memory).keep_going(true);
    checker.check(instance.program())
}
