//! Programs in C as users see them: how they are built, and how the command handles the checking
//! process. A stub replaces the runtime library, and each test controls its behaviour.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod command;

use command::{Ran, mazurka, run};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// If there is an order, this library behaves as the variable BEHAVIOUR says.
const LIBRARY: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
void __tsan_init(void) {}
void __tsan_read4(void *p) { (void)p; }
void __tsan_write4(void *p) { (void)p; }
static void report(int signal) {
    (void)signal;
    const char *text = getenv("REPORT");
    if (write(1, text, strlen(text)) && write(1, "\n", 1)) _exit(0);
    _exit(1);
}
__attribute__((constructor)) static void work(void) {
    const char *behaviour = getenv("BEHAVIOUR");
    if (!getenv("MAZURKA_ORDER")) return;
    if (!strcmp(behaviour, "report")) { puts("a line of the program"); fflush(stdout); report(0); }
    if (!strcmp(behaviour, "crash")) raise(SIGSEGV);
    if (!strcmp(behaviour, "end")) _exit(7);
    if (!strcmp(behaviour, "refuse")) { puts("{\"refused\":\"the program forks\"}"); fflush(stdout); _exit(0); }
    if (!strcmp(behaviour, "order")) { fprintf(stderr, "%s\n", getenv("MAZURKA_ORDER")); report(0); }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, report);
    fputs("waiting\n", stderr);
    for (;;) pause();
}
"#;

const PROGRAM: &str = "int shared; int main(void) { return shared += 0; }";

struct Here {
    folder: TempDir,
    /// The folder for temporary files, where leftovers would be found.
    scratch: TempDir,
    report: String,
}

