//! Programs with a bug in some interleavings. Under their safe trace they never fail, however often
//! they run. Without it they fail.

use crate::enforcement::{errors, mazurka};
use crate::verification::built;
use report::SafeTrace;

/// Asserts that one run is right. If the environment variable `REPEAT` is set to a number, performs
/// this number of runs instead, and prints how many of them are wrong.
const BEGIN: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include "mazurka.h"
static int is_right(void);
static void run(void *(*one)(void *), void *(*other)(void *)) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
int main(void) {
    const char *repeat = getenv("REPEAT");
    if (repeat == NULL) {
        assert(is_right());
        return 0;
    }
    long wrong = 0;
    for (long i = 0; i < atol(repeat); i++) {
        mazurka_again();
        wrong += !is_right();
    }
    printf("%ld\n", wrong);
}
"#;

/// Two threads increment a counter, each with a load and a store.
const LOST_UPDATE: &str = r"
static atomic_int x;
static void *add(void *unused) {
    int seen = x;
    x = seen + 1;
    return NULL;
}
static int is_right(void) {
    x = 0;
    run(add, add);
    return x == 2;
}
";

/// A thread checks a balance under a lock. The balance may have changed when the thread takes the
/// lock again to withdraw.
const ATOMICITY_VIOLATION: &str = r"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static void *withdraw(void *unused) {
    pthread_mutex_lock(&lock);
    int is_enough = balance >= 7;
    pthread_mutex_unlock(&lock);
    if (is_enough) {
        pthread_mutex_lock(&lock);
        balance -= 7;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}
static int is_right(void) {
    balance = 10;
    run(withdraw, withdraw);
    return balance >= 0;
}
";

/// A thread uses a value that another thread may not have made yet (Metzler et al., Figure 1).
const ORDER_VIOLATION: &str = r"
static int buffer, is_missed;
static _Atomic(int *) shared;
static void *consume(void *unused) {
    is_missed = shared == NULL;
    return NULL;
}
static void *produce(void *unused) {
    shared = &buffer;
    return NULL;
}
static int is_right(void) {
    shared = NULL;
    run(produce, consume);
    return !is_missed;
}
";

/// Returns how often a program is repeated in one process.
fn repetitions() -> String {
    std::env::var("MAZURKA_REPETITIONS").unwrap_or_else(|_| "3000".to_owned())
}

/// Checks that the program never fails with enforcement, and fails without it.
fn is_prevented(name: &str, source: &str) {
    let folder = built(&[BEGIN, source].concat());
    let folder = folder.path();
    let verify = ["verify", "-q", "-o", "safe.trace", "./program"];
    let verified = mazurka(folder, &verify).output().unwrap();
    assert_eq!(verified.status.code(), Some(1), "{}", errors(&verified));
    let trace = SafeTrace::load(&folder.join("safe.trace")).unwrap();
    assert!(!trace.cases[0].excluded.is_empty());
    let wrong = |option: &[&str]| {
        let run = ["run", "--safe", "safe.trace", "--delays", "1"];
        let mut command = mazurka(folder, &[&run, option, &["./program"]].concat());
        let ran = command.env("REPEAT", repetitions()).output().unwrap();
        assert!(ran.status.success(), "{}", errors(&ran));
        let wrong: u64 = String::from_utf8(ran.stdout)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        wrong
    };
    assert_eq!(wrong(&[]), 0);
    let free = wrong(&["--free"]);
    assert!(free > 0, "without enforcement it does not fail");
    println!(
        "{name}: {} times, {free} wrong without enforcement",
        repetitions()
    );
}

#[test]
fn a_lost_update_is_prevented() {
    is_prevented("lost update", LOST_UPDATE);
}

#[test]
fn a_violation_of_atomicity_is_prevented() {
    is_prevented("atomicity violation", ATOMICITY_VIOLATION);
}

#[test]
fn a_violation_of_an_order_is_prevented() {
    is_prevented("order violation", ORDER_VIOLATION);
}

/// Starts again while a thread is not joined, or in a thread other than main.
const TOO_EARLY: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "mazurka.h"
static atomic_int x;
static void *adds(void *unused) {
    x++;
    return NULL;
}
static void *begins(void *unused) {
    mazurka_again();
    return NULL;
}
static void *waits(void *unused) {
    while (x < 100) {}
    return NULL;
}
int main(void) {
    const char *how = getenv("HOW");
    pthread_t thread;
    pthread_create(&thread, NULL, how == NULL ? adds : *how == 'b' ? begins : waits, NULL);
    if (how != NULL && *how == 'w') mazurka_again();
    pthread_join(thread, NULL);
    return 0;
}
"#;

#[test]
fn a_program_that_restarts_while_its_threads_run_ends_with_a_message() {
    let folder = built(TOO_EARLY);
    let folder = folder.path();
    let verify = ["verify", "-q", "-o", "safe.trace", "./program"];
    let verified = mazurka(folder, &verify).output().unwrap();
    assert!(verified.status.success(), "{}", errors(&verified));
    for (how, why) in [
        ("begins", "thread 0.0 requests it"),
        ("waits", "thread 0.0 has not ended"),
    ] {
        let mut command = mazurka(folder, &["run", "--safe", "safe.trace", "./program"]);
        let ran = command.env("HOW", how).output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{how}: {}", errors(&ran));
        let message = errors(&ran);
        assert!(message.contains(why), "{how}: {message}");
    }
}
