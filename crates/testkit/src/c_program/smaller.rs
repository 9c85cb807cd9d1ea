//! Shrinks failing programs.

use super::{CProgram, Home, RegisterHome, Statement};

/// Shrinks a failing program step by step, as long as it still fails.
pub fn smallest(program: &CProgram, mut fails: impl FnMut(&CProgram) -> bool) -> CProgram {
    let mut smallest = program.clone();
    let mut is_fit = |smaller: &CProgram| smaller.is_sound() && fails(smaller);
    while let Some(smaller) = candidates(&smallest).into_iter().find(&mut is_fit) {
        smallest = smaller;
    }
    smallest
}

fn candidates(program: &CProgram) -> Vec<CProgram> {
    let mut candidates = Vec::new();
    for thread in 0..program.threads.len() {
        for body in bodies(&program.threads[thread].body) {
            let mut smaller = program.clone();
            smaller.threads[thread].body = body;
            candidates.push(smaller);
        }
        if program.threads[thread].registers != RegisterHome::Locals {
            let mut smaller = program.clone();
            smaller.threads[thread].registers = RegisterHome::Locals;
            candidates.push(smaller);
        }
    }
    for region in 0..program.regions.len() {
        if program.regions[region] != Home::Static {
            let mut smaller = program.clone();
            smaller.regions[region] = Home::Static;
            candidates.push(smaller);
        }
    }
    candidates
}

/// Returns bodies with one statement less, or with its inner statements in its place. Creates and
/// joins stay.
fn bodies(body: &[Statement]) -> Vec<Vec<Statement>> {
    let mut smaller = Vec::new();
    for (index, statement) in body.iter().enumerate() {
        let mut with = |replacement: Vec<Statement>| {
            let mut body = body.to_vec();
            body.splice(index..=index, replacement);
            smaller.push(body);
        };
        if matches!(statement, Statement::Create { .. } | Statement::Join { .. }) {
            continue;
        }
        with(Vec::new());
        if !statement.inner().is_empty() {
            with(statement.inner().to_vec());
            for inner in bodies(statement.inner()) {
                let mut statement = statement.clone();
                if let Some(body) = statement.inner_mut() {
                    *body = inner;
                }
                with(vec![statement]);
            }
        }
    }
    smaller
}
