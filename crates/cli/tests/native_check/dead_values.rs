//! Spin loops leave the values that they read on the stack and in registers, where no code reads
//! them again. Without optimization, each value of a program has a place on the stack.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;

/// The last stored value.
const LAST: u64 = 8;

/// Checks a program in which a thread stores 1 to 8 in `x` while another thread runs `body`.
fn report(compiler: &Toolchain, file: &str, (functions, body): (&str, &str)) -> Value {
    let header = match file.ends_with(".cpp") {
        true => "#include <atomic>\nstatic std::atomic<int> x;",
        false => "#include <stdatomic.h>\nstatic atomic_int x;",
    };
    let source = format!(
        "#include <pthread.h>\n#include <assert.h>\n{header}
{functions}
static void *reads(void *result) {{ {body} return result; }}
int main(void) {{
    pthread_t thread;
    pthread_create(&thread, 0, reads, 0);
    for (int i = 1; i <= {LAST}; i++) x = i;
    pthread_join(thread, 0);
}}
"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    let executable = folder.path().join("program");
    fs::write(&path, source).unwrap();
    compiler
        .build(&path, &["-O0".to_owned()], &executable)
        .unwrap();
    check(&["--max-executions", "1000"], &executable, &[]).unwrap()
}

const DEAD: [(&str, (&str, &str)); 5] = [
    (
        "loop.c",
        (
            "",
            "for (;;) { int a = atomic_load(&x); if (a == 8) break; }",
        ),
    ),
    (
        "call.c",
        (
            "static int triple(void) { int read = atomic_load(&x), result = read * 3; return result; }",
            "for (;;) { int t = triple(), third = t / 3; if (third == 8) break; }",
        ),
    ),
    (
        "builtin.c",
        (
            "static int y;",
            "int a; do { __atomic_load(&y, &a, __ATOMIC_ACQUIRE); a += __atomic_load_n((int *)&x, __ATOMIC_SEQ_CST); } while (a != 8);",
        ),
    ),
    (
        "exchange.c",
        (
            "",
            "int e; do e = 8; while (!atomic_compare_exchange_strong(&x, &e, 9));",
        ),
    ),
    (
        "member.cpp",
        (
            "static int get() { return x.load(); }\nstatic bool is(int n) { int g = get(); return g == n; }",
            "while (!is(8)); while (x.load() != 8);",
        ),
    ),
];

#[test]
fn each_useless_read_of_a_spin_loop_costs_one_execution() {
    for compiler in ["gcc", "clang"].into_iter().filter_map(Toolchain::named) {
        for (file, program) in DEAD {
            let report = report(compiler, file, program);
            assert_eq!(report["verdict"], "verified", "{file}: {report}");
            let halted = report["halted"].as_u64().unwrap();
            assert!((1..=LAST).contains(&halted), "{file}: {report}");
        }
    }
}

/// Programs that use, after a loop, the last value but one that the loop read. An analysis may miss
/// this use. The value is 2 if the thread reads 2 and then 8.
const LIVE: [(&str, (&str, &str)); 10] = [
    (
        "variable.c",
        ("", "int last = 0, n; while ((n = atomic_load(&x)) != 8) last = n; assert(last != 2);"),
    ),
    (
        "address.c",
        (
            "static int *where;",
            "int last = 0, n; where = &last; while ((n = atomic_load(&x)) != 8) *where = n; assert(last != 2);",
        ),
    ),
    (
        "argument.c",
        (
            "static void keep(int *where, int n) { *where = n; }",
            "int last = 0, n; while ((n = atomic_load(&x)) != 8) keep(&last, n); assert(last != 2);",
        ),
    ),
    (
        "array.c",
        ("", "int seen[9] = {0}, n; while ((n = atomic_load(&x)) != 8) seen[n] = 1; assert(!seen[2]);"),
    ),
    (
        "stack.c",
        (
            "static int read(int a, int b, int c, int d, int e, int f, int last) { int n = atomic_load(&x) * 10; \
             return a + b + c + d + e + f + n + last; }",
            "int last = 0, n; while ((n = read(0, 0, 0, 0, 0, 0, last)) / 10 != 8) last = n / 10; assert(n % 10 != 2);",
        ),
    ),
    (
        "jumps.c",
        (
            "",
            "int last = 0, n; again: n = atomic_load(&x); void *to = n == 8 ? &&out : &&in; goto *to; \
             in: last = n; goto again; out: assert(last != 2);",
        ),
    ),
    (
        "assembly.c",
        (
            "",
            "int last = 0, n; while ((n = atomic_load(&x)) != 8) __asm__(\"movl %1, %0\" : \"=m\"(last) : \"r\"(n)); \
             int a; __asm__(\"movl %1, %0\" : \"=r\"(a) : \"m\"(last)); assert(a != 2);",
        ),
    ),
    (
        "given.c",
        (
            "static atomic_int one = 1;",
            "atomic_int *p = &x; while (!atomic_load(p)) p = &one; assert(atomic_load(&x));",
        ),
    ),
    (
        "thrown.cpp",
        (
            "static int get() { int n = x.load(); if (n == 8) throw 1; return n; }",
            "int last = 0; try { for (;;) { int n = get(); last = n; } } catch (int) { assert(last != 2); }",
        ),
    ),
    (
        "destroyed.cpp",
        (
            "static int kept; struct Keep { int &last; ~Keep() { kept = last; } };
             static int get() { int n = x.load(); if (n == 8) throw 1; return n; }
             static void loop() { int last = 0; Keep keep{last}; for (;;) { int n = get(); last = n; } }",
            "try { loop(); } catch (int) {} assert(kept != 2);",
        ),
    ),
];

#[test]
fn a_later_read_distinguishes_rounds_of_a_spin_loop() {
    for compiler in ["gcc", "clang"].into_iter().filter_map(Toolchain::named) {
        for (file, program) in LIVE {
            let report = report(compiler, file, program);
            let kind = &report["errors"][0]["kind"];
            assert_eq!(kind, "assertion", "{file}: {report}");
        }
    }
}
