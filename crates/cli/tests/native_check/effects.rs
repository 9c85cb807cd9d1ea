//! The effects of one round of a loop. The checker may stop a looping thread only if the thread can
//! observe no change. Hooks, functions of the C library and code without hooks may make changes.

use crate::toolchain::{Toolchain, check};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A loop for each effect, by name.
const EFFECTS: &str = include_str!("effects.c");

/// Runs the program without the checker. Checks whether the code after the loop observes this
/// number of rounds.
fn is_late(program: &Path, effect: &str, rounds: u32) -> bool {
    let mut run = Command::new(program);
    let status = run.arg(effect).arg(rounds.to_string()).status().unwrap();
    status.code().unwrap() == 1
}

fn effects_are_seen(compiler: &str) {
    let Some(toolchain) = Toolchain::named(compiler) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("effects.c");
    fs::write(&source, EFFECTS).unwrap();
    let plain = folder.path().join("plain");
    let built = Command::new(compiler)
        .args(["-pthread", "-w", "-o"])
        .arg(&plain)
        .arg(&source)
        .arg("-lm")
        .status();
    assert!(built.unwrap().success());
    let program = folder.path().join("program");
    toolchain
        .build(&source, &["-w", "-lm"].map(str::to_owned), &program)
        .unwrap();
    let names = Command::new(&plain).output().unwrap().stdout;
    let names = String::from_utf8(names).unwrap();
    assert!(names.lines().count() > 20);
    for effect in names.lines() {
        assert!(
            !is_late(&plain, effect, 0) && is_late(&plain, effect, 3),
            "{effect}"
        );
        let report = check(&["--max-events", "2000"], &program, &[effect.to_owned()]).unwrap();
        let errors = report["errors"].as_array().unwrap();
        let is_assertion =
            |error: &serde_json::Value| error["message"].as_str().unwrap().contains("!late");
        assert!(
            errors.iter().any(is_assertion),
            "{compiler}: {effect}: {report}"
        );
    }
}

#[test]
fn gcc_an_effect_of_a_round_is_seen_whatever_has_it() {
    effects_are_seen("gcc");
}

#[test]
fn clang_an_effect_of_a_round_is_seen_whatever_has_it() {
    effects_are_seen("clang");
}
