//! The audit reports exactly those writes to shared memory that no hook reports. A library without
//! hooks, generated code and a system function write to each kind of memory. Other threads access
//! the memory or do not.

use crate::operations::verified;
use crate::toolchain::{Toolchain, check};
use std::fs;
use std::process::Command;

const LIBRARY: &str = "
static int calls;
void bump(int *p) { ++*p; }
void fill(char *p, int n) { for (int i = 0; i < n; i++) p[i] = (char)(i + 1); }
void count(void) { calls++; }
";

const HEAD: &str = "
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
void bump(int *p);
void fill(char *p, int n);
void count(void);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared, apart[2], *heap;
static char text[2][16];
static long sums[2];
static void (*generated)(int *);
static void generate(void) {
    static const unsigned char code[] = {0xff, 0x07, 0xc3}; /* incl (%rdi); ret */
    void *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    generated = (void (*)(int *))page;
}
";

/// Code of a thread, code that main runs concurrently, and the variable whose unseen write must be
/// reported. `None` if nothing must be reported.
const PROGRAMS: [(&str, &str, Option<&str>); 12] = [
    ("bump(&shared);", "sums[1] = shared;", Some("shared")),
    (
        "pthread_mutex_lock(&lock); bump(&shared); pthread_mutex_unlock(&lock);",
        "pthread_mutex_lock(&lock); sums[1] = shared; pthread_mutex_unlock(&lock);",
        Some("shared"),
    ),
    ("bump(heap);", "sums[1] = *heap;", Some("int@")),
    ("bump(p);", "sums[1] = local;", Some("main::local")),
    ("count();", "count();", Some("calls")),
    ("generated(&shared);", "sums[1] = shared;", Some("shared")),
    (
        "sched_rr_get_interval(0, (struct timespec *)text[0]);",
        "sums[1] = text[0][0];",
        Some("text[0]"),
    ),
    // Only one thread accesses the memory, or starts and joins order the accesses.
    ("bump(&apart[0]);", "bump(&apart[1]);", None),
    (
        "int own = 0, *block = calloc(1, 4); bump(&own); bump(block); sums[0] = own + *block; free(block);",
        "bump(&local); bump(&local); sums[1] = local;",
        None,
    ),
    ("fill(text[0], 16);", "fill(text[1], 16);", None),
    ("generated(&apart[0]);", "generated(&apart[1]);", None),
    (
        "pthread_mutex_lock(&lock); char old[16]; memcpy(old, text[0], 16); memset(text[0], shared++, 16); sums[0] = old[3]; \
         pthread_mutex_unlock(&lock);",
        "pthread_mutex_lock(&lock); shared++; text[0][3]++; pthread_mutex_unlock(&lock);",
        None,
    ),
];

fn what_is_unseen_is_named(compiler: &str) {
    let Some(toolchain) = Toolchain::named(compiler) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("library.c"), LIBRARY).unwrap();
    let mut command = Command::new(compiler);
    command.args(["-g", "-shared", "-fPIC", "-o"]);
    let built = command
        .args([at("liblibrary.so"), at("library.c")])
        .status();
    assert!(built.unwrap().success());
    let path = folder.path().display();
    let flags = [
        "-w".to_owned(),
        format!("-L{path}"),
        format!("-Wl,-rpath,{path},--no-as-needed"),
        "-llibrary".to_owned(),
    ];
    for (thread, main, expected) in PROGRAMS {
        let source = format!(
            "{HEAD}
            static void *runs(void *p) {{ {thread} return p; }}
            int main(void) {{
                pthread_t thread;
                int local = 0;
                generate();
                fill(text[0], 16);
                heap = calloc(1, sizeof *heap);
                bump(heap);
                bump(&shared);
                pthread_create(&thread, 0, runs, &local);
                {main}
                pthread_join(thread, 0);
                bump(heap);
                bump(&local);
                int result = *heap + local + shared + text[0][0] + apart[0] > 1000;
                free(heap);
                return result;
            }}"
        );
        fs::write(at("program.c"), source).unwrap();
        toolchain
            .build(&at("program.c"), &flags, &at("program"))
            .unwrap();
        for plain in ["race", "sc"] {
            let options = ["--plain", plain];
            let report = check(&options, &at("program"), &[]).unwrap();
            let bounds = report["bounds"].as_array().unwrap();
            let bounds: Vec<&str> = bounds.iter().filter_map(|bound| bound.as_str()).collect();
            let named: Vec<&&str> = bounds
                .iter()
                .filter(|bound| bound.contains("--accept unseen"))
                .collect();
            match expected {
                None => {
                    assert!(named.is_empty(), "{compiler} {plain} {thread}: {report}");
                    assert_eq!(report["verdict"], "verified", "{thread}: {report}");
                }
                Some(name) => {
                    let is_as_expected = named.len() == 1
                        && named[0].starts_with(name)
                        && named[0].contains("program.c:");
                    assert!(is_as_expected, "{compiler} {plain} {thread}: {report}");
                    assert_eq!(report["verdict"], "bounded", "{thread}: {report}");
                    let options = ["--plain", plain, "--accept", "unseen"];
                    let report = check(&options, &at("program"), &[]).unwrap();
                    assert_eq!(report["verdict"], "verified", "{thread}: {report}");
                }
            }
        }
    }
}

