//! Reads and writes by functions of the C library count as accesses of the program. Their sizes
//! follow from the descriptions of the functions in C and POSIX.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The functions, one per line.
const CALLS: &str = include_str!("library-calls.c");

fn calls() -> Vec<&'static str> {
    let is_call = |line: &&str| {
        let name = line.split_once('(').map_or("", |(name, _)| name);
        ["READS", "WRITES", "READS_OF", "WRITES_TO"].contains(&name)
    };
    CALLS.lines().filter(is_call).collect()
}

/// Returns the number of the call in the execution of this error: the result of the execution's
/// first operation, which is a choice.
fn call_of(error: &Value) -> usize {
    let first = error["interleaving"]["rows"][0]["text"].as_str().unwrap();
    let (_, number) = first.split_once("-> ").unwrap();
    number.parse().unwrap()
}

fn what_is_accessed_is_known(compiler: &str, flags: &[&str]) {
    let Some(toolchain) = Toolchain::named(compiler) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let [file, executable] = ["calls.c", "calls"].map(|name| folder.path().join(name));
    fs::write(&file, CALLS).unwrap();
    fs::write(folder.path().join("input"), "line1\nabc\n").unwrap();
    std::os::unix::fs::symlink("abc", folder.path().join("link")).unwrap();
    let flags: Vec<String> = [flags, &["-w"]]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect();
    build(toolchain, &file, &flags, &executable);
    let place = folder.path().to_str().unwrap().to_owned();
    let calls = calls();
    let races = check(&[], &executable, std::slice::from_ref(&place)).unwrap();
    let errors = races["errors"].as_array().unwrap();
    let found = errors.iter().map(|error| {
        assert_eq!(error["kind"], "data_race", "{compiler} {flags:?}: {error}");
        call_of(error)
    });
    let found: BTreeSet<usize> = found.collect();
    for (number, call) in calls.iter().enumerate() {
        assert!(
            found.contains(&number),
            "{compiler} {flags:?}: no race: {call}"
        );
    }
    let behind = check(&[], &executable, &[place, "behind".to_owned()]).unwrap();
    let errors = behind["errors"].as_array().unwrap();
    let none = errors
        .iter()
        .map(|error| (calls[call_of(error)], &error["message"]));
    let none: Vec<_> = none.collect();
    assert!(none.is_empty(), "{compiler} {flags:?}: {none:?}");
    assert_eq!(behind["executions"], calls.len());
}

fn build(toolchain: &Toolchain, file: &Path, flags: &[String], executable: &Path) {
    let flags = [flags, &["-Wl,--no-as-needed".to_owned(), "-lm".to_owned()]].concat();
    toolchain.build(file, &flags, executable).unwrap();
}

#[test]
fn the_last_byte_that_a_function_accesses_races_and_the_next_one_does_not() {
    for compiler in ["gcc", "clang"] {
        what_is_accessed_is_known(compiler, &["-O0"]);
        what_is_accessed_is_known(compiler, &["-O2", "-D_FORTIFY_SOURCE=2"]);
    }
}

/// A function writes while main reads the first byte. Each version asserts that one of the outcomes
/// does not occur.
const ORDERS: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
static char text[24] = "b", source[24] = "a";
static int up(const void *one, const void *other) { return *(const char *)one - *(const char *)other; }
static void *writes(void *call) {
    switch (*(char *)call) {
    case '0': strcpy(text, source); break;
    case '1': snprintf(text, sizeof text, "%c", 'a'); break;
    case '2': sscanf("a", "%c", text); break;
    case '3': { FILE *file = fmemopen(source, 2, "r"); fgets(text, sizeof text, file); fclose(file); break; }
    case '4': memset(text, 'a', strlen(source)); break;
    case '5': strcpy(text, "ba"); qsort(text, 2, 1, up); break;
    case '6': clock_gettime(CLOCK_REALTIME, (struct timespec *)text); break;
    case '7': while (strlen(text) == 1); text[0] = 'a'; break;
    case '8': {
        int file = eventfd(1, 0), poller = epoll_create1(0);
        struct epoll_event asked = {EPOLLIN};
        epoll_ctl(poller, EPOLL_CTL_ADD, file, &asked);
        epoll_wait(poller, (struct epoll_event *)text, 1, 0);
        break;
    }
    }
    return 0;
}
int main(int count, char **words) {
    pthread_t thread;
    (void)count;
    pthread_create(&thread, 0, writes, words[1]);
    if (words[1][0] == '7') text[1] = 'c';
    char seen = text[0];
    pthread_join(thread, 0);
    assert((seen == 'b') != (words[2][0] == 'b'));
    return 0;
}
"#;

