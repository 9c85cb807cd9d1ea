//! All candidates of a program. A candidate consists of a run of each thread, a source for each
//! read, and a coherence order for each variable. Reads in runs may return any value that is ever
//! written.

use super::axioms::{self, Candidate, Event, Kind};
use super::graph::{Done, Graph};
use crate::code::{Code, Local, Stop};
use crate::program::{Program, Sort, Verb};
use explore::{MemoryModel, MemoryOrder};
use std::collections::BTreeSet;

/// The consistent graphs of a program.
pub(super) struct Consistent {
    pub(super) graphs: BTreeSet<Graph>,
    pub(super) candidates: u64,
    model: Model,
    /// The number of variables.
    variables: usize,
    /// The number of candidates after which the program counts as too large.
    most: u64,
}

/// A memory model.
#[derive(Clone, Copy)]
pub(super) struct Model {
    pub(super) memory: MemoryModel,
    /// Whether release sequences are those of C11.
    pub(super) is_c11: bool,
}

/// A run of a thread, given the values that its reads return.
#[derive(Clone, Default)]
struct Run {
    done: Vec<Done>,
    /// For each operation, its ordering, and whether it locks the bus.
    orders: Vec<(MemoryOrder, bool)>,
}

/// Marks a fence among the operations without a variable.
const FENCE: u32 = u32::MAX;

/// Returns the consistent graphs, or `None` if there are too many candidates.
pub(super) fn consistent(program: &Program, model: Model, most: u64) -> Option<Consistent> {
    let codes: Vec<Code> = program.threads.iter().map(|body| Code::new(body)).collect();
    let variables = program.count(Sort::Variable);
    let mut values = vec![BTreeSet::from([0]); variables];
    let writes = program.actions().len();
    let mut runs: Vec<Vec<Run>> = Vec::new();
    // A value may depend on values that other writes store. So as many rounds as writes find all
    // possible values, and the last round finds the runs with these values.
    for _ in 0..=writes {
        runs = codes.iter().map(|code| runs_of(code, &values)).collect();
        let before = values.clone();
        for done in runs.iter().flatten().flat_map(|run| &run.done) {
            if let (Some(variable), Some(written)) = (done.variable, done.written) {
                values[variable].insert(written);
            }
        }
        if values == before {
            break;
        }
        if runs.iter().map(|own| own.len() as u64).product::<u64>() > most {
            return None;
        }
    }
    let mut found = Consistent {
        graphs: BTreeSet::new(),
        candidates: 0,
        model,
        variables,
        most,
    };
    let mut chosen = vec![0; runs.len()];
    loop {
        let own: Vec<&Run> = runs
            .iter()
            .zip(&chosen)
            .map(|(own, &index)| &own[index])
            .collect();
        judge(&own, &mut found)?;
        let next = (0..runs.len())
            .rev()
            .find(|&thread| chosen[thread] + 1 < runs[thread].len());
        let Some(thread) = next else {
            return Some(found);
        };
        chosen[thread] += 1;
        chosen[thread + 1..].fill(0);
    }
}

/// Returns the runs of a thread in which each read gets one of the values.
fn runs_of(code: &Code, values: &[BTreeSet<u64>]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut work = vec![(Local::default(), Run::default())];
    while let Some((mut local, run)) = work.pop() {
        let Stop::At(action) = code.run(&mut local) else {
            runs.push(run);
            continue;
        };
        let variable = action
            .verb
            .signature()
            .sorts
            .first()
            .map(|_| action.object(Sort::Variable));
        let value = |index: usize| local.value(action.values[index]);
        let mut add =
            |read: Option<u64>, written: Option<u64>, result: Option<u64>, choice: u32, order| {
                let (mut local, mut run) = (local.clone(), run.clone());
                if let Some(result) = result {
                    local.store(action, result);
                }
                local.next += 1;
                run.done.push(Done {
                    variable,
                    read,
                    written,
                    source: None,
                    choice,
                });
                let is_locked = matches!(
                    action.verb,
                    Verb::FetchAdd | Verb::Swap | Verb::CompareExchange
                );
                run.orders.push((order, is_locked));
                work.push((local, run));
            };
        let all = variable
            .map(|variable| values[variable].clone())
            .unwrap_or_default();
        match action.verb {
            Verb::Load => all
                .iter()
                .for_each(|&old| add(Some(old), None, Some(old), 0, action.order)),
            Verb::Store => add(None, Some(value(0)), None, 0, action.order),
            Verb::FetchAdd => all.iter().for_each(|&old| {
                add(
                    Some(old),
                    Some(old.wrapping_add(value(0))),
                    Some(old),
                    0,
                    action.order,
                );
            }),
            Verb::Swap => all.iter().for_each(|&old| {
                add(Some(old), Some(value(0)), Some(old), 0, action.order);
            }),
            Verb::CompareExchange => all.iter().for_each(|&old| match old == value(0) {
                true => add(Some(old), Some(value(1)), Some(old), 0, action.order),
                false => add(Some(old), None, Some(old), 0, action.on_failure),
            }),
            Verb::Fence => add(None, None, None, FENCE, action.order),
            Verb::Choose => {
                let alternatives = value(0).max(1) as u32;
                (0..alternatives).for_each(|choice| {
                    add(None, None, Some(u64::from(choice)), choice, action.order);
                });
            }
            verb => panic!("the oracle of weak memory knows no {verb:?}"),
        }
    }
    runs
}

/// The events of one run of each thread.
struct Events {
    events: Vec<Event>,
    /// The thread and the number of the operation of each event.
    points: Vec<(usize, usize)>,
    values: Vec<u64>,
}

