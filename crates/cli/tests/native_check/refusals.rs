//! Programs that do something that cannot be checked. The command prints one line, exits with code
//! 2, and leaves nothing behind.

use crate::toolchain::Toolchain;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The output of `mazurka check` for a source.
struct Said {
    code: Option<i32>,
    output: String,
    errors: String,
}

/// Checks a source. The program gets input to read, and no files may be left.
fn said(name: &str, source: &str, options: &[&str]) -> Said {
    let folder = tempfile::tempdir().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), source).unwrap();
    let input = folder.path().join("input");
    fs::write(&input, "1 2 3\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    let compilers = Toolchain::first();
    compilers.stands_behind(&mut command);
    let output = command
        .args(["check", name])
        .args(options)
        .current_dir(folder.path())
        .env("TMPDIR", scratch.path())
        .stdin(Stdio::from(fs::File::open(input).unwrap()))
        .output()
        .unwrap();
    let left = |path: &Path| fs::read_dir(path).unwrap().count();
    assert_eq!(
        (left(scratch.path()), left(folder.path())),
        (0, 2),
        "{name}"
    );
    Said {
        code: output.status.code(),
        output: String::from_utf8(output.stdout).unwrap(),
        errors: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Checks that the program is refused with a line that contains this part.
#[track_caller]
pub fn refused(name: &str, source: &str, part: &str) {
    let said = said(name, source, &[]);
    let all = format!("{}{}", said.output, said.errors);
    assert_eq!((said.code, said.output.as_str()), (Some(2), ""), "{all}");
    assert_eq!(said.errors.lines().count(), 1, "{all}");
    assert!(said.errors.contains(part), "{all}");
}

#[test]
fn a_program_with_an_allocator_of_its_own_is_refused() {
    let source = "#include <stddef.h>
#include <string.h>
static _Alignas(64) char memory[1 << 22];
static size_t used;
void *malloc(size_t size) { used += (size + 63) / 64 * 64; return memory + used - (size + 63) / 64 * 64; }
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size) {
    void *other = malloc(size);
    return block == NULL ? other : memcpy(other, block, size);
}
int main(void) { return malloc(1) == NULL; }";
    refused("allocator.c", source, "its own `malloc`");
}

#[test]
fn a_program_that_reads_its_standard_input_is_refused() {
    let part = "the program reads its standard input";
    let scan = "#include <stdio.h>\nint main(void) { int n; return scanf(\"%d\", &n) != 1; }";
    refused("scan.c", scan, part);
    let read = "#include <unistd.h>\nint main(void) { char c; return read(0, &c, 1) != 1; }";
    refused("read.c", read, part);
    let line = "#include <iostream>\n#include <string>\n#include <thread>\n\
                int main() { std::string s; std::thread([&] { std::getline(std::cin, s); }).join(); }";
    refused("line.cpp", line, part);
    let until = "#include <stdio.h>\nint main(void) { while (getchar() != 'q') {} }";
    refused("until.c", until, part);
}

#[test]
fn a_program_that_leaves_its_standard_input_alone_is_checked() {
    let source = "#include <stdio.h>\n#include <unistd.h>\nint main(void) { fflush(stdin); return close(0); }";
    let said = said("alone.c", source, &[]);
    assert_eq!(said.code, Some(0), "{}{}", said.output, said.errors);
}

#[test]
fn a_program_that_starts_other_processes_or_opens_sockets_is_refused() {
    let fork = "#include <unistd.h>\nint main(void) { return fork() < 0; }";
    refused(
        "forks.c",
        fork,
        "starts another process (fork) at forks.c:2",
    );
    let system = "#include <stdlib.h>\nint main(void) { return system(\"true\"); }";
    refused("runs.c", system, "starts another process (system)");
    let socket =
        "#include <sys/socket.h>\nint main(void) { return socket(AF_INET, SOCK_STREAM, 0) < 0; }";
    refused("talks.c", socket, "opens a socket (socket)");
    let exec = "#include <unistd.h>\nint main(void) { char *no[] = {0}; return execv(\"/bin/true\", no); }";
    refused(
        "becomes.c",
        exec,
        "replaces itself with another program (execv)",
    );
}

#[test]
fn memory_that_outlives_the_program_and_stacks_of_its_own_are_refused() {
    let attach = "#include <sys/shm.h>\n\
                  int main(void) { return shmat(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600), 0, 0) == 0; }";
    refused(
        "attaches.c",
        attach,
        "attaches memory that outlives it (shmat)",
    );
    let stack = "#include <pthread.h>
static char stack[1 << 18] __attribute__((aligned(4096)));
static void *on_it(void *p) { char here; return &here > stack && &here < stack + sizeof stack ? p : 0; }
int main(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, sizeof stack);
    return pthread_create(&thread, &attributes, on_it, 0);
}";
    refused(
        "own-stack.c",
        stack,
        "stack of its own (pthread_attr_setstack) at own-stack.c:9",
    );
}

