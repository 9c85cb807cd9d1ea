//! State that the C library and the system keep for the process. Uses of the state are ordered or
//! race, as POSIX specifies for each function.

use crate::toolchain::{Toolchain, check};
use std::path::Path;

/// Pairs of threads of the program, with the errors that occur in some order of their operations.
/// An empty list means that each order is correct.
const PAIRS: [(&str, &[&str]); 40] = [
    ("lock_stream_and_mutex,print_within_mutex", &["deadlock"]),
    ("count_within_stream,count_within_stream", &[]),
    ("print_two,print_two", &[]),
    ("lock_stream,try_stream", &["assertion"]),
    ("print_unlocked,print_unlocked", &["data_race"]),
    ("print_locked,print_locked", &[]),
    (
        "print_locked,close_stream",
        &["data_race", "use_after_free"],
    ),
    ("write_descriptor,close_descriptor", &["assertion"]),
    ("write_by_name,read_by_name", &["assertion"]),
    ("add_by_name,add_by_name", &["assertion"]),
    ("add_to_file,see_size", &["assertion"]),
    ("add_to_file,see_size_of_stream", &["assertion"]),
    ("read_file,cut_file", &["assertion"]),
    ("read_file,empty_file", &["assertion"]),
    ("read_file,empty_stream", &["assertion"]),
    ("set_name,see_name", &["assertion"]),
    ("set_variable,walk_variables", &["data_race"]),
    ("join_third,join_third", &["misuse"]),
    ("detach,do_nothing", &["misuse"]),
    ("create,miss", &["assertion"]),
    ("open_first,open_second", &["assertion"]),
    ("write_null,write_null", &[]),
    ("go_to_root,stay", &["assertion"]),
    ("set_locale,see_locale", &["assertion"]),
    ("set_action,see_action", &["assertion"]),
    ("set_limit,see_limit", &["assertion"]),
    ("set_zone,see_zone", &["assertion"]),
    ("name_file,name_file", &["data_race"]),
    ("read_directory,read_directory", &["data_race"]),
    ("read_own_directory,read_own_directory", &[]),
    ("search_table,search_table", &["data_race"]),
    ("search_tree,search_tree", &["data_race"]),
    ("read_options,read_options", &["data_race"]),
    ("take_gamma,take_gamma", &["data_race"]),
    ("convert,convert", &["data_race"]),
    ("convert_with_state,convert_with_state", &[]),
    ("cut_name,cut_name", &["data_race"]),
    ("take_digits,take_digits", &["data_race"]),
    ("describe_errors,describe_errors", &[]),
    ("lock_again,lock_again", &[]),
];

#[test]
fn state_of_the_process_is_ordered_or_raced_for() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native_check/library-state.c");
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let executable = folder.path().join("program");
        let flags = ["-w", "-lm"].map(str::to_owned);
        toolchain.build(&source, &flags, &executable).unwrap();
        let place = folder.path().to_str().unwrap();
        for (pair, expected) in PAIRS {
            let arguments = [pair, place].map(str::to_owned);
            let report = check(&["--algorithm", "optimal"], &executable, &arguments).unwrap();
            let errors = report["errors"].as_array().unwrap();
            let found = errors.first().map(|error| error["kind"].as_str().unwrap());
            let is_right = match found {
                Some(kind) => expected.contains(&kind),
                None => expected.is_empty() && report["verdict"] == "verified",
            };
            assert!(is_right, "{compiler}, {pair}: {report:#}");
            if pair == "go_to_root,stay" {
                let shown = report.to_string();
                assert!(shown.contains("\"chdir() uses the state of the system\""));
                assert!(shown.contains("\"getcwd() reads the state of the system\""));
            }
        }
    }
}

