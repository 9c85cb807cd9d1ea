//! Searches by several processes. They have the results of one job, whatever happens to the
//! processes.

use crate::toolchain::Toolchain;
use mazurka::Checker;
use native::{Answer, Order, Worker};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::task::Poll;
use std::thread;
use std::time::Duration;

/// Returns the Fibonacci benchmark. `end` checks the result.
pub fn fibonacci(rounds: u32, end: &str) -> String {
    format!(
        "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int i = 1, j = 1;
static void *adds(void *p) {{ for (int k = 0; k < {rounds}; k++) i += j; return p; }}
int main(void) {{
    pthread_t thread;
    pthread_create(&thread, 0, adds, 0);
    for (int k = 0; k < {rounds}; k++) j += i;
    pthread_join(thread, 0);
    {end}
    return 0;
}}
"
    )
}

fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command
        .arg("check")
        .args(arguments.split_whitespace())
        .args(["--format", "json", "--no-output"])
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

/// Returns the part of the report that does not depend on the number of jobs, and this number.
pub fn report(output: &Output) -> (Value, u64) {
    let mut report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let jobs = report["jobs"].as_u64().unwrap();
    for field in ["jobs", "elapsed_s", "peak_rss_bytes", "compile_s"] {
        report.as_object_mut().unwrap().remove(field);
    }
    (report, jobs)
}

fn checked(folder: &Path, arguments: &str) -> (Value, u64) {
    report(&command(folder, arguments).output().unwrap())
}

