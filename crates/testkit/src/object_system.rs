//! Abstract systems of concurrent objects, and their behaviour by the direct semantics.
//!
//! Each object holds a number, and each task has a register. At a *release point*, other tasks may
//! use the objects of a task. [`finals`] runs a task from one release point to the next in one
//! step, and blocks where a condition or a future blocks. It uses neither events nor the `actors`
//! crate.

mod direct;
mod random;

pub use direct::{Final, Task, finals};

use std::fmt;

/// All numbers are below this.
pub const MODULUS: u8 = 4;

/// A system. Its main task runs `methods[0]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct System {
    /// Number of objects. Each holds 0 at the start.
    pub objects: usize,
    /// The methods. A method calls only those after it.
    pub methods: Vec<Vec<Statement>>,
}

/// One statement of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// A release point, then an access of these objects.
    Segment {
        /// The objects, sorted.
        objects: Vec<usize>,
        /// The condition on the first object that it awaits.
        condition: Option<Condition>,
        /// The effect on each object.
        effect: Effect,
    },
    /// Starts a task with the caller's register.
    Call {
        /// The method that it runs.
        method: usize,
    },
    /// A release point, then takes over the result of the n-th call of this task.
    Await {
        /// Number of the call.
        call: usize,
    },
}

/// A condition that a segment awaits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// The object holds this number.
    Is(u8),
    /// The object holds at least this number.
    AtLeast(u8),
}

impl Condition {
    /// Checks whether a number meets the condition.
    pub fn holds(self, number: u8) -> bool {
        match self {
            Condition::Is(wanted) => number == wanted,
            Condition::AtLeast(least) => number >= least,
        }
    }
}

/// The effect of a segment on the register and each of its objects, in turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Adds the object's number to the register.
    Read,
    /// Sets the object's number.
    Set(u8),
    /// Adds to the object's number.
    Add(u8),
    /// Exchanges the register and the object's number.
    Exchange,
}

impl Effect {
    /// Checks whether the effect only reads objects.
    pub fn only_reads(self) -> bool {
        self == Effect::Read
    }

    /// Applies the effect.
    pub fn apply(self, register: &mut u8, number: &mut u8) {
        match self {
            Effect::Read => *register = (*register + *number) % MODULUS,
            Effect::Set(new) => *number = new,
            Effect::Add(more) => *number = (*number + more) % MODULUS,
            Effect::Exchange => std::mem::swap(register, number),
        }
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} objects", self.objects)?;
        for (number, method) in self.methods.iter().enumerate() {
            writeln!(f, "method {number}: {method:?}")?;
        }
        Ok(())
    }
}
