//! Robust mutexes (`PTHREAD_MUTEX_ROBUST`). The results are compared with those of all
//! interleavings.

use crate::toolchain::{Toolchain, check};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use testkit::random::Random;

/// The arguments are the file to which each execution adds a line, and the scripts of the threads.
const PROGRAM: &str = r#"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t mutex;
static char told[3][8];
static char **scripts;
static char letter(int result) {
    return result == 0 ? '0' : result == EBUSY ? 'b' : result == EOWNERDEAD ? 'd' : result == ENOTRECOVERABLE ? 'n' : 'e';
}
static void *run(void *place) {
    char *results = place;
    int holds = 0;
    for (const char *verb = scripts[(results - told[0]) / 8]; *verb; verb++) {
        int result = 0;
        if ((*verb == 'L' || *verb == 'T') && !holds) {
            result = *verb == 'L' ? pthread_mutex_lock(&mutex) : pthread_mutex_trylock(&mutex);
            holds = result == 0 || result == EOWNERDEAD;
        } else if (*verb == 'U' && holds) {
            result = pthread_mutex_unlock(&mutex);
            holds = 0;
        } else if (*verb == 'C' && holds) {
            result = pthread_mutex_consistent(&mutex);
        }
        *results++ = letter(result);
    }
    return 0;
}
int main(int count, char **words) {
    pthread_t threads[3];
    pthread_mutexattr_t how;
    scripts = words + 2;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &how);
    for (int i = 0; i < count - 2; i++) pthread_create(&threads[i], NULL, run, told[i]);
    for (int i = 0; i < count - 2; i++) pthread_join(threads[i], NULL);
    char line[32] = "";
    for (int i = 0; i < count - 2; i++) { strcat(line, told[i]); strcat(line, i < count - 3 ? " " : "\n"); }
    int file = open(words[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
    long written = write(file, line, strlen(line));
    return close(file) || written < 0;
}
"#;

/// The state of the mutex and the threads between two steps.
#[derive(Clone, Default)]
struct State {
    owner: Option<usize>,
    has_lost_owner: bool,
    is_ruined: bool,
    results: Vec<String>,
}

/// Collects the results of the threads in all interleavings.
fn outcomes(scripts: &[String], state: &State, all: &mut BTreeSet<String>) {
    let mut is_over = true;
    for (thread, script) in scripts.iter().enumerate() {
        if let Some(next) = state.after(thread, script) {
            is_over = false;
            outcomes(scripts, &next, all);
        }
    }
    if is_over {
        all.insert(state.results.join(" "));
    }
}

impl State {
    /// Returns the state after the next step of a thread; `None` if it must wait or has ended.
    fn after(&self, thread: usize, script: &str) -> Option<State> {
        let mut next = self.clone();
        let holds = self.owner == Some(thread);
        let Some(verb) = script.as_bytes().get(self.results[thread].len()) else {
            // The thread ends.
            next.owner = None;
            next.has_lost_owner = true;
            return holds.then_some(next);
        };
        let result = match verb {
            b'L' | b'T' if !holds && self.is_ruined => 'n',
            b'L' if !holds && self.owner.is_some() => return None,
            b'T' if !holds && self.owner.is_some() => 'b',
            b'L' | b'T' if !holds => {
                next.owner = Some(thread);
                if self.has_lost_owner { 'd' } else { '0' }
            }
            b'U' if holds => {
                next.owner = None;
                next.is_ruined = self.has_lost_owner;
                '0'
            }
            b'C' if holds => {
                next.has_lost_owner = false;
                if self.has_lost_owner { '0' } else { 'e' }
            }
            _ => '0',
        };
        next.results[thread].push(result);
        Some(next)
    }
}

/// Returns the results of the threads in the executions that the checker explores.
fn explored(
    executable: &Path,
    algorithm: &str,
    file: &Path,
    scripts: &[String],
) -> BTreeSet<String> {
    let mut arguments = vec![file.display().to_string()];
    arguments.extend_from_slice(scripts);
    let report = check(&["--algorithm", algorithm], executable, &arguments).unwrap();
    assert_eq!(report["verdict"], "verified", "{scripts:?}: {report}");
    assert_eq!(report["halted"], 0, "{scripts:?}: {report}");
    let lines = fs::read_to_string(file).unwrap();
    fs::remove_file(file).unwrap();
    lines.lines().map(str::to_owned).collect()
}

#[test]
fn robust_mutexes_return_the_results_of_all_interleavings() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("robust.c");
    let executable = folder.path().join("robust");
    fs::write(&source, PROGRAM).unwrap();
    Toolchain::first().build(&source, &[], &executable).unwrap();
    let file = folder.path().join("outcomes");
    let mut random = Random::new(1);
    let mut results = String::new();
    for program in 0..40 {
        let scripts: Vec<String> = (0..2 + program % 2)
            .map(|_| {
                let verbs = (0..2 + random.below(3)).map(|_| b"LLTUC"[random.below(5) as usize]);
                verbs.map(char::from).collect()
            })
            .collect();
        let mut all = BTreeSet::new();
        let start = State {
            results: vec![String::new(); scripts.len()],
            ..State::default()
        };
        outcomes(&scripts, &start, &mut all);
        for algorithm in ["optimal", "parsimonious"] {
            let found = explored(&executable, algorithm, &file, &scripts);
            assert_eq!(found, all, "{scripts:?} with {algorithm}");
        }
        results.extend(all);
    }
    for result in "0bdne".chars() {
        assert!(results.contains(result), "no lock returns {result}");
    }
}

/// A wait for a condition, `pthread_exit`, cancellation, `EPERM`, and mutexes that are not robust.
const REST: &str = r#"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t mutex, plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_set, data;
static void *signals_and_ends(void *p) {
    pthread_mutex_lock(&mutex);
    data++;
    is_set = 1;
    pthread_cond_signal(&condition);
    pthread_exit(p);
}
static void *is_cancelled(void *p) {
    if (pthread_mutex_lock(&mutex) == EOWNERDEAD) data++;
    for (;;) pthread_testcancel();
    return p;
}
int main(void) {
    pthread_t thread;
    pthread_mutexattr_t how;
    struct timespec until = {0};
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT);
    pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&mutex, &how);
    assert(pthread_mutex_consistent(&plain) == EINVAL);
    assert(pthread_mutex_unlock(&mutex) == EPERM);
    pthread_create(&thread, NULL, signals_and_ends, NULL);
    int result = pthread_mutex_lock(&mutex);
    while (!is_set) {
        assert(result == 0);
        result = pthread_cond_wait(&condition, &mutex);
    }
    assert(result == EOWNERDEAD && data == 1);
    assert(pthread_mutex_consistent(&mutex) == 0);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, is_cancelled, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    assert(pthread_mutex_timedlock(&mutex, &until) == EOWNERDEAD);
    pthread_mutex_unlock(&mutex);
    assert(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
    assert(pthread_mutex_timedlock(&mutex, &until) == ENOTRECOVERABLE);
    return pthread_mutex_destroy(&mutex);
}
"#;

#[test]
fn a_robust_mutex_survives_owners_that_exit_or_are_cancelled_also_in_condition_waits() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("rest.c");
    let executable = folder.path().join("rest");
    fs::write(&source, REST).unwrap();
    for compiler in ["gcc", "clang"] {
        if let Some(toolchain) = Toolchain::named(compiler) {
            toolchain.build(&source, &[], &executable).unwrap();
            let report = check(&[], &executable, &[]).unwrap();
            assert_eq!(report["errors"], serde_json::json!([]), "{report}");
            assert!(report["executions"].as_u64() > Some(1), "{report}");
        }
    }
}
