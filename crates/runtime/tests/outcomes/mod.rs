//! What the tests have in common: a program, explored, and how its executions ended.

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

/// How many executions of the program ended how.
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

/// The same by an optimal algorithm.
pub fn outcomes(body: impl Fn() + 'static) -> Vec<(Outcome, u64)> {
    outcomes_with(Config::default(), Algorithm::Optimal, body)
}
