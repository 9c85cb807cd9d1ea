//! Tests the search over execution graphs, and the axioms, against published verdicts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use testkit::litmus::{Litmus, Row};
use testkit::weak::{MODELS, consistent, reached};

const TABLE: &str = include_str!("../litmus/verdicts.txt");

/// Returns the tests in `litmus`, by name.
fn tests() -> Vec<Litmus> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("litmus");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|end| end == "litmus"));
    let files: BTreeSet<_> = files.collect();
    let read = |file: &std::path::PathBuf| {
        let test: Result<Litmus, _> = fs::read_to_string(file).unwrap().parse();
        let test = test.unwrap_or_else(|mistake| panic!("{}: {mistake}", file.display()));
        assert_eq!(
            Some(test.name.as_ref()),
            file.file_stem(),
            "the name is that of the file"
        );
        test
    };
    files.iter().map(read).collect()
}

#[test]
fn each_test_has_one_row_of_verdicts() {
    let rows = Row::all(TABLE).unwrap();
    let named: BTreeSet<String> = rows.iter().map(|row| row.name.clone()).collect();
    let tests: BTreeSet<String> = tests().into_iter().map(|test| test.name).collect();
    assert_eq!(named.len(), rows.len(), "a test has two rows");
    assert_eq!(named, tests);
    assert!(tests.len() >= 120, "only {} tests", tests.len());
}

#[test]
fn search_and_axioms_have_the_verdicts_of_the_literature() {
    let rows = Row::all(TABLE).unwrap();
    let mut differences = Vec::new();
    for test in tests() {
        let row = rows.iter().find(|row| row.name == test.name);
        let row = row.expect("each test has a row");
        for ((memory, is_c11), published) in MODELS.into_iter().zip(row.is_allowed) {
            let expected = consistent(&test.program, memory, is_c11);
            let found = reached(&test.program, memory, is_c11).unwrap();
            let axioms = test.is_allowed(&expected);
            let search = test.is_allowed(&found);
            if [axioms, search] != [published; 2] || found != expected {
                differences.push(format!(
                    "{}, {memory:?}, C11 {is_c11}: allowed by {}: {published}, by the axioms: \
                     {axioms}, by the search: {search}; graphs: {} and {}",
                    test.name,
                    row.source,
                    expected.len(),
                    found.len()
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
