//! Tests that code which the checker cannot see is reported.

mod toolchain;

use mazurka_native::{Binary, Build, Language, Unseen};
use std::path::PathBuf;
use std::process::Command;
use toolchain::{Workshop, compilers, run};

const ASSEMBLY: &str = r#"
#include <stdatomic.h>
_Atomic int counter;
int lock;
static void take(void) {
    int taken = 1;
    do {
        __asm__ volatile("xchgl %0, %1" : "+r"(taken), "+m"(lock) : : "memory");
    } while (taken);
}
static void leave(void) { __asm__ volatile("lock; decl %0" : "+m"(lock) : : "memory"); }
static int swap(int one) { int other = 2; __asm__("xchgl %0, %1" : "+r"(one), "+r"(other)); return one + other; }
int main(void) {
    take();
    counter++;
    leave();
    leave();
    return swap(1) - 3;
}
"#;

#[test]
fn assembly_is_reported_with_its_lines() {
    let workshop = Workshop::new();
    for compiler in compilers(Language::C) {
        let built = workshop.built(&compiler, "assembly.c", ASSEMBLY);
        let unseen = Unseen::of(&built.program(), &[]).unwrap();
        let assembly: Vec<_> = unseen
            .iter()
            .map(|unseen| match unseen {
                Unseen::Assembly { places } => places,
                Unseen::Atomics { first, .. } | Unseen::Fence { first } => panic!("{first:?}"),
                Unseen::Library { path, .. } => panic!("{}", path.display()),
            })
            .collect();
        let [places] = &assembly[..] else {
            panic!("{unseen:?}");
        };
        let lines = places.iter().map(|place| place.rsplit(':').next().unwrap());
        assert_eq!(
            lines.collect::<Vec<_>>(),
            ["11", "8"],
            "{}",
            compiler.name()
        );
        let text = unseen[0].to_string();
        assert!(text.contains("assembly.c:11, "), "{text}");
    }
}

/// The machine code does not show this assembly, because its plain loads and stores look like those
/// of the compiler. It is found because the build notes the places of inline assembly.
#[test]
fn assembly_without_atomic_instructions_is_reported_and_barriers_are_not() {
    let workshop = Workshop::new();
    let loads = "int n; int main(void) { int r; __asm__(\"movl %1, %0\" : \"=r\"(r) : \"m\"(n)); return r; }";
    let barriers = "int n; int main(void) { __asm__ volatile(\"\" ::: \"memory\"); __asm__ volatile(\"pause\"); return n; }";
    for compiler in compilers(Language::C) {
        for (name, source, number) in [("loads.c", loads, 1), ("barriers.c", barriers, 0)] {
            for flags in [&["-O2"][..], &["-O2", "-Wl,--gc-sections", "-s"]] {
                let built = workshop.built_with(&compiler, name, source, flags);
                let unseen = Unseen::of(&built.program(), &[]).unwrap();
                assert_eq!(unseen.len(), number, "{}: {unseen:?}", compiler.name());
            }
        }
    }
}

/// Only weak memory models see a fence.
#[test]
fn a_fence_is_left_out_under_weak_models_only() {
    let workshop = Workshop::new();
    let text = "int n; int main(void) {\n__asm__ volatile(\"mfence\" ::: \"memory\"); return n; }";
    for compiler in compilers(Language::C) {
        let built = workshop.built(&compiler, "fence.c", text);
        let unseen = Unseen::of(&built.program(), &[]).unwrap();
        let [fence @ Unseen::Fence { first }] = &unseen[..] else {
            panic!("{unseen:?}");
        };
        assert_eq!(first.line, Some(2), "{}", compiler.name());
        assert!(fence.left_out().is_none() && fence.left_out_if_weak().is_some());
    }
}

#[test]
fn programs_of_atomics_and_threads_have_nothing_unseen() {
    let workshop = Workshop::new();
    let text = "#include <atomic>\n#include <thread>\n#include <memory>\n#include <mutex>\n\
        std::atomic<int> n; std::mutex m; std::shared_ptr<int> p;\n\
        int main() { std::thread t([] { std::lock_guard<std::mutex> g(m); n++; auto q = p; }); t.join(); return n.exchange(0) - 1; }";
    for compiler in compilers(Language::CPlusPlus) {
        let built = workshop.built_with(&compiler, "threads.cpp", text, &["-pthread"]);
        let libraries = ["libc.so.6", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1"];
        let libraries: Vec<PathBuf> = libraries
            .iter()
            .map(|name| PathBuf::from("/lib/x86_64-linux-gnu").join(name))
            .collect();
        let unseen = Unseen::of(&built.program(), &libraries).unwrap();
        assert_eq!(unseen, [], "{}", compiler.name());
    }
}

#[test]
fn a_library_without_hooks_is_reported() {
    let workshop = Workshop::new();
    let plain = workshop.file("plain.c", "int shared; int part(void) { return ++shared; }");
    let library = workshop.folder.path().join("libplain.so");
    run(Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &plain]));
    let main = workshop.file(
        "main.c",
        "int part(void); int main(void) { return part() - 1; }",
    );
    let compiler = &compilers(Language::C)[0];
    let build = Build {
        compiler,
        library: &workshop.library,
        files: &[main, library.clone()],
        flags: &[],
    };
    let program = build.run(&|| false).unwrap();
    let needed = Binary::recognize(&program.program()).unwrap();
    assert!(
        needed
            .needed()
            .iter()
            .any(|name| name.contains("libplain.so"))
    );
    let unseen = Unseen::of(&program.program(), &[library, "linux-vdso.so.1".into()]).unwrap();
    let [found] = &unseen[..] else {
        panic!("{unseen:?}")
    };
    let text = found.to_string();
    assert!(
        text.contains("libplain.so was not compiled with Mazurka"),
        "{text}"
    );
}
