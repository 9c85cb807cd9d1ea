//! External libraries: a static C++ library and unwinder, libc++, glog, TBB, libuv. Missing
//! libraries are skipped. Correct programs have no bug, and with `-DBUG` each has a planted bug.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A program that uses a library.
struct Program {
    source: &'static str,
    flags: &'static [&'static str],
    /// The kind of the planted bug, and a part of its message.
    planted: (&'static str, &'static str),
}

/// Checks whether a compiler finds a header with these flags. If not, prints a line.
fn has(compiler: &str, header: &str, flags: &[&str]) -> bool {
    let mut command = Command::new(compiler);
    command.args(["-x", "c++", "-fsyntax-only", "-include", header]);
    command.args(flags).arg("/dev/null").stderr(Stdio::null());
    let is_there = command.status().is_ok_and(|status| status.success());
    if !is_there {
        println!("{compiler} has no <{header}>: nothing is checked with it");
    }
    is_there
}

impl Program {
    fn build(&self, toolchain: &Toolchain, folder: &TempDir, is_planted: bool) -> String {
        let is_cpp = self.source.contains("<thread>") || self.source.contains("tbb");
        let at = |name: &str| folder.path().join(name);
        let file = at(if is_cpp { "program.cpp" } else { "program.c" });
        fs::write(&file, self.source).unwrap();
        let flags = ["-w"].iter().chain(self.flags).map(|&flag| flag.to_owned());
        let planted = is_planted.then(|| "-DBUG".to_owned());
        // The source comes after the libraries on the command line.
        let first = ["-Wl,--no-as-needed".to_owned()].into_iter();
        let flags: Vec<String> = first.chain(flags).chain(planted).collect();
        toolchain.build(&file, &flags, &at("program")).unwrap();
        at("program").display().to_string()
    }

    fn report(&self, toolchain: &Toolchain, is_planted: bool) -> Value {
        let folder = tempfile::tempdir().unwrap();
        let program = self.build(toolchain, &folder, is_planted);
        if !is_planted {
            let ran = Command::new(&program).stderr(Stdio::null()).status();
            assert!(ran.unwrap().success(), "{}", self.source);
        }
        let accepted = ["unseen", "libraries", "asm"].map(|kind| ["--accept", kind]);
        let mut options = accepted.concat();
        options.extend(["--time-limit", "20"]);
        check(&options, program.as_ref(), &[]).unwrap()
    }

    /// Checks that the correct program has no bug, and that the program with `-DBUG` has the
    /// planted bug.
    fn is_as_expected(&self, toolchain: &Toolchain) {
        let report = self.report(toolchain, false);
        assert_ne!(report["verdict"], "bug", "{report}");
        let report = self.report(toolchain, true);
        let errors = report["errors"].as_array().unwrap();
        let (kind, part) = self.planted;
        let is_planted = |error: &Value| {
            error["kind"] == kind && error["message"].as_str().unwrap().contains(part)
        };
        assert!(errors.iter().any(is_planted), "{}: {report}", self.source);
    }
}

const EXCEPTIONS: &str = "
#include <cassert>
#include <exception>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
static std::exception_ptr kept;
static std::mutex lock;
static int &count() { static int &count = *new int(0); return count; }
static void work(int n) {
    try {
        if (n) throw std::runtime_error(\"no \" + std::to_string(n));
    } catch (...) {
        std::lock_guard<std::mutex> guard(lock);
        kept = std::current_exception();
    }
}
int main() {
    std::thread other(work, 1);
    work(0);
    other.join();
    try {
        std::rethrow_exception(kept);
    } catch (std::exception &error) {
        count()++;
        assert(std::string(error.what()) == \"no 1\");
    }
    auto later = std::async(std::launch::async, []() -> int { throw 7; });
    try { later.get(); } catch (int n) { count() += n; }
#ifdef BUG
    assert(count() == 7);
#endif
    assert(count() == 8);
}";

#[test]
fn exceptions_cross_threads_where_libraries_of_compilers_are_linked_statically() {
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            continue;
        };
        for flags in [
            &["-static-libgcc"][..],
            &["-static-libstdc++"],
            &["-static-libgcc", "-static-libstdc++"],
        ] {
            let program = Program {
                source: EXCEPTIONS,
                flags,
                planted: ("assertion", "count() == 7"),
            };
            program.is_as_expected(toolchain);
        }
    }
    let program = Program {
        source: EXCEPTIONS,
        flags: &["-static-libgcc"],
        planted: ("assertion", "count() == 7"),
    };
    let folder = tempfile::tempdir().unwrap();
    let toolchain = Toolchain::first();
    let executable = program.build(toolchain, &folder, false);
    let report = check(&[], executable.as_ref(), &[]).unwrap();
    assert_eq!(report["verdict"], "verified", "{report}");
}

