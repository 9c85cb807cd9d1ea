//! Constructors run before `main`. Their effects are present in every execution. If a program
//! changes the system and undoes the change at its end, later executions are not disturbed.

use crate::refusals::refused;
use crate::toolchain::{Toolchain, check};
use std::fs;

/// Programs with the kind of the error that they have, or "" if they have none: the extension, the
/// source, in which `PLACE` stands for a path that does not exist, and the kind.
const PROGRAMS: [(&str, &str, &str); 8] = [
    (
        "c",
        "#include <assert.h>
#include <pthread.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int calls;
static void init(void) { calls++; }
__attribute__((constructor)) static void before(void) { pthread_once(&once, init); }
int main(void) { pthread_once(&once, init); assert(calls == 1); }",
        "",
    ),
    (
        "cpp",
        "#include <cassert>
#include <mutex>
static std::once_flag flag;
static int calls;
static struct Early { Early() { std::call_once(flag, [] { calls++; }); } } early;
int main() { std::call_once(flag, [] { calls++; }); assert(calls == 1); }",
        "",
    ),
    // The search starts again in the middle of the first execution.
    (
        "cpp",
        "#include <atomic>
#include <cassert>
#include <fstream>
#include <string>
#include <thread>
static std::ifstream config(__FILE__);
static std::atomic<int> number;
int main() {
    std::string word;
    if (!(config >> word)) return 0;
    std::thread other([] { number = number + 1; });
    number = number + 1;
    other.join();
    assert(number == 2);
}",
        "assertion",
    ),
    (
        "c",
        "#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static int file;
__attribute__((constructor)) static void before(void) { file = open(__FILE__, O_RDONLY); }
static void *reads(void *p) { char c; assert(read(file, &c, 1) == 1 && (c == '#' || c == 'i')); return p; }
int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, reads, NULL);
    reads(NULL);
    pthread_join(other, NULL);
    assert(lseek(file, 0, SEEK_CUR) == 2);
    close(file);
}",
        "",
    ),
    (
        "c",
        "#include <assert.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int number;
static void *adds(void *p) { pthread_mutex_lock(&mutex); number++; pthread_mutex_unlock(&mutex); return p; }
int main(void) {
    assert(mkdir(PLACE, 0700) == 0);
    pthread_t other;
    pthread_create(&other, NULL, adds, NULL);
    adds(NULL);
    pthread_join(other, NULL);
    rmdir(PLACE);
}",
        "",
    ),
    (
        "c",
        "#include <assert.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
    int file = open(PLACE, O_CREAT | O_EXCL | O_RDWR, 0600);
    assert(file >= 0);
    struct stat status;
    assert(fstat(file, &status) == 0 && status.st_size == 0);
    close(file);
    unlink(PLACE);
}",
        "",
    ),
    (
        "c",
        "#include <assert.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
    FILE *file = fopen(PLACE, \"a+\");
    fputs(\"ab\", file);
    fclose(file);
    struct stat status;
    assert(stat(PLACE, &status) == 0 && status.st_size == 2);
    unlink(PLACE);
}",
        "",
    ),
    (
        "c",
        "#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static int number;
static void *adds(void *p) { number++; return p; }
int main(void) {
    int file = open(PLACE, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (file < 0) return 0;
    pthread_t other;
    pthread_create(&other, NULL, adds, NULL);
    adds(NULL);
    pthread_join(other, NULL);
    close(file);
    unlink(PLACE);
}",
        "data_race",
    ),
];

#[test]
fn executions_begin_with_what_constructors_did_and_without_what_was_undone() {
    for toolchain in ["gcc", "clang"].into_iter().filter_map(Toolchain::named) {
        for (number, (extension, source, kind)) in PROGRAMS.into_iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join(format!("program.{extension}"));
            let place = folder.path().join("place");
            let source = source.replace("PLACE", &format!("{:?}", place.display().to_string()));
            fs::write(&file, source).unwrap();
            let executable = folder.path().join("program");
            toolchain.build(&file, &[], &executable).unwrap();
            let report = check(&[], &executable, &[]).unwrap();
            match kind {
                "" => assert_eq!(report["verdict"], "verified", "{number}: {report}"),
                kind => assert_eq!(report["errors"][0]["kind"], kind, "{number}: {report}"),
            }
        }
    }
}

#[test]
fn locks_that_are_held_when_main_begins_are_refused() {
    for (lock, take) in [
        (
            "pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER",
            "pthread_mutex_lock(&lock)",
        ),
        (
            "pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER",
            "pthread_rwlock_trywrlock(&lock)",
        ),
        (
            "pthread_spinlock_t lock",
            "pthread_spin_init(&lock, 0); pthread_spin_lock(&lock)",
        ),
    ] {
        let source = format!(
            "#include <pthread.h>
static {lock};
__attribute__((constructor)) static void before(void) {{ {take}; }}
int main(void) {{ return 0; }}"
        );
        refused("program.c", &source, "still holds it when `main` begins");
    }
}
