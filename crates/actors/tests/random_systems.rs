//! Random systems of objects: every algorithm finds the final states of the natural semantics. The
//! seed is printed. `MAZURKA_SEED` sets it; `MAZURKA_PROGRAMS` sets the number of systems.

mod systems;

use explore::{Algorithm, End, Interrupt, Observer, Options, Outcome, Strategy, explore};
use runtime::{Config, Model};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use systems::{Log, Style};
use testkit::Key;
use testkit::object_system::{Condition, Effect, Final, Statement, System, finals};
use testkit::random::Random;

/// A debug build takes about ten times as long for each system.
const SYSTEMS: u64 = if cfg!(debug_assertions) { 80 } else { 300 };

/// Systems with more states are left out.
const MOST_STATES: usize = 1_000;

/// Searches with more executions are left out. An optimal algorithm must not need more,
/// unless `optimal` itself does: then the whole system is left out.
const MOST_EXECUTIONS: u64 = 1_000;

#[test]
fn every_algorithm_finds_the_final_states_of_random_systems() {
    check_many(Style::Closures, System::random);
}

#[test]
fn every_algorithm_finds_the_final_states_of_random_systems_of_state_machines() {
    check_many(Style::Machines, System::random_of_state_machines);
}

fn segment(object: usize, condition: Option<Condition>, effect: Effect) -> Statement {
    Statement::Segment {
        objects: vec![object],
        condition,
        effect,
    }
}

/// A task adds the value that it reads to its register, and then awaits another task. The end of
/// that task overwrites the register. So the value is part of the state only until the awaited task
/// has ended.
#[test]
fn what_an_await_overwrites_makes_a_difference_until_the_awaited_task_ends() {
    let call = |method| Statement::Call { method };
    let [is_one, is_three] = [1, 3].map(|number| Some(Condition::Is(number)));
    let at_least_three = Some(Condition::AtLeast(3));
    let system = System {
        objects: 2,
        methods: vec![
            vec![call(2), call(1), call(2)],
            vec![segment(0, is_one, Effect::Read)],
            vec![
                segment(1, None, Effect::Set(3)),
                call(3),
                segment(1, None, Effect::Read),
                Statement::Await { call: 0 },
                segment(1, None, Effect::Add(2)),
            ],
            vec![
                segment(1, is_three, Effect::Read),
                segment(1, at_least_three, Effect::Exchange),
            ],
        ],
    };
    let expected = finals(&system, MOST_STATES).expect("it is small");
    assert!(check(&system, Style::Machines, &expected).is_some());
}

fn check_many(style: Style, system: fn(&mut Random) -> System) {
    let seed = number("MAZURKA_SEED", 1);
    let wanted = number("MAZURKA_PROGRAMS", SYSTEMS);
    println!("seed {seed}");
    let (mut checked, mut traces, mut deadlocks, mut halted) = (0, 0, 0, 0);
    for number in 0.. {
        let system = system(&mut Random::new(seed.wrapping_add(number)));
        let Some(expected) = finals(&system, MOST_STATES) else {
            continue;
        };
        let Some(found) = check(&system, style, &expected) else {
            continue;
        };
        checked += 1;
        traces += found.executions;
        deadlocks += u64::from(found.outcomes.contains_key(&Outcome::Deadlock));
        halted += u64::from(found.outcomes.contains_key(&Outcome::Halted));
        if checked == wanted {
            break;
        }
    }
    println!(
        "{checked} systems, {traces} traces, {deadlocks} with deadlocks, {halted} with halted tasks"
    );
    assert!(
        deadlocks * 20 > wanted && halted * 40 > wanted,
        "the systems are too tame"
    );
}

fn number(variable: &str, default: u64) -> u64 {
    let value = std::env::var(variable).ok();
    value.map_or(default, |value| {
        value.parse().expect("the variable is a number")
    })
}

/// The results of one search of a system.
#[derive(Default)]
struct Found {
    log: Log,
    executions: u64,
    blocked: u64,
    limit: u64,
    outcomes: BTreeMap<Outcome, u64>,
    traces: BTreeSet<Key>,
    finals: BTreeSet<Final>,
}

impl Observer for Found {
    fn ended(&mut self, outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
        self.executions += 1;
        if !outcome.is_maximal() {
            self.blocked += 1;
        } else {
            *self.outcomes.entry(outcome).or_default() += 1;
            self.traces.insert(Key::of_execution(strategy.execution()));
        }
        if matches!(outcome, Outcome::Completed | Outcome::Deadlock) {
            self.finals.insert(self.log.final_state());
        }
        match self.executions < self.limit {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

/// Checks that all algorithms find the expected states. Returns `None` if the system is too large.
fn check(system: &System, style: Style, expected: &BTreeSet<Final>) -> Option<Found> {
    // All searches use one model, so that threads and objects have the same ids.
    let log = Log::default();
    let body = systems::main_task(system.clone(), style, log.clone());
    let mut model = Model::new(Config::default(), body);
    let optimal = search(&mut model, &log, Algorithm::Optimal)?;
    for algorithm in Algorithm::general().filter(|algorithm| algorithm.proves()) {
        match search(&mut model, &log, algorithm) {
            Some(found) => agrees(&found, &optimal, algorithm, expected)
                .unwrap_or_else(|what| panic!("{algorithm}: {what}\n{system}")),
            None => assert!(
                !algorithm.is_optimal(),
                "{algorithm}: too many executions\n{system}"
            ),
        }
    }
    if style == Style::Machines {
        let found = search(&mut model, &log, Algorithm::ContextSensitive)?;
        assert_eq!(found.finals, *expected, "context-sensitive\n{system}");
    }
    Some(optimal)
}

/// Checks the laws of an algorithm that does not compare states.
fn agrees(
    found: &Found,
    optimal: &Found,
    algorithm: Algorithm,
    expected: &BTreeSet<Final>,
) -> Result<(), String> {
    if let Some(lost) = expected.difference(&found.finals).next() {
        return Err(format!("a final state is lost: {lost:?}"));
    }
    if let Some(extra) = found.finals.difference(expected).next() {
        return Err(format!("there is no final state {extra:?}"));
    }
    let (found_traces, all) = (found.traces.len(), optimal.traces.len());
    if found.traces != optimal.traces {
        return Err(format!(
            "{found_traces} traces, which differ from the {all} of optimal"
        ));
    }
    let complete = found.executions - found.blocked;
    if !algorithm.is_exhaustive() && complete != all as u64 {
        return Err(format!("{complete} executions for {all} traces"));
    }
    match algorithm.is_optimal() && found.blocked > 0 {
        true => Err(format!("{} blocked", found.blocked)),
        false => Ok(()),
    }
}

/// Explores the system completely. Returns `None` if that takes too many executions.
fn search(model: &mut Model, log: &Log, algorithm: Algorithm) -> Option<Found> {
    loop {
        let mut found = Found {
            log: log.clone(),
            limit: MOST_EXECUTIONS,
            ..Found::default()
        };
        let mut strategy = algorithm.strategy(Options::default());
        match explore(model, &mut strategy, &mut found) {
            Ok(End::Exhausted) => return Some(found),
            Ok(End::Stopped) => return None,
            Err(Interrupt::Coarsened) => {}
            Err(other) => panic!("{algorithm}: {other}"),
        }
    }
}
