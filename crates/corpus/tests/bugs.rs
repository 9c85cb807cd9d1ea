//! Tests that every reduction finds the bugs of the corpus, and that replay shows these bugs again.

use corpus::{Expected, Instance};
use mazurka::{
    Algorithm, Checker, Failure, FailureKind, Interleaving, MemoryModel, Report, Verdict,
};

/// Returns the algorithms that prove something without running every interleaving.
fn reductions() -> impl Iterator<Item = Algorithm> {
    let general = Algorithm::general();
    general.filter(|&algorithm| algorithm.proves() && algorithm != Algorithm::Exhaustive)
}

#[test]
fn every_bug_is_found_by_every_reduction_and_is_of_the_right_kind() {
    for instance in bugs() {
        for algorithm in reductions() {
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
        for algorithm in reductions() {
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
                    &again.interleaving
                ),
                (
                    found.kind,
                    &found.message,
                    &found.location,
                    &found.interleaving
                ),
                "{instance} with {algorithm}"
            );
        }
    }
}

#[test]
fn every_place_that_is_shown_is_in_the_source_of_the_program() {
    for instance in bugs() {
        let failure = find(&instance, Algorithm::Parsimonious);
        let rows = failure.interleaving.rows.iter();
        let shown: Vec<&String> = rows
            .filter_map(|row| row.location.as_ref())
            .chain(&failure.location)
            .collect();
        assert!(!shown.is_empty(), "{instance}");
        let name = instance.entry().name;
        let prefix = format!("corpus/{}/program.rs:", name.trim_end_matches("-fixed"));
        for place in shown {
            assert!(place.starts_with(&prefix), "{instance}: {place}");
        }
    }
}

#[test]
fn the_accesses_of_a_data_race_are_rows() {
    let races = bugs().filter_map(|instance| {
        let failure = find(&instance, Algorithm::Parsimonious);
        (failure.kind == FailureKind::DataRace).then_some((instance, failure))
    });
    let mut seen = 0;
    for (instance, failure) in races {
        let Interleaving { rows, conflict, .. } = &failure.interleaving;
        let pair = conflict.unwrap_or_else(|| panic!("{instance} shows no accesses"));
        let [first, second] = [pair.first, pair.second].map(|row| &rows[row]);
        assert_ne!(first.thread, second.thread, "{instance}");
        assert!(second.failed && !first.failed, "{instance}");
        for row in [first, second] {
            let place = row.location.as_ref().unwrap();
            assert!(failure.message.contains(place), "{instance}: {place}");
            assert!(row.text.starts_with("PlainCell@"), "{}", row.text);
        }
        seen += 1;
    }
    assert!(seen > 3);
}

#[test]
fn pointers_are_numbered_as_they_appear() {
    let instance = corpus::parse("aba-pointer").unwrap();
    let failure = find(&instance, Algorithm::Parsimonious);
    let rows = failure.interleaving.rows.iter();
    let text: String = rows.map(|row| format!("{}\n", row.text)).collect();
    assert!(!text.contains("0x"), "{text}");
    let first = text.find("ptr#1").unwrap();
    assert!(
        text.find("ptr#2").is_some_and(|second| first < second),
        "{text}"
    );
}

#[test]
fn extra_executions_show_a_shorter_one_and_change_no_number() {
    let mut shorter = 0;
    for instance in bugs() {
        for algorithm in reductions() {
            let check = |extra| {
                let checker = Checker::new().memory(MemoryModel::Sc).algorithm(algorithm);
                checker.extra(extra).check(instance.program())
            };
            let [first, short] = [check(0), check(100)];
            let numbers = |report: &Report| {
                let Report {
                    executions,
                    halted,
                    blocked,
                    deadlocks,
                    events,
                    ..
                } = *report;
                (
                    executions,
                    halted,
                    blocked,
                    deadlocks,
                    events,
                    report.max_depth,
                )
            };
            let context = format!("{instance} with {algorithm}: {first}{short}");
            assert_eq!(numbers(&first), numbers(&short), "{context}");
            assert_eq!(first.extra, 0, "{context}");
            assert!(short.extra <= first.errors[0].execution + 10, "{context}");
            let [first, short] = [&first.errors[0], &short.errors[0]];
            assert_eq!(
                (first.kind, &first.location),
                (short.kind, &short.location),
                "{context}"
            );
            let switches = [first, short].map(|failure| failure.interleaving.switches());
            assert!(switches[1] <= switches[0], "{context}");
            shorter += u32::from(switches[1] < switches[0]);
        }
    }
    // The first interleaving of most bugs is already the shortest.
    assert!(shorter >= 3, "{shorter}");
}

/// Returns the bugs under sequential consistency, at the smallest tested sizes.
fn bugs() -> impl Iterator<Item = Instance> {
    corpus::all().iter().filter_map(|entry| {
        let expectation = entry.expectation();
        let smallest = expectation
            .sizes
            .iter()
            .min_by_key(|expected| expected.executions)?;
        let is_bug = expectation.verdict == Expected::Bug && expectation.memory == MemoryModel::Sc;
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
        .memory(MemoryModel::Sc)
        .algorithm(algorithm);
    let mut report = checker.check(instance.program());
    assert_eq!(report.verdict, Verdict::Bug, "{instance} with {algorithm}");
    report.errors.remove(0)
}
