//! Formulas over final values.

/// A formula over final values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Formula {
    /// `x=1`
    Variable(usize, u64),
    /// `0:r0=1`
    Register(usize, usize, u64),
    /// `~a`
    Not(Box<Formula>),
    /// `a /\ b`
    And(Box<Formula>, Box<Formula>),
    /// `a \/ b`
    Or(Box<Formula>, Box<Formula>),
}

impl Formula {
    pub(super) fn holds(&self, variables: &[u64], registers: &[Vec<u64>]) -> bool {
        let holds = |formula: &Formula| formula.holds(variables, registers);
        match self {
            // No thread writes a variable that the program does not count.
            Formula::Variable(variable, value) => variables.get(*variable).unwrap_or(&0) == value,
            Formula::Register(thread, register, value) => registers[*thread][*register] == *value,
            Formula::Not(formula) => !holds(formula),
            Formula::And(left, right) => holds(left) && holds(right),
            Formula::Or(left, right) => holds(left) || holds(right),
        }
    }
}