/// Returns a folder with these programs, built.
pub fn built(programs: &[(&str, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in programs {
        let source = folder.path().join(format!("{name}.c"));
        fs::write(&source, text).unwrap();
        let toolchain = Toolchain::first();
        toolchain
            .build(&source, &[], &folder.path().join(name))
            .unwrap();
    }
    folder
}

#[test]
fn several_jobs_find_what_one_finds() {
    let folder = built(&[
        ("five", fibonacci(5, "")),
        ("four", fibonacci(4, "")),
        (
            "bug",
            fibonacci(5, "assert(i < 144 && j < 144); assert(i != 100);"),
        ),
    ]);
    for arguments in [
        "./five",
        "./four --algorithm exhaustive",
        "./five --algorithm random --seed 3 --max-executions 4000",
        "./five --algorithm pct --max-executions 4000",
        "./bug --keep-going",
        "fib-bench:4",
        "mutex:3,3",
        "lastzero:9 --keep-going",
    ] {
        let (one, _) = checked(folder.path(), &format!("{arguments} --jobs 1"));
        assert!(one["executions"].as_u64().unwrap() > 1024, "{arguments}");
        for jobs in [2, 3] {
            let several = checked(folder.path(), &format!("{arguments} --jobs {jobs}"));
            assert_eq!(several, (one.clone(), jobs), "{arguments}");
        }
    }
}

/// Returns a program that publishes plain data atomically if its counter reaches this value.
pub fn publishes(rounds: u32, value: u32) -> String {
    format!(
        "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int i = 1, j = 1, ready;
static int data;
static void *adds(void *p) {{
    for (int k = 0; k < {rounds}; k++) i += j;
    if (i == {value}) {{ data = 1; ready = 1; }}
    return p;
}}
int main(void) {{
    pthread_t thread;
    pthread_create(&thread, 0, adds, 0);
    for (int k = 0; k < {rounds}; k++) j += i;
    if (ready) assert(data == 1);
    pthread_join(thread, 0);
    return 0;
}}
"
    )
}

#[test]
fn jobs_learn_late_that_atomic_accesses_order_plain_ones() {
    let folder = built(&[("late", publishes(5, 8))]);
    let seen = [1, 2, 3].map(|jobs| {
        let (mut report, _) = checked(folder.path(), &format!("./late --jobs {jobs}"));
        // The restarts depend on which job learns a fact first.
        report.as_object_mut().unwrap().remove("restarts");
        let given_up = report.as_object_mut().unwrap().remove("given_up").unwrap();
        let given_up = given_up.as_u64().unwrap();
        assert!(given_up > 1024, "after the first slice: {given_up}");
        report
    });
    assert_eq!(seen[0]["verdict"], "verified");
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
}

/// Returns the number of executions in the slices 2 to 20 of a search. If `asks_for_early_end` is
/// true, each of them is asked to end early.
fn slices(program: &Path, arguments: &[&str], asks_for_early_end: bool) -> u64 {
    let order = Order {
        name: "program".to_owned(),
        algorithm: "parsimonious".to_owned(),
        ..Order::default()
    };
    let checker = Checker::ordered(&order).by(&order.algorithm).unwrap();
    let division = checker.divide(2).unwrap().unwrap();
    let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
    let mut worker = Worker::start_for_errands(Command::new(program), &arguments, &order).unwrap();
    let mut answers = worker.answers();
    let mut executions = Vec::new();
    for number in 0..20 {
        let Poll::Ready(Some(errand)) = division.poll() else {
            panic!("the search has a part left");
        };
        if number > 0 && asks_for_early_end {
            worker.early_end().unwrap().ask();
        }
        worker.assign(&errand.words()).unwrap();
        assert!(answers.any(|answer| matches!(answer, Answer::Brought)));
        errand.complete(&worker.brought().unwrap());
        executions.push(division.progress().0);
    }
    executions[19] - executions[0]
}

/// Slices take a tenth of a second. If another job waits for parts of the search, they take a
/// millisecond.
#[test]
fn a_request_for_an_early_end_ends_the_slice_in_any_kind_of_process() {
    let folder = built(&[("fib", fibonacci(9, ""))]);
    let native: (&Path, &[&str]) = (&folder.path().join("fib"), &["fib"]);
    let corpus: (&Path, &[&str]) = (
        Path::new(env!("CARGO_BIN_EXE_mazurka")),
        &["mazurka", "corpus-job", "fib-bench:6"],
    );
    for (program, arguments) in [native, corpus] {
        let [whole, ended] = [false, true].map(|asks| slices(program, arguments, asks));
        assert!(10 * ended < whole, "{program:?}: {ended} of {whole}");
    }
}

#[test]
fn a_search_that_cannot_be_divided_says_so_if_it_was_to_be() {
    let folder = tempfile::tempdir().unwrap();
    for (jobs, warnings) in [("", 0), ("--jobs 1", 0), ("--jobs 2", 1)] {
        let (report, done) = checked(
            folder.path(),
            &format!("mutex:2,2 --algorithm optimal {jobs}"),
        );
        assert_eq!(done, 1, "{jobs}");
        assert_eq!(
            report["warnings"].as_array().unwrap().len(),
            warnings,
            "{report}"
        );
    }
    for jobs in ["0", "1025", "-1", "two"] {
        let output = command(folder.path(), &format!("mutex:2,2 --jobs {jobs}"));
        let output = { output }.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{jobs}");
    }
}

/// Returns the ids of the processes that the command has started.
fn workers(command: &Child) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", command.id()));
    let lists = tasks.into_iter().flatten().flatten();
    let lists = lists.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let numbers =
        |list: String| -> Vec<String> { list.split_whitespace().map(str::to_owned).collect() };
    lists.flat_map(numbers).collect()
}

/// Sends a signal to a process that may have ended.
pub fn signal(name: &str, process: &str) {
    let _ = Command::new("kill")
        .args([name, process])
        .stderr(Stdio::null())
        .status();
}

/// Runs the command while `disturb` is called repeatedly with its processes.
fn disturbed(mut command: Command, mut disturb: impl FnMut(usize, &Child)) -> Output {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for round in 0.. {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        disturb(round, &child);
    }
    child.wait_with_output().unwrap()
}

/// Simultaneous executions would read each other's data in the file.
#[test]
fn a_program_that_writes_files_is_searched_by_one_job() {
    let named = tempfile::NamedTempFile::new().unwrap();
    let [start, end] = [
        "FILE *file = fopen(NAME, \"w+\"); assert(getc(file) < 0);",
        "fputc('x', file); fclose(file);",
    ];
    let program = fibonacci(5, end)
        .replace("int main(void) {", &format!("int main(void) {{ {start}"))
        .replace(
            "#include <unistd.h>",
            &format!("#include <stdio.h>\n#define NAME {:?}", named.path()),
        );
    let folder = built(&[("five", program)]);
    for (arguments, warnings) in [("./five", 0), ("./five --jobs 2", 1)] {
        let (report, jobs) = checked(folder.path(), arguments);
        assert_eq!(
            (&report["verdict"], jobs),
            (&"verified".into(), 1),
            "{report}"
        );
        assert_eq!(
            report["warnings"].as_array().unwrap().len(),
            warnings,
            "{report}"
        );
    }
}

#[test]
fn processes_that_are_killed_from_outside_are_replaced_and_nothing_is_counted_twice() {
    let folder = built(&[("seven", fibonacci(7, ""))]);
    for program in ["./seven", "fib-bench:6"] {
        let (one, _) = checked(folder.path(), &format!("{program} --jobs 1"));
        let mut kills = 0;
        let arguments = format!("{program} --jobs 2");
        let output = disturbed(command(folder.path(), &arguments), |round, child| {
            thread::sleep(Duration::from_millis(250));
            let all = workers(child);
            if let Some(worker) = all.get(round % all.len().max(1)) {
                signal("-KILL", worker);
                kills += 1;
            }
        });
        assert_eq!(report(&output), (one, 2), "{program} after {kills} kills");
        assert!(kills > 1, "{program}: {kills}");
    }
}

#[test]
fn processes_that_wait_long_for_their_next_part_go_on() {
    let folder = built(&[("seven", fibonacci(7, ""))]);
    let (one, _) = checked(folder.path(), "./seven --jobs 1");
    let output = disturbed(
        command(folder.path(), "./seven --jobs 2"),
        |round, child| {
            thread::sleep(Duration::from_millis(300));
            if round == 0 {
                signal("-STOP", &child.id().to_string());
                thread::sleep(Duration::from_secs(4));
                signal("-CONT", &child.id().to_string());
            }
        },
    );
    assert_eq!(report(&output), (one, 2));
}

#[test]
fn a_part_whose_processes_are_always_killed_is_left_out_and_nothing_is_verified() {
    let folder = built(&[("six", fibonacci(9, ""))]);
    let output = disturbed(command(folder.path(), "./six --jobs 2"), |_, child| {
        for worker in workers(child) {
            signal("-KILL", &worker);
        }
    });
    assert_eq!(output.status.code(), Some(3));
    let (report, _) = report(&output);
    assert_eq!(report["verdict"], "bounded", "{report}");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("SIGKILL"), "{warnings}");
}

