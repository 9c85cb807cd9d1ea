//! The direct semantics: a step takes one task from a release point to the next.

use super::{Statement, System};
use std::collections::{BTreeSet, HashSet};

/// The end of an execution: the numbers of the objects, and each task by its path of calls.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Final {
    /// Indexed by object.
    pub objects: Vec<u8>,
    /// Sorted by path: `[]` is the main task, `[2, 0]` the first call of the third call of main.
    pub tasks: Vec<(Vec<usize>, Task)>,
}

/// The position of a task.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Task {
    /// The method that it runs.
    pub method: usize,
    /// Index of its next statement. At the end of the task, this is the number of statements.
    pub next: usize,
    /// Its register.
    pub register: u8,
}

/// Returns all possible ends of executions, or `None` if there are more than `limit` states.
pub fn finals(system: &System, limit: usize) -> Option<BTreeSet<Final>> {
    let main = Task {
        method: 0,
        next: 0,
        register: 0,
    };
    let mut start = Final {
        objects: vec![0; system.objects],
        tasks: vec![(Vec::new(), main)],
    };
    run_calls(system, &mut start, 0);
    let mut seen = HashSet::new();
    let mut work = vec![start];
    let mut finals = BTreeSet::new();
    while let Some(state) = work.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > limit {
            return None;
        }
        let tasks = 0..state.tasks.len();
        let mut successors: Vec<Final> = tasks
            .filter_map(|task| successor(system, &state, task))
            .collect();
        if successors.is_empty() {
            finals.insert(state);
        }
        work.append(&mut successors);
    }
    Some(finals)
}

/// Returns the state after the task's run to its next release point, or `None` if the task cannot
/// run.
fn successor(system: &System, state: &Final, task: usize) -> Option<Final> {
    let mut next = state.clone();
    let (path, running) = &mut next.tasks[task];
    match system.methods[running.method].get(running.next)? {
        Statement::Segment {
            objects,
            condition,
            effect,
        } => {
            let number = next.objects[objects[0]];
            if condition.is_some_and(|condition| !condition.holds(number)) {
                return None;
            }
            for &object in objects {
                effect.apply(&mut running.register, &mut next.objects[object]);
            }
        }
        Statement::Await { call } => {
            let mut callee = path.clone();
            callee.push(*call);
            let (_, other) = state.tasks.iter().find(|(path, _)| *path == callee)?;
            if other.next < system.methods[other.method].len() {
                return None;
            }
            running.register = other.register;
        }
        Statement::Call { .. } => unreachable!("calls are no release points"),
    }
    running.next += 1;
    run_calls(system, &mut next, task);
    Some(next)
}

/// Runs a task to its next release point, or to its end.
fn run_calls(system: &System, state: &mut Final, mut task: usize) {
    loop {
        let (path, running) = &mut state.tasks[task];
        let body = &system.methods[running.method];
        let Some(Statement::Call { method }) = body.get(running.next) else {
            return;
        };
        let calls = body[..running.next].iter();
        let number = calls
            .filter(|other| matches!(other, Statement::Call { .. }))
            .count();
        let callee_path: Vec<usize> = path.iter().copied().chain([number]).collect();
        let callee = Task {
            method: *method,
            next: 0,
            register: running.register,
        };
        running.next += 1;
        let own_path = path.clone();
        state.tasks.push((callee_path.clone(), callee));
        state.tasks.sort();
        let position = |state: &Final, path: &[usize]| {
            let found = state
                .tasks
                .iter()
                .position(|(candidate, _)| candidate == path);
            found.expect("a task that was started is there")
        };
        let new = position(state, &callee_path);
        run_calls(system, state, new);
        task = position(state, &own_path);
    }
}