#[test]
fn other_ways_to_start_processes_and_to_ask_for_signals_are_refused() {
    let popen = "#include <stdio.h>\nint main(void) { return !popen(\"true\", \"r\"); }";
    refused(
        "pipes.c",
        popen,
        "starts another process (popen) at pipes.c:2",
    );
    let spawn = "#include <spawn.h>\n\
                 int main(void) { pid_t p; char *no[] = {0}; return posix_spawn(&p, \"/bin/true\", 0, 0, no, no); }";
    refused("spawns.c", spawn, "starts another process (posix_spawn)");
    let alarm = "#include <unistd.h>\nint main(void) { alarm(1); return pause(); }";
    refused("alarm.c", alarm, "requests a signal (alarm)");
    let raise = "#include <signal.h>\nstatic void on(int n) { (void)n; }\n\
                 int main(void) { signal(SIGUSR1, on); return raise(SIGUSR1); }";
    refused("raise.c", raise, "sends itself signal 10 at raise.c:3");
    let kill =
        "#include <signal.h>\n#include <unistd.h>\nint main(void) { return kill(getppid(), 0); }";
    refused("kill.c", kill, "sends a signal to another process (kill)");
    let awaited = "#include <signal.h>\nint main(void) { sigset_t all; int n; sigfillset(&all); return sigwait(&all, &n); }";
    refused("awaited.c", awaited, "waits for a signal (sigwait)");
    let paused = "#include <unistd.h>\nint main(void) { return pause(); }";
    refused("paused.c", paused, "waits for a signal (pause)");
}

#[test]
fn limits_that_stop_more_than_events_are_refused_or_reported() {
    let program = |kind: &str| {
        format!(
            "#include <pthread.h>\n#include <sys/resource.h>\n\
             static void *lower(void *p) {{ struct rlimit limit = {{1 << 30, RLIM_INFINITY}}; setrlimit({kind}, &limit); return p; }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, lower, 0); pthread_join(t, 0); }}"
        )
    };
    refused(
        "size.c",
        &program("RLIMIT_FSIZE"),
        "limits the size of files",
    );
    refused(
        "time.c",
        &program("RLIMIT_CPU"),
        "limits the processor time",
    );
    let few = program("RLIMIT_NOFILE").replace("1 << 30", "3");
    refused("few.c", &few, "too few file descriptors for the checker");
    let other = "#define _GNU_SOURCE\n#include <sys/resource.h>\n#include <unistd.h>\n\
        int main(void) { struct rlimit limit = {1, 1}; return prlimit(getppid(), RLIMIT_CORE, &limit, NULL); }";
    refused("other.c", other, "a limit of another process (prlimit)");
    for (kind, code) in [("RLIMIT_AS", 3), ("RLIMIT_DATA", 3), ("RLIMIT_CORE", 0)] {
        let ran = said("limit.c", &program(kind), &[]);
        let all = format!("{}{}", ran.output, ran.errors);
        assert_eq!(ran.code, Some(code), "{kind}: {all}");
    }
}

