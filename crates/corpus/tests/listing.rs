//! Tests that the corpus is consistent: all directories are listed, and all expectations can be
//! read. The test `native.rs` does this for programs in C and C++.

use corpus::{Expected, Tested};
use mazurka::{FailureKind, MemoryModel};
use std::fs;
use std::path::Path;

#[test]
fn every_directory_with_a_rust_program_is_listed_in_alphabetical_order() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut directories: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap())
        .flat_map(|entry| {
            let source = fs::read_to_string(entry.path().join("program.rs"));
            let name = entry.file_name().into_string().unwrap();
            let is_fixed = |source: &String| source.contains("const FIXED: Entry");
            let fixed = source
                .as_ref()
                .is_ok_and(is_fixed)
                .then(|| format!("{name}-fixed"));
            source.is_ok().then_some(name).into_iter().chain(fixed)
        })
        .collect();
    directories.sort();
    let listed: Vec<&str> = corpus::all().iter().map(|entry| entry.name).collect();
    assert_eq!(listed, directories);
}

#[test]
fn every_expectation_can_be_read_and_fits_its_program() {
    for entry in corpus::all() {
        let expectation = entry.expectation();
        let is_bug = expectation.verdict == Expected::Bug;
        assert_eq!(
            is_bug,
            expectation.failure.is_some(),
            "{entry:?}: a bug has a kind, and nothing else has one"
        );
        assert!(
            expectation.sc.is_none() || (is_bug && expectation.memory != MemoryModel::Sc),
            "{entry:?}: `sc` is only for a bug under a weak memory model"
        );
        let tested = expectation
            .sizes
            .iter()
            .filter(|size| size.tested == Tested::Always);
        assert!(tested.count() > 0, "{entry:?} is tested");
        for expected in &expectation.sizes {
            let size = &expected.size;
            let instance = entry
                .with_sizes(size)
                .unwrap_or_else(|| panic!("{entry:?} has {size:?}"));
            assert_eq!(
                instance.expected().as_ref(),
                Some(expected),
                "{instance} is there once"
            );
        }
    }
}

#[test]
fn every_program_is_found_by_what_it_displays() {
    for entry in corpus::all() {
        let instance = entry.with_defaults();
        let found = corpus::parse(&instance.to_string()).unwrap();
        assert_eq!(found.entry().name, entry.name);
        assert_eq!(found.sizes(), instance.sizes());
        for (parameter, size) in entry.parameters.iter().zip(instance.sizes()) {
            assert!(parameter.allows(*size), "{instance}");
        }
    }
}

#[test]
fn every_fixed_twin_verifies_and_its_original_has_a_bug() {
    for twin in corpus::all() {
        let Some(original) = twin.name.strip_suffix("-fixed") else {
            continue;
        };
        assert_eq!(twin.expectation().verdict, Expected::Verified, "{twin:?}");
        let original = corpus::find(original).expect("a twin has an original");
        assert_eq!(
            original.expectation().verdict,
            Expected::Bug,
            "{original:?}"
        );
    }
}

#[test]
fn the_bugs_are_of_several_kinds() {
    for kind in [
        FailureKind::Panic,
        FailureKind::DataRace,
        FailureKind::Deadlock,
        FailureKind::Stuck,
    ] {
        let shows = |entry: &corpus::Entry| entry.expectation().failure == Some(kind);
        assert!(
            corpus::all().iter().any(shows),
            "no program shows a {}",
            kind.name()
        );
    }
}
