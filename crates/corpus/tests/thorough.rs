//! Tests the large sizes of the programs, which `expect.toml` marks as `thoroughly` tested. The
//! algorithms are those that explore each trace once and, if the program reports its state,
//! `context-sensitive`. This takes a few minutes in a release build, and would take too long in a
//! debug build.
#![cfg(not(debug_assertions))]

use corpus::Tested;
use mazurka::{Algorithm, Checker, MemoryModel, Verdict};

#[test]
fn parsimonious_counts_the_large_sizes() {
    counts_the_large_sizes(Algorithm::Parsimonious);
}

#[test]
fn optimal_counts_the_large_sizes() {
    counts_the_large_sizes(Algorithm::Optimal);
}

#[test]
fn context_sensitive_counts_the_large_sizes_of_programs_that_report_their_state() {
    for entry in corpus::all() {
        for expected in entry.expectation().sizes {
            let Some(counts) = expected.context_sensitive else {
                continue;
            };
            if expected.tested != Tested::Thoroughly {
                continue;
            }
            let instance = entry
                .with_sizes(&expected.size)
                .expect("a test checks the sizes");
            let checker = checker().algorithm(Algorithm::ContextSensitive);
            let report = checker.check(instance.program());
            let found = (report.executions, report.halted, report.blocked);
            let expected = (counts.executions, counts.halted, counts.blocked);
            assert_eq!(found, expected, "{instance}");
        }
    }
}

fn checker() -> Checker {
    Checker::new().memory(MemoryModel::Sc)
}

fn counts_the_large_sizes(algorithm: Algorithm) {
    for entry in corpus::all() {
        for expected in entry.expectation().sizes {
            if expected.tested != Tested::Thoroughly || expected.too_slow.contains(&algorithm) {
                continue;
            }
            let instance = entry
                .with_sizes(&expected.size)
                .expect("a test checks the sizes");
            let report = checker().algorithm(algorithm).check(instance.program());
            let found = (report.executions, report.halted, report.blocked);
            assert_eq!(
                found,
                (expected.executions, expected.halted, 0),
                "{instance} with {algorithm}"
            );
            assert_eq!(
                report.verdict,
                Verdict::Verified,
                "{instance} with {algorithm}"
            );
        }
    }
}