#[test]
fn what_functions_access_interleaves() {
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let [file, executable] = ["orders.c", "orders"].map(|name| folder.path().join(name));
        fs::write(&file, ORDERS).unwrap();
        build(toolchain, &file, &["-w".to_owned()], &executable);
        for call in 0..9 {
            for outcome in ["b", "a"] {
                let words = [call.to_string(), outcome.to_owned()];
                let found = check(&["--plain", "sc"], &executable, &words).unwrap();
                assert_eq!(found["verdict"], "bug", "{compiler} {words:?}: {found}");
                let errors = found["errors"].as_array().unwrap();
                let failed = errors.iter().all(|error| error["kind"] == "assertion");
                assert!(failed, "{compiler} {words:?}: {errors:?}");
            }
        }
    }
}

#[test]
fn what_a_compiler_links_without_the_mathematical_library_is_linked() {
    let text = "#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
static double complex z;
static void *set(void *p) { z = 1 + 2 * I; return p; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, set, NULL);
    pthread_join(thread, NULL);
    return cimag(z) != 2 || creal(z) != 1 || fabs(creal(z) - 3) != 2;
}
";
    let folder = tempfile::tempdir().unwrap();
    let [source, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    std::fs::write(&source, text).unwrap();
    for compiler in ["gcc", "clang"] {
        let Some((real, report)) = crate::toolchain::run_and_check(compiler, text) else {
            continue;
        };
        let mut plain = std::process::Command::new(compiler);
        plain
            .arg("-pthread")
            .arg(&source)
            .arg("-o")
            .arg(&executable);
        crate::toolchain::succeed(&mut plain);
        assert!(real.success());
        assert_eq!(report["verdict"], "verified", "{compiler}: {report}");
    }
}

/// Returns a program in which main reads its result after or while a thread requests another
/// result.
fn asks_for(result: &str, field: &str, ask: &str, other: &str, order: [&str; 2]) -> String {
    let [before, behind] = order;
    format!(
        "#define _GNU_SOURCE
#include <grp.h>
#include <locale.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <time.h>
static time_t zero, later = 40000000;
static struct tm noon = {{.tm_hour = 12}};
static void *asks(void *unused) {{ {other}; return unused; }}
int main(void) {{
    pthread_t thread;
    {result} = {ask};
    long value = own{field};
    pthread_create(&thread, NULL, asks, NULL);
    {before}
    value += own{field};
    {behind}
    return value == -1;
}}
"
    )
}

#[test]
fn results_that_all_threads_share_are_written_by_each_call() {
    let toolchain = Toolchain::first();
    let folder = tempfile::tempdir().unwrap();
    let [source, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    let calls = [
        (
            "struct tm *own",
            "->tm_mon",
            "localtime(&zero)",
            "localtime(&later)",
        ),
        (
            "struct tm *own",
            "->tm_mon",
            "gmtime(&zero)",
            "localtime(&later)",
        ),
        ("char *own", "[1]", "ctime(&zero)", "ctime(&later)"),
        ("char *own", "[12]", "asctime(&noon)", "asctime(&noon)"),
        ("char *own", "[0]", "l64a(1)", "l64a(2)"),
        (
            "struct passwd *own",
            "->pw_uid",
            "getpwuid(0)",
            "getpwuid(1)",
        ),
        (
            "struct group *own",
            "->gr_gid",
            "getgrnam(\"root\")",
            "getgrnam(\"root\")",
        ),
        (
            "struct lconv *own",
            "->decimal_point[0]",
            "localeconv()",
            "localeconv()",
        ),
    ];
    let join = "pthread_join(thread, NULL);";
    for (result, field, ask, other) in calls {
        for (order, expected) in [([join, ""], None), (["", join], Some("data_race"))] {
            fs::write(&source, asks_for(result, field, ask, other, order)).unwrap();
            build(toolchain, &source, &["-O0".to_owned()], &executable);
            let report = check(&[], &executable, &[]).unwrap();
            let kind = report["errors"][0]["kind"].as_str();
            assert_eq!(kind, expected, "{ask}: {report}");
        }
    }
}
