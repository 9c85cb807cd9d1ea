//! Searches on many machines. The server and the workers run on this machine, and workers die.

use crate::jobs::{built, fibonacci, publishes, report, signal};
use crate::nats::{LATE, Running, SETTINGS, Server};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output};
use std::thread;
use std::time::{Duration, Instant};

fn alone(folder: &Path, arguments: &str) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command
        .arg("check")
        .args(arguments.split_whitespace())
        .args(["--jobs", "1", "--format", "json", "--no-output"])
        .current_dir(folder);
    report(&command.output().unwrap()).0
}

/// Waits for the end of the command while `disturb` is called repeatedly.
fn end(mut child: Child, mut disturb: impl FnMut(u32)) -> Output {
    let start = Instant::now();
    for round in 0.. {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        assert!(start.elapsed() < LATE, "the search hangs");
        disturb(round);
    }
    child.wait_with_output().unwrap()
}

#[test]
fn workers_find_what_one_job_finds() {
    let Some(server) = Server::start(SETTINGS) else {
        return;
    };
    let folder = built(&[
        ("five", fibonacci(5, "")),
        (
            "bug",
            fibonacci(5, "assert(i < 144 && j < 144); assert(i != 100);"),
        ),
    ]);
    let _workers = [server.worker(), server.worker()];
    for arguments in [
        "./five",
        "./bug --keep-going",
        "./five --algorithm random --seed 3 --max-executions 4000",
        "fib-bench:4",
    ] {
        let one = alone(folder.path(), arguments);
        let child = server.submit(folder.path(), arguments);
        let output = end(child, |_| thread::sleep(Duration::from_millis(50)));
        assert_eq!(report(&output).0, one, "{arguments}");
        assert_eq!(server.command("jobs", &[]).stdout, b"no jobs\n");
    }
    let crash = built(&[(
        "late",
        fibonacci(5, "if (i >= 144) syscall(SYS_exit_group, 5);"),
    )]);
    let child = server.submit(crash.path(), "./late");
    let output = end(child, |_| thread::sleep(Duration::from_millis(50)));
    let message = report(&output).0["errors"][0]["message"].to_string();
    assert!(message.contains("exit status 5"), "{message}");
}

/// Runs a search while workers are killed or paused for too long, and the server is restarted.
fn search_amid_deaths(server: &mut Server, folder: &Path, program: &str) -> Output {
    let mut workers: Vec<Running> = (0..4).map(|_| server.worker()).collect();
    let child = server.submit(folder, program);
    let mut stopped = None::<u32>;
    let output = end(child, |round| {
        thread::sleep(Duration::from_secs(1));
        assert!(round < 200, "the search hangs: {}", server.said());
        match (round, stopped) {
            (1 | 6, _) => server.restart(),
            (3, _) => {
                stopped = Some(workers[3].0.id());
                signal("-STOP", &workers[3].0.id().to_string());
            }
            (11, Some(process)) => {
                signal("-CONT", &process.to_string());
                stopped = None;
            }
            _ => {}
        }
        // The fourth worker is paused instead of killed.
        workers[round as usize % 3] = server.worker();
    });
    if let Some(process) = stopped {
        signal("-CONT", &process.to_string());
    }
    output
}

#[test]
fn nothing_is_lost_or_counted_twice_whatever_dies() {
    let Some(mut server) = Server::start(SETTINGS) else {
        return;
    };
    let repetitions = std::env::var("MAZURKA_REPETITIONS").map_or(1, |text| text.parse().unwrap());
    let bug = "assert(i < 900 && j < 900); assert(i != 100);";
    let folder = built(&[
        ("right", fibonacci(7, "")),
        ("bug", fibonacci(7, bug)),
        // This search starts again after a few thousand executions.
        ("anew", publishes(7, 100)),
    ]);
    for program in ["./right", "./bug --keep-going", "./anew"] {
        let mut one = alone(folder.path(), program);
        one["given_up"].take();
        one["restarts"].take();
        for repetition in 0..repetitions {
            let output = search_amid_deaths(&mut server, folder.path(), program);
            let (mut report, _) = report(&output);
            report["given_up"].take();
            report["restarts"].take();
            assert_eq!(report, one, "{program}, repetition {repetition}");
        }
    }
}

#[test]
fn errands_that_the_server_loses_are_given_out_again() {
    let Some(server) = Server::start(SETTINGS) else {
        return;
    };
    let _workers = [server.worker(), server.worker()];
    let folder = built(&[("seven", fibonacci(7, ""))]);
    let child = server.submit(folder.path(), "./seven");
    let output = end(child, |round| {
        thread::sleep(Duration::from_millis(200));
        assert!(round < 1000, "the search hangs: {}", server.said());
        if round < 20 {
            server.lose_messages();
        }
    });
    assert_eq!(report(&output).0, alone(folder.path(), "./seven"));
}

#[test]
fn a_job_outlives_who_submitted_it_and_is_gone_when_it_is_cancelled() {
    let Some(server) = Server::start(SETTINGS) else {
        return;
    };
    let folder = built(&[("five", fibonacci(5, ""))]);
    let id = || {
        let child = server.submit(folder.path(), "./five");
        let process = child.id().to_string();
        let output = end(child, |_| {
            thread::sleep(Duration::from_millis(300));
            if !server.command("jobs", &[]).stdout.starts_with(b"no jobs") {
                signal("-INT", &process);
            }
        });
        assert_eq!(output.status.code(), Some(3));
        let listed = String::from_utf8(server.command("jobs", &[]).stdout).unwrap();
        let id = listed.split_whitespace().next().unwrap().to_owned();
        let warnings = report(&output).0["warnings"].to_string();
        assert!(warnings.contains(&id), "{warnings}");
        id
    };
    let cancelled = id();
    assert!(server.command("cancel", &[&cancelled]).status.success());
    assert_eq!(server.command("jobs", &[]).stdout, b"no jobs\n");
    let done = id();
    let _worker = server.worker();
    let output = server.command("attach", &[&done, "--format", "json"]);
    assert_eq!(report(&output).0, alone(folder.path(), "./five"));
    assert_eq!(server.command("jobs", &[]).stdout, b"no jobs\n");
    let again = server.command("attach", &[&done]);
    is_refused(&again, "no longer, on the server");
}