#[test]
fn a_key_that_is_deleted_while_threads_use_it_is_reported() {
    let program = |middle: &str| {
        format!(
            "#include <pthread.h>\nstatic pthread_key_t key;\nstatic int value;\n\
             static void at_end(void *p) {{ *(int *)p = 1; }}\n\
             static void *use(void *p) {{ pthread_setspecific(key, &value); return p; }}\n\
             int main(void) {{ pthread_t t; pthread_key_create(&key, at_end); pthread_create(&t, 0, use, 0); {middle} }}"
        )
    };
    let [delete, join] = ["pthread_key_delete(key);", "pthread_join(t, 0);"];
    for (middle, code) in [
        (format!("{delete} {join}"), 3),
        (format!("{join} {delete}"), 0),
        (join.to_owned(), 0),
    ] {
        let ran = said("key.c", &program(&middle), &[]);
        let all = format!("{}{}", ran.output, ran.errors);
        assert_eq!(ran.code, Some(code), "{middle}: {all}");
    }
}

#[test]
fn what_constructors_read_is_noticed() {
    let part = "the program reads its standard input";
    let c = "#include <stdio.h>\nstatic int n;\n\
             __attribute__((constructor)) static void ask(void) { if (scanf(\"%d\", &n) != 1) n = 1; }\n\
             int main(void) { return n < 0; }";
    refused("constructor.c", c, part);
    let cpp = "#include <iostream>\nstatic int n = [] { int n = 0; std::cin >> n; return n; }();\n\
               int main() { return n < 0; }";
    refused("static.cpp", cpp, part);
}

#[test]
fn a_program_that_waits_in_the_operating_system_is_refused() {
    let source = "#include <unistd.h>\n\
                  int main(void) { int p[2]; char c; if (pipe(p)) return 1; return read(p[0], &c, 1) != 1; }";
    refused("waits.c", source, "waits in the operating system");
}

#[test]
fn a_program_that_depends_on_something_outside_its_schedule_is_refused() {
    let source = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int raced, many[65536];
static void *other(void *p) { atomic_fetch_add(&raced, 1); return p; }
int main(void) {
    pthread_t thread;
    unsigned short chance = 0;
    FILE *file = fopen("/dev/urandom", "r");
    if (!file || fread(&chance, sizeof chance, 1, file) != 1) return 1;
    fclose(file);
    pthread_create(&thread, NULL, other, NULL);
    atomic_fetch_add(&many[chance], 1);
    for (int i = 0; i < 9; i++) atomic_fetch_add(&raced, 1);
    pthread_join(thread, NULL);
}
"#;
    refused("chance.c", source, "the program is not deterministic");
}

