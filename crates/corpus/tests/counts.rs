//! Tests the programs of the corpus under sequential consistency, except programs whose expected
//! results hold under RC11. Every algorithm that is fast enough must find the verdict in
//! `expect.toml`. An algorithm that completes each trace once must also find the number of traces
//! in this file or, for a program with spin loops, the number that `sleep` finds.

use corpus::{ContextSensitive, Entry, Expected, Instance, SizeExpectation, Tested};
use mazurka::{Algorithm, Checker, MemoryModel, Report, Verdict};

/// Greatest number of traces of a tested size. Debug builds test smaller sizes, because they need
/// about ten times as long per trace.
const LARGEST: u64 = if cfg!(debug_assertions) {
    300
} else {
    1_000_000
};

#[test]
fn parsimonious_explores_each_trace_once_and_is_never_blocked() {
    explores_each_trace_once(Algorithm::Parsimonious);
}

#[test]
fn optimal_explores_each_trace_once_and_is_never_blocked() {
    explores_each_trace_once(Algorithm::Optimal);
}

#[test]
fn source_completes_each_trace_once() {
    completes_each_trace_once(Algorithm::Source);
}

#[test]
fn classic_completes_each_trace_once() {
    completes_each_trace_once(Algorithm::Classic);
}

#[test]
fn sleep_sets_complete_each_trace_once() {
    completes_each_trace_once(Algorithm::Sleep);
}

#[test]
fn exhaustive_search_completes_each_trace_at_least_once() {
    for (instance, expected) in tested_with(Algorithm::Exhaustive) {
        let report = check(&instance, Algorithm::Exhaustive);
        let (executions, halted) = traces(&instance, &expected);
        let is_enough = report.executions >= executions && report.halted >= halted;
        assert!(is_enough, "{instance}: {}", summary(&report));
        has_verdict(&instance, &report);
    }
}

#[test]
fn context_sensitive_explores_fewer_where_states_are_equal() {
    for (instance, expected) in tested_with(Algorithm::ContextSensitive) {
        if let Some(expected) = expected.context_sensitive {
            let report = check(&instance, Algorithm::ContextSensitive);
            let found = ContextSensitive {
                executions: report.executions,
                halted: report.halted,
                blocked: report.blocked,
            };
            assert_eq!(found, expected, "{instance}");
            has_verdict(&instance, &report);
        }
    }
}

#[test]
fn classic_explores_at_least_as_much_as_source_where_the_papers_compare_them() {
    for (instance, expected) in tested_with(Algorithm::Classic) {
        let is_compared = instance.entry().expectation().source.is_some();
        if is_compared && !expected.too_slow.contains(&Algorithm::Source) {
            let classic = explored(&check(&instance, Algorithm::Classic));
            let source = explored(&check(&instance, Algorithm::Source));
            assert!(
                classic >= source,
                "{instance}: classic {classic}, source {source}"
            );
        }
    }
}

fn explores_each_trace_once(algorithm: Algorithm) {
    for (instance, expected) in tested_with(algorithm) {
        let report = check(&instance, algorithm);
        counts(&instance, &expected, &report);
        assert_eq!(
            report.blocked,
            0,
            "{instance} with {algorithm}: {}",
            summary(&report)
        );
    }
}

fn completes_each_trace_once(algorithm: Algorithm) {
    for (instance, expected) in tested_with(algorithm) {
        counts(&instance, &expected, &check(&instance, algorithm));
    }
}

fn counts(instance: &Instance, expected: &SizeExpectation, report: &Report) {
    let found = (report.executions, report.halted);
    let traces = traces(instance, expected);
    assert_eq!(found, traces, "{instance} with {}", report.algorithm);
    has_verdict(instance, report);
}

/// Returns the numbers of traces that run to completion and that halt. These are the expected
/// numbers or, if they depend on the compiled code, the numbers of the simplest algorithm that
/// completes each trace once.
fn traces(instance: &Instance, expected: &SizeExpectation) -> (u64, u64) {
    if !instance.entry().expectation().spins {
        return (expected.executions, expected.halted);
    }
    let report = check(instance, Algorithm::Sleep);
    (report.executions, report.halted)
}

fn has_verdict(instance: &Instance, report: &Report) {
    let algorithm = report.algorithm;
    let expectation = instance.entry().expectation();
    let special = instance.expected().and_then(|expected| expected.verdict);
    let verdict = match special.unwrap_or(expectation.verdict) {
        Expected::Verified => Verdict::Verified,
        Expected::Bug => Verdict::Bug,
    };
    assert_eq!(
        report.verdict,
        verdict,
        "{instance} with {algorithm}: {}",
        summary(report)
    );
}

/// Returns the programs with the sizes at which this algorithm is tested.
fn tested_with(algorithm: Algorithm) -> Vec<(Instance, SizeExpectation)> {
    let mut tested = Vec::new();
    let is_sc = |entry: &&Entry| entry.expectation().memory == MemoryModel::Sc;
    for entry in corpus::all().iter().filter(is_sc) {
        for expected in entry.expectation().sizes {
            let is_tested = expected.tested == Tested::Always
                && expected.executions <= LARGEST
                && !expected.too_slow.contains(&algorithm);
            if is_tested {
                let instance = entry
                    .with_sizes(&expected.size)
                    .expect("a test checks the sizes");
                tested.push((instance, expected));
            }
        }
    }
    tested
}

fn check(instance: &Instance, algorithm: Algorithm) -> Report {
    Checker::new()
        .memory(MemoryModel::Sc)
        .algorithm(algorithm)
        .keep_going(true)
        .check(instance.program())
}

fn explored(report: &Report) -> u64 {
    report.executions + report.halted + report.blocked
}

fn summary(report: &Report) -> String {
    let errors: Vec<&str> = report
        .errors
        .iter()
        .map(|error| error.message.as_str())
        .collect();
    format!(
        "{} executions, {} halted, {} blocked, errors {errors:?}, bounds {:?}",
        report.executions, report.halted, report.blocked, report.bounds
    )
}
