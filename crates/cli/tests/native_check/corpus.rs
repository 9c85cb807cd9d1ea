//! The corpus in C and C++ with this machine's compilers: verdicts, bugs, numbers of traces.

use crate::toolchain::{Toolchain, check, succeed};
use ::corpus::native::{self, Expectation, Plain, Program};
use ::corpus::{Expected, Project, SizeExpectation, Tested};
use mazurka::{FailureKind, MemoryModel};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Algorithms that explore every trace once.
const ALGORITHMS: [&str; 2] = ["optimal", "parsimonious"];

#[test]
fn every_program_has_its_verdict_and_its_number_of_traces_with_gcc() {
    everything_is_as_expected("gcc");
}

#[test]
fn every_program_has_its_verdict_and_its_number_of_traces_with_clang_where_it_is_installed() {
    everything_is_as_expected("clang");
}

#[test]
fn a_project_that_make_builds_is_checked_and_runs_as_usual() {
    for project in ::corpus::projects(native::directory()).unwrap() {
        let folder = tempfile::tempdir().unwrap();
        let mut make = Command::new("make");
        make.arg("-C").arg(&project.directory);
        make.arg(format!("B={}", folder.path().display()));
        make.args([format!("CC={COMMAND} cc"), format!("CXX={COMMAND} c++")]);
        succeed(Toolchain::first().stands_behind(&mut make));
        is_as_expected(&project, folder.path());
    }
}

#[test]
fn a_project_that_cmake_builds_is_checked_and_runs_as_usual() {
    if Command::new("cmake").arg("--version").output().is_err() {
        println!("cmake is missing: nothing is built with it");
        return;
    }
    for project in ::corpus::projects(native::directory()).unwrap() {
        let folder = tempfile::tempdir().unwrap();
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(&project.directory);
        configure.arg("-B").arg(folder.path());
        configure.env("CC", format!("{COMMAND} cc"));
        configure.env("CXX", format!("{COMMAND} c++"));
        succeed(Toolchain::first().stands_behind(&mut configure));
        let mut build = Command::new("cmake");
        build.arg("--build").arg(folder.path());
        succeed(Toolchain::first().stands_behind(&mut build));
        is_as_expected(&project, folder.path());
    }
}

#[test]
fn a_race_is_shown_where_objects_get_coarser_for_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let executable = folder.path().join("sigma");
    let source = native::directory().join("sigma/prog.c");
    let built = Toolchain::first().build(&source, &[], &executable);
    assert_eq!(built, Ok(()));
    let report = check(&[], &executable, &["6".to_owned()]).unwrap();
    assert_eq!(report["errors"][0]["kind"], "data_race");
}

const COMMAND: &str = env!("CARGO_BIN_EXE_mazurka");

/// Checks that each program of the project has its verdict, and runs normally if it has no bug.
fn is_as_expected(project: &Project, folder: &Path) {
    for (name, program) in &project.programs {
        let executable = folder.join(name);
        let report = check(&[], &executable, &[]).unwrap();
        let problems = verdict_problems(&report, program.verdict, program.failure, None);
        assert_eq!(problems, None, "{name}");
        if program.verdict == Expected::Verified {
            succeed(&mut Command::new(executable));
        }
    }
}