#[test]
fn a_program_that_ends_a_process_late_in_a_search_by_several_fails_with_a_schedule() {
    let crash = "if (i >= 144) syscall(SYS_exit_group, 5);";
    let folder = built(&[("late", fibonacci(5, crash))]);
    for jobs in [1, 2, 3] {
        let arguments = format!("./late --jobs {jobs}");
        let output = command(folder.path(), &arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{jobs}");
        let (report, _) = report(&output);
        let failure = &report["errors"][0];
        let message = failure["message"].as_str().unwrap();
        assert!(message.contains("exit status 5"), "{message}");
        let execution = failure["execution"].as_u64().unwrap();
        assert!((129..=8953).contains(&execution), "{execution}");
        let rows = failure["interleaving"]["rows"].as_array().unwrap();
        assert!(rows.len() > 10, "{report}");
    }
}

#[test]
fn a_search_goes_on_with_another_number_of_jobs() {
    let folder = built(&[("seven", fibonacci(7, ""))]);
    let (whole, _) = checked(folder.path(), "./seven --jobs 1");
    let mut arguments = "./seven --checkpoint state".to_owned();
    for (jobs, executions) in [(2, 3_000), (1, 9_000), (3, 20_000)] {
        let limited = format!("{arguments} --jobs {jobs} --max-executions {executions}");
        let (report, _) = checked(folder.path(), &limited);
        assert_eq!(report["executions"], executions, "{report}");
        arguments = "./seven --checkpoint state --resume state".to_owned();
    }
    let interrupted = command(folder.path(), &format!("{arguments} --jobs 2"));
    let output = disturbed(interrupted, |_, child| {
        thread::sleep(Duration::from_millis(150));
        signal("-INT", &child.id().to_string());
    });
    assert_eq!(output.status.code(), Some(3));
    let (resumed, _) = checked(folder.path(), &format!("{arguments} --jobs 3"));
    for field in [
        "verdict",
        "executions",
        "halted",
        "events",
        "max_depth",
        "bounds",
        "coverage",
    ] {
        assert_eq!(resumed[field], whole[field], "{field}");
    }
}

#[test]
fn limits_and_signals_end_all_processes_of_a_search() {
    let folder = built(&[("eight", fibonacci(8, ""))]);
    for program in ["./eight", "mutex:4,8"] {
        let limited = format!("{program} --jobs 2 --time-limit 300ms");
        let (report, _) = checked(folder.path(), &limited);
        assert_eq!(report["limits"], serde_json::json!(["time"]), "{report}");
        assert!(report["executions"].as_u64().unwrap() > 0, "{report}");
        let mut seen = Vec::new();
        let arguments = format!("{program} --jobs 2");
        let output = disturbed(command(folder.path(), &arguments), |round, child| {
            thread::sleep(Duration::from_millis(200));
            seen.extend(workers(child));
            // The command cannot clean up after SIGKILL.
            let name = if program == "./eight" {
                "-KILL"
            } else {
                "-TERM"
            };
            if round > 0 {
                signal(name, &child.id().to_string());
            }
        });
        if program != "./eight" {
            assert_eq!(output.status.code(), Some(3));
        }
        assert!(seen.len() >= 2, "{seen:?}");
        for worker in seen {
            let status = format!("/proc/{worker}/status");
            while fs::read_to_string(&status).is_ok_and(|status| !status.contains("State:\tZ")) {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}
