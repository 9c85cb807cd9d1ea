//! Synchronization objects that are freed or initialized while a thread holds them.

use crate::toolchain::{Toolchain, check};
use std::fs;

/// A type, and code that initializes, uses, takes and releases an object of it.
const OBJECTS: [(&str, &str, &str, &str, &str); 6] = [
    (
        "pthread_mutex_t",
        "pthread_mutex_init(object, NULL)",
        "pthread_mutex_trylock(object)",
        "pthread_mutex_lock(object)",
        "pthread_mutex_unlock(object)",
    ),
    (
        "pthread_rwlock_t",
        "pthread_rwlock_init(object, NULL)",
        "pthread_rwlock_tryrdlock(object)",
        "pthread_rwlock_rdlock(object)",
        "pthread_rwlock_unlock(object)",
    ),
    (
        "pthread_spinlock_t",
        "pthread_spin_init(object, 0)",
        "pthread_spin_lock(object)",
        "",
        "",
    ),
    (
        "pthread_cond_t",
        "pthread_cond_init(object, NULL)",
        "pthread_cond_signal(object)",
        "",
        "",
    ),
    (
        "sem_t",
        "sem_init(object, 0, 1)",
        "sem_post(object)",
        "",
        "",
    ),
    (
        "pthread_barrier_t",
        "pthread_barrier_init(object, NULL, 1)",
        "pthread_barrier_wait(object)",
        "",
        "",
    ),
];

fn kind(of_type: &str, body: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    let text = format!(
        "#include <pthread.h>\n#include <semaphore.h>\n#include <stdlib.h>\n#include <string.h>\nint main(void) {{\n    \
         {of_type} *object = ({of_type} *)malloc(sizeof *object);\n    {body}\n    free(object);\n}}\n"
    );
    fs::write(&source, text).unwrap();
    Toolchain::first().build(&source, &[], &executable).unwrap();
    let report = check(&[], &executable, &[]).unwrap();
    report["errors"][0]["kind"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn objects_are_not_used_after_their_memory_was_given_back() {
    for (of_type, initialize, uses, ..) in OBJECTS {
        let kind = kind(
            of_type,
            &format!("{initialize}; free(object); {uses}; object = NULL;"),
        );
        assert_eq!(kind, "use_after_free", "{of_type}");
    }
}

#[test]
fn a_lock_that_is_initialized_again_cannot_be_released_by_its_holder() {
    for (of_type, initialize, _, take, release) in &OBJECTS[..2] {
        let kind = kind(
            of_type,
            &format!("{initialize}; {take}; {initialize}; {release};"),
        );
        assert_eq!(kind, "misuse", "{of_type}");
    }
}

#[test]
fn objects_are_not_initialized_twice() {
    for (of_type, initialize, ..) in OBJECTS {
        let again =
            |between: &str| kind(of_type, &format!("{initialize}; {between}; {initialize};"));
        assert_eq!(again(""), "misuse", "{of_type}");
        assert_eq!(again("memset(object, 0, sizeof *object)"), "", "{of_type}");
        let other = "free(object); object = malloc(sizeof *object)";
        assert_eq!(again(other), "", "{of_type}");
        let frames = format!(
            "for (int i = 0; i < 2; i++) {{ {of_type} own, *object = &own; {initialize}; }}"
        );
        assert_eq!(kind(of_type, &frames), "", "{of_type}");
    }
}

#[test]
fn objects_in_memory_that_nothing_has_written_are_not_used() {
    for (index, (of_type, initialize, uses, ..)) in OBJECTS.into_iter().enumerate() {
        let used = |first: &str| kind(of_type, &format!("{first}; {uses};"));
        assert_eq!(used(""), "misuse", "{of_type}");
        assert_eq!(used(initialize), "", "{of_type}");
        // A static initializer of these types sets all bytes to zero.
        let is_static = matches!(index, 0 | 1 | 3);
        let zeros = used("memset(object, 0, sizeof *object)");
        assert_eq!(zeros, if is_static { "" } else { "misuse" }, "{of_type}");
    }
}

/// When the memory is freed, both threads have arrived, but one of them may still be in its wait.
const BARRIER: &str = "#include <pthread.h>
#include <stdlib.h>
static pthread_barrier_t *barrier;
static int results[2];
static void *one(void *unused) { results[0] = pthread_barrier_wait(barrier); return unused; }
static void *two(void *unused) {
    results[1] = pthread_barrier_wait(barrier);
    if (results[1]) { pthread_barrier_destroy(barrier); free(barrier); }
    return unused;
}
int main(void) {
    pthread_t threads[2];
    barrier = malloc(sizeof *barrier);
    pthread_barrier_init(barrier, NULL, 2);
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    pthread_join(threads[0], 0);
    if (results[0]) { pthread_barrier_destroy(barrier); free(barrier); }
    return 0;
}
";

#[test]
fn a_barrier_that_all_have_reached_can_be_destroyed() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    fs::write(&source, BARRIER).unwrap();
    for flag in ["-O0", "-O2"] {
        let flags = [flag.to_owned()];
        Toolchain::first()
            .build(&source, &flags, &executable)
            .unwrap();
        for jobs in ["1", "2"] {
            let report = check(&["--jobs", jobs], &executable, &[]).unwrap();
            assert_eq!(report["verdict"], "verified", "{flag} {jobs}: {report}");
        }
    }
}

#[test]
fn locks_are_not_destroyed_while_a_thread_holds_them() {
    let locks = [
        ("pthread_mutex_t", "mutex", "init(object, NULL)", "lock"),
        ("pthread_rwlock_t", "rwlock", "init(object, NULL)", "rdlock"),
        ("pthread_spinlock_t", "spin", "init(object, 0)", "lock"),
    ];
    for (of_type, name, init, lock) in locks {
        let taken = format!("pthread_{name}_{init}; pthread_{name}_{lock}(object);");
        let destroyed = format!("pthread_{name}_destroy(object);");
        let wrong = kind(of_type, &format!("{taken} {destroyed}"));
        let right = format!("{taken} pthread_{name}_unlock(object); {destroyed}");
        assert_eq!(wrong, "misuse", "{of_type}");
        assert_eq!(kind(of_type, &right), "", "{of_type}");
    }
}
