//! Executions and events per second of programs from the papers, with the algorithms in
//! `REDUCTIONS`.
//!
//! `cargo bench -p mazurka-corpus`. Add a name to select some: `-- parsimonious`.

use corpus::Instance;
use divan::Bencher;
use divan::counter::ItemsCount;
use mazurka::{Algorithm, Checker, MemoryModel};

fn main() {
    divan::main();
}

/// Programs and sizes that the slowest algorithms complete in well below a second.
const PROGRAMS: [&str; 12] = [
    "casrot:7",
    "casw:4",
    "circular-buffer:6",
    "expmem:8",
    "fib-bench:3",
    "filesystem:16",
    "indexer:13",
    "lastzero:8",
    "length:2,1000",
    "linuxrwlocks:3",
    "mutex:3,3",
    "readers:8",
];

const REDUCTIONS: [Algorithm; 4] = [
    Algorithm::Classic,
    Algorithm::Source,
    Algorithm::Optimal,
    Algorithm::Parsimonious,
];

/// Executions per second, including redundant executions.
#[divan::bench(args = searches(), max_time = 1, sample_count = 10)]
fn executions(bencher: Bencher, search: &Search) {
    let report = search.run();
    let executions = report.executions + report.halted + report.blocked;
    bencher
        .counter(ItemsCount::new(executions))
        .bench(|| search.run());
}

/// Events per second.
#[divan::bench(args = searches(), max_time = 1, sample_count = 10)]
fn events(bencher: Bencher, search: &Search) {
    let events = search.run().events;
    bencher
        .counter(ItemsCount::new(events))
        .bench(|| search.run());
}

/// A program with an algorithm.
struct Search {
    instance: Instance,
    algorithm: Algorithm,
}

impl Search {
    fn run(&self) -> mazurka::Report {
        Checker::new()
            .memory(MemoryModel::Sc)
            .algorithm(self.algorithm)
            .check(self.instance.program())
    }
}

impl std::fmt::Display for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.instance, self.algorithm)
    }
}

fn searches() -> impl Iterator<Item = Search> {
    PROGRAMS.into_iter().flat_map(|name| {
        REDUCTIONS.into_iter().map(move |algorithm| {
            let instance = corpus::parse(name).expect("the corpus has it");
            Search {
                instance,
                algorithm,
            }
        })
    })
}
