//! Every bug of the corpus is found by every algorithm that promises it, and its schedule shows it again.

use corpus::{Expected, Instance};
use mazurka::{Algorithm, Checker, Failure, Verdict};

const REDUCTIONS: [Algorithm; 5] = [
    Algorithm::Sleep,
    Algorithm::Classic,
    Algorithm::Source,
    Algorithm::Optimal,
    Algorithm::Parsimonious,
];

#[test]
fn every_bug_is_found_by_every_reduction_and_is_of_the_right_kind() {
    for instance in bugs() {
        for algorithm in REDUCTIONS {
            let failure = find(&instance, algorithm);
            let expected = instance.entry().expectation().failure;
            assert_eq!(
                Some(failure.kind),
                expected,
                "{instance} with {algorithm}: {}",
                failure.message
            );
        }
    }
}

#[test]
fn every_bug_is_shown_again_by_its_saved_schedule() {
    for instance in bugs() {
        for algorithm in REDUCTIONS {
            let found = find(&instance, algorithm);
            let saved = serde_json::to_string(&found.schedule).unwrap();
            let schedule = serde_json::from_str(&saved).unwrap();
            let report = Checker::new()
                .replay(&schedule, instance.program())
                .unwrap();
            let again = &report.errors[0];
            assert_eq!(report.executions, 1, "{instance} with {algorithm}");
            assert_eq!(
                (
                    again.kind,
                    &again.message,
                    &again.location,
                    without_addresses(&again.interleaving)
                ),
                (
                    found.kind,
                    &found.message,
                    &found.location,
                    without_addresses(&found.interleaving)
                ),
                "{instance} with {algorithm}"
            );
        }
    }
}

/// The bugs at the smallest sizes that are tested.
fn bugs() -> impl Iterator<Item = Instance> {
    corpus::all().iter().filter_map(|entry| {
        let expectation = entry.expectation();
        let smallest = expectation
            .sizes
            .iter()
            .min_by_key(|expected| expected.executions)?;
        let is_bug = expectation.verdict == Expected::Bug;
        is_bug.then(|| {
            entry
                .with_sizes(&smallest.size)
                .expect("a test checks the sizes")
        })
    })
}

fn find(instance: &Instance, algorithm: Algorithm) -> Failure {
    let checker = Checker::new()
        .name(&instance.to_string())
        .algorithm(algorithm);
    let mut report = checker.check(instance.program());
    assert_eq!(report.verdict, Verdict::Bug, "{instance} with {algorithm}");
    report.errors.remove(0)
}

/// The interleaving as text; pointers differ from one model to the next, so their digits are left out.
fn without_addresses(interleaving: &impl std::fmt::Debug) -> String {
    let text = format!("{interleaving:?}");
    let mut parts = text.split("0x");
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        masked.push_str("0x");
        masked.push_str(part.trim_start_matches(|digit: char| digit.is_ascii_hexdigit()));
    }
    masked
}