impl Here {
    fn new() -> Here {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::write(path.join("library.c"), LIBRARY).unwrap();
        fs::write(path.join("program.c"), PROGRAM).unwrap();
        let made = Command::new("cc")
            .args([
                "-shared",
                "-fPIC",
                "library.c",
                "-o",
                "libmazurka_intercept.so",
            ])
            .current_dir(path)
            .status()
            .unwrap();
        assert!(made.success());
        let report = run(path, "check mutex:2,2 --format json").output;
        Here {
            scratch: tempfile::tempdir().unwrap(),
            report: format!("{{\"report\":{}}}", report.trim()),
            folder,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, behaviour: &str, arguments: &str) -> Command {
        // The stub answers with a report, but cannot carry out errands.
        let arguments = match arguments.strip_prefix("check ") {
            Some(more) => &format!("check --jobs 1 {more}"),
            None => arguments,
        };
        let mut command = mazurka(self.path(), arguments);
        command
            // Cargo sets this to the folder of the real library.
            .env_remove("LD_LIBRARY_PATH")
            .env("MAZURKA_RUNTIME", self.path())
            .env("TMPDIR", self.scratch.path())
            .env("BEHAVIOUR", behaviour)
            .env("REPORT", &self.report);
        command
    }

    /// Runs the command and checks that it leaves no files behind.
    fn ran(&self, behaviour: &str, arguments: &str) -> Ran {
        let output = self.command(behaviour, arguments).output().unwrap();
        let left: Vec<_> = fs::read_dir(self.scratch.path()).unwrap().collect();
        assert!(left.is_empty(), "{arguments}: {left:?}");
        Ran {
            code: output.status.code().unwrap_or(-1),
            output: String::from_utf8(output.stdout).unwrap(),
            errors: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    fn refused(&self, behaviour: &str, arguments: &str, part: &str) {
        let ran = self.ran(behaviour, arguments);
        assert_eq!(ran.code, 2, "{arguments}: {}{}", ran.output, ran.errors);
        assert_eq!(ran.output, "", "{arguments}");
        assert_eq!(ran.errors.lines().count(), 1, "{arguments}: {}", ran.errors);
        assert!(ran.errors.contains(part), "{arguments}: {}", ran.errors);
    }
}

#[test]
fn what_the_program_finds_out_is_reported_with_the_time_for_compiling() {
    let here = Here::new();
    let ran = here.ran("report", "check program.c");
    assert_eq!(ran.code, 0, "{}{}", ran.output, ran.errors);
    assert!(ran.output.starts_with("verified: "), "{}", ran.output);
    assert!(ran.output.contains("after compiling for"), "{}", ran.output);
    let report: Value = here.ran("report", "check program.c --format json").json();
    assert!(report["compile_s"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_order_has_what_the_command_line_says() {
    let here = Here::new();
    let line = "check program.c --plain sc --unroll 3 --max-events 99 --extra 7 --algorithm source";
    let mut command = here.command("order", line);
    let output = command
        .args(["--args", "4 5", "--", "-DNDEBUG"])
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let order: Value = serde_json::from_str(errors.lines().next().unwrap()).unwrap();
    assert_eq!(order["name"], "program.c 4 5");
    assert_eq!(order["interleaves_plain"], true);
    assert_eq!(order["unroll"], 3);
    assert_eq!(order["max_events"], 99);
    assert_eq!(order["extra"], 7);
    assert_eq!(order["algorithm"], "source");
}

#[test]
fn a_program_that_was_built_by_the_wrapper_is_checked_and_runs_as_usual() {
    let here = Here::new();
    let ran = here.ran("report", "cc program.c -o program");
    assert_eq!((ran.code, ran.errors.as_str()), (0, ""));
    for line in ["check ./program", "check program 1 2"] {
        let ran = here.ran("report", line);
        assert_eq!(ran.code, 0, "{}{}", ran.output, ran.errors);
        assert!(!ran.output.contains("compiling"), "{}", ran.output);
    }
    let status = Command::new(here.path().join("program")).status().unwrap();
    assert!(status.success());
}

#[test]
fn the_wrapper_is_the_compiler_in_all_else() {
    let here = Here::new();
    for line in [
        "--version",
        "--help",
        "-dumpmachine",
        "-c nowhere.c",
        "",
        "-x c -E library.c",
    ] {
        let ran = here.ran("report", &format!("cc {line}"));
        let plain = Command::new("cc")
            .args(line.split_whitespace())
            .current_dir(here.path())
            .output()
            .unwrap();
        assert_eq!(Some(ran.code), plain.status.code(), "{line}");
        assert_eq!(ran.errors, String::from_utf8_lossy(&plain.stderr), "{line}");
        if !line.contains("-E") {
            assert_eq!(ran.output, String::from_utf8_lossy(&plain.stdout), "{line}");
        }
    }
}

#[test]
fn an_error_in_the_source_is_reported_by_the_compiler() {
    let here = Here::new();
    fs::write(
        here.path().join("wrong.c"),
        "int main(void) { return missing; }",
    )
    .unwrap();
    fs::write(here.path().join("part.c"), "int part;").unwrap();
    for (source, part) in [("wrong.c", "missing"), ("part.c", "main")] {
        let ran = here.ran("report", &format!("check {source}"));
        assert_eq!(ran.code, 2);
        let last = ran.errors.lines().last().unwrap();
        assert!(
            last.starts_with(&format!("mazurka: {source}: the compiler ended with")),
            "{last}"
        );
        let rest = &ran.errors[..ran.errors.len() - last.len() - 1];
        assert!(rest.contains(part), "{rest}");
    }
}

#[test]
fn what_cannot_be_checked_is_refused_in_one_line() {
    let here = Here::new();
    fs::write(here.path().join("script"), "#!/bin/sh\n").unwrap();
    for (line, part) in [
        ("check /bin/sh", "not built with Mazurka"),
        ("check ./script", "a script"),
        ("check ./nowhere", "cannot read"),
        (
            "check program.c --cc nowhere-cc",
            "nowhere-cc: this compiler cannot be run",
        ),
        ("check program.c --cc true", "neither gcc nor clang"),
        ("check program.c --algorithm context-sensitive", "state"),
        ("check program.c -- -static", "-static"),
        ("check mutex:2,2 --plain sc", "--plain"),
        ("check mutex:2,2 more", "more than one word"),
        ("check nothing-of-this-name", "nothing-of-this-name"),
    ] {
        here.refused("report", line, part);
    }
}

#[test]
fn a_missing_library_is_reported_with_a_remedy() {
    let here = Here::new();
    let mut command = here.command("report", "check program.c");
    let output = command.env("MAZURKA_RUNTIME", "/nowhere").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors.contains("MAZURKA_RUNTIME"), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
}

#[test]
fn a_process_that_ends_without_a_result_is_reported_in_one_line() {
    let here = Here::new();
    here.refused("crash", "check program.c", "SIGSEGV (signal 11)");
    here.refused("end", "check program.c", "exit status 7");
    here.refused("refuse", "check program.c", "program.c: the program forks");
}

#[test]
fn an_interruption_reaches_the_process_that_checks() {
    let here = Here::new();
    for (signals, code) in [(&["-INT"][..], 0), (&["-TERM"], 0)] {
        let mut child = here
            .command("wait", "check program.c")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut waiting = [0; 8];
        std::io::Read::read_exact(child.stderr.as_mut().unwrap(), &mut waiting).unwrap();
        for signal in signals {
            let id = child.id().to_string();
            assert!(
                Command::new("kill")
                    .args([signal, id.as_str()])
                    .status()
                    .unwrap()
                    .success()
            );
        }
        let output = child.wait_with_output().unwrap();
        // The report that follows is the one of the stub.
        assert_eq!(output.status.code(), Some(code), "{signals:?}");
        assert!(String::from_utf8_lossy(&output.stdout).starts_with("verified: "));
        assert_eq!(fs::read_dir(here.scratch.path()).unwrap().count(), 0);
    }
}

#[test]
fn optimizing_flags_are_reported_where_plain_accesses_interleave() {
    let here = Here::new();
    let ran = here.ran("report", "check program.c --plain=sc -- -O2");
    assert!(
        ran.output.contains("warning: the compiler optimizes"),
        "{}",
        ran.output
    );
    let ran = here.ran("report", "check program.c -- -O2");
    assert!(!ran.output.contains("warning"), "{}", ran.output);
}

#[test]
fn a_saved_schedule_says_how_its_program_is_made() {
    let here = Here::new();
    let bug = run(here.path(), "check lost-update --format json").output;
    let mut command = here.command("order", "check program.c --plain=sc --cc cc -- -DNDEBUG");
    let output = command
        .env("REPORT", format!("{{\"report\":{}}}", bug.trim()))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let saved = fs::read_to_string(here.path().join("program.schedule.json")).unwrap();
    let saved: Value = serde_json::from_str(&saved).unwrap();
    let expected =
        serde_json::json!({"files": ["program.c"], "flags": ["-DNDEBUG"], "compiler": "cc"});
    assert_eq!(saved["recipe"], expected);
    let ran = here.ran("order", "replay program.schedule.json");
    assert_eq!(ran.code, 0, "{}{}", ran.output, ran.errors);
    let order: Value = serde_json::from_str(ran.errors.lines().next().unwrap()).unwrap();
    assert_eq!(order["replay"]["steps"], saved["steps"]);
}

#[test]
fn nothing_is_left_by_a_command_that_is_killed() {
    let here = Here::new();
    let mut child = here
        .command("wait", "check program.c")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut waiting = [0; 8];
    let errors = child.stderr.as_mut().unwrap();
    std::io::Read::read_exact(errors, &mut waiting).unwrap();
    // When the checking process has started, the file of its program is deleted.
    while fs::read_dir(here.scratch.path()).unwrap().count() > 0 {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(fs::read_dir(here.scratch.path()).unwrap().count(), 0);
}

/// A compiler that prints its version, but waits forever when it compiles.
const SLOW_COMPILER: &str = r#"#!/bin/sh
case "$*" in
*--version) exec cc --version ;;
-E\ *) exit 0 ;;
*) echo waiting >&2; exec cat "$PIPE" ;;
esac
"#;

#[test]
fn what_a_command_leaves_that_is_killed_while_it_compiles_is_removed_by_the_next_one() {
    use std::os::unix::fs::PermissionsExt;
    let here = Here::new();
    let compiler = here.path().join("slow");
    fs::write(&compiler, SLOW_COMPILER).unwrap();
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    let pipe = here.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let mut child = here
        .command("report", "check program.c --cc ./slow")
        .env("PIPE", &pipe)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut waiting = [0; 8];
    let errors = child.stderr.as_mut().unwrap();
    std::io::Read::read_exact(errors, &mut waiting).unwrap();
    assert_eq!(&waiting, b"waiting\n");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(fs::read_dir(here.scratch.path()).unwrap().count(), 1);
    // Closing the pipe ends the compiler.
    drop(fs::File::options().write(true).open(&pipe).unwrap());
    // The next command checks that nothing is left.
    here.ran("report", "check program.c");
}

/// A library that ends any process that loads it.
const DECOY: &str = "#include <unistd.h>\n\
    void __tsan_init(void) {}\nvoid __tsan_read4(void *p) { (void)p; }\nvoid __tsan_write4(void *p) { (void)p; }\n\
    __attribute__((constructor)) static void end(void) { _exit(9); }\n";

fn shared(folder: &Path, source: &str, library: &str) {
    fs::write(folder.join("shared.c"), source).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "shared.c", "-o", library]);
    assert!(cc.current_dir(folder).status().unwrap().success());
}

#[test]
fn the_runtime_library_is_found_where_it_was_and_others_by_the_environment() {
    let here = Here::new();
    let elsewhere = tempfile::tempdir().unwrap();
    shared(elsewhere.path(), DECOY, "libmazurka_intercept.so");
    shared(elsewhere.path(), "int own = 0;", "libown.so");
    let source = "extern int own; int main(void) { return own; }";
    fs::write(here.path().join("user.c"), source).unwrap();
    let mut build = here.command("report", "cc user.c -o user -lown -L");
    assert!(build.arg(elsewhere.path()).status().unwrap().success());
    let program = here.path().join("user");
    let mut usual = Command::new(&program);
    usual.env("LD_LIBRARY_PATH", elsewhere.path());
    assert_eq!(usual.status().unwrap().code(), Some(0));
    let mut check = here.command("report", "check ./user");
    check.env("LD_LIBRARY_PATH", elsewhere.path());
    let checked = check.output().unwrap();
    let text = String::from_utf8_lossy(&checked.stdout);
    assert!(text.starts_with("verified: "), "{text}");
}
