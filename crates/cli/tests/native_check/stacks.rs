//! Variables on a thread's stack that other threads access: the checker finds the same executions
//! as for variables elsewhere.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;
use std::path::Path;
use testkit::random::Random;

const PROGRAMS: usize = 25;

/// Returns a program whose box is on the stack of the waiting thread if there is an argument.
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

/// Returns the numbers of complete, halted and blocked executions, the verdict and the limits.
fn counts(executable: &Path, algorithm: &str, arguments: &[String]) -> [Value; 5] {
    let report = check(&["--algorithm", algorithm], executable, arguments).unwrap();
    ["executions", "halted", "blocked", "verdict", "limits"].map(|what| report[what].clone())
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
fn a_loop_that_counts_while_others_write_ends_by_its_count() {
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
    // The flag is set before one of the loop's four reads, before the assertion's read, or after
    // it.
    assert_eq!(report["errors"][0]["kind"], "assertion", "{report}");
    assert_eq!(report["halted"], 0, "{report}");
}

/// Main and three threads access plain variables. Some of these belong to main. If the program has
/// arguments, they are on main's stack. With two arguments, the other threads get their address.
fn plain_program(random: &mut Random) -> String {
    let bodies = [(); 4].map(|()| (0..3).map(|_| plain_operation(random)).collect::<String>());
    let [own, one, two, three] = bodies;
    format!(
        "#include <pthread.h>
#include <stddef.h>
static int x, y, other[2], spare[2];
static void *one(void *p) {{ int *box = p; int t[2] = {{0, 0}}, *own = t; {one} return own == p ? p : NULL; }}
static void *two(void *p) {{ int *box = p; int t[2] = {{0, 0}}, *own = t; {two} return own == p ? p : NULL; }}
static void *three(void *p) {{ int *box = p; int t[2] = {{0, 0}}, *own = t; {three} return own == p ? p : NULL; }}
int main(int count, char **words) {{
    (void)words;
    int local[2];
    local[0] = local[1] = 0;
    int *own = count > 1 ? local : other, *box = count == 2 ? spare : own;
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, one, box);
    pthread_create(&threads[1], NULL, two, box);
    pthread_create(&threads[2], NULL, three, count == 4 ? spare : box);
    {own}
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}}
"
    )
}

fn plain_operation(random: &mut Random) -> String {
    let [place, other] = [(); 2].map(|()| {
        let places = ["x", "y", "box[0]", "box[1]", "own[0]", "own[1]"];
        places[random.below(6) as usize]
    });
    match random.below(2) {
        0 => format!("{place} = {}; ", random.below(2) + 1),
        _ => format!("if ({place}) {other} = 3; "),
    }
}

#[test]
fn plain_variables_of_a_stack_interleave_as_others_do() {
    let toolchain = Toolchain::first();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    let mut random = Random::new(2);
    for _ in 0..PROGRAMS {
        let text = plain_program(&mut random);
        fs::write(&source, &text).unwrap();
        toolchain.build(&source, &[], &executable).unwrap();
        let counts = |algorithm, number: usize| {
            let arguments = vec!["x".to_owned(); number];
            let options = ["--plain", "sc", "--algorithm", algorithm];
            let report = check(&options, &executable, &arguments).unwrap();
            ["executions", "halted", "blocked"].map(|count| report[count].as_u64())
        };
        for algorithm in ["optimal", "parsimonious"] {
            assert_eq!(
                counts(algorithm, 2),
                counts(algorithm, 0),
                "{algorithm}:\n{text}"
            );
        }
        // With one argument, no thread gets the address. With three arguments, two threads get it.
        // The only oracle is the algorithm `sleep`.
        for number in [1, 3] {
            let [complete, ..] = counts("optimal", number);
            assert_eq!(counts("parsimonious", number)[0], complete, "{text}");
            assert_eq!(counts("sleep", number)[0], complete, "{text}");
        }
    }
}

#[test]
fn a_stack_that_only_its_thread_accesses_has_steps_but_no_events() {
    let toolchain = Toolchain::first();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    let text = "#include <assert.h>
#include <pthread.h>
#include <stddef.h>
static int x;
static void *write(void *p) { x = 1; return p; }
int main(int count, char **words) {
    (void)words;
    int local[2] = {1, 2}, *own = local;
    pthread_t thread;
    pthread_create(&thread, NULL, write, NULL);
    own[0] = own[1];
    assert(count == 1 || x == 0);
    pthread_join(thread, NULL);
    return own[0] - 2;
}
";
    fs::write(&source, text).unwrap();
    toolchain.build(&source, &[], &executable).unwrap();
    let report = check(&["--plain", "sc"], &executable, &[]).unwrap();
    assert_eq!(
        report["max_depth"], 1,
        "only the thread's write is an event"
    );
    let arguments = ["fails".to_owned()];
    let report = check(&["--plain", "sc"], &executable, &arguments).unwrap();
    let failure = report["errors"][0].to_string();
    assert!(failure.contains("local[0] = 2"), "{failure}");
}
