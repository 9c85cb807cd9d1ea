//! Runs the litmus tests on the real processor, without the checker. The final states must be
//! allowed by the axioms: those of TSO without optimization, and those of RC11 with an optimizing
//! compiler.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use explore::MemoryModel;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};
use testkit::Program;
use testkit::litmus::Litmus;
use testkit::program::{REGISTERS, Sort};
use testkit::weak::consistent;

/// Runs the threads in rounds, and prints the final state of each round. Each round has its own
/// variables. The threads wait for each other every few rounds.
const MAIN: &str = "
#include <stdio.h>
static atomic_int arrived;
static void *(*const bodies[THREADS])(void *) = {BODIES};
static void *loop(void *body) {
    for (round = 0; round < ROUNDS; round++) {
        if (round % 8 == 0) {
            atomic_fetch_add(&arrived, 1);
            for (int spins = 0; atomic_load(&arrived) < (round / 8 + 1) * THREADS; spins++)
                if (spins > 300) sched_yield();
        }
        (*(void *(**)(void *))body)(NULL);
    }
    return NULL;
}
int main(void) {
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, loop, (void *)&bodies[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (round = 0; round < ROUNDS; round++) { PRINT }
    return 0;
}
";

/// The names that each test defines.
const NAMES: [&str; 22] = [
    "x0",
    "x1",
    "x2",
    "x3",
    "all0",
    "all1",
    "all2",
    "all3",
    "t0",
    "t1",
    "t2",
    "t3",
    "out0",
    "out1",
    "out2",
    "out3",
    "threads",
    "is_to_join",
    "round",
    "arrived",
    "bodies",
    "loop",
];

/// Returns a numbered function `main`, which runs a program in rounds. It prints the variables and
/// the registers of each round.
fn source(number: usize, program: &Program) -> String {
    let text = program.c_source().unwrap();
    let (threads, _) = text.split_once("\nint main(void)").unwrap();
    let count = program.threads.len();
    let own = NAMES.iter().chain(&["main"]);
    let own = own.map(|name| format!("#undef {name}\n#define {name} {name}_{number}\n"));
    let mut head = own.collect::<String>();
    head += &format!("#undef THREADS\n#define THREADS {count}\n");
    let (declarations, threads) = threads.split_once("\nstatic void *t").unwrap();
    head += &format!("{declarations}\n#include <sched.h>\nstatic _Thread_local int round;\n");
    let (mut bodies, mut print) = (String::new(), String::new());
    for variable in 0..program.count(Sort::Variable) {
        head += &format!("static _Atomic uint64_t all{variable}[ROUNDS];\n");
        head += &format!("#undef x{variable}\n#define x{variable} all{variable}[round]\n");
        print += &format!("printf(\"%d \", (int)x{variable});");
    }
    for thread in 0..count {
        bodies += &format!("t{thread},");
        head += &format!("static int out{thread}[ROUNDS][{REGISTERS}];\n");
        let out = format!("out{thread}[round][i]");
        print += &format!("for (int i = 0; i < {REGISTERS}; i++) printf(\"%d \", {out});");
    }
    print += "puts(\"\");";
    let mut text = "static void *t".to_owned();
    for (place, body) in threads.split("return NULL;").enumerate() {
        text += body;
        // Threads are written from the last to the first.
        if let Some(thread) = (count - 1).checked_sub(place) {
            let copies = (0..REGISTERS).map(|own| format!("out{thread}[round][{own}] = r{own};"));
            text += &copies.collect::<String>();
            text += "return NULL;";
        }
    }
    head + &text + &MAIN.replace("BODIES", &bodies).replace("PRINT", &print)
}

/// Returns the final states that the axioms permit, as the program prints them.
fn permitted(program: &Program, memory: MemoryModel) -> BTreeSet<String> {
    let graphs = consistent(program, memory, true);
    let end = |(variables, registers): (Vec<u64>, Vec<Vec<u64>>)| {
        let values = variables.into_iter().chain(registers.into_iter().flatten());
        values.map(|value| format!("{value} ")).collect()
    };
    graphs.iter().map(|graph| end(graph.end(program))).collect()
}

#[test]
fn runs_end_in_states_that_the_axioms_permit() {
    let rounds: u64 = env::var("MAZURKA_ROUNDS").map_or(1_000, |rounds| rounds.parse().unwrap());
    let litmus = Path::new(env!("CARGO_MANIFEST_DIR")).join("litmus");
    let files = fs::read_dir(litmus)
        .unwrap()
        .map(|file| file.unwrap().path());
    let texts = files.map(|file| fs::read_to_string(file).unwrap());
    let tests: Vec<Litmus> = texts.filter_map(|text| text.parse().ok()).collect();
    let mut text = format!("#define ROUNDS {rounds}\n");
    for (number, test) in tests.iter().enumerate() {
        text += &source(number, &test.program);
    }
    let calls = (0..tests.len()).map(|number| format!("main_{number}(); puts(\"end\");"));
    let calls: String = calls.collect();
    text += &format!("#undef main\nint main(void) {{ {calls} return 0; }}");
    let folder = tempfile::tempdir().unwrap();
    let [file, executable] = ["tests.c", "tests"].map(|name| folder.path().join(name));
    fs::write(&file, text).unwrap();
    let mut differences = Vec::new();
    for (level, memory) in [("-O0", MemoryModel::Tso), ("-O2", MemoryModel::Rc11)] {
        let mut gcc = Command::new("gcc");
        gcc.args([level, "-w", "-pthread"])
            .arg(&file)
            .arg("-o")
            .arg(&executable);
        assert!(gcc.status().unwrap().success());
        let output = Command::new(&executable).output().unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        let (mut seen, mut all, mut weak) = (0, 0, 0);
        let outputs: Vec<&str> = output.split_terminator("end\n").collect();
        assert_eq!(outputs.len(), tests.len());
        for (test, output) in tests.iter().zip(outputs) {
            assert_eq!(output.lines().count() as u64, rounds, "{}", test.name);
            let ends: BTreeSet<String> = output.lines().map(str::to_owned).collect();
            let permitted = permitted(&test.program, memory);
            seen += ends.len();
            all += permitted.len();
            let strong = self::permitted(&test.program, MemoryModel::Sc);
            weak += ends.difference(&strong).count();
            for end in ends.difference(&permitted) {
                differences.push(format!("{}, {level}, {memory}: {end}", test.name));
            }
        }
        println!(
            "{level}, {memory}: {seen} of {all} permitted states were seen, {weak} that sc forbids"
        );
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
