//! Threads that are cancelled while they wait. Cleanup handlers run with the mutex held, and a
//! cancelled thread consumes no signal.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;

const HEAD: &str = "
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static sem_t permits;
__attribute__((constructor)) static void begin(void) { sem_init(&permits, 0, 0); }
static int is_ready, handled, destroyed, reached;
static pthread_t start(void *(*run)(void *), void *argument) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, argument);
    return thread;
}
static void *end(pthread_t thread) {
    void *result;
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result;
}
";

/// Checks the program that consists of the common head and this source.
fn report(name: &str, source: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    let executable = folder.path().join("program");
    fs::write(&file, format!("{HEAD}{source}")).unwrap();
    let toolchain = Toolchain::first();
    toolchain.build(&file, &[], &executable).unwrap();
    check(&[], &executable, &[]).unwrap()
}

#[track_caller]
fn verified(name: &str, source: &str) {
    let report = report(name, source);
    assert_eq!(report["verdict"], "verified", "{}", report["errors"]);
    assert_ne!(report["executions"], 0, "{report}");
}

#[track_caller]
fn fails(name: &str, source: &str, kind: &str) {
    let report = report(name, source);
    assert_eq!(report["errors"][0]["kind"], kind, "{report}");
}

const WAITS: &str = "
static void unlock(void *m) { handled = 1; pthread_mutex_unlock(m); }
static void *waits(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    while (!is_ready) pthread_cond_wait(&ready, &mutex);
    pthread_cleanup_pop(1);
    return unused;
}
";

#[test]
fn a_thread_that_waits_for_a_condition_is_cancelled_with_the_mutex() {
    let main = "int main(void) { assert(end(start(waits, NULL)) == PTHREAD_CANCELED && handled);
                pthread_mutex_lock(&mutex); return 0; }";
    verified("held.c", &format!("{WAITS}{main}"));
    let without = WAITS
        .replace("    pthread_cleanup_push(unlock, &mutex);\n", "")
        .replace("pthread_cleanup_pop(1)", "unlock(&mutex)");
    let main = "int main(void) { end(start(waits, NULL)); pthread_mutex_lock(&mutex); return 0; }";
    fails("forgotten.c", &format!("{without}{main}"), "deadlock");
}

#[test]
fn a_cancelled_thread_consumes_no_signal() {
    let two = "int main(void) {
        pthread_t stays = start(waits, NULL), goes = start(waits, NULL);
        pthread_mutex_lock(&mutex); is_ready = 1; pthread_cond_signal(&ready); pthread_mutex_unlock(&mutex);
        end(goes);
        pthread_join(stays, NULL);
        return 0; }";
    // The signal may wake the thread that is cancelled later. Then the other thread never wakes.
    fails("one.c", &format!("{WAITS}{two}"), "deadlock");
    let all = two.replace("pthread_cond_signal", "pthread_cond_broadcast");
    verified("all.c", &format!("{WAITS}{all}"));
    let before = "int main(void) {
        pthread_t stays = start(waits, NULL), goes = start(waits, NULL);
        end(goes);
        pthread_mutex_lock(&mutex); is_ready = 1; pthread_cond_signal(&ready); pthread_mutex_unlock(&mutex);
        pthread_join(stays, NULL);
        return 0; }";
    verified("before.c", &format!("{WAITS}{before}"));
}

#[test]
fn a_thread_that_waits_for_a_permit_or_a_thread_is_cancelled_and_unwound() {
    verified(
        "permit.cpp",
        "struct Local { ~Local() { destroyed++; } };
         static void *acquires(void *) { Local local; sem_wait(&permits); reached = 1; return nullptr; }
         int main() { assert(end(start(acquires, nullptr)) == PTHREAD_CANCELED && destroyed == 1 && !reached); }",
    );
    verified(
        "thread.cpp",
        "struct Local { ~Local() { destroyed++; } };
         static void *acquires(void *) { sem_wait(&permits); return nullptr; }
         static void *joins(void *other) { Local local; pthread_join(*(pthread_t *)other, nullptr); return nullptr; }
         int main() {
             pthread_t other = start(acquires, nullptr);
             assert(end(start(joins, &other)) == PTHREAD_CANCELED && destroyed == 1);
             sem_post(&permits);
             return pthread_join(other, nullptr);
         }",
    );
}

#[test]
fn sleeping_is_a_cancellation_point() {
    let source = "static void *sleeps(void *p) { usleep(5); reached = 1; return p; }
                  int main(void) { void *result = end(start(sleeps, NULL));
                                   assert((result == PTHREAD_CANCELED) == !reached); return 0; }";
    verified("sleeps.c", source);
    let never = source.replace("== !reached", "&& 0");
    fails("never.c", &never, "assertion");
    let always = source.replace("(result == PTHREAD_CANCELED) == !reached", "!reached");
    fails("always.c", &always, "assertion");
}

#[test]
fn a_thread_that_forbids_it_is_cancelled_later() {
    verified(
        "forbids.c",
        "static void *forbids(void *p) {
            int before, kind;
            pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
            pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &kind);
            assert(before == PTHREAD_CANCEL_ENABLE && kind == PTHREAD_CANCEL_DEFERRED);
            sem_wait(&permits);
            reached = 1;
            pthread_setcancelstate(before, NULL);
            sem_wait(&permits);
            reached = 2;
            return p;
        }
        int main(void) {
            pthread_t thread = start(forbids, NULL);
            sem_post(&permits);
            assert(end(thread) == PTHREAD_CANCELED && reached == 1);
            return 0;
        }",
    );
}
