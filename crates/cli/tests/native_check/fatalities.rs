//! Programs that destroy the checking process. The command survives and saves a schedule.

use crate::toolchain::Toolchain;
use report::SafeTrace;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The process ends only if main stores before the thread loads.
const HEAD: &str = "
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int is_set;
static void end(void);
static void *look(void *p) { if (atomic_load(&is_set)) end(); return p; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, look, NULL);
    atomic_store(&is_set, 1);
    pthread_join(thread, NULL);
    return 0;
}
";

const SCRIBBLES: &str = "
static int scribble(struct dl_phdr_info *image, size_t size, void *unused) {
    (void)size, (void)unused;
    const ElfW(Phdr) *last = NULL;
    for (int k = 0; k < image->dlpi_phnum && strstr(image->dlpi_name, \"mazurka_intercept\"); k++)
        if (image->dlpi_phdr[k].p_type == PT_LOAD && image->dlpi_phdr[k].p_flags & PF_W)
            last = &image->dlpi_phdr[k];
    if (!last) return 0;
    volatile char *start = (char *)image->dlpi_addr + last->p_vaddr;
    for (size_t byte = last->p_memsz; byte-- > last->p_filesz;) start[byte] = 0x55;
    return 0;
}
static void end(void) { dl_iterate_phdr(scribble, NULL); }
";

/// Unmaps all code and data of the runtime library.
const DESTROYS: &str = "
#include <sys/mman.h>
/* Nothing refuses this system call, because it bypasses the C library. */
static void unmap(size_t start, size_t length) {
    long result;
    __asm__ volatile(\"syscall\" : \"=a\"(result) : \"0\"(SYS_munmap), \"D\"(start), \"S\"(length) : \"rcx\", \"r11\", \"memory\");
}
static int destroy(struct dl_phdr_info *image, size_t size, void *unused) {
    (void)size, (void)unused;
    for (int k = 0; k < image->dlpi_phnum && strstr(image->dlpi_name, \"mazurka_intercept\"); k++)
        if (image->dlpi_phdr[k].p_type == PT_LOAD) {
            size_t start = (image->dlpi_addr + image->dlpi_phdr[k].p_vaddr) & ~4095UL;
            unmap(start, image->dlpi_phdr[k].p_memsz);
        }
    return 0;
}
static void end(void) { dl_iterate_phdr(destroy, NULL); }
";

fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    let toolchain = Toolchain::first();
    let output = toolchain
        .stands_behind(&mut command)
        .args(arguments)
        .args(["--format", "json"])
        .current_dir(folder)
        .env("TMPDIR", folder.join("scratch"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(fs::read_dir(folder.join("scratch")).unwrap().count(), 0);
    (output.status.code(), report, errors)
}

/// Checks that the end of the process is a failure, and that its schedule reproduces it.
fn ends_the_process(source: &str, how: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("scratch")).unwrap();
    fs::write(folder.path().join("end.c"), format!("{HEAD}{source}")).unwrap();
    for arguments in [&["check", "end.c"], &["replay", "end.schedule.json"]] {
        let (code, report, errors) = run(folder.path(), arguments);
        assert_eq!(code, Some(1), "{arguments:?}: {report} {errors}");
        let message = report["errors"][0]["message"].as_str().unwrap();
        assert!(
            message.contains("the process that ran the program ended with"),
            "{message}"
        );
        assert!(message.contains(how), "{message}");
        let rows = report["errors"][0]["interleaving"]["rows"]
            .as_array()
            .unwrap();
        let texts: Vec<&str> = rows.iter().filter_map(|row| row["text"].as_str()).collect();
        assert_eq!(
            texts,
            [
                "starts T0",
                "is_set.store(1)",
                "continues, and the process ends"
            ]
        );
        assert_eq!(rows[2]["thread"], 1, "{report}");
    }
    let schedule = fs::read_to_string(folder.path().join("end.schedule.json")).unwrap();
    assert!(schedule.contains("\"steps\":[{"), "{schedule}");
}

#[test]
fn a_program_that_ends_the_process_fails_with_a_schedule() {
    let source = "static void end(void) { syscall(SYS_exit_group, 5); }";
    ends_the_process(source, "exit status 5");
    let source = "static void end(void) { syscall(SYS_kill, getpid(), SIGKILL); }";
    ends_the_process(source, "SIGKILL (signal 9)");
}

#[test]
fn a_program_that_ends_the_process_that_verifies_it_keeps_the_constraint_that_prevents_it() {
    let folder = tempfile::tempdir().unwrap();
    let source = "static void end(void) { syscall(SYS_kill, getpid(), SIGKILL); }";
    // The process ends only if the thread loads first, so the first execution is correct.
    let source = format!("{HEAD}{source}").replace("if (atomic_load", "if (!atomic_load");
    let file = folder.path().join("end.c");
    fs::write(&file, source).unwrap();
    let program = folder.path().join("end");
    Toolchain::first().build(&file, &[], &program).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(["verify", "-o", "safe.trace", "./end"]);
    let verified = command.current_dir(folder.path()).output().unwrap();
    assert_eq!(verified.status.code(), Some(1));
    let printed = String::from_utf8(verified.stdout).unwrap();
    for part in [
        "SIGKILL (signal 9)",
        "Execution 3 shows it",
        "continues, and the process ends",
        "1 of 1 constraints",
    ] {
        assert!(printed.contains(part), "{printed}");
    }
    let trace = SafeTrace::load(&folder.path().join("safe.trace")).unwrap();
    assert_eq!(trace.cases[0].constraints.len(), 1);
    assert!(trace.cases[0].excluded[0].contains("SIGKILL"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(["run", "--safe", "safe.trace", "./end"]);
    let ran = command.current_dir(folder.path()).status().unwrap();
    assert!(ran.success());
}

#[test]
fn a_program_that_writes_over_what_the_checker_runs_by_kills_it_and_fails() {
    ends_the_process(DESTROYS, "SIG");
}

/// Checks that the command survives and reports a failure, whether or not the process survives.
fn fails(source: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("scratch")).unwrap();
    fs::write(folder.path().join("end.c"), format!("{HEAD}{source}")).unwrap();
    let (code, report, errors) = run(folder.path(), &["check", "end.c"]);
    assert_eq!(code, Some(1), "{report} {errors}");
    assert!(folder.path().join("end.schedule.json").is_file());
}

#[test]
fn a_program_that_writes_over_the_checker_fails() {
    fails(SCRIBBLES);
}

#[test]
fn a_program_that_smashes_its_stack_fails() {
    let source = "static void *(*volatile fill)(void *, int, size_t) = memset;
        static void end(void) { char small[16]; fill(small, 0x41, 400); }";
    fails(source);
}
