//! Annotations for the thread sanitizer also count in checks. Each program has a race without its
//! annotations, and none with them.

use crate::toolchain::{Toolchain, check};
use std::fs;

const HEAD: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define SANITIZED
#endif
#ifdef __cplusplus
extern "C" {
#endif
#define PLACE const char *file, int line
void AnnotateHappensBefore(PLACE, const volatile void *address);
void AnnotateHappensAfter(PLACE, const volatile void *address);
void AnnotateIgnoreReadsBegin(PLACE);
void AnnotateIgnoreReadsEnd(PLACE);
void AnnotateIgnoreWritesBegin(PLACE);
void AnnotateIgnoreWritesEnd(PLACE);
void AnnotateBenignRaceSized(PLACE, const volatile void *address, long size, const char *why);
void AnnotateRWLockCreate(PLACE, const volatile void *lock);
void AnnotateRWLockAcquired(PLACE, const volatile void *lock, long is_writer);
void AnnotateRWLockReleased(PLACE, const volatile void *lock, long is_writer);
void __tsan_acquire(void *address);
void __tsan_release(void *address);
void __tsan_mutex_create(void *lock, unsigned flags);
void __tsan_mutex_pre_lock(void *lock, unsigned flags);
void __tsan_mutex_post_lock(void *lock, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *lock, unsigned flags);
void __tsan_mutex_post_unlock(void *lock, unsigned flags);
void *__tsan_create_fiber(unsigned flags);
#ifdef __cplusplus
}
#endif
#define HERE __FILE__, __LINE__
#if defined ANNOTATED && defined SANITIZED
#define SAY(...) __VA_ARGS__
#else
#define SAY(...)
#endif
static int data, other;
static atomic_int flag;
"#;

const MAIN: &str = r"
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, two, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return data + other > 99;
}
";

/// A lock of relaxed atomics with which the program itself orders its threads.
const LOCK: &str = r"
static void lock(int is_writer) {
    (void)is_writer;
    SAY(__tsan_mutex_pre_lock(&flag, is_writer ? 0 : 1 << 3));
    for (int free = 0; !atomic_compare_exchange_weak_explicit(&flag, &free, 1, memory_order_relaxed, memory_order_relaxed); free = 0) {}
    SAY(__tsan_mutex_post_lock(&flag, is_writer ? 0 : 1 << 3, 0));
}
static void unlock(int is_writer) {
    (void)is_writer;
    SAY(__tsan_mutex_pre_unlock(&flag, is_writer ? 0 : 1 << 3));
    atomic_store_explicit(&flag, 0, memory_order_relaxed);
    SAY(__tsan_mutex_post_unlock(&flag, is_writer ? 0 : 1 << 3));
}
";

fn races(toolchain: &Toolchain, name: &str, body: &str, flags: &[&str]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join(format!("{name}.c"));
    let executable = folder.path().join("program");
    fs::write(&source, format!("{HEAD}{body}{MAIN}")).unwrap();
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    toolchain.build(&source, &flags, &executable).unwrap();
    let report = check(&[], &executable, &[]).unwrap();
    match report["errors"][0]["kind"].as_str() {
        Some("data_race") => true,
        None if report["verdict"] == "verified" => false,
        _ => panic!("{name} {flags:?}: {report}"),
    }
}

/// Checks that there is a race without annotations, and none with them.
fn orders(name: &str, body: &str) {
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            continue;
        };
        assert!(races(toolchain, name, body, &[]), "{name} with {compiler}");
        let annotated = races(toolchain, name, body, &["-DANNOTATED"]);
        assert!(!annotated, "{name} with {compiler}, annotated");
    }
}

#[test]
fn happens_before_orders_threads() {
    for (release, acquire) in [
        (
            "AnnotateHappensBefore(HERE, &data)",
            "AnnotateHappensAfter(HERE, &data)",
        ),
        ("__tsan_release(&flag)", "__tsan_acquire(&flag)"),
    ] {
        let body = format!(
            "static void *one(void *p) {{
                data = 1;
                SAY({release});
                atomic_store_explicit(&flag, 1, memory_order_relaxed);
                return p;
            }}
            static void *two(void *p) {{
                if (atomic_load_explicit(&flag, memory_order_relaxed)) {{ SAY({acquire}); data++; }}
                return p;
            }}"
        );
        orders("order", &body);
    }
}

