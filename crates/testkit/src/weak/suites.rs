//! Families of random programs for weak memory.

use crate::program::{Action, Condition, Program, Register, Statement, Value, Verb};
use crate::random::Random;
use explore::MemoryOrder;

/// A family of random programs.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// The name.
    pub name: &'static str,
    /// The number of variables.
    variables: u64,
    /// The verbs of the actions. One of them is drawn for each action.
    verbs: &'static [Verb],
    /// Whether most orderings are `SeqCst`.
    is_strong: bool,
    /// The probability, in percent, that an action is under a condition.
    conditions: u64,
    /// The probability, in percent, that an action comes after an assumption.
    assumptions: u64,
}

const ACCESSES: &[Verb] = &[Verb::Load, Verb::Store];
const MODIFICATIONS: &[Verb] = &[
    Verb::Load,
    Verb::Store,
    Verb::FetchAdd,
    Verb::Swap,
    Verb::CompareExchange,
];
const FENCES: &[Verb] = &[
    Verb::Load,
    Verb::Store,
    Verb::Load,
    Verb::Store,
    Verb::Fence,
];
const ALL: &[Verb] = &[
    Verb::Load,
    Verb::Store,
    Verb::Load,
    Verb::Store,
    Verb::FetchAdd,
    Verb::Swap,
    Verb::CompareExchange,
    Verb::Fence,
    Verb::Choose,
];

const fn suite(name: &'static str, variables: u64, verbs: &'static [Verb]) -> Suite {
    Suite {
        name,
        variables,
        verbs,
        is_strong: false,
        conditions: 0,
        assumptions: 0,
    }
}

/// The families.
pub const SUITES: [Suite; 11] = [
    suite("rw", 2, ACCESSES),
    suite("rw1", 1, ACCESSES),
    suite("rw3", 3, ACCESSES),
    suite("rmw", 2, MODIFICATIONS),
    suite("rmw1", 1, MODIFICATIONS),
    suite("fences", 2, FENCES),
    Suite {
        is_strong: true,
        ..suite("scfences", 2, FENCES)
    },
    Suite {
        conditions: 20,
        ..suite("mix", 2, ALL)
    },
    Suite {
        is_strong: true,
        conditions: 20,
        ..suite("strong", 2, ALL)
    },
    Suite {
        conditions: 40,
        assumptions: 15,
        ..suite(
            "cond",
            2,
            &[Verb::Load, Verb::Store, Verb::Load, Verb::Choose],
        )
    },
    Suite {
        assumptions: 35,
        ..suite("assume", 2, MODIFICATIONS)
    },
];

impl Suite {
    /// Returns a random program of the family.
    pub fn program(&self, random: &mut Random) -> Program {
        let threads = 2 + random.below(3);
        let most = 8_u64.saturating_sub(threads);
        let mut program = Program {
            threads: vec![Vec::new(); threads as usize],
            ..Program::default()
        };
        for _ in 0..threads + random.below(most) {
            let thread = random.index(threads as usize);
            let body = &mut program.threads[thread];
            let loaded = body
                .iter()
                .filter(|statement| is_loading(statement))
                .count();
            let action = self.action(random, loaded as Register);
            let condition = Condition {
                left: Value::Register(random.index(loaded.max(1)) as Register),
                equal: random.chance(60),
                right: Value::Constant(random.below(2)),
            };
            if loaded > 0 && random.chance(self.assumptions) {
                body.push(Statement::Assume(condition));
            }
            body.push(match loaded > 0 && random.chance(self.conditions) {
                true => Statement::If(condition, vec![Statement::Do(action)]),
                false => Statement::Do(action),
            });
        }
        program
    }

    fn action(&self, random: &mut Random, loaded: Register) -> Action {
        let verb = self.verbs[random.index(self.verbs.len())];
        let signature = verb.signature();
        let variable = random.below(self.variables) as usize;
        let values = (0..signature.values).map(|_| match random.below(5) {
            0 if loaded > 0 && verb != Verb::Choose => {
                Value::Register(random.index(loaded.into()) as Register)
            }
            _ => Value::Constant(1 + random.below(2)),
        });
        let values = values.collect();
        let order = self.order(random, verb);
        let on_failure = match verb {
            Verb::CompareExchange => self.order(random, Verb::Load),
            _ => order,
        };
        Action {
            verb,
            into: signature.has_result.then_some(loaded % 8),
            objects: signature.sorts.iter().map(|_| variable).collect(),
            values,
            order,
            on_failure,
        }
    }

    fn order(&self, random: &mut Random, verb: Verb) -> MemoryOrder {
        if self.is_strong && random.chance(75) || verb == Verb::Choose {
            return MemoryOrder::SeqCst;
        }
        let orders: &[MemoryOrder] = match verb {
            Verb::Load => &[
                MemoryOrder::Relaxed,
                MemoryOrder::Acquire,
                MemoryOrder::SeqCst,
            ],
            Verb::Store => &[
                MemoryOrder::Relaxed,
                MemoryOrder::Release,
                MemoryOrder::SeqCst,
            ],
            Verb::Fence => &[
                MemoryOrder::Acquire,
                MemoryOrder::Release,
                MemoryOrder::AcqRel,
                MemoryOrder::SeqCst,
            ],
            _ => &[
                MemoryOrder::Relaxed,
                MemoryOrder::Acquire,
                MemoryOrder::Release,
                MemoryOrder::AcqRel,
                MemoryOrder::SeqCst,
            ],
        };
        orders[random.index(orders.len())]
    }
}

fn is_loading(statement: &Statement) -> bool {
    match statement {
        Statement::Do(action) => action.into.is_some(),
        Statement::If(_, body) => body.iter().any(is_loading),
        Statement::Assume(_) | Statement::Assert(_) | Statement::Repeat(..) => false,
    }
}
