//! `include/mazurka.h`, in C and in C++: what a program says to the checker, which does nothing elsewhere.

use crate::toolchain::{Toolchain, check, succeed};
use std::fs;
use std::process::Command;

const SOURCE: &str = "
#include <mazurka.h>
#include <assert.h>
int main(void) {
    int first = mazurka_choose(3), second = mazurka_choose(4);
    mazurka_assume(first != 1);
    assert(first * 4 + second != BUG);
    return 0;
}
";

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
            let mut flags = vec![include.clone(), format!("-DBUG={bug}")];
            flags.extend(warnings);
            let toolchain = Toolchain::first();
            toolchain.build(&file, &flags, &executable).unwrap();
            let report = check(&[], &executable, &[]).unwrap();
            assert_eq!(report["verdict"], verdict, "{name}, {bug}: {report}");
            assert_eq!(report["executions"], 8, "{name}: {report}");
            assert_eq!(report["halted"], 4, "{name}: {report}");
            // As usual, and by a compiler that knows nothing of it.
            succeed(&mut Command::new(&executable));
            let compiler = if name.ends_with("cpp") { "c++" } else { "cc" };
            let plain = folder.path().join("plain");
            let mut compile = Command::new(compiler);
            succeed(compile.args(&flags).arg(&file).arg("-o").arg(&plain));
            succeed(&mut Command::new(plain));
        }
    }
}
