//! Strings, containers and streams. Their code is in the C++ library, which has no hooks. The
//! standard says which programs have races: a function that is not `const` modifies its object
//! ([res.on.data.races]), and threads may share the standard streams.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;

const BEGINNING: &str = "
#include <atomic>
#include <cassert>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
using namespace std;
static string text{\"hello\"}, other{\"a string that is too long to be a short one\"};
static filesystem::path place = \"/a/b\";
static map<int, int> entries{{1, 1}, {5, 5}};
static set<int> members{1, 2, 3, 4};
static list<int> items{1, 2, 3};
static stringstream stream;
static optional<runtime_error> failure{\"disk full\"};
static mutex guard;
static int sum;
static char bytes[8] = \"1.5\";
static atomic<bool> started;
";

/// The compilers, each with a flag that selects the library.
const ALL: [(&str, &str); 3] = [("gcc", ""), ("clang", ""), ("clang", "-stdlib=libc++")];

/// Checks a program in which two threads run this code, with each compiler, level and standard.
fn reports(one: &str, two: &str, compilers: &[(&str, &str)]) -> Vec<(String, Value)> {
    let text = format!(
        "{BEGINNING}
int main() {{ thread other_thread([] {{ {one}; }}); {{ {two}; }} other_thread.join(); return sum < -9; }}"
    );
    let mut reports = Vec::new();
    for &(compiler, library) in compilers {
        let Some(toolchain) = Toolchain::named(compiler) else {
            continue;
        };
        for (level, standard) in [
            ("-O0", "-std=c++17"),
            ("-O2", "-std=c++17"),
            ("-O2", "-std=c++20"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let [source, executable] =
                ["program.cpp", "program"].map(|name| folder.path().join(name));
            fs::write(&source, &text).unwrap();
            let flags: Vec<String> = [level, standard, "-pthread", library]
                .iter()
                .filter(|flag| !flag.is_empty())
                .map(|flag| (*flag).to_owned())
                .collect();
            toolchain.build(&source, &flags, &executable).unwrap();
            let report = check(&[], &executable, &[]).unwrap();
            reports.push((format!("{compiler} {flags:?}: {one} | {two}"), report));
        }
    }
    reports
}

fn must_race(one: &str, two: &str) {
    for (name, report) in reports(one, two, &ALL) {
        assert_eq!(report["errors"][0]["kind"], "data_race", "{name}: {report}");
    }
}

fn must_be_verified(one: &str, two: &str) {
    for (name, report) in reports(one, two, &ALL) {
        assert_eq!(report["verdict"], "verified", "{name}: {report}");
    }
}

#[test]
fn a_string_that_one_thread_changes_and_another_one_reads_races() {
    must_race("text += \"abc\"", "sum += text.size()");
    must_race("text.insert(0, other)", "sum += text.find(\"l\")");
    must_race(
        "text = string(\"x\")",
        "string copy(text); sum += copy == other",
    );
    must_race("text.swap(other)", "sum += other.compare(text)");
    must_race("text.append(40, 'x')", "sum += text[0]");
}

#[test]
fn containers_race() {
    must_race("entries[7] = 1", "sum += entries.count(7)");
    must_race(
        "members.erase(3)",
        "for (int member : members) sum += member",
    );
    must_race("items.push_back(4)", "for (int item : items) sum += item");
    must_race("items.reverse()", "sum += items.back()");
}

#[test]
fn readers_do_not_race_and_end() {
    must_be_verified(
        "string copy = text; copy += text; sum += copy.find('l', 1)",
        "for (size_t at = 0; (at = text.find('l', at)) != string::npos; at++) {} (void)text.substr(2)",
    );
    must_be_verified(
        "for (auto &each : entries) each.second++",
        "sum += entries.size() + entries.rbegin()->first; for (int member : members) (void)member; (void)*members.rbegin()",
    );
}

#[test]
fn a_mutex_orders_all_of_it() {
    let one = "lock_guard<mutex> lock(guard); text += other; entries[7] = 1; entries.erase(1); items.push_back(5); items.reverse(); \
        items.sort(); members.erase(2)";
    let two = "lock_guard<mutex> lock(guard); for (auto &each : entries) sum += each.second; list<int> more{1}; \
        items.splice(items.begin(), more); swap(items, more); string copy = text + other.substr(1); text.swap(copy); text = copy; \
        other = std::move(copy); for (auto it = members.rbegin(); it != members.rend(); ++it) sum += *it";
    must_be_verified(one, two);
}

#[test]
fn streams_race_but_for_those_of_the_standard() {
    for (name, report) in reports("stream << 3", "stream << text", &ALL[..2]) {
        assert_eq!(report["errors"][0]["kind"], "data_race", "{name}: {report}");
    }
    for (one, two) in [
        ("stream << 3", "int number; stream >> number"),
        ("stream << 3", "string copy = stream.str()"),
        (
            "static auto &buffer = *stream.rdbuf(); buffer.sputc('a')",
            "static auto &buffer = *stream.rdbuf(); buffer.sputc('b')",
        ),
        (
            "static auto *before = cout.rdbuf(stream.rdbuf()); cout << 'a'",
            "static auto *before = cout.rdbuf(stream.rdbuf()); cout << 'b'",
        ),
    ] {
        for (name, report) in reports(one, two, &ALL[..2]) {
            assert_eq!(report["errors"][0]["kind"], "data_race", "{name}: {report}");
        }
    }
    let [one, two] = [
        "cout << 3 << endl; cerr << 'x'",
        "cout << text; sum += cout.good()",
    ];
    must_be_verified(one, two);
    must_be_verified(
        "wcout << hex << 3 << endl; cout.width(3); cout << setfill('x') << 1.5",
        "wcout << L'x' << 2; cout << left << 7 << '\\n'; clog << boolalpha << true; cerr << 1 << flush",
    );
}

#[test]
fn what_streams_and_conversions_read_and_write_races() {
    for (one, two) in [
        ("istringstream own(\"7\"); own >> sum", "sum++"),
        (
            "istringstream own(\"ab\"); own >> text",
            "sum += text.size()",
        ),
        (
            "istringstream own(\"ab\"); getline(own, text)",
            "sum += text[0]",
        ),
        (
            "istringstream own(\"abcdef\"); own.read(bytes, 4)",
            "sum += bytes[3]",
        ),
        ("ostringstream own; own.write(bytes, 4)", "bytes[3] = 1"),
        (
            "double number; from_chars(bytes, bytes + 3, number)",
            "bytes[2] = '6'",
        ),
        ("to_chars(bytes, bytes + 8, 2.5)", "sum += bytes[0]"),
        ("place /= \"c\"", "sum += place.string().size()"),
        (
            "place.replace_extension(\"x\")",
            "sum += place.filename().empty()",
        ),
    ] {
        for (name, report) in reports(one, two, &ALL[..2]) {
            assert_eq!(report["errors"][0]["kind"], "data_race", "{name}: {report}");
        }
    }
    must_be_verified(
        "istringstream own(\"abcdef\"); own.read(bytes, 4); ostringstream other; other.write(bytes, 4)",
        "bytes[4]++",
    );
}

#[test]
fn what_the_library_keeps_for_the_process_is_ordered() {
    let handlers = (
        "set_terminate([] { abort(); })",
        "auto before = get_terminate(); assert(before == get_terminate())",
    );
    let (one, two) = handlers;
    for (name, report) in reports(one, two, &ALL[..2]) {
        assert_eq!(report["errors"][0]["kind"], "assertion", "{name}: {report}");
    }
}

#[test]
fn memory_next_to_the_standard_streams_races() {
    // In a position-dependent executable the streams may be copied between its own variables.
    for (name, report) in reports("cout << 1; sum++", "cout << 2; sum++", &ALL) {
        assert_eq!(report["errors"][0]["kind"], "data_race", "{name}: {report}");
    }
}

#[test]
fn copies_of_exceptions_share_messages_without_races() {
    let (one, two) = (
        "unique_lock lock(guard); if (!failure) return; runtime_error copy = *failure; lock.unlock(); \
         assert(copy.what()[0] == 'd')",
        "lock_guard lock(guard); failure.reset()",
    );
    for (name, report) in reports(one, two, &ALL[..2]) {
        assert_eq!(report["verdict"], "verified", "{name}: {report}");
    }
    // The message without a copy of the exception.
    let one = "unique_lock lock(guard); if (!failure) return; const char *what = failure->what(); lock.unlock(); \
         assert(what[0] == 'd')";
    for (name, report) in reports(one, two, &ALL[..2]) {
        let kind = &report["errors"][0]["kind"];
        assert_eq!(kind, "use_after_free", "{name}: {report}");
    }
}

#[test]
fn streams_of_their_own_do_not_race() {
    let [one, two] = [
        "ostringstream own; own << \"x\" << 3",
        "ostringstream own; own << 'y' << 1.5; sum += own.str().size()",
    ];
    must_be_verified(one, two);
}

#[test]
fn file_streams_are_ordered_with_other_uses_of_their_files() {
    let in_place = "ios::in | ios::out";
    let changes = [
        format!("ofstream own(name, {in_place}); own << '1'"),
        format!("ofstream own(name, {in_place}); *ostreambuf_iterator<char>(own) = '1'"),
        format!("fstream own; own.open(name, {in_place}); own.put('1'); own.flush()"),
        "filesystem::remove(name)".to_owned(),
        "ofstream own(name, ios::app); own << '1'".to_owned(),
    ];
    let looks = [
        "char byte = 0; int file = open(name, O_RDONLY); assert(pread(file, &byte, 1, 0) == 1); close(file); assert(byte == '0')",
        "ifstream own(name); assert(*istreambuf_iterator<char>(own) == '0')",
        "string line; ifstream own(name); getline(own, line); assert(line == \"0\")",
        "ifstream own(name); assert(own.is_open())",
        "assert(filesystem::file_size(name) == 1)",
    ];
    for (change, look) in changes.iter().zip(looks) {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("file");
        let declaration = format!("const char *name = {name:?}");
        // The thread runs its code after main has initialized the file.
        let one = format!("{declaration}; while (!started) this_thread::yield(); {change}");
        let two = format!("{declaration}; {{ ofstream(name) << '0'; }} started = true; {look}");
        for (name, report) in reports(&one, &two, &ALL) {
            assert_eq!(report["errors"][0]["kind"], "assertion", "{name}: {report}");
        }
    }
}
