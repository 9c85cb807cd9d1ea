//! Programs that keep starting threads, under a safe trace.

use crate::enforcement::{built, errors, mazurka, verify};

/// Starts and joins unverified threads if the environment says so. Prints the growth in KiB.
const MANY: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
static atomic_int x;
static void *add(void *unused) {
    x++;
    return NULL;
}
static void start(int pairs) {
    pthread_t threads[2];
    for (int i = 0; i < pairs; i++) {
        for (int t = 0; t < 2; t++) pthread_create(&threads[t], NULL, add, NULL);
        for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    }
}
static long resident(void) {
    long all, resident;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &all, &resident) != 2) abort();
    fclose(file);
    return resident * 4;
}
int main(void) {
    start(1);
    if (getenv("GOES_ON")) {
        start(500);
        long before = resident();
        start(10000);
        printf("%ld\n", resident() - before);
    }
}
"#;

/// With 20,000 threads a leak of forty bytes per thread would be visible.
#[test]
fn threads_that_were_joined_leave_no_memory_behind() {
    let folder = built(MANY);
    let folder = folder.path();
    verify(folder);
    let mut command = mazurka(folder, &["run", "--safe", "safe.trace", "./program"]);
    let ran = command.env("GOES_ON", "1").output().unwrap();
    assert!(ran.status.success(), "{}", errors(&ran));
    let growth = String::from_utf8(ran.stdout).unwrap();
    let growth: i64 = growth.trim().parse().unwrap();
    assert!(growth < 800, "it has grown by {growth} KiB");
}
