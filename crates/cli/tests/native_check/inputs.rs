//! Inputs of programs under a safe trace. Each input has one value, and this value must be
//! verified.

use crate::enforcement::{errors, mazurka, verify};
use crate::verification::{CELLS, built};
use std::fs;
use std::path::Path;

/// Asks for an input that was not verified, if the environment says so.
const UNSTEADY: &str = r#"
#include <stdlib.h>
#include "mazurka.h"
int main(void) {
    return (getenv("ASKS") ? mazurka_input("more", 0, 1) : mazurka_input("x", 0, 2)) < 0;
}
"#;

/// The words of a command before the program, a variable of the environment, and the line that the
/// run prints.
type Case = (
    &'static [&'static str],
    Option<(&'static str, &'static str)>,
    &'static str,
);

const REFUSED: [Case; 8] = [
    (
        &["x=1", "y=1", "z=1"],
        None,
        "--input z: safe.trace has no input of this name; its inputs are x (0 to 2), y (0 to 2); verify",
    ),
    (
        &["x=1", "y=1", "x=1"],
        None,
        "--input x is given twice, with 1 and 1; give it once",
    ),
    (
        &["x=1", "y=1", "y=2"],
        None,
        "--input y is given twice, with 1 and 2; give it once",
    ),
    (
        &["x=one", "y=1"],
        None,
        "an input is a name and its value: n=3",
    ),
    (
        &["x=99999999999999999999", "y=1"],
        None,
        "an input is a name and its value: n=3",
    ),
    (
        &["x=3", "y=1"],
        None,
        "x = 3 was given, but 0 to 2 were verified; verify",
    ),
    (
        &["x=1"],
        None,
        "no value for y (--input y=VALUE) was given, but 0 to 2 were verified; verify",
    ),
    (
        &["x=1"],
        Some(("MAZURKA_INPUT_y", "one")),
        "MAZURKA_INPUT_y in the environment is \"one\", which is not a number; correct it",
    ),
];

fn run(folder: &Path, inputs: &[&str], variable: Option<(&str, &str)>) -> std::process::Output {
    let inputs = inputs.iter().flat_map(|input| ["--input", input]);
    let fixed = ["run", "--safe", "safe.trace"];
    let words: Vec<&str> = fixed
        .into_iter()
        .chain(inputs)
        .chain(["./program"])
        .collect();
    mazurka(folder, &words).envs(variable).output().unwrap()
}

#[test]
fn inputs_that_are_unknown_missing_twice_or_no_numbers_are_refused_in_one_line() {
    let folder = built(CELLS);
    verify(folder.path());
    for (inputs, variable, part) in REFUSED {
        let ran = run(folder.path(), inputs, variable);
        let errors = errors(&ran);
        assert_eq!(ran.status.code(), Some(2), "{inputs:?}: {errors}");
        assert!(errors.contains(part), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
    let ran = run(folder.path(), &["x=1"], Some(("MAZURKA_INPUT_y", "2")));
    assert!(ran.status.success(), "{}", errors(&ran));
    let twice = [
        "verify",
        "./program",
        "-o",
        "safe.trace",
        "--input",
        "x=0..1",
        "--input",
        "x=1..2",
    ];
    let refused = mazurka(folder.path(), &twice).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let part = "--input x is given twice, with 0..1 and 1..2; give it once";
    assert!(errors(&refused).contains(part), "{}", errors(&refused));
}

#[test]
fn several_jobs_verify_what_one_verifies() {
    let folder = built(CELLS);
    let verified = |jobs: &str| {
        let words = ["verify", "-o", "own", "--format", "json", "--jobs", jobs];
        let words: Vec<&str> = words.into_iter().chain(["./program"]).collect();
        let output = mazurka(folder.path(), &words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let printed = String::from_utf8(output.stdout).unwrap();
        (printed, fs::read(folder.path().join("own")).unwrap())
    };
    let one = verified("1");
    assert!(one.0.contains("\"verified\""), "{}", one.0);
    for jobs in ["2", "3"] {
        assert_eq!(verified(jobs), one, "{jobs}");
    }
}

#[test]
fn a_program_without_inputs_knows_none() {
    let folder = built("int main(void) {}");
    verify(folder.path());
    let ran = run(folder.path(), &["x=1"], None);
    assert_eq!(ran.status.code(), Some(2));
    let part = "--input x: safe.trace has no input of this name; it has no inputs; verify";
    assert!(errors(&ran).contains(part), "{}", errors(&ran));
}

#[test]
fn a_program_that_asks_for_an_input_that_was_not_verified_ends_with_a_message() {
    let folder = built(UNSTEADY);
    verify(folder.path());
    let ran = run(folder.path(), &["x=2"], None);
    assert!(ran.status.success(), "{}", errors(&ran));
    let ran = run(folder.path(), &["x=1"], Some(("ASKS", "1")));
    assert_eq!(ran.status.code(), Some(2));
    let part = "the program asks for an input more, which was not verified";
    assert!(errors(&ran).contains(part), "{}", errors(&ran));
}

/// An argument also sets the value of a declared input of the same name.
#[test]
fn an_argument_and_a_declared_input_of_one_name_have_one_value() {
    let folder = built(
        r#"
        #include <stdlib.h>
        #include "mazurka.h"
        int main(int count, char **arguments) {
            return atoi(arguments[1]) != mazurka_input("n", 1, 3);
        }
        "#,
    );
    let options = [
        "verify",
        "-q",
        "-o",
        "safe.trace",
        "--input",
        "n=1..3",
        "./program",
        "{n}",
    ];
    let verified = mazurka(folder.path(), &options).output().unwrap();
    assert!(verified.status.success(), "{}", errors(&verified));
    let run = ["run", "--safe", "safe.trace", "./program", "3"];
    let ran = mazurka(folder.path(), &run).output().unwrap();
    assert!(ran.status.success(), "{}", errors(&ran));
}
