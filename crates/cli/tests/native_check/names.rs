//! Names in reports: lines of the program rather than of headers, thread-local variables, heap
//! blocks.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;

const COMPILERS: [&str; 2] = ["gcc", "clang"];

/// Checks a program with each installed compiler.
fn reports(name: &str, source: &str, flags: &[&str], options: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    let executable = folder.path().join("program");
    fs::write(&file, source).unwrap();
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    let toolchains = COMPILERS.into_iter().filter_map(Toolchain::named);
    let reports = toolchains.map(|toolchain| {
        toolchain.build(&file, &flags, &executable).unwrap();
        check(options, &executable, &[]).unwrap()
    });
    reports.collect()
}

const HEADERS: &str = "
#include <atomic>
#include <thread>
#include <vector>
std::atomic<int> hits; std::vector<int> numbers;
static void hit() {
    hits.fetch_add(1);
    hits = hits.load();
    NOTE(1);
}
int main() {
    std::thread other(hit);
    hit();
    other.join();
}
";

#[test]
fn races_and_coverage_have_lines_of_the_program_where_headers_do_the_access() {
    for level in ["-O0", "-O2"] {
        let flags = ["-std=c++17", level, "-DNOTE(x)="];
        for report in reports("program.cpp", HEADERS, &flags, &[]) {
            let lines = report["coverage"]["lines"].as_array().unwrap();
            assert!(!lines.is_empty(), "{report}");
            for line in lines {
                let location = line["location"].as_str().unwrap();
                assert!(location.contains("program.cpp:"), "{level}: {report}");
            }
        }
        let flags = ["-std=c++17", level, "-DNOTE(x)=numbers.push_back(x)"];
        for report in reports("program.cpp", HEADERS, &flags, &[]) {
            let error = &report["errors"][0];
            let message = error["message"].as_str().unwrap();
            assert_eq!(error["kind"], "data_race", "{report}");
            // With -O2, the write of the vector is an instruction without a hook. It is in a
            // function of the header that is not inlined, so its place may be a line of the header.
            let fewest = if level == "-O2" { 1 } else { 2 };
            assert!(
                message.matches("program.cpp:9").count() >= fewest,
                "{level}: {report}"
            );
        }
    }
}

const NAMES: &str = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node { atomic_int value; struct node *next; };
static _Thread_local struct { int first, others[3]; } own;
static _Atomic(int *) others;
static struct node *make(struct node *next) {
    struct node *node = malloc(sizeof *node);
    atomic_init(&node->value, 0);
    node->next = next;
    return node;
}
static void *run(void *argument) {
    struct node *node = make(make(NULL));
    atomic_store(&node->next->value, 7);
    atomic_store(&node->value, 8);
    atomic_store(&node->next->value, 9);
    own.first = 1;
    *atomic_load(&others) = 2;
    return argument;
}
int main(void) {
    atomic_store(&others, &own.others[1]);
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    own.others[1] = 3;
    pthread_join(thread, NULL);
}
";

#[test]
fn thread_local_variables_and_the_blocks_of_one_place_have_names() {
    for report in reports("program.c", NAMES, &[], &[]) {
        let mut messages = report["errors"].as_array().unwrap().iter();
        let is_named = messages.any(|error| {
            let message = error["message"].as_str().unwrap();
            message.starts_with("data race of own.others[1]: ")
        });
        assert!(is_named, "{report}");
        let text = report["errors"][0]["interleaving"].to_string();
        let order = [
            "node@program.c:10.value.store(7)",
            "node#2@program.c:10.value.store(8)",
            "node@program.c:10.value.store(9)",
        ];
        let places = order.map(|part| text.find(part));
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{text}"
        );
    }
}
