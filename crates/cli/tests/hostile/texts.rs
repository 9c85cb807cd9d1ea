//! Arbitrary files for each command that reads files, and modified checkpoints of C programs.

use crate::checkpoints::{file, payload};
use crate::command::{Ran, mazurka, run};
use crate::random::{Random, mutate, seeds};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The numbers of files for each seed.
const TEXTS: usize = 100;
const CHECKPOINTS: usize = 60;
/// Every command ends within this time, even on a busy machine.
const LATE: Duration = Duration::from_secs(30);

/// Checks that the command ends with a known exit code, and prints one line if it refuses.
fn ends(folder: &Path, line: &str) -> Ran {
    let start = Instant::now();
    let ran = run(folder, line);
    assert!(start.elapsed() < LATE, "{line}");
    assert!((0..=3).contains(&ran.code), "{line}: {}", ran.errors);
    if ran.code == 2 {
        assert_eq!(ran.errors.trim().lines().count(), 1, "{}", ran.errors);
    }
    for text in [&ran.output, &ran.errors] {
        let is_shown = |letter: char| letter == '\n' || !letter.is_control();
        assert!(text.chars().all(is_shown), "{line}: {text:?}");
        assert!(!text.contains("panicked at"), "{line}: {text}");
    }
    ran
}

#[test]
fn no_changed_text_leads_astray() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let made = run(folder, "check lost-update -o schedule");
    assert_eq!(made.code, 1, "{}", made.errors);
    let made = run(folder, "verify mutex:2 -o safe");
    assert_eq!(made.code, 0, "{}", made.errors);
    fs::write(
        folder.join("suppressions"),
        "race:^x*y$\n# z\nleak:list.c\n",
    )
    .unwrap();
    let uses = [
        ("schedule", "replay changed"),
        ("safe", "show changed"),
        ("safe", "check-run changed changed"),
        (
            "suppressions",
            "check lost-update --no-output --suppressions changed",
        ),
    ];
    for seed in seeds() {
        let mut random = Random(seed);
        for (name, line) in uses {
            let content = fs::read(folder.join(name)).unwrap();
            for _ in 0..TEXTS {
                let mut changed = content.clone();
                mutate(&mut random, &mut changed);
                fs::write(folder.join("changed"), &changed).unwrap();
                ends(folder, line);
            }
        }
    }
}

const PROGRAM: &str = "
#include <pthread.h>
#include <stdatomic.h>
static atomic_int shared[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *p) {
    pthread_mutex_lock(&mutex);
    atomic_fetch_add(&shared[0], 1);
    pthread_mutex_unlock(&mutex);
    atomic_store(&shared[1], 1);
    return p;
}
int main(void) {
    pthread_t threads[2];
    for (int k = 0; k < 2; k++) pthread_create(&threads[k], 0, add, 0);
    atomic_load(&shared[1]);
    for (int k = 0; k < 2; k++) pthread_join(threads[k], 0);
    return 0;
}
";

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn no_changed_checkpoint_of_a_c_program_leads_astray() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    let built = mazurka(folder, "cc program.c -o program").status().unwrap();
    assert!(built.success());
    let (mut refused, mut all) = (0, 0);
    for algorithm in ["optimal", "parsimonious"] {
        let line = format!("check ./program --no-output --algorithm {algorithm}");
        let saved = run(
            folder,
            &format!("{line} --checkpoint state --max-executions 3"),
        );
        assert_eq!(saved.code, 3, "{}", saved.errors);
        let whole = fs::read(folder.join("state")).unwrap();
        let (magic, state) = (&whole[..8], payload(&whole));
        for seed in seeds() {
            let mut random = Random(seed);
            for _ in 0..CHECKPOINTS {
                let mut changed = state.clone();
                mutate(&mut random, &mut changed);
                fs::write(folder.join("changed"), file(magic, &changed)).unwrap();
                let ran = ends(folder, &format!("{line} --resume changed --time-limit 1s"));
                refused += usize::from(ran.code == 2);
                all += 1;
            }
        }
    }
    println!("{refused} of {all} refused");
    assert!(refused > all / 4);
}
