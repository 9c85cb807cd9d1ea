//! Carries out an [`Order`]: a request to a process to check its own program.

use super::{CheckError, Checker, Preference};
use report::{Answer, Case, Conditions, Order, Report, Verify, Visit};
use std::ops::ControlFlow;

impl Checker {
    /// Creates a checker with the options of an order.
    pub fn ordered(order: &Order) -> Checker {
        let mut checker = Checker::new()
            .of_command()
            .name(&order.name)
            .keep_going(order.keep_going)
            .symmetry(order.symmetry)
            .explain(order.explains)
            .draw(order.draws);
        checker.settings.max_executions = order.max_executions;
        checker.settings.time_limit = order.time_limit;
        checker.settings.options.preemptions = order.preemptions;
        checker.settings.config.conditions = Conditions {
            is_enforceable: order.verify.is_some(),
            ..order.conditions
        };
        checker.settings.checkpoint.clone_from(&order.checkpoint);
        checker.settings.resume.clone_from(&order.resume);
        checker.settings.trail.clone_from(&order.trail);
        checker.settings.config.without.clone_from(&order.without);
        checker.settings.accepted.clone_from(&order.accept);
        checker
            .settings
            .suppressions
            .clone_from(&order.suppressions);
        checker.settings.left_out.clone_from(&order.left_out);
        if let Some(executions) = order.extra {
            checker = checker.extra(executions);
        }
        if let Some(seed) = order.seed {
            checker = checker.seed(seed);
        }
        checker
    }

    /// Returns the order for a process that divides this search.
    pub(crate) fn order(&self) -> Order {
        let settings = &self.settings;
        Order {
            name: settings.name.clone(),
            algorithm: settings.algorithm.name().to_owned(),
            keep_going: settings.keeps_going,
            explains: settings.explains,
            draws: settings.draws,
            max_executions: settings.max_executions,
            time_limit: settings.time_limit,
            preemptions: settings.options.preemptions,
            symmetry: settings.config.symmetry,
            seed: settings.seed_is_set.then_some(settings.options.seed),
            ..Order::default()
        }
    }

    /// Sets the algorithm of an order.
    ///
    /// # Errors
    /// Returns an error if no algorithm has this name.
    #[doc(hidden)]
    pub fn by(mut self, name: &str) -> Result<Checker, CheckError> {
        if !name.is_empty() {
            let known = name.parse();
            self.settings.algorithm =
                known.map_err(|_| CheckError::Misfit(format!("there is no algorithm {name}")))?;
        }
        Ok(self)
    }

    /// Carries out the order: replays a schedule, runs a verification that publishes its results,
    /// or runs a search.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Checker::try_check`].
    pub fn carry_out(
        self,
        order: &Order,
        program: impl Fn() + 'static,
        publish: impl FnMut(&Case),
    ) -> Result<Report, CheckError> {
        if let Some(schedule) = &order.replay {
            return self.replay(schedule, program);
        }
        let checker = self.by(&order.algorithm)?;
        match &order.verify {
            Some(verify) => checker.verify_as(verify, program, publish),
            None => checker.try_check(program),
        }
    }

    /// Returns the position that the order's schedule leads to. By default the schedule is empty.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Checker::position`].
    #[doc(hidden)]
    pub fn visit(
        self,
        order: &Order,
        visit: &Visit,
        program: impl Fn() + 'static,
    ) -> Result<Answer, CheckError> {
        let beginning = self.beginning();
        let schedule = order.replay.as_ref().unwrap_or(&beginning);
        let position = self.position(schedule, visit, program)?;
        Ok(Answer::Position(Box::new(position)))
    }

    fn verify_as(
        self,
        verify: &Verify,
        program: impl Fn() + 'static,
        mut publish: impl FnMut(&Case),
    ) -> Result<Report, CheckError> {
        let preference = match verify.prefers_few_waiting {
            true => Preference::FewWaiting,
            false => Preference::Any,
        };
        let verified = self.verify(preference, program, |case| {
            publish(case);
            let enough = verify.most_constraints;
            match enough.is_some_and(|most| case.constraints.len() <= most) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(verified.report)
    }
}
