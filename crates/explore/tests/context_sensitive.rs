//! Context-sensitive DPOR on the examples of its paper (Albert et al., CAV 2017) and on others.

use explore::{
    Access, Algorithm, Fingerprint, Interrupt, ObjectId, Observer, Op, OpKind, Options, Outcome,
    Pending, Performed, Program, Request, Step, Strategy, explore,
};
use std::collections::{BTreeSet, VecDeque};
use std::hash::Hash;
use std::ops::ControlFlow;

/// The effect of a step on the shared state.
type Effect<S> = fn(&mut S, u64);

/// A step: its access to an object, its effect, and the argument of the effect.
#[derive(Clone, Copy)]
struct Task<S>(Access, u32, Effect<S>, u64);

/// Threads of tasks over a shared state.
struct Tasks<S> {
    threads: Vec<Vec<Task<S>>>,
    initial: S,
    state: S,
    next: Vec<usize>,
    pending: Vec<Pending>,
    /// Whether the program reports its state.
    reports_state: bool,
}

impl<S: Clone + Eq + Hash + 'static> Tasks<S> {
    fn new(initial: S, threads: Vec<Vec<Task<S>>>) -> Tasks<S> {
        Tasks {
            threads,
            state: initial.clone(),
            initial,
            next: Vec::new(),
            pending: Vec::new(),
            reports_state: true,
        }
    }

    fn op(&self, thread: usize) -> Option<Op> {
        let &Task(access, object, ..) = self.threads[thread].get(self.next[thread])?;
        Some(Op {
            kind: OpKind::ReadModifyWrite,
            access,
            object: ObjectId(object),
        })
    }

    fn announce(&mut self) {
        let announced = |thread| match self.op(thread) {
            Some(op) => Pending::Enabled(Request::plain(op)),
            None => Pending::Finished,
        };
        self.pending = (0..self.threads.len()).map(announced).collect();
    }
}

impl<S: Clone + Eq + Hash + 'static> Program for Tasks<S> {
    fn reset(&mut self) {
        self.state = self.initial.clone();
        self.next = vec![0; self.threads.len()];
        self.announce();
    }

    fn pending(&self) -> &[Pending] {
        &self.pending
    }

    fn step(&mut self, step: Step) -> Result<Performed<'_>, Interrupt> {
        let thread = step.thread.index();
        let op = self.op(thread).expect("the thread is enabled");
        let Task(_, _, effect, argument) = self.threads[thread][self.next[thread]];
        effect(&mut self.state, argument);
        self.next[thread] += 1;
        self.announce();
        Ok(Performed::of(op))
    }

    fn outcome(&self) -> Outcome {
        Outcome::of(&self.pending, |_| false)
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        let state = (self.state.clone(), self.next.clone());
        self.reports_state.then(|| Fingerprint::of(state))
    }
}

/// The effort of a search, and the schedules of its complete executions.
#[derive(Default)]
struct Count {
    complete: u64,
    blocked: u64,
    probes: u64,
    schedules: Vec<Vec<Step>>,
}

impl Observer for Count {
    fn ended(&mut self, outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
        match outcome {
            Outcome::Blocked => self.blocked += 1,
            _ => {
                self.complete += 1;
                self.schedules.push(strategy.execution().schedule());
            }
        }
        ControlFlow::Continue(())
    }

    fn probed(&mut self, _: &[Step], _: &[Step], _: bool) {
        self.probes += 1;
    }
}

fn count<S: Clone + Eq + Hash + 'static>(program: &mut Tasks<S>, algorithm: Algorithm) -> Count {
    count_with(program, algorithm, Options::default())
}

fn count_with<S: Clone + Eq + Hash + 'static>(
    program: &mut Tasks<S>,
    algorithm: Algorithm,
    options: Options,
) -> Count {
    let mut count = Count::default();
    let mut strategy = algorithm.strategy(options);
    explore(program, &mut strategy, &mut count).expect("it reports its state");
    count
}

/// Returns the final states of the complete executions.
fn finals<S: Clone + Ord + Hash + 'static>(program: &mut Tasks<S>, found: Count) -> BTreeSet<S> {
    let end = |schedule: Vec<Step>| {
        program.reset();
        for step in schedule {
            program.step(step).expect("it was performed before");
        }
        program.state.clone()
    };
    found.schedules.into_iter().map(end).collect()
}

