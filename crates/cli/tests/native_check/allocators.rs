//! Memory that is freed by a function that does not match its allocation, and what allocations write.

use crate::operations::{bug, verified};
use crate::toolchain::{Toolchain, check, run_and_check};
use std::fs;

/// The argument selects what the program does.
const PROGRAM: &str = r#"
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
struct alignas(64) Aligned { int parts[16]; };
static void fits() {
    std::string text(99, 'x');
    auto shared = std::make_shared<Aligned>();
    std::unique_ptr<int[]> many(new int[3]);
    delete new Aligned;
    delete[] new Aligned[2];
    delete new (std::nothrow) Aligned;
    delete[] new (std::nothrow) Aligned[2];
    operator delete(operator new(8, std::align_val_t(32)), std::align_val_t(32));
    operator delete[](operator new[](8, std::nothrow), std::nothrow);
    free(aligned_alloc(64, 64));
}
int main(int, char **words) {
    switch (atoi(words[1])) {
    case 0: fits(); break;
    case 1: delete new int[2]; break;
    case 2: delete[] new int; break;
    case 3: delete static_cast<int *>(malloc(4)); break;
    case 4: free(new Aligned); break;
    case 5: free(realloc(new int[2], 99)); break;
    }
}
"#;

#[test]
fn memory_that_is_given_back_by_what_did_not_give_it_out_is_misused() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.cpp");
    let executable = folder.path().join("program");
    fs::write(&source, PROGRAM).unwrap();
    let flags = ["-std=c++17".to_owned(), "-w".to_owned()];
    let messages = [
        "memory of `new[]` is freed by `delete`: byte 0 of a block of 8 bytes",
        "memory of `new` is freed by `delete[]`",
        "memory of `malloc` is freed by `delete`",
        "memory of `new` is freed by `free`",
        "memory of `new[]` is freed by `free`",
    ];
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            continue;
        };
        toolchain.build(&source, &flags, &executable).unwrap();
        let report = check(&[], &executable, &["0".to_owned()]).unwrap();
        assert_eq!(report["verdict"], "verified", "{report}");
        for (number, message) in messages.iter().enumerate() {
            let report = check(&[], &executable, &[(number + 1).to_string()]).unwrap();
            let error = &report["errors"][0];
            assert_eq!(error["kind"], "misuse", "{compiler}: {report}");
            let text = error["message"].as_str().unwrap();
            assert!(text.contains(message), "{compiler}: {text}");
        }
    }
}

#[test]
fn memory_that_the_program_has_protected_can_be_freed() {
    let program = "#include <stdlib.h>\n#include <sys/mman.h>\nint main(void) {\n    void *block;\n    \
        if (posix_memalign(&block, 4096, 1 << 20) || mprotect(block, 4096, PROT_NONE)) return 1;\n    free(block);\n}";
    let (real, report) = run_and_check("gcc", program).unwrap();
    assert!(real.success());
    assert_eq!(report["verdict"], "verified", "{report}");
}

/// The report names the access, and where the memory was freed and allocated.
#[test]
fn use_after_free_is_reported_with_its_places() {
    let program = |end: &str| {
        format!(
            "#include <pthread.h>\n#include <stdlib.h>\nstatic int *block;\n\
             static void *give_back(void *p) {{ free(block); return p; }}\n\
             int main(void) {{\n    pthread_t thread;\n    block = calloc(9, 4);\n    pthread_create(&thread, 0, give_back, 0);\n    \
             pthread_join(thread, 0);\n    {end};\n}}"
        )
    };
    for (end, kind) in [
        ("return *block", "use_after_free"),
        ("free(block)", "double_free"),
    ] {
        let (_, report) = run_and_check("gcc", &program(end)).unwrap();
        let error = &report["errors"][0];
        let text = error["message"].as_str().unwrap();
        assert_eq!(error["kind"], kind, "{report}");
        let place = error["location"].as_str().unwrap();
        assert!(place.contains("program.c:10"), "{place}");
        for part in ["allocated at", "program.c:7", "freed at", "program.c:4"] {
            assert!(text.contains(part), "{text}");
        }
    }
}

/// Expressions that return a block, with what they write into it.
const FILLED: [&str; 5] = [
    "malloc(4)",
    "calloc(1, 4)",
    "realloc(malloc(4), 8)",
    "strdup(\"text\")",
    "(asprintf(&text, \"%d\", 7), text)",
];

#[test]
fn what_an_allocation_writes_is_not_seen_through_a_relaxed_pointer() {
    for block in FILLED {
        let program = |store: &str, load: &str| {
            format!(
                "#include <stdio.h>
                 #include <string.h>
                 #include <unistd.h>
                 static _Atomic(char *) published;
                 static void *run(void *p) {{
                     char *text = {block};
                     atomic_store_explicit(&published, text, memory_order_{store});
                     return p;
                 }}
                 int main(void) {{
                     start(run);
                     char *found = atomic_load_explicit(&published, memory_order_{load});
                     int is_there = found && *found;
                     join();
                     free(published);
                     return is_there && 0;
                 }}"
            )
            .replace("char *text = (asprintf", "char *text; text = (asprintf")
        };
        bug(
            "data race",
            "relaxed.c",
            &program("relaxed", "relaxed"),
            &[],
        );
        verified("released.c", &program("release", "acquire"), &[]);
    }
}
