//! A verdict must not claim more than was checked.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const HEAD: &str = "#include <assert.h>\n#include <poll.h>\n#include <pthread.h>\n#include <stdlib.h>\n#include <sys/epoll.h>\n\
    #include <sys/select.h>\n#include <time.h>\n#include <unistd.h>\n";

fn built(folder: &Path, source: &str) {
    let file = folder.join("program.c");
    fs::write(&file, format!("{HEAD}{source}")).unwrap();
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../include");
    let flags = [include.to_owned()];
    Toolchain::first()
        .build(&file, &flags, &folder.join("program"))
        .unwrap();
}

/// Returns the JSON report of a check, or the line with the refusal.
fn checked(source: &str, options: &[&str]) -> Result<Value, String> {
    let folder = tempfile::tempdir().unwrap();
    built(folder.path(), source);
    check(options, &folder.path().join("program"), &[])
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn messages(report: &Value) -> Vec<&str> {
    let errors = report["errors"].as_array().unwrap();
    let message = |error: &'_ Value| error["message"].as_str().unwrap().len();
    assert!(errors.iter().all(|error| message(error) > 0));
    errors
        .iter()
        .map(|error| error["message"].as_str().unwrap())
        .collect()
}

#[test]
fn threads_that_wait_for_ever_after_the_main_thread_has_ended_are_a_deadlock() {
    let source = |end: &str| {
        format!(
            "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
             static void *waits(void *p) {{ pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return p; }}
             int main(void) {{
                 pthread_t thread;
                 pthread_mutex_lock(&m);
                 pthread_create(&thread, 0, waits, 0);
                 {end}
             }}"
        )
    };
    let report = checked(&source("pthread_exit(0);"), &[]).unwrap();
    assert_eq!(report["errors"][0]["kind"], "deadlock", "{report}");
    // When main ends, the program and the other thread end.
    let report = checked(&source("return 0;"), &[]).unwrap();
    assert_eq!(report["verdict"], "verified", "{report}");
    let report = checked(&source("pthread_mutex_unlock(&m); pthread_exit(0);"), &[]).unwrap();
    assert_eq!(report["verdict"], "verified", "{report}");
}

/// Two threads fail in every order. One of them performs an operation first.
#[test]
fn each_of_two_assertions_that_fail_in_one_execution_is_reported() {
    let source = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        static void *one(void *p) { assert(!\"one\"); return p; }
        static void *two(void *p) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); assert(!\"two\"); return p; }
        int main(void) {
            pthread_t a, b;
            pthread_create(&a, 0, one, 0);
            pthread_create(&b, 0, two, 0);
            pthread_join(a, 0);
            pthread_join(b, 0);
        }";
    let report = checked(source, &[]).unwrap();
    let messages = messages(&report);
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(
        messages.iter().any(|message| message.contains("one")),
        "{messages:?}"
    );
    assert!(
        messages.iter().any(|message| message.contains("two")),
        "{messages:?}"
    );
    let places: Vec<&Value> = report["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| &error["location"])
        .collect();
    assert_ne!(places[0], places[1], "{report}");
}

#[test]
fn the_schedule_of_the_second_failure_shows_the_second_failure() {
    let folder = tempfile::tempdir().unwrap();
    let source = "static void *one(void *p) { assert(!\"one\"); return p; }
        static void *two(void *p) { assert(!\"two\"); return p; }
        int main(void) {
            pthread_t a, b;
            pthread_create(&a, 0, one, 0);
            pthread_create(&b, 0, two, 0);
            pthread_join(a, 0);
            pthread_join(b, 0);
        }";
    built(folder.path(), source);
    run(folder.path(), &["check", "--keep-going", "-q", "./program"]);
    for (name, text) in [("program", "one"), ("program-2", "two")] {
        let file = format!("{name}.schedule.json");
        let saved = fs::read_to_string(folder.path().join(&file)).unwrap();
        let output = run(folder.path(), &["replay", &file, "--format", "json"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let message = messages(&report)[0].to_owned();
        assert_eq!(saved.contains("\\\"one"), text == "one", "{saved}");
        assert!(message.contains(text), "{message}");
    }
}

#[test]
fn what_a_program_waits_for_in_the_system_is_ready_or_refused() {
    let main = |body: &str| {
        format!(
            "static int ends[2];
             static void *writes(void *p) {{ char c = 1; if (write(ends[1], &c, 1) != 1) abort(); return p; }}
             int main(void) {{
                 char c;
                 if (pipe(ends)) return 0;
                 struct pollfd own = {{ .fd = ends[0], .events = POLLIN }};
                 fd_set set; FD_ZERO(&set); FD_SET(ends[0], &set);
                 struct timeval time = {{ 10, 0 }}; (void)time;
                 {body}
                 close(ends[0]); close(ends[1]);
             }}"
        )
    };
    // Without other threads, the call reports a ready descriptor. If no descriptor is ready, time
    // passes.
    for body in [
        "writes(0); assert(poll(&own, 1, -1) == 1); assert(read(ends[0], &c, 1) == 1);",
        "assert(poll(&own, 1, 10000) == 0);",
        "assert(poll(&own, 1ul << 31, 0) == -1);",
        "time_t before = time_of(); assert(poll(0, 0, 5000) == 0); assert(time_of() >= before + 5);",
        "time_t before = time_of(); assert(select(ends[0] + 1, &set, 0, 0, &time) == 0); assert(!FD_ISSET(ends[0], &set)); assert(time_of() >= before + 10);",
        "writes(0); assert(select(ends[0] + 1, &set, 0, 0, &time) == 1); assert(FD_ISSET(ends[0], &set));",
        "int e = epoll_create1(0); struct epoll_event event = { .events = EPOLLIN }; epoll_ctl(e, EPOLL_CTL_ADD, ends[0], &event);
         assert(epoll_wait(e, &event, 1, 1000) == 0); writes(0); assert(epoll_wait(e, &event, 1, -1) == 1); close(e);",
    ] {
        let clock = "static time_t time_of(void) { struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now); return now.tv_sec; }\n";
        let report = checked(&format!("{clock}{}", main(body)), &[]).unwrap();
        assert_eq!(report["verdict"], "verified", "{body}: {report}");
    }
    // Another thread may make the file ready. It can run only before the call, not during the call.
    let wait = |call: &str| {
        format!(
            "pthread_t t; pthread_create(&t, 0, writes, 0); assert({call} == 1); pthread_join(t, 0);"
        )
    };
    for call in [
        "poll(&own, 1, -1)",
        "poll(&own, 1, 1000)",
        "ppoll(&own, 1, 0, 0)",
        "select(ends[0] + 1, &set, 0, 0, 0)",
        "pselect(ends[0] + 1, &set, 0, 0, 0, 0)",
    ] {
        let source = format!("#define _GNU_SOURCE\n{HEAD}{}", main(&wait(call)));
        match checked(&source, &[]) {
            Ok(report) => assert_eq!(report["verdict"], "verified", "{call}: {report}"),
            Err(refusal) => assert!(
                refusal.contains("until a descriptor is ready"),
                "{call}: {refusal}"
            ),
        }
    }
}

#[test]
fn a_program_that_becomes_another_one_is_refused() {
    for call in [
        "execl(\"/bin/true\", \"true\", (char *)0)",
        "execlp(\"true\", \"true\", \"a\", \"b\", \"c\", \"d\", \"e\", (char *)0)",
        "execv(\"/bin/true\", (char *[]){ \"true\", 0 })",
        "execvp(\"true\", (char *[]){ \"true\", 0 })",
    ] {
        let source = format!("int main(void) {{ return {call}; }}");
        let refusal = checked(&source, &[]).unwrap_err();
        assert!(
            refusal.contains("replaces itself with another program"),
            "{call}: {refusal}"
        );
        assert_eq!(refusal.trim().lines().count(), 1, "{refusal}");
    }
    // Outside a check, the program becomes the other program and passes all arguments.
    let folder = tempfile::tempdir().unwrap();
    built(
        folder.path(),
        "int main(void) { return execl(\"/bin/echo\", \"echo\", \"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\", (char *)0); }",
    );
    let output = Command::new(folder.path().join("program"))
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"1 2 3 4 5 6 7\n");
}

/// Does the same as `checked`, with `mazurka verify`.
fn verified(source: &str, options: &[&str]) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().unwrap();
    built(folder.path(), source);
    let verify = ["verify", "-o", "safe", "--format", "json", "./program"];
    let output = run(folder.path(), &[&verify, options].concat());
    let report = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code(), report)
}

const LOCKED: &str = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static int x, rounds;
    static void *work(void *p) {
        for (int i = 0; i != rounds; i++) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); }
        return p;
    }
    static void both(void) {
        pthread_t a, b;
        pthread_create(&a, 0, work, 0);
        pthread_create(&b, 0, work, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
    }\n";

#[test]
fn an_input_of_which_nothing_was_verified_is_named_with_the_bound() {
    let source = format!(
        "#include \"mazurka.h\"\n{LOCKED}int main(void) {{ rounds = mazurka_input(\"n\", 0, 1) ? 20 : 1; both(); assert(rounds == 1); }}"
    );
    let (code, report) = verified(&source, &["--max-events", "15"]);
    assert_eq!(
        (code, &report["verdict"]),
        (Some(3), &"bounded".into()),
        "{report}"
    );
    let unverified = report["unverified"].as_array().unwrap();
    assert_eq!(unverified.len(), 1, "{report}");
    assert_eq!(unverified[0]["inputs"], "n == 1");
    assert_eq!(
        unverified[0]["bounds"][0],
        "limit of 15 on operations of a thread; raise with --max-events"
    );
    let (code, report) = verified(&source, &["--max-events", "15", "--input", "n=0..0"]);
    assert_eq!(
        (code, &report["verdict"]),
        (Some(0), &"verified".into()),
        "{report}"
    );
}

#[test]
fn a_program_without_a_complete_execution_is_not_verified() {
    let source = format!("{LOCKED}int main(void) {{ rounds = -1; both(); }}");
    let options = ["--max-events", "30", "--stop-when", "time=1s"];
    let (code, report) = verified(&source, &options);
    assert_eq!(
        (code, &report["verdict"]),
        (Some(3), &"bounded".into()),
        "{report}"
    );
    let bounds = report["unverified"][0]["bounds"].to_string();
    assert!(
        bounds.contains("limit of 30 on operations of a thread"),
        "{bounds}"
    );
}

#[test]
fn what_was_left_out_of_a_verification_is_accepted_or_a_bound() {
    let source =
        "int __VERIFIER_nondet_int(void);\nint main(void) { return __VERIFIER_nondet_int() == 7; }";
    let (code, report) = verified(source, &[]);
    assert_eq!(code, Some(3), "{report}");
    let (code, report) = verified(source, &["--accept", "inputs"]);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(report["accepted"][0]["kind"], "inputs", "{report}");
}

#[test]
fn plain_accesses_without_end_are_the_bound_that_is_named() {
    let source = "static int stop;
        static void *spins(void *p) { while (!stop) {} return p; }
        int main(void) { pthread_t t; pthread_create(&t, 0, spins, 0); pthread_join(t, 0); }";
    let report = checked(source, &["--max-events", "20"]).unwrap();
    let found = report["bounds"].to_string() + &report["errors"].to_string();
    let is_bounded =
        found.contains("limit of 20,000 on plain accesses of a thread; raise with --max-events");
    // The spinning thread may also be reported as stuck.
    assert!(is_bounded || report["verdict"] == "bug", "{report}");
}

#[test]
fn inline_assembly_that_accesses_memory_is_a_bound_unless_it_is_accepted() {
    let source = "static int n;
        static int load(int *p) { int r; __asm__ volatile(\"movl %1, %0\" : \"=r\"(r) : \"m\"(*p)); return r; }
        int main(void) { __asm__ volatile(\"pause\" ::: \"memory\"); return load(&n); }";
    let report = checked(source, &[]).unwrap();
    assert_eq!(report["verdict"], "bounded", "{report}");
    assert_eq!(report["limits"][0], "asm", "{report}");
    let report = checked(source, &["--accept", "asm"]).unwrap();
    assert_eq!(report["verdict"], "verified", "{report}");
    assert_eq!(report["accepted"][0]["kind"], "asm", "{report}");
}

/// A race, a leak and a failing exit status in every execution.
const FINDINGS: &str = "static int count;
    static void *add_one(void *p) { count++; return p; }
    static void leave(void) { volatile char *lost = malloc(7); lost = 0; (void)lost; }
    int main(void) {
        pthread_t t;
        pthread_create(&t, 0, add_one, 0);
        add_one(0);
        pthread_join(t, 0);
        leave();
        return 3;
    }";

#[test]
fn findings_that_are_allowed_are_counted_and_no_bugs() {
    let report = checked(FINDINGS, &["--allow", "race,leak,exit-status"]).unwrap();
    assert_eq!(report["verdict"], "verified", "{report}");
    let suppressed = report["suppressed"].as_array().unwrap();
    let kinds = suppressed
        .iter()
        .map(|error| error["kind"].as_str().unwrap_or_default());
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        ["data_race", "exit_status"],
        "{report}"
    );
    let warning = report["warnings"].to_string();
    assert!(warning.contains("--plain sc"), "{report}");
    let report = checked(FINDINGS, &["--allow", "leak,exit-status"]).unwrap();
    assert_eq!(report["errors"][0]["kind"], "data_race", "{report}");
    let report = checked(FINDINGS, &["--allow", "race"]).unwrap();
    assert_eq!(report["errors"][0]["kind"], "exit_status", "{report}");
}

/// A failed assertion ends its thread, so nothing is known about the deadlock behind it.
#[test]
fn what_follows_an_assertion_that_is_allowed_is_a_bound() {
    let source = "#include <assert.h>
        #include <stdatomic.h>
        static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        static atomic_int n;
        static void *check(void *p) { assert(n == 1); return p; }
        int main(void) {
            pthread_t t;
            pthread_create(&t, 0, check, 0);
            pthread_join(t, 0);
            pthread_mutex_lock(&m);
            pthread_mutex_lock(&m);
        }";
    for (options, expected) in [
        (&["--allow", "assertion"][..], "bounded"),
        (
            &["--allow", "assertion", "--accept", "suppressed"],
            "verified",
        ),
        (&["--allow", "leak"], "bug"),
    ] {
        let report = checked(source, options).unwrap();
        assert_eq!(report["verdict"], expected, "{report}");
    }
}

/// Suppressed findings hide no other bug of the same execution.
#[test]
fn a_deadlock_behind_a_race_that_is_allowed_is_found() {
    let source = "static int count;
        static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        static void *work(void *p) { count++; pthread_mutex_lock(&m); pthread_mutex_lock(&m); return p; }
        int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); count++; pthread_join(t, 0); }";
    let report = checked(source, &["--allow", "race"]).unwrap();
    let errors = report["errors"].as_array().unwrap();
    assert!(
        errors.iter().all(|error| error["kind"] == "deadlock"),
        "{report}"
    );
    assert!(
        !errors.is_empty() && report["suppressed"][0]["kind"] == "data_race",
        "{report}"
    );
}

#[test]
fn suppressions_name_functions_files_and_variables() {
    let folder = tempfile::tempdir().unwrap();
    built(folder.path(), FINDINGS);
    let verdict = |lines: &str| {
        fs::write(folder.path().join("known"), lines).unwrap();
        let options = [
            "check",
            "-q",
            "--no-output",
            "--allow",
            "leak,exit-status",
            "--suppressions",
            "known",
            "./program",
        ];
        run(folder.path(), &options)
    };
    for known in [
        "race:add_one",
        "# known\nrace:^add*one$",
        "race:program.c",
        "race:count",
    ] {
        let output = verdict(known);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{known}: {text}");
    }
    for known in ["race:leave", "race:^one$", "leak:add_one", ""] {
        assert_eq!(verdict(known).status.code(), Some(1), "{known}");
    }
    let output = verdict("race:add_one\nunknown:add_one\n");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("known: line 2: no kind of finding is called unknown"),
        "{errors}"
    );
    assert_eq!(errors.trim().lines().count(), 1, "{errors}");
}

#[test]
fn suppressions_name_functions_that_called_the_one_that_fails() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#include <assert.h>
        #include <pthread.h>
        static int count;
        static void add(int by) { count += by; }
        static void inner(int by) { add(by); }
        static void *outer(void *nothing) { inner(1); return nothing; }
        int main(int argc, char **arguments) {
            pthread_t other;
            (void)arguments;
            pthread_create(&other, 0, outer, 0);
            if (argc > 1) inner(2);
            pthread_join(other, 0);
            assert(argc > 1 && count == 3);
        }";
    built(folder.path(), source);
    let code = |known: &str, argument: &[&str]| {
        fs::write(folder.path().join("known"), known).unwrap();
        let options = ["check", "-q", "--no-output", "--suppressions", "known"];
        let options = [&options[..], &["./program"], argument].concat();
        run(folder.path(), &options).status.code()
    };
    assert_eq!(code("assertion:^main$", &[]), Some(3));
    assert_eq!(code("assertion:^outer$", &[]), Some(1));
    for known in ["race:^add$", "race:^inner$", "race:^outer$"] {
        assert_eq!(code(known, &["more"]), Some(0), "{known}");
    }
    // Only the innermost function of the first access is known.
    assert_eq!(code("race:^main$", &["more"]), Some(1));
}

/// Returns the verdict, the number of complete executions, and the number of halted ones.
fn counts(source: &str, options: &[&str]) -> (String, u64, u64) {
    let report = checked(source, options).unwrap();
    let number = |field: &str| report[field].as_u64().unwrap();
    let verdict = report["verdict"].as_str().unwrap().to_owned();
    (verdict, number("executions"), number("halted"))
}

#[test]
fn a_loop_that_ends_within_its_rounds_is_not_cut_however_often_it_is_entered() {
    let source = "#include <stdatomic.h>
        static atomic_int x, y;
        static int loop(void) { int sum = 0; for (int i = 0; i < 3; i++) sum += atomic_load(&x); return sum; }
        int main(void) {
            loop();
            loop();
            for (int i = 0; i < 3; i++) { atomic_load(&y); loop(); for (int j = 0; j < 3; j++) atomic_load(&y); }
        }";
    assert_eq!(
        counts(source, &["--unroll", "3"]),
        ("verified".into(), 1, 0)
    );
    assert_eq!(counts(source, &["--unroll", "2"]), ("bounded".into(), 0, 1));
}

/// There are a writer and a reader with N rounds. The reader sees the write in one of its reads, or
/// in none. With a bound of k rounds, the reader is stopped unless it has seen the write by the
/// k-th read. So k executions are complete, and one execution is halted.
#[test]
fn a_loop_has_as_many_executions_as_its_rounds_allow() {
    let source = "#include <stdatomic.h>
        static atomic_int x;
        static void *store(void *p) { atomic_store(&x, 1); return p; }
        int main(void) {
            pthread_t t;
            pthread_create(&t, 0, store, 0);
            int i = 0;
            while (!atomic_load(&x) && i < 9) i++;
            pthread_join(t, 0);
        }";
    assert_eq!(counts(source, &[]), ("verified".into(), 11, 0));
    for rounds in [1, 2, 5] {
        let bound = rounds.to_string();
        let expected = ("bounded".into(), rounds, 1);
        assert_eq!(counts(source, &["--unroll", &bound]), expected);
    }
    assert_eq!(
        counts(source, &["--unroll", "10"]),
        ("verified".into(), 11, 0)
    );
}

#[test]
fn volatile_accesses_of_several_threads_are_said_to_be_unchecked_for_races() {
    let source = |shared: &str| {
        format!(
            "static {shared} flag;
             static void *set(void *p) {{ flag = 1; return p; }}
             int main(void) {{
                 volatile int own = 1;
                 pthread_t t;
                 pthread_create(&t, 0, set, 0);
                 own++;
                 while (!flag) {{}}
                 pthread_join(t, 0);
             }}"
        )
    };
    let warnings = |report: &Value| report["warnings"].to_string();
    let report = checked(&source("volatile int"), &[]).unwrap();
    assert!(
        warnings(&report).contains("not checked for data races"),
        "{report}"
    );
    assert!(warnings(&report).contains("program.c:"), "{report}");
    let report = checked(&source("_Atomic int"), &[]).unwrap();
    assert!(!warnings(&report).contains("volatile"), "{report}");
}

/// A barrier is initialized again during use. After a wait, the behaviour of the threads depends on
/// an order that the search does not know.
#[test]
fn a_race_that_changes_what_follows_is_reported_before_the_search_ends() {
    let source = "static pthread_barrier_t *place;
        static _Thread_local pthread_barrier_t barrier;
        static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        static int count, results[3];
        static void *renew(void *p) {
            pthread_barrier_destroy(place); pthread_barrier_init(place, 0, 2);
            results[1] = 1;
            return p;
        }
        static void *wait_twice(void *p) {
            pthread_barrier_wait(place);
            pthread_mutex_lock(&mutex); count++; pthread_mutex_unlock(&mutex);
            results[2] = pthread_barrier_wait(place);
            return p;
        }
        int main(void) {
            pthread_t one, other;
            place = &barrier;
            pthread_barrier_init(place, 0, 2);
            pthread_create(&one, 0, renew, 0);
            pthread_create(&other, 0, wait_twice, 0);
            int last = pthread_barrier_wait(place);
            results[0] = last;
            pthread_join(one, 0);
            pthread_join(other, 0);
            results[0] = results[1];
        }";
    for algorithm in ["optimal", "source", "parsimonious"] {
        let options = ["--plain", "sc", "--algorithm", algorithm];
        let report = checked(source, &options).unwrap();
        let found = messages(&report);
        let begins = |start: &str| found.iter().any(|message| message.starts_with(start));
        let is_right =
            begins("a barrier is destroyed while a thread waits for it") || begins("data race");
        assert!(is_right, "{algorithm}: {found:?}");
    }
}
