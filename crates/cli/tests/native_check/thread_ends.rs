//! The C++ library at the end of a thread: it makes results available and notifies condition
//! variables.

use crate::operations::verified;
use crate::toolchain::{Toolchain, check};
use std::fs;

const SOURCE: &str = r#"
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>

static int shared;
static pthread_key_t key;
static std::mutex mutex;
static std::condition_variable condition;
struct Last { int used = 0; ~Last() { shared += used; } };
static thread_local Last last;

// Keys that are made later are destroyed later.
static void write_behind() {
    pthread_key_create(&key, [](void *) { shared = 9; });
    pthread_setspecific(key, &key);
}

static void promise(bool is_late) {
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread thread([&] {
        promise.set_value_at_thread_exit(7);
        last.used = 1;
        if (is_late) write_behind();
    });
    assert(future.get() == 7 && shared == 1);
    thread.join();
}

static void task() {
    std::packaged_task<int(int)> task([](int n) { return n + 1; });
    auto future = task.get_future();
    std::thread thread([&] { task.make_ready_at_thread_exit(6); });
    assert(future.get() == 7);
    thread.join();
}

static void detached() {
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread([promise = std::move(promise)]() mutable { promise.set_value_at_thread_exit(3); }).detach();
    assert(future.get() == 3);
}

struct Thrown { int n; };

// The last thread that uses the exception frees it.
static void exception(bool is_late) {
    std::promise<void> promise;
    auto future = promise.get_future();
    std::thread thread([promise = std::move(promise), is_late]() mutable {
        auto thrown = std::make_exception_ptr(Thrown{3});
        promise.set_exception_at_thread_exit(thrown);
        if (is_late) {
            pthread_key_create(&key, [](void *pointer) {
                try { std::rethrow_exception(*(std::exception_ptr *)pointer); } catch (Thrown &thrown) { thrown.n = 4; }
                delete (std::exception_ptr *)pointer;
            });
            pthread_setspecific(key, new std::exception_ptr(thrown));
        }
    });
    try { future.get(); assert(false); } catch (const Thrown &thrown) {
        int n = thrown.n;
        assert(is_late || n == 3);
    }
    thread.join();
}

static void early() {
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread thread([&] { promise.set_value_at_thread_exit(7); });
    assert(future.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
    thread.join();
}

static void notification(bool is_late) {
    static bool is_done;
    std::thread thread([&] {
        std::unique_lock<std::mutex> lock(mutex);
        is_done = true;
        last.used = 1;
        std::notify_all_at_thread_exit(condition, std::move(lock));
        if (is_late) write_behind();
    });
    {
        std::unique_lock<std::mutex> lock(mutex);
        condition.wait(lock, [] { return is_done; });
    }
    assert(shared == 1);
    thread.join();
}

int main(int, char **words) {
    std::string what = words[1];
    if (what == "promise") promise(false);
    if (what == "promise-race") promise(true);
    if (what == "task") task();
    if (what == "detached") detached();
    if (what == "exception") exception(false);
    if (what == "exception-race") exception(true);
    if (what == "early") early();
    if (what == "notification") notification(false);
    if (what == "notification-race") notification(true);
}
"#;

#[test]
fn what_becomes_ready_at_the_end_of_a_thread_is_ordered_before_what_others_do_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.cpp");
    let executable = folder.path().join("program");
    fs::write(&source, SOURCE).unwrap();
    Toolchain::first()
        .build(&source, &["-std=c++17".to_owned()], &executable)
        .unwrap();
    for (what, expected) in [
        ("promise", None),
        ("promise-race", Some("data_race")),
        ("task", None),
        ("detached", None),
        ("exception", None),
        ("exception-race", Some("data_race")),
        ("early", Some("assertion")),
        ("notification", None),
        ("notification-race", Some("data_race")),
    ] {
        let report = check(&[], &executable, &[what.to_owned()]).unwrap();
        let found = report["errors"][0]["kind"].as_str();
        assert_eq!(found, expected, "{what}: {report}");
        let verdict = expected.map_or("verified", |_| "bug");
        assert_eq!(report["verdict"], verdict, "{what}: {report}");
    }
}

/// A constructor creates a key, which differs from the keys of the program. Main keeps its values
/// to the end.
#[test]
fn keys_of_constructors_are_there_in_every_execution() {
    let source = "#include <assert.h>
        #include <pthread.h>
        #include <stdlib.h>
        static pthread_key_t early, late;
        static int ended, box;
        static void ends(void *p) { *(int *)p = 1; ended++; }
        __attribute__((constructor)) static void makes(void) {
            pthread_key_create(&early, ends);
            pthread_setspecific(early, &box);
        }
        static void *runs(void *p) {
            assert(!pthread_getspecific(early) && !pthread_getspecific(late));
            pthread_setspecific(early, p);
            return NULL;
        }
        int main(int count, char **words) {
            (void)words;
            int mine = 0;
            pthread_t thread;
            assert(pthread_getspecific(early) == &box);
            pthread_key_create(&late, NULL);
            pthread_setspecific(late, malloc(16));
            assert(pthread_getspecific(early) == &box);
            pthread_create(&thread, NULL, runs, &mine);
            pthread_join(thread, NULL);
            assert(mine == 1 && ended == 1);
            pthread_setspecific(early, &mine);
            assert(count < 2);
            return 0;
        }";
    let folder = tempfile::tempdir().unwrap();
    let [file, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    fs::write(&file, source).unwrap();
    Toolchain::first().build(&file, &[], &executable).unwrap();
    let report = check(&[], &executable, &[]).unwrap();
    assert_eq!(report["verdict"], "verified", "{report}");
    let report = check(&[], &executable, &["bug".to_owned()]).unwrap();
    assert_eq!(
        report["errors"][0]["message"], "`count < 2` in main()",
        "{report}"
    );
}

/// As in the C library, destructors run in the order of their keys, and a value that a destructor
/// sets for a later key is destroyed in the same round.
#[test]
fn a_destructor_may_set_the_value_of_a_later_key() {
    let source = "static pthread_key_t keys[6];
        static int count;
        static void destroy(void *value) {
            free(value);
            if (++count < 6) pthread_setspecific(keys[count], malloc(4));
        }
        static void *run(void *p) { pthread_setspecific(keys[0], malloc(4)); return p; }
        int main(void) {
            for (int i = 0; i < 6; i++) pthread_key_create(&keys[i], destroy);
            start(run);
            join();
            assert(count == 6);
        }";
    verified("program.c", source, &[]);
}