impl Events {
    fn of(runs: &[&Run]) -> Events {
        let mut all = Events {
            events: Vec::new(),
            points: Vec::new(),
            values: Vec::new(),
        };
        for (thread, run) in runs.iter().enumerate() {
            for (number, (done, &(order, is_locked))) in
                run.done.iter().zip(&run.orders).enumerate()
            {
                let is_rmw = done.read.is_some() && done.written.is_some();
                let mut add = |kind, value| {
                    let variable = done.variable;
                    all.events.push(Event {
                        thread,
                        kind,
                        variable,
                        order,
                        is_rmw,
                        is_locked,
                    });
                    all.points.push((thread, number));
                    all.values.push(value);
                };
                match (done.variable, done.read, done.written) {
                    (Some(_), read, written) => {
                        read.into_iter().for_each(|value| add(Kind::Read, value));
                        written
                            .into_iter()
                            .for_each(|value| add(Kind::Write, value));
                    }
                    (None, ..) => add(
                        if is_fence(run, number) {
                            Kind::Fence
                        } else {
                            Kind::Choice
                        },
                        0,
                    ),
                }
            }
        }
        all
    }
}

fn is_fence(run: &Run, number: usize) -> bool {
    run.done[number].choice == FENCE
}

/// Adds the consistent graphs of these runs. Returns `None` if there are too many candidates.
fn judge(runs: &[&Run], found: &mut Consistent) -> Option<()> {
    let (Model { memory, is_c11 }, variables) = (found.model, found.variables);
    let all = Events::of(runs);
    let size = all.events.len();
    let is_write_of = |event: usize, variable: usize| {
        all.events[event].kind == Kind::Write && all.events[event].variable == Some(variable)
    };
    let of_variable = |variable: usize| {
        let writes = (0..size).filter(|&event| is_write_of(event, variable));
        writes.collect::<Vec<usize>>()
    };
    let writes: Vec<Vec<usize>> = (0..variables).map(of_variable).collect();
    // The possible sources of each read.
    let reads: Vec<usize> = (0..size)
        .filter(|&event| all.events[event].kind == Kind::Read)
        .collect();
    let mut sources: Vec<Vec<Option<usize>>> = Vec::new();
    for &read in &reads {
        let own = &writes[all.events[read].variable.expect("a read has a variable")];
        let fitting = own.iter().filter(|&&write| {
            all.values[write] == all.values[read] && !(all.events[read].is_rmw && write == read + 1)
        });
        let mut options: Vec<Option<usize>> = fitting.map(|&write| Some(write)).collect();
        options.extend((all.values[read] == 0).then_some(None));
        sources.push(options);
    }
    if sources.iter().any(Vec::is_empty) {
        return Some(());
    }
    let orders: Vec<Vec<Vec<usize>>> = writes.iter().map(|own| permutations(own)).collect();
    let mut positions = vec![0; size];
    let mut chosen = vec![None; size];
    let mut order = vec![0; variables];
    loop {
        for (variable, &index) in order.iter().enumerate() {
            for (position, &write) in orders[variable][index].iter().enumerate() {
                positions[write] = position + 1;
            }
        }
        let mut source = vec![0; reads.len()];
        loop {
            for (number, &read) in reads.iter().enumerate() {
                chosen[read] = sources[number][source[number]];
            }
            found.candidates += 1;
            if found.candidates > found.most {
                return None;
            }
            let candidate = Candidate {
                events: &all.events,
                sources: &chosen,
                positions: &positions,
            };
            if axioms::is_atomic(&candidate) && axioms::holds(&candidate, memory, is_c11) {
                found
                    .graphs
                    .insert(graph(runs, &all, &chosen, &orders, &order));
            }
            if !next(&mut source, |number| sources[number].len()) {
                break;
            }
        }
        if !next(&mut order, |variable| orders[variable].len()) {
            return Some(());
        }
    }
}

/// Advances the digits to the next combination. Returns false after the last one.
fn next(digits: &mut [usize], count: impl Fn(usize) -> usize) -> bool {
    let last = (0..digits.len())
        .rev()
        .find(|&digit| digits[digit] + 1 < count(digit));
    match last {
        Some(digit) => {
            digits[digit] += 1;
            digits[digit + 1..].fill(0);
            true
        }
        None => false,
    }
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, &first) in items.iter().enumerate() {
        let mut rest = items.to_vec();
        rest.remove(index);
        for mut order in permutations(&rest) {
            order.insert(0, first);
            all.push(order);
        }
    }
    all
}

fn graph(
    runs: &[&Run],
    all: &Events,
    chosen: &[Option<usize>],
    orders: &[Vec<Vec<usize>>],
    order: &[usize],
) -> Graph {
    let mut threads: Vec<Vec<Done>> = runs.iter().map(|run| run.done.clone()).collect();
    for (event, source) in chosen.iter().enumerate() {
        if all.events[event].kind == Kind::Read {
            let (thread, number) = all.points[event];
            threads[thread][number].source = source.map(|write| all.points[write]);
        }
    }
    for done in threads.iter_mut().flatten() {
        if done.choice == FENCE {
            done.choice = 0;
        }
    }
    let coherence = orders.iter().zip(order);
    let coherence =
        coherence.map(|(own, &index)| own[index].iter().map(|&write| all.points[write]).collect());
    let coherence = coherence.collect();
    while threads.last().is_some_and(Vec::is_empty) {
        threads.pop();
    }
    Graph { threads, coherence }
}
