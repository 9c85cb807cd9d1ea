//! Loops that wait for what is no event, a plain variable, and do something else meanwhile: no schedule of events ends them.

use crate::toolchain::{Toolchain, check};
use std::fs;

fn program(flag: &str, round: &str) -> String {
    format!(
        "#include <pthread.h>
static int shared, rounds;
static void *sets(void *flag) {{ *(int *)flag = 1; return flag; }}
int main(void) {{
    int local = 0, count = 0, *flag = {flag};
    pthread_t thread;
    pthread_create(&thread, NULL, sets, flag);
    while (!*flag) {round}++;
    pthread_join(thread, NULL);
    return local + count < 0;
}}
"
    )
}

#[test]
fn a_loop_that_counts_while_it_waits_for_a_plain_flag_stops_so_that_the_race_is_found() {
    let toolchain = Toolchain::first();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    for flag in ["&shared", "&local"] {
        for round in ["count", "rounds"] {
            fs::write(&source, program(flag, round)).unwrap();
            toolchain.build(&source, &[], &executable).unwrap();
            let report = check(&["--max-events", "100"], &executable, &[]).unwrap();
            let kind = &report["errors"][0]["kind"];
            assert_eq!(kind, "data_race", "{flag} {round}: {report}");
            assert_eq!(report["executions"], 1, "{flag} {round}: {report}");
        }
    }
}

/// `load` keeps its result on the stack, where the next call of `atomic_ref` overwrites it.
const OWN_STACK: &str = "#include <atomic>
#include <thread>
int main() {
    int value = 0;
    std::thread other([&value] { std::atomic_ref(value).store(1); });
    while (std::atomic_ref(value).load() != 2) {}
    other.join();
}
";

#[test]
fn a_loop_that_overwrites_what_it_reads_on_its_own_stack_spins_for_ever_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.cpp");
    let executable = folder.path().join("program");
    fs::write(&source, OWN_STACK).unwrap();
    let toolchain = Toolchain::first();
    toolchain
        .build(
            &source,
            &["-std=c++20", "-O0"].map(str::to_owned),
            &executable,
        )
        .unwrap();
    let report = check(&["--plain", "sc"], &executable, &[]).unwrap();
    assert_eq!(report["errors"][0]["kind"], "stuck", "{report}");
}
