//! Generates random systems.

use super::{Condition, Effect, MODULUS, Statement, System};
use crate::random::Random;

impl System {
    /// Generates a system of one to three objects and two to four methods.
    pub fn random(random: &mut Random) -> System {
        let objects = 1 + random.index(3);
        let methods = 2 + random.index(3);
        System {
            objects,
            methods: (0..methods)
                .map(|number| method(random, objects, number, methods))
                .collect(),
        }
    }
}

impl System {
    /// Generates a system in which all tasks but the main task are restricted, as for actors that
    /// are state machines. A restricted task accesses one object at a time, and the same object
    /// before and after an await. It begins with a segment, and ends with a segment or with calls.
    pub fn random_of_state_machines(random: &mut Random) -> System {
        let objects = 1 + random.index(3);
        let methods = 2 + random.index(3);
        let machines = (1..methods).map(|number| machine(random, objects, number, methods));
        let machines: Vec<_> = machines.collect();
        let main = method(random, objects, 0, methods);
        System {
            objects,
            methods: [main].into_iter().chain(machines).collect(),
        }
    }
}

fn machine(random: &mut Random, objects: usize, number: usize, methods: usize) -> Vec<Statement> {
    let mut object = random.index(objects);
    let mut calls = 0;
    let mut body = Vec::new();
    for segments in 0..1 + random.index(3) {
        if segments > 0 && calls > 0 && random.chance(60) {
            let call = random.index(calls);
            body.push(Statement::Await { call });
        } else if random.chance(40) {
            object = random.index(objects);
        }
        body.push(touching(random, vec![object]));
        if number + 1 < methods && random.chance(40) {
            let method = number + 1 + random.index(methods - number - 1);
            body.push(Statement::Call { method });
            calls += 1;
        }
    }
    body
}

/// Generates a method. The main method mostly calls; the other methods mostly access objects.
fn method(random: &mut Random, objects: usize, number: usize, methods: usize) -> Vec<Statement> {
    let is_main = number == 0;
    let length = match is_main {
        true => 3 + random.index(3),
        false => 1 + random.index(3),
    };
    let mut calls = 0;
    let mut body = Vec::new();
    for _ in 0..length {
        let may_call = number + 1 < methods;
        if may_call && random.chance(if is_main { 65 } else { 20 }) {
            let method = number + 1 + random.index(methods - number - 1);
            body.push(Statement::Call { method });
            calls += 1;
        } else if calls > 0 && random.chance(40) {
            let call = random.index(calls);
            body.push(Statement::Await { call });
        } else {
            body.push(segment(random, objects));
        }
    }
    body
}

fn segment(random: &mut Random, objects: usize) -> Statement {
    let mut touched = vec![random.index(objects)];
    if random.chance(15) {
        touched.push(random.index(objects));
        touched.sort_unstable();
        touched.dedup();
    }
    touching(random, touched)
}

fn touching(random: &mut Random, objects: Vec<usize>) -> Statement {
    let number = random.index(usize::from(MODULUS)) as u8;
    let condition = random.chance(25).then(|| match random.chance(50) {
        true => Condition::Is(number),
        false => Condition::AtLeast(number),
    });
    let number = 1 + random.index(usize::from(MODULUS) - 1) as u8;
    let effect = match random.index(6) {
        0 | 1 => Effect::Read,
        2 => Effect::Set(number),
        3 | 4 => Effect::Add(number),
        _ => Effect::Exchange,
    };
    Statement::Segment {
        objects,
        condition,
        effect,
    }
}
