//! Abstract systems of concurrent objects, and what they can do by the natural semantics.
//!
//! Each object holds a number, each task a register. [`finals`] runs tasks from one release point to the next as one
//! step, blocks where a condition or a future does, and knows neither events nor `actors`.

mod direct;
mod random;

pub use direct::{Final, Task, finals};

use std::fmt;

/// Numbers are below this.
pub const MODULUS: u8 = 4;

/// A system: its main task runs `methods[0]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct System {
    /// How many objects there are, all with 0.
    pub objects: usize,
    /// A method calls only methods behind it.
    pub methods: Vec<Vec<Statement>>,
}

/// One statement of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// A release point, then an access of these objects.
    Segment {
        /// The objects, sorted.
        objects: Vec<usize>,
        /// What it awaits of the first of them.
        condition: Option<Condition>,
        /// What it does with each of them.
        effect: Effect,
    },
    /// Starts a task with the caller's register.
    Call {
        /// Which method it runs.
        method: usize,
    },
    /// A release point, then takes over what the n-th call of this task returned.
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
    /// Whether a number meets it.
    pub fn holds(self, number: u8) -> bool {
        match self {
            Condition::Is(wanted) => number == wanted,
            Condition::AtLeast(least) => number >= least,
        }
    }
}

/// What a segment does with the register and each of its objects, in turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Adds the object's number to the register.
    Read,
    /// Sets the object to the number.
    Set(u8),
    /// Adds the number to the object's.
    Add(u8),
    /// Exchanges the register and the object's number.
    Exchange,
}

impl Effect {
    /// Whether it only reads.
    pub fn only_reads(self) -> bool {
        self == Effect::Read
    }

    /// Performs it.
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
