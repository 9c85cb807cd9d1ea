//! Makes a program that breaks a law smaller, as long as the program breaks the law.

use crate::program::{Action, Program, Sort, Statement};

/// Removes statements, threads and nesting greedily while the program stays sound and `fails`.
pub fn shrink(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut smallest = program.clone();
    loop {
        let smaller = candidates(&smallest)
            .into_iter()
            .find(|candidate| candidate.is_sound() && fails(candidate));
        match smaller {
            Some(smaller) => smallest = smaller,
            None => return smallest,
        }
    }
}

/// Returns the programs that are smaller by one step.
fn candidates(program: &Program) -> Vec<Program> {
    let mut candidates: Vec<Program> = (0..program.threads.len())
        .filter_map(|thread| without_thread(program, thread))
        .collect();
    for (thread, body) in program.threads.iter().enumerate() {
        for smaller in without_one(body) {
            let mut candidate = program.clone();
            candidate.threads[thread] = smaller;
            candidate.forget_unused();
            candidates.push(candidate);
        }
    }
    candidates
}

/// Removes a thread if the thread is empty and no other thread refers to it.
fn without_thread(program: &Program, thread: usize) -> Option<Program> {
    let is_about_thread =
        |action: &Action| action.verb.signature().sorts.first() == Some(&Sort::Thread);
    let is_named = program
        .actions()
        .iter()
        .any(|(_, action)| is_about_thread(action) && action.objects[0] == thread);
    if !program.threads[thread].is_empty() || is_named {
        return None;
    }
    let mut candidate = program.clone();
    candidate.threads.remove(thread);
    candidate.change(|action| {
        if is_about_thread(action) && action.objects[0] > thread {
            action.objects[0] -= 1;
        }
    });
    Some(candidate)
}

fn without_one(body: &[Statement]) -> Vec<Vec<Statement>> {
    let mut smaller = Vec::new();
    for (index, statement) in body.iter().enumerate() {
        let with = |replacement: &[Statement]| {
            let mut body = body.to_vec();
            body.splice(index..=index, replacement.iter().cloned());
            body
        };
        smaller.push(with(&[]));
        match statement {
            Statement::If(condition, inner) => {
                smaller.push(with(inner));
                let inner = without_one(inner)
                    .into_iter()
                    .filter(|inner| !inner.is_empty());
                smaller.extend(inner.map(|inner| with(&[Statement::If(*condition, inner)])));
            }
            Statement::Repeat(times, inner) => {
                smaller.push(with(inner));
                let inner = without_one(inner)
                    .into_iter()
                    .filter(|inner| !inner.is_empty());
                smaller.extend(inner.map(|inner| with(&[Statement::Repeat(*times, inner)])));
            }
            Statement::Do(_) | Statement::Assume(_) | Statement::Assert(_) => {}
        }
    }
    smaller
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Verb;

    #[test]
    fn shrinking_keeps_only_the_necessary_statements() {
        let program: Program = "r0 = load x0; repeat 2 { store x1 1; fence }\nstore x0 2; fence"
            .parse()
            .expect("it is a program");
        let smallest = shrink(&program, |program| {
            program.does(&[Verb::Fence]) && program.does(&[Verb::Load])
        });
        assert_eq!(smallest.to_string(), "r0 = load x0\nfence");
    }

    #[test]
    fn the_threads_behind_one_that_is_removed_keep_their_names() {
        let program: Program = "store x0 1\nspawn t2; join t2\nfence; load x0"
            .parse()
            .expect("it is a program");
        let smallest = shrink(&program, |program| {
            program.does(&[Verb::Spawn]) && program.does(&[Verb::Fence])
        });
        assert_eq!(smallest.to_string(), "spawn t1\nfence");
    }
}