/// A test in Rust, which runs here and in the workers' processes of the next test.
#[test]
fn a_model_for_workers() {
    use mazurka::sync::Arc;
    use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
    mazurka::TestCase::new("native_check::cluster::a_model_for_workers", "mazurka-cli")
        .run_by_jobs(|| {
            let numbers = Arc::new([AtomicU32::new(1), AtomicU32::new(1)]);
            let adds = |numbers: &[AtomicU32; 2], to: usize| {
                for _ in 0..4 {
                    numbers[to].fetch_add(numbers[1 - to].load(SeqCst), SeqCst);
                }
            };
            let others = Arc::clone(&numbers);
            let thread = mazurka::thread::spawn(move || adds(&others, 0));
            adds(&numbers, 1);
            thread.join().unwrap();
        });
}

#[test]
fn workers_search_a_test_in_rust() {
    let Some(server) = Server::start(SETTINGS) else {
        return;
    };
    let _workers = [server.worker(), server.worker()];
    let run = |cluster: Option<&str>| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["cluster::a_model_for_workers", "--exact", "--nocapture"])
            .env("MAZURKA_COMMAND", env!("CARGO_BIN_EXE_mazurka"));
        if let Some(url) = cluster {
            command.env("MAZURKA_CLUSTER", url);
        }
        let output = command.output().unwrap();
        (
            output.status.success(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let counts = |printed: &str| -> Vec<String> {
        let lines = printed.lines().filter(|line| line.contains(" executions"));
        lines.map(str::to_owned).collect()
    };
    let (_, alone) = run(None);
    // A search can end before the second worker waits for errands. It then reports one job.
    let is_shared = (0..20).any(|_| {
        let (succeeds, printed) = run(Some(&server.url()));
        assert!(succeeds, "{printed}");
        assert_eq!(counts(&printed), counts(&alone));
        printed.contains(" jobs")
    });
    assert!(is_shared, "{}", server.said());
    let (succeeds, printed) = run(Some("nats://127.0.0.1:9"));
    assert!(!succeeds && printed.contains("cannot connect"), "{printed}");
}

fn is_refused(output: &Output, why: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains(why), "{errors}");
    assert!(!errors.contains("secret"), "{errors}");
}

#[test]
fn commands_end_at_a_signal_although_the_server_does_not_answer() {
    let Some(server) = Server::start(SETTINGS) else {
        return;
    };
    let folder = built(&[("seven", fibonacci(7, ""))]);
    let mut worker = server.worker();
    let child = server.submit(folder.path(), "./seven");
    let submitter = child.id();
    thread::sleep(Duration::from_secs(2));
    let process = server.process.as_ref().unwrap().0.id().to_string();
    signal("-STOP", &process);
    for process in [worker.0.id(), submitter] {
        signal("-TERM", &process.to_string());
    }
    // Without a signal, the command waits three times as long for a server that does not respond.
    let in_time = |round: u32| {
        assert!(round < 200, "it waits for the server");
        thread::sleep(Duration::from_millis(100));
    };
    let output = end(child, in_time);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{errors}");
    let ended = (0..).find_map(|round| {
        in_time(round);
        worker.0.try_wait().unwrap()
    });
    assert_eq!(ended.unwrap().code(), Some(0));
    signal("-CONT", &process);
}

#[test]
fn a_job_for_which_there_are_only_workers_of_another_version_is_refused() {
    let Some(server) = Server::start(SETTINGS) else {
        return;
    };
    let folder = built(&[("five", fibonacci(5, ""))]);
    let other = folder.path().join("other");
    let mut file = fs::read(env!("CARGO_BIN_EXE_mazurka")).unwrap();
    file.push(0);
    fs::write(&other, file).unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    let _worker = server.worker_by(&other);
    let child = server.submit(folder.path(), "./five");
    let output = end(child, |_| thread::sleep(Duration::from_millis(50)));
    is_refused(&output, "version");
    assert_eq!(server.command("jobs", &[]).stdout, b"no jobs\n");
}

#[test]
fn what_a_server_does_not_do_is_said_in_one_line() {
    let with_password = format!("{SETTINGS}\nauthorization {{ user: me, password: secret }}");
    let tiny = "jetstream { store_dir: \"STORE\", max_file_store: 20KB }";
    let folder = built(&[("five", fibonacci(5, ""))]);
    for (settings, user, why) in [
        ("", "", "JetStream"),
        (with_password.as_str(), "me:secret2@", "credentials"),
        (with_password.as_str(), "", "credentials"),
        (tiny, "", "cannot"),
    ] {
        let Some(server) = Server::start(settings) else {
            return;
        };
        let url = format!("nats://{user}127.0.0.1:{}", server.port);
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        command.args(["check", "./five", "--no-output", "--cluster", &url]);
        is_refused(&command.current_dir(folder.path()).output().unwrap(), why);
    }
    for url in ["nats://127.0.0.1:9", "nats://no such host", "what://ever:x"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        command.args(["check", "fib-bench:3", "--no-output", "--cluster", url]);
        is_refused(&command.output().unwrap(), "nats");
    }
}