#[test]
fn an_order_at_another_address_or_taken_up_too_early_orders_nothing() {
    let toolchain = Toolchain::first();
    for (release, acquire) in [
        (
            "AnnotateHappensBefore(HERE, &data)",
            "AnnotateHappensAfter(HERE, &other)",
        ),
        (
            "AnnotateHappensAfter(HERE, &data)",
            "AnnotateHappensAfter(HERE, &data)",
        ),
        (
            "AnnotateHappensBefore(HERE, &data)",
            "AnnotateHappensBefore(HERE, &data)",
        ),
    ] {
        let body = format!(
            "static void *one(void *p) {{ data = 1; SAY({release}); return p; }}
            static void *two(void *p) {{ SAY({acquire}); data++; return p; }}"
        );
        assert!(
            races(toolchain, "other", &body, &["-DANNOTATED"]),
            "{release} {acquire}"
        );
    }
    // The annotations order the threads only if the acquire comes after the release.
    let body = "static void *one(void *p) { data = 1; SAY(__tsan_release(&data)); return p; }
        static void *two(void *p) { SAY(__tsan_acquire(&data)); data++; return p; }";
    assert!(races(toolchain, "early", body, &["-DANNOTATED"]));
}

#[test]
fn locks_of_the_program_are_locks() {
    let writers = "static void *one(void *p) { lock(1); data++; unlock(1); return p; }
        static void *two(void *p) { lock(1); data++; unlock(1); return p; }";
    orders("lock", &format!("{LOCK}{writers}"));
    // Readers do not exclude each other, even if one happened to run before the other.
    let readers = writers.replace("lock(1)", "lock(0)");
    let body = format!("{LOCK}{readers}");
    assert!(races(
        Toolchain::first(),
        "readers",
        &body,
        &["-DANNOTATED"]
    ));
    let annotated = LOCK
        .replace(
            "SAY(__tsan_mutex_pre_lock(&flag, is_writer ? 0 : 1 << 3));",
            "",
        )
        .replace(
            "SAY(__tsan_mutex_post_unlock(&flag, is_writer ? 0 : 1 << 3));",
            "",
        )
        .replace(
            "__tsan_mutex_post_lock(&flag, is_writer ? 0 : 1 << 3, 0)",
            "AnnotateRWLockAcquired(HERE, &flag, is_writer)",
        )
        .replace(
            "__tsan_mutex_pre_unlock(&flag, is_writer ? 0 : 1 << 3)",
            "AnnotateRWLockReleased(HERE, &flag, is_writer)",
        );
    orders("annotated", &format!("{annotated}{writers}"));
}

#[test]
fn ignored_accesses_do_not_race_and_later_accesses_do() {
    let ignoring = "static void *one(void *p) {
            SAY(AnnotateIgnoreWritesBegin(HERE));
            data = 1;
            SAY(AnnotateIgnoreWritesEnd(HERE));
            return p;
        }
        static void *two(void *p) { int seen = data; (void)seen; return p; }";
    orders("ignored", ignoring);
    let reads = ignoring.replace("IgnoreWrites", "IgnoreReads");
    assert!(races(Toolchain::first(), "reads", &reads, &["-DANNOTATED"]));
    let after = ignoring.replace("return p;\n", "data = 2;\nreturn p;\n");
    assert!(races(Toolchain::first(), "after", &after, &["-DANNOTATED"]));
    let benign = "static void *one(void *p) { SAY(AnnotateBenignRaceSized(HERE, &data, sizeof data, \"counts\")); data++; return p; }
        static void *two(void *p) { SAY(AnnotateBenignRaceSized(HERE, &data, sizeof data, \"counts\")); data++; return p; }";
    orders("benign", benign);
    let neighbour = benign.replace("data++", "other++");
    assert!(races(
        Toolchain::first(),
        "neighbour",
        &neighbour,
        &["-DANNOTATED"]
    ));
}

#[test]
fn fibers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("fiber.c");
    let executable = folder.path().join("fiber");
    let body = "int main(void) { return __tsan_create_fiber(0) == NULL; }";
    fs::write(&source, format!("{HEAD}{body}")).unwrap();
    Toolchain::first()
        .build(&source, &["-w".to_owned()], &executable)
        .unwrap();
    let refused = check(&[], &executable, &[]).unwrap_err();
    assert!(
        refused.contains("fibers (__tsan_create_fiber)"),
        "{refused}"
    );
    assert_eq!(refused.lines().count(), 1, "{refused}");
}