fn everything_is_as_expected(compiler: &str) {
    let Some(toolchain) = Toolchain::named(compiler) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut problems = Vec::new();
    for program in native::read(native::directory()).unwrap() {
        let executable = folder.path().join("program");
        let flags = &program.expectation.flags;
        match toolchain.build(&program.source, flags, &executable) {
            Ok(()) => problems.extend(problems_of(&program, &executable)),
            Err(errors) => problems.push(format!("{}: {errors}", program.name)),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Returns all differences from the expected results.
fn problems_of(program: &Program, executable: &Path) -> Vec<String> {
    let Program { expectation, .. } = program;
    let tested = expectation
        .sizes
        .iter()
        .filter(|size| size.tested == Tested::Always);
    let mut sizes: Vec<Option<&SizeExpectation>> = tested.map(Some).collect();
    if sizes.is_empty() {
        sizes.push(None);
    }
    let mut problems = Vec::new();
    for size in sizes {
        if expectation.memory == MemoryModel::Rc11 {
            let arguments = size.map(Program::arguments).unwrap_or_default();
            let found = weak_problem(expectation, executable, size, &arguments);
            problems.extend(found.map(|found| format!("{}: {found}", program.name)));
            continue;
        }
        for &plain in &expectation.plain {
            for algorithm in ALGORITHMS {
                let how = match plain {
                    Plain::Race => "race",
                    Plain::Sc => "sc",
                };
                let arguments = size.map(Program::arguments).unwrap_or_default();
                // Some programs free blocks whose addresses other threads have read.
                let options = [
                    "--memory",
                    "sc",
                    "--algorithm",
                    algorithm,
                    "--plain",
                    how,
                    "--accept",
                    "reuse",
                ];
                let found = check(&options, executable, &arguments)
                    .map_or_else(Some, |report| problem(&report, expectation, size));
                if let Some(problem) = found {
                    let run = format!("{} {}", program.name, arguments.join(" "));
                    problems.push(format!("{run} with {algorithm}, {how}: {problem}"));
                }
            }
        }
    }
    problems
}

/// Checks that the search chooses RC11 by itself. Under sequential consistency, the program must be
/// verified, unless `expectation.sc` names a kind of bug.
fn weak_problem(
    expectation: &Expectation,
    executable: &Path,
    size: Option<&SizeExpectation>,
    arguments: &[String],
) -> Option<String> {
    let found = check(&[], executable, arguments).map_or_else(Some, |report| {
        let is_chosen = report["memory"] == "rc11";
        let other = (!is_chosen).then(|| format!("the memory model is {}", report["memory"]));
        other.or_else(|| problem(&report, expectation, size))
    });
    let verdict = match expectation.sc {
        Some(_) => Expected::Bug,
        None => Expected::Verified,
    };
    let under_sc = check(&["--memory", "sc"], executable, arguments).map_or_else(Some, |report| {
        verdict_problems(&report, verdict, expectation.sc, None)
    });
    found.or_else(|| under_sc.map(|problem| format!("under sc: {problem}")))
}

fn problem(
    report: &Value,
    expected: &Expectation,
    size: Option<&SizeExpectation>,
) -> Option<String> {
    let counts = ["executions", "halted", "blocked"].map(|count| report[count].as_u64());
    if let Some(size) = size {
        let wanted = [size.executions, size.halted, 0].map(Some);
        if counts != wanted {
            let [verdict, limits, errors] =
                ["verdict", "limits", "errors"].map(|what| &report[what]);
            return Some(format!(
                "executions, halted, blocked are {counts:?}, not {wanted:?}; {verdict}, limits {limits}, errors {errors}"
            ));
        }
    }
    if counts[2] != Some(0) {
        return Some(format!("{:?} executions are blocked", counts[2]));
    }
    let says = expected.says.as_deref();
    verdict_problems(report, expected.verdict, expected.failure, says)
}

fn verdict_problems(
    report: &Value,
    verdict: Expected,
    failure: Option<FailureKind>,
    says: Option<&str>,
) -> Option<String> {
    let wanted = match verdict {
        Expected::Verified => "verified",
        Expected::Bug => "bug",
    };
    let kind = serde_json::to_value(failure).expect("a kind is a word");
    let fits = |error: &Value| {
        let message = error["message"].as_str().unwrap_or_default();
        error["kind"] == kind && says.is_none_or(|says| message.contains(says))
    };
    let errors = report["errors"]
        .as_array()
        .expect("a report has a list of errors");
    let is_found = failure.is_none() || errors.iter().any(fits);
    let is_right = report["verdict"] == wanted && is_found;
    let shown = errors
        .iter()
        .map(|error| format!("{}: {}", error["kind"], error["message"]));
    let shown = shown.collect::<Vec<_>>().join("; ");
    (!is_right).then(|| format!("{} ({shown}), not {wanted} {kind}", report["verdict"]))
}
