//! Variables on the stack of a thread that waits in a loop, written by others: the checker explores what it explores
//! where they are elsewhere.

use crate::toolchain::{Toolchain, check};
use std::fs;
use std::path::Path;
use testkit::random::Random;

const PROGRAMS: usize = 25;

/// With an argument the box is on the stack of the thread that waits.
fn program(random: &mut Random) -> String {
    let [one, two] = [(); 2].map(|()| (0..3).map(|_| operation(random)).collect::<String>());
    format!(
        "#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
static atomic_int x, y, z, other[2];
static int is_local;
static void *one(void *p) {{ atomic_int *box = p; {one} return p; }}
static void *two(void *p) {{ atomic_int *box = p; {two} return p; }}
static void *waits(void *p) {{
    atomic_int own[2] = {{0, 0}};
    atomic_int *box = is_local ? own : other;
    pthread_t a, b;
    pthread_create(&a, NULL, one, box);
    pthread_create(&b, NULL, two, box);
    for (int i = 0; i < 2; i++)
        while (atomic_load(&x) < i && atomic_load(&y) < i) {{ }}
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return p;
}}
int main(int count, char **words) {{
    (void)words;
    is_local = count > 1;
    pthread_t thread;
    pthread_create(&thread, NULL, waits, NULL);
    atomic_store(&y, 1);
    pthread_join(thread, NULL);
    return 0;
}}
"
    )
}

fn operation(random: &mut Random) -> String {
    let place = ["x", "y", "z", "box[0]", "box[1]"][random.below(5) as usize];
    let value = random.below(2) + 1;
    match random.below(3) {
        0 => format!("atomic_store(&{place}, {value}); "),
        1 => format!("atomic_fetch_add(&{place}, 1); "),
        _ => format!("atomic_load(&{place}); "),
    }
}

/// Complete executions, halted and blocked ones.
fn counts(executable: &Path, algorithm: &str, arguments: &[String]) -> [Option<u64>; 3] {
    let report = check(&["--algorithm", algorithm], executable, arguments).unwrap();
    ["executions", "halted", "blocked"].map(|count| report[count].as_u64())
}

#[test]
fn it_does_not_matter_whether_others_write_to_the_stack_of_a_thread_that_waits() {
    let toolchain = Toolchain::first();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    let mut random = Random::new(1);
    for _ in 0..PROGRAMS {
        let text = program(&mut random);
        fs::write(&source, &text).unwrap();
        toolchain.build(&source, &[], &executable).unwrap();
        for algorithm in ["optimal", "parsimonious"] {
            let [elsewhere, on_stack] = [&[][..], &["local".to_owned()]]
                .map(|arguments| counts(&executable, algorithm, arguments));
            assert_eq!(on_stack, elsewhere, "{algorithm}:\n{text}");
        }
    }
}

#[test]
fn a_loop_that_counts_beside_what_others_write_ends_by_its_count() {
    let toolchain = Toolchain::first();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    let text = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static pthread_mutex_t *lock;
static void *locks(void *box) {
    pthread_mutex_lock(lock);
    *(int *)box = 1;
    pthread_mutex_unlock(lock);
    atomic_store(&flag, 1);
    return box;
}
int main(void) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    int box = 0, rounds = 0;
    lock = &own;
    pthread_t thread;
    pthread_create(&thread, NULL, locks, &box);
    while (!atomic_load(&flag) && rounds < 3) rounds++;
    assert(rounds < 3 || !atomic_load(&flag));
    pthread_join(thread, NULL);
    return box - 1;
}
";
    fs::write(&source, text).unwrap();
    toolchain.build(&source, &[], &executable).unwrap();
    let report = check(&[], &executable, &[]).unwrap();
    // The flag is set before one of the four looks at it, or between the third and the last one, or after that.
    assert_eq!(report["errors"][0]["kind"], "assertion", "{report}");
    assert_eq!(report["halted"], 0, "{report}");
}
