//! Compares all algorithms with every interleaving, on straight-line programs.
//!
//! The laws for richer programs are in `testkit`. These programs need only the core.

use explore::{
    Access, Algorithm, Event, EventId, Execution, Interrupt, ObjectId, Observer, Op, OpKind,
    Options, Outcome, Pending, Performed, Preemptions, Program, Request, Step, Strategy, ValueId,
    explore,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// An operation. The first number is the variable, except in `Choose`: there it is the number of
/// alternatives.
#[derive(Clone, Copy, Debug)]
enum Act {
    Read(u32),
    Write(u32, u64),
    Exchange(u32, u64, u64),
    Choose(u32),
}
use Act::{Choose, Exchange, Read, Write};

struct Straight {
    threads: Vec<Vec<Act>>,
    position: Vec<usize>,
    values: BTreeMap<u32, u64>,
    pending: Vec<Pending>,
}

impl Straight {
    fn new(threads: &[&[Act]]) -> Straight {
        Straight {
            threads: threads.iter().map(|acts| acts.to_vec()).collect(),
            position: Vec::new(),
            values: BTreeMap::new(),
            pending: Vec::new(),
        }
    }

    fn value(&self, variable: u32) -> u64 {
        self.values.get(&variable).copied().unwrap_or(0)
    }

    fn announce(&mut self) {
        self.pending = (self.threads.iter().zip(&self.position))
            .map(|(acts, &position)| match acts.get(position) {
                Some(&act) => Pending::Enabled(self.request(act)),
                None => Pending::Finished,
            })
            .collect();
    }

    fn request(&self, act: Act) -> Request {
        let op = |kind, access, x| Op {
            kind,
            access,
            object: ObjectId(x),
        };
        match act {
            Read(x) => Request::plain(op(OpKind::Load, Access::Read, x)),
            Write(x, _) => Request::plain(op(OpKind::Store, Access::Write, x)),
            Exchange(x, expected, _) => {
                let succeeds = self.value(x) == expected;
                let access = if succeeds {
                    Access::Write
                } else {
                    Access::Read
                };
                let op = op(OpKind::CompareExchange, access, x);
                Request {
                    expects: Some(ValueId(expected)),
                    ..Request::plain(op)
                }
            }
            Choose(alternatives) => {
                let op = op(OpKind::Choose, Access::None, u32::MAX);
                Request {
                    alternatives,
                    ..Request::plain(op)
                }
            }
        }
    }
}

impl Program for Straight {
    fn reset(&mut self) {
        self.position = vec![0; self.threads.len()];
        self.values.clear();
        self.announce();
    }

    fn pending(&self) -> &[Pending] {
        &self.pending
    }

    fn step(&mut self, step: Step) -> Result<Performed<'_>, Interrupt> {
        let thread = step.thread.index();
        let act = self.threads[thread][self.position[thread]];
        let op = self.request(act).op;
        let (before, after) = match act {
            Read(x) => (self.value(x), self.value(x)),
            Write(x, value) => (self.value(x), value),
            Exchange(x, expected, new) => {
                let before = self.value(x);
                (before, if before == expected { new } else { before })
            }
            Choose(_) => (0, 0),
        };
        if let Write(x, _) | Exchange(x, ..) = act {
            self.values.insert(x, after);
        }
        self.position[thread] += 1;
        self.announce();
        let (before, after) = (ValueId(before), ValueId(after));
        Ok(Performed {
            before,
            after,
            ..Performed::of(op)
        })
    }

    fn outcome(&self) -> Outcome {
        Outcome::of(&self.pending, |_| false)
    }
}

/// Counts the steps that are not repeated.
struct Counting {
    program: Straight,
    fresh: usize,
}

impl Program for Counting {
    fn reset(&mut self) {
        self.program.reset();
    }

    fn pending(&self) -> &[Pending] {
        self.program.pending()
    }

    fn repeat(&mut self, execution: &Execution, returns: bool) -> Result<(), Interrupt> {
        self.program.repeat(execution, returns)
    }

    fn step(&mut self, step: Step) -> Result<Performed<'_>, Interrupt> {
        self.fresh += 1;
        self.program.step(step)
    }

    fn outcome(&self) -> Outcome {
        self.program.outcome()
    }
}