/// x := 5 | x := 5 | read x
fn writers_and_reader() -> Tasks<(u64, u64)> {
    let write: Effect<(u64, u64)> = |state, value| state.0 = value;
    let read: Effect<(u64, u64)> = |state, _| state.1 = state.0;
    let write = Task(Access::Write, 0, write, 5);
    let read = Task(Access::Read, 0, read, 0);
    Tasks::new((0, 0), vec![vec![write], vec![write], vec![read]])
}

/// The buffer, and the items that the consumer took.
type Buffer = (VecDeque<u64>, Vec<u64>);

/// Two threads on one object: one puts n items and the other takes n, each in program order.
fn bounded_buffer(n: u64) -> Tasks<Buffer> {
    let put: Effect<Buffer> = |(buffer, _), item| buffer.push_back(item);
    let take: Effect<Buffer> = |(buffer, taken), _| taken.push(buffer.pop_front().unwrap_or(0));
    let puts = (1..=n).map(|item| Task(Access::Write, 0, put, item));
    let takes = (1..=n).map(|_| Task(Access::Write, 0, take, 0));
    Tasks::new(Buffer::default(), vec![puts.collect(), takes.collect()])
}

#[test]
fn two_equal_writes_and_a_read_have_six_traces_and_two_final_states() {
    let mut program = writers_and_reader();
    assert_eq!(count(&mut program, Algorithm::Source).complete, 6);
    let found = count(&mut program, Algorithm::ContextSensitive);
    assert_eq!((found.complete, found.blocked), (2, 3));
    assert_eq!(finals(&mut program, found), [(5, 0), (5, 5)].into());
}

#[test]
fn a_bounded_buffer_of_n_items_has_2_to_the_n_executions() {
    let cut = [0, 1, 4, 12, 32, 80, 192, 448, 1024];
    let mut binomial = 1;
    for (n, cut) in (1..).zip(cut) {
        binomial = binomial * 2 * (2 * n - 1) / n;
        let mut program = bounded_buffer(n);
        assert_eq!(count(&mut program, Algorithm::Source).complete, binomial);
        let found = count(&mut program, Algorithm::ContextSensitive);
        assert_eq!((found.complete, found.blocked), (1 << n, cut));
        assert!(found.probes > 0);
        assert_eq!(finals(&mut program, found).len(), 1 << n);
    }
}

/// x and y.
type Memory = [u64; 2];

fn read(object: u32) -> Task<Memory> {
    Task(Access::Read, object, |_, _| (), 0)
}

fn write(object: u32, value: u64) -> Task<Memory> {
    let effect: Effect<Memory> = match object {
        0 => |state, value| state[0] = value,
        _ => |state, value| state[1] = value,
    };
    Task(Access::Write, object, effect, value)
}

/// y := y + 1; read x | x := 0; y := 2. x := 0 and the read commute, so only the
/// steps after them show the search that the writes of y do not commute.
#[test]
fn a_race_after_steps_that_commute_is_found() {
    let add_to_y = Task(
        Access::Write,
        1,
        (|state, _| state[1] += 1) as Effect<Memory>,
        0,
    );
    let threads = vec![vec![add_to_y, read(0)], vec![write(0, 0), write(1, 2)]];
    let mut program = Tasks::new([0, 0], threads);
    let found = count(&mut program, Algorithm::ContextSensitive);
    assert_eq!(finals(&mut program, found), [[0, 2], [0, 3]].into());
}

/// read y; x := 0 | y := 2; read x | y := 2; y := 1. After T0 T0 T2 T1, the read of x sleeps to the
/// end, and only T2's second write shows that y := 1 could come before y := 2.
#[test]
fn a_race_of_the_last_step_is_found_although_a_read_sleeps() {
    let threads = vec![
        vec![read(1), write(0, 0)],
        vec![write(1, 2), read(0)],
        vec![write(1, 2), write(1, 1)],
    ];
    let mut program = Tasks::new([0, 0], threads);
    let found = count(&mut program, Algorithm::ContextSensitive);
    assert_eq!(finals(&mut program, found), [[0, 1], [0, 2]].into());
}

#[test]
fn a_program_that_reports_no_state_is_refused() {
    let mut program = writers_and_reader();
    program.reports_state = false;
    let mut strategy = Algorithm::ContextSensitive.strategy(Options::default());
    let result = explore(&mut program, &mut strategy, &mut ());
    assert_eq!(result, Err(Interrupt::Incomparable));
}