/// Code of two threads that call the system, mostly by system call number, and the result.
const CALLS: [(&str, &str, &str); 18] = [
    (
        "madvise(page, 4096, MADV_DONTNEED)",
        "assert(page[0] == 1)",
        "data_race",
    ),
    (
        "syscall(SYS_madvise, page, 4096, MADV_DONTNEED)",
        "assert(page[0] == 1)",
        "data_race",
    ),
    (
        "pwrite(file, \"z\", 1, 0)",
        "assert(map[0] != 'z')",
        "bounded",
    ),
    (
        "pwrite(later, \"z\", 1, 0)",
        "char *own = mmap(0, 4096, PROT_READ, MAP_SHARED, later, 0); assert(own[0] == 'z')",
        "assertion",
    ),
    (
        "aio_read(&request)",
        "count = 1",
        "uses asynchronous input or output",
    ),
    (
        "dup2(other[0], ends[0])",
        "ioctl(ends[0], FIONREAD, &count); assert(count == 0)",
        "assertion",
    ),
    (
        "syscall(SYS_dup2, other[0], ends[0])",
        "ioctl(ends[0], FIONREAD, &count); assert(count == 0)",
        "assertion",
    ),
    (
        "eventfd_write(event, 2)",
        "read(event, bytes, 8); assert(bytes[0] == 1)",
        "assertion",
    ),
    (
        "syscall(SYS_socket, 1, 1, 0)",
        "count = 1",
        "system call socket by its number",
    ),
    (
        "syscall(SYS_umask, 7)",
        "assert(syscall(SYS_umask, 2) != 7)",
        "assertion",
    ),
    (
        "umask(7)",
        "assert(syscall(SYS_umask, 2) != 7)",
        "assertion",
    ),
    (
        "syscall(SYS_write, ends[1], \"x\", 1)",
        "ioctl(ends[0], FIONREAD, &count); assert(count == 0)",
        "assertion",
    ),
    (
        "bytes[0] = 'z'",
        "syscall(SYS_write, ends[1], bytes, 1)",
        "data_race",
    ),
    (
        "bytes[0] = 'z'",
        "syscall(SYS_getrandom, bytes, 1, 0)",
        "data_race",
    ),
    (
        "syscall(SYS_write, 1, \"x\", 1)",
        "syscall(SYS_sched_yield); syscall(SYS_getpid)",
        "verified",
    ),
    ("syscall(SYS_sysinfo, bytes)", "count = 1", "bounded"),
    (
        "syscall(SYS_fork)",
        "count = 1",
        "system call fork by its number",
    ),
    (
        "struct rlimit limit = {1, 1}; syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &limit, 0)",
        "count = 1",
        "limits the size of files",
    ),
];

#[test]
fn calls_of_the_system_are_ordered_however_they_are_made() {
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        for (number, (first, second, expected)) in CALLS.into_iter().enumerate() {
            let text = format!(
                "#define _GNU_SOURCE\n#include <assert.h>\n#include <pthread.h>\n#include <unistd.h>\n#include <sys/eventfd.h>\n#include <sys/ioctl.h>\n#include <sys/mman.h>\n#include <aio.h>\n\
                 #include <sys/resource.h>\n#include <sys/stat.h>\n#include <sys/syscall.h>\n\
                 static int ends[2], other[2], event, count, file, later;\nstatic char bytes[512], *page, *map;\nstatic struct aiocb request;\n\
                 static void *one(void *p) {{ {first}; return p; }}\nstatic void *two(void *p) {{ {second}; return p; }}\n\
                 int main(void) {{\n pthread_t a, b;\n pipe(ends);\n pipe(other);\n write(other[1], \"y\", 1);\n event = eventfd(1, 0);\n page = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n page[0] = 1;\n\
                 file = memfd_create(\"file\", 0);\n later = memfd_create(\"later\", 0);\n ftruncate(file, 4096);\n ftruncate(later, 4096);\n\
                 map = mmap(0, 4096, 3, MAP_SHARED, file, 0);\n pthread_create(&b, 0, two, 0);\n pthread_create(&a, 0, one, 0);\n\
                 pthread_join(a, 0);\n pthread_join(b, 0);\n}}\n"
            );
            let source = folder.path().join(format!("{number}.c"));
            std::fs::write(&source, text).unwrap();
            let executable = folder.path().join(number.to_string());
            toolchain
                .build(&source, &["-w".to_owned()], &executable)
                .unwrap();
            let found = check(&[], &executable, &[]);
            let is_right = match &found {
                Ok(report) => match report["errors"][0]["kind"].as_str() {
                    Some(kind) => kind == expected,
                    None => report["verdict"] == expected,
                },
                Err(refusal) => refusal.contains(expected),
            };
            assert!(is_right, "{compiler}: {first} beside {second}: {found:#?}");
        }
    }
}

