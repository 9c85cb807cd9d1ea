//! `std::lock` and `std::scoped_lock`. The search leaves out rounds in which they fail to get all
//! locks. The expected outcomes were determined by hand.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;

const BEGINNING: &str = "
#include <atomic>
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>
using namespace std;
static mutex a, b, c;
static int value;
";

/// Returns the reports on a program with each compiler and level.
fn reports(text: &str) -> Vec<(String, Value)> {
    let mut reports = Vec::new();
    for (compiler, library) in [("gcc", ""), ("clang", ""), ("clang", "-stdlib=libc++")] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            continue;
        };
        for level in ["-O0", "-O2"] {
            let folder = tempfile::tempdir().unwrap();
            let [source, executable] =
                ["program.cpp", "program"].map(|name| folder.path().join(name));
            fs::write(&source, format!("{BEGINNING}{text}")).unwrap();
            let flags = [level, "-std=c++20", "-pthread", library].into_iter();
            let flags: Vec<String> = flags
                .filter(|flag| !flag.is_empty())
                .map(str::to_owned)
                .collect();
            toolchain.build(&source, &flags, &executable).unwrap();
            for algorithm in ["parsimonious", "optimal", "source"] {
                let report = check(&["--algorithm", algorithm], &executable, &[]).unwrap();
                reports.push((format!("{compiler} {flags:?} {algorithm}"), report));
            }
        }
    }
    reports
}

fn must_be_verified(executions: u64, text: &str) {
    for (name, report) in reports(text) {
        assert_eq!(report["verdict"], "verified", "{name}: {report}");
        assert_eq!(report["executions"], executions, "{name}: {report}");
    }
}

fn must_fail(kind: &str, text: &str) {
    for (name, report) in reports(text) {
        assert_eq!(report["errors"][0]["kind"], kind, "{name}: {report}");
    }
}

#[test]
fn two_threads_take_two_mutexes_in_opposite_orders() {
    must_be_verified(
        2,
        "int main() {
            thread other([] { scoped_lock all(a, b); value++; });
            { scoped_lock all(b, a); value++; }
            other.join();
            assert(value == 2);
        }",
    );
}

#[test]
fn three_threads_take_two_of_three_mutexes() {
    // Each pair of threads shares a mutex, so all orders of the threads are possible.
    must_be_verified(
        6,
        "int main() {
            thread first([] { scoped_lock all(a, b); value++; }), second([] { scoped_lock all(b, c); });
            { scoped_lock all(c, a); }
            first.join();
            second.join();
            assert(value == 1);
        }",
    );
}

#[test]
fn a_failing_round_gives_back_what_another_thread_waits_for() {
    must_be_verified(
        2,
        "int main() {
            thread other([] { scoped_lock all(a, b); value++; });
            b.lock(); a.lock(); value++; a.unlock(); b.unlock();
            other.join();
            assert(value == 2);
        }",
    );
}

#[test]
fn a_mutex_that_is_never_given_back_is_waited_for_without_end() {
    must_fail(
        "stuck",
        "int main() {
            thread other([] { scoped_lock all(a, b); });
            b.lock();
            other.join();
        }",
    );
}

#[test]
fn a_try_of_the_program_notices_a_failing_round() {
    // The try fails only while the other thread holds `a`. Afterwards that thread must fail to get
    // `b`.
    must_fail(
        "assertion",
        "int main() {
            b.lock();
            thread other([] { scoped_lock all(a, b); });
            bool was_taken = !a.try_lock();
            if (was_taken) a.lock();
            a.unlock();
            b.unlock();
            other.join();
            assert(!was_taken);
        }",
    );
}

#[test]
fn a_lock_of_the_program_may_count_its_rounds() {
    // The other thread takes `counted` before it fails to get `b`, and again later.
    must_fail(
        "assertion",
        "struct {
            mutex inner;
            int taken = 0;
            void lock() { inner.lock(); taken++; }
            bool try_lock() { return inner.try_lock() && ++taken; }
            void unlock() { inner.unlock(); }
        } counted;
        int main() {
            thread other([] { lock(counted, b); counted.unlock(); b.unlock(); });
            b.lock();
            b.unlock();
            counted.lock();
            int taken = counted.taken;
            counted.unlock();
            other.join();
            assert(taken < 3);
        }",
    );
}