/// Counts executions by trace.
#[derive(Default)]
struct Traces {
    complete: BTreeMap<Vec<String>, u32>,
    blocked: u32,
}

impl Observer for Traces {
    fn ended(&mut self, outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
        if outcome == Outcome::Blocked {
            self.blocked += 1;
        } else {
            *self
                .complete
                .entry(trace(strategy.execution()))
                .or_default() += 1;
        }
        ControlFlow::Continue(())
    }

    fn restarted(&mut self) {
        *self = Traces::default();
    }
}

/// Returns each event with its choice and its clock, sorted. The results of two executions are
/// equal iff the executions have the same trace.
fn trace(execution: &Execution) -> Vec<String> {
    let describe = |(id, event): (EventId, &Event)| {
        let clock: Vec<u32> = execution.clock(id).to_vec();
        format!(
            "{:?} {} {:?} {:?}",
            event.step, event.index, event.op, clock
        )
    };
    let mut events: Vec<String> = execution.events().map(describe).collect();
    events.sort();
    events
}

fn traces(threads: &[&[Act]], algorithm: Algorithm) -> Traces {
    let mut traces = Traces::default();
    let mut strategy = algorithm.strategy(Options::default());
    explore(&mut Straight::new(threads), &mut strategy, &mut traces).expect("deterministic");
    traces
}

/// Checks that all general algorithms that prove something find all traces. Reductions repeat no
/// trace, and optimal algorithms have no blocked execution.
fn assert_laws(threads: &[&[Act]]) {
    let all = traces(threads, Algorithm::Exhaustive);
    for algorithm in Algorithm::general().filter(|algorithm| algorithm.proves()) {
        let found = traces(threads, algorithm);
        let keys = |traces: &Traces| traces.complete.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&found), keys(&all), "{algorithm} on {threads:?}");
        if algorithm != Algorithm::Exhaustive {
            let twice = found.complete.values().filter(|&&count| count > 1).count();
            assert_eq!(twice, 0, "{algorithm} repeats traces of {threads:?}");
        }
        if algorithm.is_optimal() {
            assert_eq!(found.blocked, 0, "{algorithm} is blocked on {threads:?}");
        }
    }
}

#[test]
fn one_writer_and_readers() {
    assert_laws(&[
        &[Write(0, 1)],
        &[Read(1), Read(0)],
        &[Read(2), Read(0)],
        &[Read(3), Read(0)],
    ]);
}

/// After its first executions, parsimonious schedules reads without races first, so that they
/// belong to the common prefix.
#[test]
fn what_nobody_races_for_is_seldom_performed_anew() {
    let readers: Vec<[Act; 2]> = (1..=8).map(|variable| [Read(variable), Read(0)]).collect();
    let mut threads: Vec<&[Act]> = vec![&[Write(0, 1)]];
    threads.extend(readers.iter().map(|acts| &acts[..]));
    let mut program = Counting {
        program: Straight::new(&threads),
        fresh: 0,
    };
    let mut found = Traces::default();
    let mut strategy = Algorithm::Parsimonious.strategy(Options::default());
    explore(&mut program, &mut strategy, &mut found).expect("deterministic");
    assert_eq!(found.complete.len(), 256);
    // The steps that an execution performs anew: the write, the read that is moved before the
    // write, and on average half of the other reads.
    let needed = 256 * (2 + 4);
    assert!(program.fresh < needed + needed / 4, "{}", program.fresh);
}

#[test]
fn inherited_schedules_advance() {
    let w = |x| Write(x, 1);
    assert_laws(&[
        &[w(0)],
        &[w(1)],
        &[w(2)],
        &[Read(1), Read(2), Read(0)],
        &[Read(2), Read(1), Read(0)],
    ]);
}

#[test]
fn a_write_discards_only_what_is_not_complete() {
    let w = |x| Write(x, 1);
    assert_laws(&[
        &[w(1), Read(1)],
        &[Read(0), Read(1)],
        &[w(1), Read(0)],
        &[w(0), Read(1)],
    ]);
}

