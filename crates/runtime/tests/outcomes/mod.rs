//! Helpers for tests: explore a program and count the outcomes of its executions.

use explore::{Algorithm, Interrupt, Observer, Options, Outcome, Strategy, explore};
use runtime::{Config, Model};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Counts executions by their outcome.
#[derive(Default)]
struct Count(BTreeMap<Outcome, u64>);

impl Observer for Count {
    fn ended(&mut self, outcome: Outcome, _: &dyn Strategy) -> ControlFlow<()> {
        *self.0.entry(outcome).or_default() += 1;
        ControlFlow::Continue(())
    }

    fn restarted(&mut self) {
        self.0.clear();
    }
}

/// Explores the program. Returns the number of executions by outcome.
pub fn outcomes_with(
    config: Config,
    algorithm: Algorithm,
    body: impl Fn() + 'static,
) -> Vec<(Outcome, u64)> {
    let mut model = Model::new(config, body);
    let mut count = Count::default();
    loop {
        let mut strategy = algorithm.strategy(Options::default());
        match explore(&mut model, &mut strategy, &mut count) {
            Ok(_) => return count.0.into_iter().collect(),
            Err(Interrupt::Coarsened) => count.restarted(),
            Err(other) => panic!("{other}"),
        }
    }
}

/// Explores the program with an optimal algorithm. Returns the number of executions by outcome.
pub fn outcomes(body: impl Fn() + 'static) -> Vec<(Outcome, u64)> {
    outcomes_with(Config::default(), Algorithm::Optimal, body)
}
