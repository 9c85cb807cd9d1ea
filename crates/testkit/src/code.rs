//! Compiles a thread's statements to a list of instructions, and runs the local instructions
//! between two actions.

use crate::program::{Action, Condition, REGISTERS, Statement, Value, Verb};

/// The code of a thread: a list of instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code(Vec<Instruction>);

#[derive(Clone, Debug)]
enum Instruction {
    Do(Action),
    Assume(Condition),
    Assert(Condition),
    /// Jumps to that instruction unless the condition holds.
    Unless(Condition, usize),
}

/// The local state of a thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Local {
    pub(crate) registers: [u64; REGISTERS],
    /// The next instruction.
    pub(crate) next: usize,
}

/// The reason why a thread stops.
#[derive(Debug)]
pub(crate) enum Stop<'a> {
    At(&'a Action),
    AssumptionFails,
    AssertionFails,
    End,
}

impl Code {
    /// Compiles statements. Bounded loops are unrolled.
    pub(crate) fn new(body: &[Statement]) -> Code {
        let mut code = Code::default();
        code.append(body);
        code
    }

    fn append(&mut self, body: &[Statement]) {
        for statement in body {
            match statement {
                Statement::Do(action) => self.0.push(Instruction::Do(action.clone())),
                Statement::Assume(condition) => self.0.push(Instruction::Assume(*condition)),
                Statement::Assert(condition) => self.0.push(Instruction::Assert(*condition)),
                Statement::If(condition, body) => {
                    let jump = self.0.len();
                    self.0.push(Instruction::Unless(*condition, 0));
                    self.append(body);
                    self.0[jump] = Instruction::Unless(*condition, self.0.len());
                }
                Statement::Repeat(times, body) => (0..*times).for_each(|_| self.append(body)),
            }
        }
    }

    /// Runs to the next action, to the end, or to a condition that fails.
    pub(crate) fn run(&self, local: &mut Local) -> Stop<'_> {
        while let Some(instruction) = self.0.get(local.next) {
            match instruction {
                Instruction::Do(action) if action.verb == Verb::Let => {
                    local.store(action, local.value(action.values[0]));
                }
                Instruction::Do(action) if action.verb == Verb::Yield => {}
                Instruction::Do(action) => return Stop::At(action),
                Instruction::Assume(condition) if !local.holds(condition) => {
                    return Stop::AssumptionFails;
                }
                Instruction::Assert(condition) if !local.holds(condition) => {
                    return Stop::AssertionFails;
                }
                Instruction::Assume(_) | Instruction::Assert(_) => {}
                Instruction::Unless(condition, target) if !local.holds(condition) => {
                    local.next = *target;
                    continue;
                }
                Instruction::Unless(..) => {}
            }
            local.next += 1;
        }
        Stop::End
    }

    /// Checks whether a stopped thread yields immediately before its next action.
    pub(crate) fn yields(&self, local: &Local) -> bool {
        let before = local.next.checked_sub(1).map(|before| &self.0[before]);
        matches!(before, Some(Instruction::Do(action)) if action.verb == Verb::Yield)
    }

    /// Returns the next action of a stopped thread.
    pub(crate) fn action(&self, local: &Local) -> &Action {
        match &self.0[local.next] {
            Instruction::Do(action) => action,
            Instruction::Assume(_) | Instruction::Assert(_) | Instruction::Unless(..) => {
                unreachable!("the thread is at an action")
            }
        }
    }
}

impl Local {
    pub(crate) fn value(&self, value: Value) -> u64 {
        match value {
            Value::Constant(value) => value,
            Value::Register(register) => self.registers[usize::from(register)],
        }
    }

    /// Stores the result of an action in its register.
    pub(crate) fn store(&mut self, action: &Action, result: u64) {
        if let Some(register) = action.into {
            self.registers[usize::from(register)] = result;
        }
    }

    fn holds(&self, condition: &Condition) -> bool {
        (self.value(condition.left) == self.value(condition.right)) == condition.equal
    }
}