#[test]
fn the_report_says_that_only_some_unknown_values_are_tried() {
    let source = "int __VERIFIER_nondet_int(void); unsigned char __VERIFIER_nondet_uchar(void); _Bool __VERIFIER_nondet_bool(void);\n\
                  int main(void) { return __VERIFIER_nondet_int() == 7 && __VERIFIER_nondet_uchar() && __VERIFIER_nondet_bool(); }";
    let ran = said("unknown.c", source, &[]);
    assert_eq!(ran.code, Some(3), "{}{}", ran.output, ran.errors);
    let accept = "--accept inputs";
    assert!(ran.output.contains(accept), "{}", ran.output);
    let ran = said("unknown.c", source, &["--accept", "asm,inputs"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    let accepted = "accepted (inputs): only the values 0, 1 and -1 of __VERIFIER_nondet_int";
    assert!(ran.output.contains(accepted), "{}", ran.output);
    let json = ["--accept", "inputs", "--format", "json"];
    let ran = said("unknown.c", source, &json);
    let report: serde_json::Value = serde_json::from_str(&ran.output).unwrap();
    assert_eq!(report["accepted"][0]["kind"], "inputs");
    let ran = said("unknown.c", source, &["--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.output).unwrap();
    assert_eq!(report["limits"][0], "inputs");
    assert_eq!(report["verdict"], "bounded");
    let both =
        "_Bool __VERIFIER_nondet_bool(void);\nint main(void) { return __VERIFIER_nondet_bool(); }";
    let ran = said("both.c", both, &["--no-output"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.output, ran.errors);
    assert!(!ran.output.contains("are tried"), "{}", ran.output);
}

#[test]
fn a_program_that_changes_its_own_code_is_refused_and_one_that_fixes_its_data_is_not() {
    let head = "#define _GNU_SOURCE\n#include <link.h>\n#include <pthread.h>\n#include <stdatomic.h>
#include <stdint.h>\n#include <string.h>\n#include <sys/mman.h>\n#include <sys/syscall.h>\n#include <unistd.h>
#define PAGE __attribute__((noinline, aligned(4096)))
static atomic_int x;
PAGE void once(void) { atomic_store(&x, 5); }
PAGE void behind(void) {}
static __attribute__((aligned(4096))) int table[1024];
static void *start(void) { return (void *)((uintptr_t)once & ~4095ul); }
static void *adds(void *p) { atomic_fetch_add(&x, table[3]); return p; }
static int of_library(struct dl_phdr_info *image, size_t size, void *name) {
    (void)size;
    for (int i = 0; strstr(image->dlpi_name, name) && i < image->dlpi_phnum; i++)
        if (image->dlpi_phdr[i].p_flags & PF_X && image->dlpi_phdr[i].p_type == PT_LOAD)
            munmap((void *)(image->dlpi_addr + image->dlpi_phdr[i].p_vaddr), image->dlpi_phdr[i].p_memsz);
    return 0;
}";
    let program = |does: &str| {
        format!(
            "{head}\nint main(void) {{
    pthread_t thread;
    once();
    table[3] = 1;
    {does}
    pthread_create(&thread, NULL, adds, NULL);
    atomic_fetch_add(&x, table[3]);
    pthread_join(thread, NULL);
    return atomic_load(&x) != 7;
}}"
        )
    };
    for (does, part) in [
        (
            "munmap(start(), 4096);",
            "unmaps its own code or data (munmap)",
        ),
        (
            "syscall(SYS_munmap, start(), 4096);",
            "unmaps its own code or data (munmap)",
        ),
        (
            "dl_iterate_phdr(of_library, \"libgcc_s\");",
            "unmaps its own code or data (munmap)",
        ),
        (
            "mmap(start(), 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);",
            "maps something else over its own code or data (mmap)",
        ),
        (
            "mprotect(start(), 4096, PROT_READ | PROT_WRITE | PROT_EXEC);",
            "changes the access permissions of its own code (mprotect)",
        ),
    ] {
        refused("code.c", &program(does), part);
    }
    let fixes = "if (mprotect(table, sizeof table, PROT_READ) != 0) return 3;
        void *own = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (own == MAP_FAILED || mprotect(own, 4096, PROT_READ | PROT_WRITE) != 0 || munmap(own, 8192) != 0) return 4;";
    let said = said("data.c", &program(fixes), &["--no-output"]);
    let text = format!("{}{}", said.output, said.errors);
    assert!(
        text.starts_with("verified") && text.contains("2 executions"),
        "{text}"
    );
}

#[test]
fn a_program_that_starts_a_thread_before_main_is_refused() {
    let source = "#include <pthread.h>
static void *runs(void *p) { return p; }
static pthread_t early;
__attribute__((constructor)) static void starts(void) { pthread_create(&early, NULL, runs, NULL); }
int main(void) { return pthread_join(early, NULL); }";
    refused(
        "early.c",
        source,
        "starts a thread before `main` (pthread_create)",
    );
}

/// The process aborts in a thread that does not belong to the program. This is not a bug of the
/// program, and no execution is counted.
#[test]
fn an_abort_outside_of_the_program_is_no_bug_of_the_program() {
    let source = "#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int main(void) {
    DIR *threads = opendir(\"/proc/self/task\");
    for (struct dirent *entry; (entry = readdir(threads)) != NULL;) {
        int number = atoi(entry->d_name);
        if (number != 0 && number != getpid())
            __asm__ volatile(\"syscall\" : : \"a\"(SYS_tgkill), \"D\"(getpid()), \"S\"(number), \"d\"(SIGABRT)
                             : \"rcx\", \"r11\", \"memory\");
    }
    closedir(threads);
    struct timespec long_enough = {20, 0};
    syscall(SYS_nanosleep, &long_enough, NULL);
    return 0;
}";
    refused(
        "abort.c",
        source,
        "Mazurka's process failed: it was aborted in another thread, outside of the program",
    );
}
