//! Lines that no execution reaches, as the page reports them.

use crate::toolchain::Toolchain;
use serde_json::Value;
use std::fs;
use std::process::Command;

/// Lines 6 and 11 have accesses that no execution reaches. Some executions reach line 9.
const PROGRAM: &str = "#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static int y;
static void never(void) {
    y = 3;
}
static void *other(void *p) {
    if (atomic_load(&x) == 1) y++;
    if (atomic_load(&x) == 7) {
        y = 9;
    }
    return p;
}
int main(int count, char **words) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    atomic_store(&x, 1);
    pthread_join(thread, 0);
    if (count > 1) never();
    return words == 0;
}
";

#[test]
fn lines_that_no_execution_reaches_are_reported() {
    for compiler in ["gcc", "clang"] {
        if Toolchain::named(compiler).is_none() {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("program.c"), PROGRAM).unwrap();
        // Searches by one job and by two. Savepoints of the search must make no difference.
        for jobs in ["1", "2"] {
            let output = Command::new(env!("CARGO_BIN_EXE_mazurka"))
                .args(["check", "program.c", "--cc", compiler, "--jobs", jobs])
                .args(["--format", "json", "--no-output", "--html", "page.html"])
                .current_dir(folder.path())
                .output()
                .unwrap();
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(report["verdict"], "verified", "{compiler}: {report}");
            let tree = &report["tree"];
            assert_eq!(tree["is_whole"], true);
            let unreached = ["program.c:6", "program.c:11"];
            assert_eq!(
                tree["unreached"],
                serde_json::json!(unreached),
                "{compiler}, {jobs}"
            );
        }
    }
}
