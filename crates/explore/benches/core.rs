//! Benchmarks of the search itself, on programs whose steps cost almost nothing.

use divan::counter::ItemsCount;
use explore::{
    Access, Algorithm, GraphSearch, Interrupt, MemoryModel, MemoryOrder, ObjectId, Observer, Op,
    OpKind, Options, Outcome, Pending, Performed, Program, Request, Step, Strategy, explore,
};
use std::ops::ControlFlow;

fn main() {
    divan::main();
}

/// Threads that only load and store variables.
struct Straight {
    threads: Vec<Vec<Op>>,
    position: Vec<usize>,
    pending: Vec<Pending>,
}

impl Straight {
    fn new(threads: Vec<Vec<Op>>) -> Straight {
        let (position, pending) = (Vec::new(), Vec::new());
        Straight {
            threads,
            position,
            pending,
        }
    }

    fn announcement(&self, thread: usize) -> Pending {
        match self.threads[thread].get(self.position[thread]) {
            // The ordering matters for execution graphs only.
            Some(&op) => Pending::Enabled(Request {
                order: MemoryOrder::Relaxed,
                ..Request::plain(op)
            }),
            None => Pending::Finished,
        }
    }
}

impl Program for Straight {
    fn reset(&mut self) {
        self.position.clear();
        self.position.resize(self.threads.len(), 0);
        self.pending.clear();
        for thread in 0..self.threads.len() {
            self.pending.push(self.announcement(thread));
        }
    }

    fn pending(&self) -> &[Pending] {
        &self.pending
    }

    fn step(&mut self, step: Step) -> Result<Performed<'_>, Interrupt> {
        let thread = step.thread.index();
        let op = self.threads[thread][self.position[thread]];
        self.position[thread] += 1;
        self.pending[thread] = self.announcement(thread);
        Ok(Performed::of(op))
    }

    fn outcome(&self) -> Outcome {
        Outcome::of(&self.pending, |_| false)
    }
}

fn load(variable: u32) -> Op {
    Op {
        kind: OpKind::Load,
        access: Access::Read,
        object: ObjectId(variable),
    }
}

fn store(variable: u32) -> Op {
    Op {
        kind: OpKind::Store,
        access: Access::Write,
        object: ObjectId(variable),
    }
}

fn repeat(times: usize, ops: &[Op]) -> Vec<Op> {
    ops.repeat(times)
}

/// Two threads that add each other's variable, and a reader of both: 19,605 traces for 4 rounds.
fn fib(rounds: usize) -> Straight {
    let one = repeat(rounds, &[load(0), load(1), store(0)]);
    let other = repeat(rounds, &[load(1), load(0), store(1)]);
    Straight::new(vec![vec![load(0), load(1)], one, other])
}

/// One writer, and n readers that each also read a variable of their own: 2^n traces.
fn readers(readers: u32) -> Straight {
    let reader = |n| vec![load(n), load(0)];
    Straight::new(
        [vec![store(0)]]
            .into_iter()
            .chain((1..=readers).map(reader))
            .collect(),
    )
}

/// A program for which the wakeup trees of Optimal-DPOR grow exponentially: 2^(n+1) traces for n
/// writers.
fn expmem(writers: u32) -> Straight {
    let last = (1..=writers).map(load).chain([load(0)]).collect();
    let writer = |n| vec![store(n)];
    Straight::new(
        [vec![store(0)]]
            .into_iter()
            .chain((1..=writers).map(writer))
            .chain([last])
            .collect(),
    )
}

/// Counts executions.
#[derive(Default)]
struct Count(usize);

impl Observer for Count {
    fn ended(&mut self, _outcome: Outcome, _strategy: &dyn Strategy) -> ControlFlow<()> {
        self.0 += 1;
        ControlFlow::Continue(())
    }
}

fn run(bencher: divan::Bencher<'_, '_>, program: Straight, algorithm: Algorithm) {
    run_by(bencher, program, || algorithm.strategy(Options::default()));
}

fn run_by<S: Strategy>(
    bencher: divan::Bencher<'_, '_>,
    mut program: Straight,
    strategy: impl Fn() -> S,
) {
    let mut search = || {
        let mut count = Count::default();
        let mut strategy = strategy();
        explore(&mut program, &mut strategy, &mut count).expect("the program is deterministic");
        count.0
    };
    let executions = search();
    bencher
        .counter(ItemsCount::new(executions))
        .bench_local(search);
}

const ALGORITHMS: [Algorithm; 3] = [
    Algorithm::Source,
    Algorithm::Optimal,
    Algorithm::Parsimonious,
];

#[divan::bench(args = ALGORITHMS)]
fn fib_4(bencher: divan::Bencher<'_, '_>, algorithm: Algorithm) {
    run(bencher, fib(4), algorithm);
}

#[divan::bench(args = ALGORITHMS)]
fn readers_10(bencher: divan::Bencher<'_, '_>, algorithm: Algorithm) {
    run(bencher, readers(10), algorithm);
}

#[divan::bench(args = ALGORITHMS)]
fn expmem_8(bencher: divan::Bencher<'_, '_>, algorithm: Algorithm) {
    run(bencher, expmem(8), algorithm);
}

const MODELS: [MemoryModel; 3] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Rc11];

/// Execution graphs of relaxed accesses.
#[divan::bench(args = MODELS)]
fn graphs_of_fib_3(bencher: divan::Bencher<'_, '_>, memory: MemoryModel) {
    run_by(bencher, fib(3), || GraphSearch::new(memory));
}

#[divan::bench(args = MODELS)]
fn graphs_of_readers_10(bencher: divan::Bencher<'_, '_>, memory: MemoryModel) {
    run_by(bencher, readers(10), || GraphSearch::new(memory));
}
