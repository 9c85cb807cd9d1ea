//! The litmus tests of testkit as C: they have the graphs of the axioms.

use crate::random::compare_graphs;
use std::fs;
use std::path::Path;
use testkit::litmus::Litmus;

#[test]
fn litmus_tests_have_the_graphs_of_the_axioms() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/litmus");
    let mut compared = 0;
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        if let Ok(test) = text.parse::<Litmus>() {
            compared += u32::from(compare_graphs(&test.program, &test.name));
        }
    }
    assert!(compared >= 120, "only {compared} tests were compared");
}