const PROMISES: &str = "
#include <cassert>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
static int shared;
int main() {
    std::promise<int> value;
    auto seven = value.get_future();
    std::thread first([](std::promise<int> own) { own.set_value_at_thread_exit(7); }, std::move(value));
    std::packaged_task<int()> task([] { shared = 4; return 5; });
    auto five = task.get_future();
    std::thread second([](std::packaged_task<int()> own) { own.make_ready_at_thread_exit(); }, std::move(task));
#ifdef BUG
    int early = shared;
#else
    int early = 0;
#endif
    assert(seven.get() == 7 && five.get() == 5 && shared == 4 && early >= 0);
    first.join();
    second.join();
    std::promise<std::unique_ptr<int>> moved;
    auto nine = moved.get_future().share();
    auto three = std::async(std::launch::async, [&] { moved.set_value(std::make_unique<int>(9)); return 3; });
    assert(*nine.get() == 9 && three.get() == 3);
    std::promise<void> broken;
    auto none = broken.get_future();
    std::thread third([&] {
        try { throw std::runtime_error(\"broken\"); }
        catch (...) { broken.set_exception_at_thread_exit(std::current_exception()); }
    });
    bool is_caught = false;
    try { none.get(); } catch (std::runtime_error &) { is_caught = true; }
    third.join();
    assert(is_caught);
}";

#[test]
fn promises_of_libcxx_order_what_they_say() {
    let flags = &["-stdlib=libc++"];
    let Some(toolchain) = Toolchain::named("clang") else {
        return;
    };
    if has("clang++", "future", flags) {
        let program = Program {
            source: PROMISES,
            flags,
            planted: ("data_race", "shared"),
        };
        program.is_as_expected(toolchain);
    }
}

const GLOG: Program = Program {
    source: "
#include <glog/logging.h>
#include <mutex>
#include <thread>
static std::mutex lock;
static int n;
static void work(int number) {
#ifndef BUG
    std::lock_guard<std::mutex> guard(lock);
#endif
    n++;
    LOG(INFO) << \"worker \" << number;
}
int main(int, char **words) {
    FLAGS_logtostderr = true;
    google::InitGoogleLogging(words[0]);
    std::thread other(work, 1);
    work(2);
    other.join();
    CHECK_EQ(n, 2);
}",
    flags: &["-lglog"],
    planted: ("data_race", "of n"),
};

const TBB: Program = Program {
    source: "
#include <tbb/concurrent_queue.h>
#include <cassert>
#include <thread>
int main() {
    tbb::concurrent_queue<int> queue;
    int plain = 0, item = 0;
    std::thread other([&] {
        queue.push(1);
#ifdef BUG
        plain++;
#endif
    });
    bool is_there = queue.try_pop(item);
    plain++;
    other.join();
    if (!is_there) { is_there = queue.try_pop(item); }
    assert(is_there && item == 1);
}",
    flags: &["-ltbb"],
    planted: ("data_race", "plain"),
};

const LIBUV: Program = Program {
    source: "
#include <uv.h>
static uv_mutex_t lock;
static uv_cond_t condition;
static int ready, n;
static void run(void *p) {
#ifndef BUG
    uv_mutex_lock(&lock);
    n++;
#else
    n++;
    uv_mutex_lock(&lock);
#endif
    ready = 1;
    uv_cond_signal(&condition);
    uv_mutex_unlock(&lock);
}
int main(void) {
    uv_thread_t thread;
    uv_mutex_init(&lock);
    uv_cond_init(&condition);
    uv_thread_create(&thread, run, 0);
    uv_mutex_lock(&lock);
    n++;
    while (!ready) uv_cond_wait(&condition, &lock);
    uv_mutex_unlock(&lock);
    uv_thread_join(&thread);
    return n != 2;
}",
    flags: &["-luv"],
    planted: ("data_race", "of n"),
};

#[test]
fn programs_that_log_queue_and_wait_with_packages_are_checked() {
    let toolchain = Toolchain::first();
    for (header, program) in [
        ("glog/logging.h", GLOG),
        ("tbb/concurrent_queue.h", TBB),
        ("uv.h", LIBUV),
    ] {
        if has("c++", header, &[]) {
            program.is_as_expected(toolchain);
        }
    }
}

/// TBB stores thread data under a key that a constructor creates, and its threads outlive their
/// tasks.
#[test]
fn loops_and_limits_of_tbb_are_obeyed() {
    let program = Program {
        source: "
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <atomic>
#include <cassert>
int main() {
    tbb::global_control control(tbb::global_control::max_allowed_parallelism, 2);
    std::atomic<int> n{0};
    tbb::parallel_for(0, 2, [&](int) { n++; });
    assert(n == 2);
}",
        flags: &["-ltbb"],
        planted: ("", ""),
    };
    if !has("c++", "tbb/parallel_for.h", &[]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let executable = program.build(Toolchain::first(), &folder, false);
    let began = Instant::now();
    let report = check(&["--time-limit", "1"], executable.as_ref(), &[]);
    // The search takes one second, and its end takes another. A busy machine takes longer.
    assert!(began.elapsed() < Duration::from_secs(30));
    match report {
        Ok(report) => assert_ne!(report["verdict"], "bug", "{report}"),
        Err(refused) => assert_eq!(refused.lines().count(), 1, "{refused}"),
    }
}

#[test]
fn a_loop_of_libuv_that_waits_for_descriptors_is_refused_in_one_line() {
    let program = Program {
        source: "
#include <uv.h>
static void work(uv_work_t *request) { *(int *)request->data = 1; }
static void ends(uv_work_t *request, int status) { (void)request; (void)status; }
int main(void) {
    uv_work_t request;
    int x = 0;
    request.data = &x;
    uv_queue_work(uv_default_loop(), &request, work, ends);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    return x != 1;
}",
        flags: &["-luv"],
        planted: ("", ""),
    };
    if !has("c++", "uv.h", &[]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let executable = program.build(Toolchain::first(), &folder, false);
    let refused = check(&[], executable.as_ref(), &[]).unwrap_err();
    assert!(
        refused.contains("waits in the operating system until a descriptor is ready"),
        "{refused}"
    );
    assert_eq!(refused.lines().count(), 1, "{refused}");
}