/// Code of two threads, and a result that is 0 or 1, depending on the order of their calls. It is
/// computed at the exit.
const ORDERS: [(&str, &str, &str); 21] = [
    (
        "write(ends[1], \"x\", 1)",
        "struct pollfd asked = {ends[0], POLLIN}; n = poll(&asked, 1, 0)",
        "n",
    ),
    (
        "write(ends[1], \"x\", 1)",
        "struct pollfd asked[2] = {{other[0], POLLIN}, {ends[0], POLLIN}}; n = poll(asked, 2, 0) == 2",
        "n",
    ),
    (
        "write(ends[1], \"x\", 1)",
        "fd_set set; FD_ZERO(&set); FD_SET(ends[0], &set); struct timeval now = {0}; n = select(ends[0] + 1, &set, 0, 0, &now)",
        "n",
    ),
    (
        "struct epoll_event event = {EPOLLIN}; epoll_ctl(poller, EPOLL_CTL_ADD, other[0], &event)",
        "struct epoll_event event; n = epoll_wait(poller, &event, 1, 0)",
        "n",
    ),
    (
        "write(ends[1], \"x\", 1)",
        "struct epoll_event event; n = epoll_wait(poller, &event, 1, 0)",
        "n",
    ),
    ("link(\"a\", \"b\")", "n = !access(\"b\", F_OK)", "n"),
    (
        "linkat(AT_FDCWD, \"a\", AT_FDCWD, \"b\", 0)",
        "n = !access(\"b\", F_OK)",
        "n",
    ),
    ("n = !link(\"a\", \"b\")", "link(\"a\", \"b\")", "n"),
    (
        "renameat(AT_FDCWD, \"a\", AT_FDCWD, \"b\")",
        "n = !access(\"a\", F_OK)",
        "n",
    ),
    (
        "unlinkat(AT_FDCWD, \"a\", 0)",
        "n = !access(\"a\", F_OK)",
        "n",
    ),
    (
        "chmod(\"a\", 0600)",
        "struct stat s; stat(\"a\", &s); n = (s.st_mode & 0777) == 0600",
        "n",
    ),
    (
        "openat(AT_FDCWD, \"c\", O_CREAT | O_EXCL, 0600)",
        "n = openat(AT_FDCWD, \"c\", O_CREAT | O_EXCL, 0600) >= 0",
        "n",
    ),
    (
        "truncate(\"a\", 7)",
        "struct stat s; stat(\"a\", &s); n = s.st_size == 7",
        "n",
    ),
    (
        "fputs(\"x\", stream); fflush(NULL)",
        "struct stat s; fstat(fileno(stream), &s); n = s.st_size == 1",
        "n",
    ),
    (
        "first = fcntl(ends[0], F_DUPFD, 0)",
        "second = fcntl(other[0], F_DUPFD, 0)",
        "first < second",
    ),
    ("atexit(add_one)", "atexit(add_two)", "n == 12"),
    (
        "struct rlimit limit; getrlimit(RLIMIT_NOFILE, &limit); limit.rlim_cur = 100; setrlimit(RLIMIT_NOFILE, &limit)",
        "n = sysconf(_SC_OPEN_MAX) == 100",
        "n",
    ),
    (
        "struct rlimit limit; getrlimit(RLIMIT_NOFILE, &limit); limit.rlim_cur = 100; setrlimit(RLIMIT_NOFILE, &limit)",
        "n = getdtablesize() == 100",
        "n",
    ),
    (
        "creat(\"d\", 0600)",
        "int count = 0; rewinddir(listing); while (readdir(listing)) count++; n = count > 3",
        "n",
    ),
    (
        "dlopen(\"libm.so.6\", RTLD_NOW | RTLD_GLOBAL)",
        "n = dlsym(RTLD_DEFAULT, \"cbrtl\") != 0",
        "n",
    ),
    ("umask(7)", "n = umask(2) == 7", "n"),
];

#[test]
fn every_order_of_calls_that_share_state_is_explored() {
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place");
        std::fs::create_dir(&place).unwrap();
        for (number, (first, second, result)) in ORDERS.into_iter().enumerate() {
            let text = format!(
                "#define _GNU_SOURCE\n#include <assert.h>\n#include <dirent.h>\n#include <dlfcn.h>\n#include <fcntl.h>\n#include <poll.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
                 #include <sys/epoll.h>\n#include <sys/resource.h>\n#include <sys/select.h>\n#include <sys/stat.h>\n#include <unistd.h>\n\
                 static int ends[2], other[2], poller, n, first, second, wanted;\nstatic FILE *stream;\nstatic DIR *listing;\n\
                 static void add_one(void) {{ n = n * 10 + 1; }}\nstatic void add_two(void) {{ n = n * 10 + 2; }}\n\
                 static void last(void) {{ assert(({result}) == wanted); }}\n\
                 static void *one(void *p) {{ {first}; return p; }}\nstatic void *two(void *p) {{ {second}; return p; }}\n\
                 int main(int count, char **words) {{\n wanted = atoi(words[2]);\n chdir(words[1]);\n unlink(\"b\"); unlink(\"c\"); unlink(\"d\"); unlink(\"a\");\n\
                 close(creat(\"a\", 0644));\n stream = fopen(\"a\", \"w\");\n listing = opendir(\".\");\n pipe(ends);\n pipe(other);\n write(other[1], \"y\", 1);\n\
                 poller = epoll_create1(0);\n struct epoll_event event = {{EPOLLIN}};\n epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &event);\n atexit(last);\n\
                 pthread_t a, b;\n pthread_create(&b, 0, two, 0);\n pthread_create(&a, 0, one, 0);\n pthread_join(a, 0);\n pthread_join(b, 0);\n}}\n"
            );
            let source = folder.path().join(format!("{number}.c"));
            std::fs::write(&source, text).unwrap();
            let executable = folder.path().join(number.to_string());
            toolchain
                .build(&source, &["-w".to_owned(), "-ldl".to_owned()], &executable)
                .unwrap();
            for wanted in ["0", "1"] {
                let arguments = [place.to_str().unwrap(), wanted].map(str::to_owned);
                for memory in ["sc", "rc11"] {
                    let found = check(&["--memory", memory], &executable, &arguments);
                    let kind = found.as_ref().map(|report| &report["errors"][0]["kind"]);
                    let is_right = kind.is_ok_and(|kind| kind == "assertion");
                    assert!(
                        is_right,
                        "{compiler}, {memory}, {first} beside {second}, {wanted}: {found:#?}"
                    );
                }
            }
        }
    }
}
