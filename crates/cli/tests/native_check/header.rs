//! `include/mazurka.h` in C and C++: calls to the checker, which have no effect elsewhere.

use crate::toolchain::{Toolchain, check, succeed};
use std::fs;
use std::process::Command;

const SOURCE: &str = r#"
#include <mazurka.h>
#include <assert.h>
int main(void) {
    int first = mazurka_choose(3), second = mazurka_choose(4);
    mazurka_assume(first != 1);
    mazurka_goal("some", first == 2);
    mazurka_goal(second == 3 ? "three" : "other", second != UNREACHED);
    assert(first * 4 + second != BUG);
    return 0;
}
"#;

#[test]
fn choices_are_all_tried_and_assumptions_drop_executions_in_c_and_in_c_plus_plus() {
    let folder = tempfile::tempdir().unwrap();
    let include = format!("-I{}/../../include", env!("CARGO_MANIFEST_DIR"));
    let executable = folder.path().join("program");
    for name in ["program.c", "program.cpp"] {
        let file = folder.path().join(name);
        fs::write(&file, SOURCE).unwrap();
        for (bug, verdict) in [("12", "verified"), ("6", "verified"), ("11", "bug")] {
            let warnings = ["-Wall", "-Wextra", "-Werror"].map(str::to_owned);
            let mut flags = vec![
                include.clone(),
                format!("-DBUG={bug}"),
                "-DUNREACHED=4".to_owned(),
            ];
            flags.extend(warnings);
            let toolchain = Toolchain::first();
            toolchain.build(&file, &flags, &executable).unwrap();
            let report = check(&[], &executable, &[]).unwrap();
            assert_eq!(report["verdict"], verdict, "{name}, {bug}: {report}");
            assert_eq!(report["executions"], 8, "{name}: {report}");
            assert_eq!(report["halted"], 4, "{name}: {report}");
            let goals = report["goals"].as_array().unwrap();
            let reached = goals.iter().filter(|goal| goal["reached"] == true);
            assert_eq!((goals.len(), reached.count()), (3, 3), "{name}: {report}");
            // The program also runs normally, and after compilation by an ordinary compiler.
            succeed(&mut Command::new(&executable));
            let compiler = if name.ends_with("cpp") { "c++" } else { "cc" };
            let plain = folder.path().join("plain");
            let mut compile = Command::new(compiler);
            succeed(compile.args(&flags).arg(&file).arg("-o").arg(&plain));
            succeed(&mut Command::new(plain));
        }
    }
}

#[test]
fn a_goal_that_no_execution_comes_to_is_a_bug() {
    let folder = tempfile::tempdir().unwrap();
    let include = format!("-I{}/../../include", env!("CARGO_MANIFEST_DIR"));
    let executable = folder.path().join("program");
    let file = folder.path().join("program.c");
    fs::write(&file, SOURCE).unwrap();
    let flags = [include, "-DBUG=12".to_owned(), "-DUNREACHED=3".to_owned()];
    Toolchain::first()
        .build(&file, &flags, &executable)
        .unwrap();
    let report = check(&[], &executable, &[]).unwrap();
    assert_eq!(report["verdict"], "bug", "{report}");
    let unreached = |goal: &&serde_json::Value| goal["reached"] == false;
    let goals = report["goals"].as_array().unwrap();
    let unreached: Vec<_> = goals.iter().filter(unreached).collect();
    assert_eq!(unreached.len(), 1, "{report}");
    assert_eq!(unreached[0]["name"], "three");
    let location = unreached[0]["location"].as_str().unwrap();
    assert!(location.contains("program.c:8"), "{location}");
}