#[test]
fn compare_exchanges_change_their_kind() {
    assert_laws(&[
        &[Exchange(0, 0, 1)],
        &[Exchange(0, 0, 2)],
        &[Exchange(0, 0, 1)],
    ]);
    assert_laws(&[&[Exchange(0, 0, 1)], &[Exchange(0, 1, 1)], &[Read(0)]]);
    assert_laws(&[
        &[Exchange(0, 2, 2)],
        &[Write(0, 2), Exchange(0, 0, 1)],
        &[Read(0)],
    ]);
    assert_laws(&[
        &[Exchange(0, 2, 1)],
        &[Write(0, 2), Read(0)],
        &[Exchange(0, 2, 1)],
    ]);
    assert_laws(&[
        &[Write(0, 1)],
        &[Read(0)],
        &[Read(1), Read(0)],
        &[Write(1, 1), Exchange(0, 1, 2)],
    ]);
}

#[test]
fn choices_meet_races() {
    assert_laws(&[
        &[Choose(2), Write(0, 1)],
        &[Read(0), Choose(3)],
        &[Write(0, 2), Read(0)],
    ]);
}

#[test]
fn the_estimate_grows_from_nothing_to_all() {
    struct Estimates(Vec<f64>);
    impl Observer for Estimates {
        fn ended(&mut self, _outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
            self.0.extend(strategy.estimate());
            ControlFlow::Continue(())
        }
    }
    let threads: [&[Act]; 3] = [
        &[Write(0, 1), Write(1, 1)],
        &[Read(0), Write(1, 2)],
        &[Read(1)],
    ];
    for algorithm in Algorithm::general().filter(|algorithm| algorithm.proves()) {
        let mut estimates = Estimates(Vec::new());
        let mut strategy = algorithm.strategy(Options::default());
        explore(&mut Straight::new(&threads), &mut strategy, &mut estimates)
            .expect("deterministic");
        let all_are_parts = estimates.0.iter().all(|part| (0.0..=1.0).contains(part));
        assert!(all_are_parts, "{algorithm}: {:?}", estimates.0);
        assert!(
            estimates.0.first() < estimates.0.last(),
            "{algorithm}: {:?}",
            estimates.0
        );
    }
}

/// Recounts preemptions. Every thread is enabled until it has performed all of its acts.
fn preemptions(threads: &[&[Act]], execution: &Execution) -> u32 {
    let mut left: Vec<usize> = threads.iter().map(|acts| acts.len()).collect();
    let mut last: Option<usize> = None;
    let mut preemptions = 0;
    for (_, event) in execution.events() {
        let thread = event.thread().index();
        preemptions += u32::from(last.is_some_and(|last| last != thread && left[last] > 0));
        left[thread] -= 1;
        last = Some(thread);
    }
    preemptions
}

#[test]
fn no_execution_exceeds_the_bound_and_all_come_to_their_ends() {
    struct Bounds<'a>(&'a [&'a [Act]], u32, u32);
    impl Observer for Bounds<'_> {
        fn ended(&mut self, outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
            let found = preemptions(self.0, strategy.execution());
            assert!(
                outcome.is_maximal() && found <= self.1,
                "{found} preemptions"
            );
            self.2 += 1;
            ControlFlow::Continue(())
        }
    }
    let programs: [&[&[Act]]; 3] = [
        &[
            &[Write(0, 1), Read(1), Write(2, 1)],
            &[Read(0), Write(1, 1), Read(2)],
            &[Write(1, 2), Read(0), Write(2, 2)],
        ],
        &[
            &[Read(0), Write(0, 1), Read(1), Write(1, 1)],
            &[Read(1), Write(1, 2), Read(0), Write(0, 2)],
        ],
        &[
            &[Write(0, 1), Read(0)],
            &[Read(0), Exchange(0, 1, 2)],
            &[Exchange(0, 0, 3), Read(1)],
            &[Write(1, 1), Exchange(0, 3, 1)],
        ],
    ];
    for threads in programs {
        for bound in 0..4 {
            for algorithm in Algorithm::general().filter(|algorithm| algorithm.proves()) {
                let options = Options {
                    preemptions: Some(Preemptions::AtMost(bound)),
                    ..Options::default()
                };
                let mut bounds = Bounds(threads, bound, 0);
                let mut strategy = algorithm.strategy(options);
                explore(&mut Straight::new(threads), &mut strategy, &mut bounds)
                    .expect("deterministic");
                assert!(bounds.2 > 0, "{algorithm} executes something");
            }
        }
    }
}
