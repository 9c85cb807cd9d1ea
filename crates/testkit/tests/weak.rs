//! Tests the search over execution graphs against axioms and published counts.

use explore::{GraphSearch, MemoryModel, Observer, Outcome, Strategy, explore};
use std::ops::ControlFlow;
use testkit::Machine;
use testkit::random::Random;
use testkit::weak::{MODELS, SUITES, check};

#[test]
fn a_search_reaches_each_consistent_graph_of_random_programs_once() {
    let mut random = Random::new(21);
    let mut checks = 0;
    for suite in SUITES {
        for _ in 0..12 {
            let program = suite.program(&mut random);
            for (memory, is_c11) in MODELS {
                let compared = check(&program, memory, is_c11, 3_000);
                let name = suite.name;
                let compared =
                    compared.unwrap_or_else(|what| panic!("{name}, {memory:?}: {program}\n{what}"));
                checks += u32::from(compared.is_some());
            }
        }
    }
    assert!(checks > 400, "only {checks} programs were compared");
}

/// Returns the number of graphs of a program under sc, tso and rc11.
fn graphs(program: &str) -> [u64; 3] {
    let program = program.parse().unwrap();
    [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Rc11].map(|memory| {
        let compared = check(&program, memory, false, u64::MAX);
        compared.unwrap().expect("there is no limit").graphs
    })
}

#[test]
fn litmus_tests_have_the_graphs_of_the_literature() {
    let stores = "store.rlx x0 1; r0 = load.rlx x1\nstore.rlx x1 1; r0 = load.rlx x0";
    assert_eq!(graphs(stores), [3, 4, 4], "store buffering");
    assert_eq!(
        graphs(&stores.replace(".rlx", "")),
        [3, 3, 3],
        "with seq_cst"
    );
    let fenced = stores.replace("; r0", "; fence; r0");
    assert_eq!(graphs(&fenced), [3, 3, 3], "with fences");
    let message = "store.rlx x0 1; store.rlx x1 1\nr0 = load.rlx x1; r1 = load.rlx x0";
    assert_eq!(graphs(message), [3, 3, 4], "message passing");
    let ordered = "store.rlx x0 1; store.rel x1 1\nr0 = load.acq x1; r1 = load.rlx x0";
    assert_eq!(graphs(ordered), [3, 3, 3], "with release and acquire");
    let loads = "r0 = load.rlx x0; store.rlx x1 1\nr0 = load.rlx x1; store.rlx x0 1";
    assert_eq!(
        graphs(loads),
        [3, 3, 3],
        "load buffering, which RC11 forbids"
    );
    let writes = "store.rlx x0 1; store.rlx x1 2\nstore.rlx x1 1; store.rlx x0 2";
    assert_eq!(graphs(writes), [3, 3, 4], "2+2W");
    let independent = "store.rlx x0 1\nstore.rlx x1 1\nr0 = load.acq x0; r1 = load.acq x1\n\
                       r0 = load.acq x1; r1 = load.acq x0";
    assert_eq!(graphs(independent), [15, 15, 16], "IRIW");
}

/// Counts executions, all of which must be complete.
struct Count(u64);

impl Observer for Count {
    fn ended(&mut self, outcome: Outcome, _: &dyn Strategy) -> ControlFlow<()> {
        assert!(outcome.is_maximal(), "an execution is blocked");
        self.0 += 1;
        ControlFlow::Continue(())
    }
}

fn executions(program: &str, memory: MemoryModel) -> u64 {
    let mut count = Count(0);
    let mut machine = Machine::new(&program.parse().unwrap());
    let mut search = GraphSearch::new(memory);
    explore(&mut machine, &mut search, &mut count).unwrap();
    count.0
}

/// The counts under SC are those of GenMC and Nidhugg for fib-bench.
#[test]
fn fibonacci_with_relaxed_accesses_has_more_graphs_under_rc11() {
    let fibonacci = |times: usize| {
        let add = |to: &str, from: &str| {
            let body = format!("r0 = load.rlx {to}; r1 = load.rlx {from}; store.rlx {to} 1");
            vec![body; times].join("; ")
        };
        let (one, two) = (add("x0", "x1"), add("x1", "x0"));
        format!("{one}\n{two}\nr0 = load.rlx x0; r1 = load.rlx x1")
    };
    for (times, sc, rc11) in [(2, 140, 180), (3, 1698, 2800)] {
        assert_eq!(executions(&fibonacci(times), MemoryModel::Sc), sc);
        assert_eq!(executions(&fibonacci(times), MemoryModel::Rc11), rc11);
        let strong = fibonacci(times).replace(".rlx", "");
        assert_eq!(executions(&strong, MemoryModel::Rc11), sc);
        assert_eq!(executions(&strong, MemoryModel::Tso), sc);
    }
}