#[test]
fn unseen_writes_of_programs_of_gcc_are_named() {
    what_is_unseen_is_named("gcc");
}

#[test]
fn unseen_writes_of_programs_of_clang_are_named() {
    what_is_unseen_is_named("clang");
}

/// The compiler's library writes to a tree and a list of the program, always while the program
/// holds a lock.
#[test]
fn containers_of_cpp_that_a_lock_protects_are_verified() {
    let source = "
        #include <list>
        #include <map>
        #include <mutex>
        #include <string>
        #include <thread>
        std::mutex lock;
        std::map<int, std::string> tree;
        std::list<int> list;
        static void insert(int n) {
            std::lock_guard<std::mutex> guard(lock);
            tree[n] += \"a text that does not fit into the object\";
            list.push_back(n);
        }
        int main() {
            std::thread other(insert, 1);
            insert(2);
            other.join();
            return tree.size() != 2 || list.size() != 2;
        }";
    let folder = tempfile::tempdir().unwrap();
    let [file, executable] = ["program.cpp", "program"].map(|name| folder.path().join(name));
    fs::write(&file, source).unwrap();
    Toolchain::first().build(&file, &[], &executable).unwrap();
    let report = check(&[], &executable, &[]).unwrap();
    assert_eq!(report["verdict"], "verified", "{report}");
}

/// Calls of known functions that write to memory shared by threads. Some of them also allocate
/// memory before they return.
const CALLS: [&str; 7] = [
    "(void)!readlink(\"/proc/self/exe\", text, 3);",
    "FILE *file = fopen(\"/proc/self/stat\", \"r\"); (void)!fgets(text, 3, file); fclose(file);",
    "FILE *file = fopen(\"/proc/self/stat\", \"r\"); (void)!fread(text, 1, 3, file); fclose(file);",
    "FILE *file = fopen(\"/proc/self/stat\", \"r\"); (void)!fscanf(file, \"%2c\", text); fclose(file);",
    "int file = open(\"/proc/self/stat\", O_RDONLY); (void)!read(file, text, 3); close(file);",
    "gethostname(text, sizeof text);",
    "heap = realloc(heap, 8 * ++count); heap[0] = 1;",
];

#[test]
fn writes_of_known_functions_are_seen() {
    for call in CALLS {
        let source = format!(
            "#include <fcntl.h>
             #include <stdio.h>
             #include <string.h>
             #include <unistd.h>
             static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
             static char text[64], *heap;
             static int count;
             static void *run(void *p) {{
                 pthread_mutex_lock(&lock);
                 {call}
                 volatile char first = text[0]; (void)first;
                 pthread_mutex_unlock(&lock);
                 return p;
             }}
             int main(void) {{ start(run); run(NULL); join(); free(heap); }}"
        );
        verified("program.c", &source, &[]);
    }
}

#[test]
fn strings_that_the_cpp_library_makes_are_seen() {
    let source = "#include <mutex>
        #include <sstream>
        #include <string>
        #include <thread>
        #include <vector>
        static std::mutex lock;
        static std::vector<std::string> lines;
        int main() {
            std::thread reads([] {
                std::istringstream text(\"abcdefghijklmnopqrstuvwxyz\\n\");
                std::string line;
                while (std::getline(text, line)) {
                    std::lock_guard<std::mutex> guard(lock);
                    lines.push_back(std::move(line));
                }
            });
            {
                std::lock_guard<std::mutex> guard(lock);
                for (auto &line : lines) { volatile char first = line[0]; (void)first; }
            }
            reads.join();
        }";
    verified("program.cpp", source, &[]);
}

#[test]
fn iterators_of_the_debug_mode_are_seen() {
    let source = "#define _GLIBCXX_DEBUG
        #include <mutex>
        #include <thread>
        #include <vector>
        static std::mutex lock;
        static std::vector<int> numbers{1, 2};
        static void use() {
            std::lock_guard<std::mutex> guard(lock);
            numbers.push_back(3);
            int sum = 0;
            for (int number : numbers) sum += number;
        }
        int main() {
            std::thread other(use);
            use();
            other.join();
        }";
    verified("program.cpp", source, &[]);
}
