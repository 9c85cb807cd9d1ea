//! Accesses to memory in machine code that no hook announces: of types and statements for which compilers have none, and
//! of inline assembly.
//!
//! A function is followed along its paths with value numbers. An access needs a hook before it with the same address, of
//! the same kind, and long enough. Accesses of the own stack (but see `frame`), of constants and of
//! thread control blocks need none. What is
//! found besides is announced at run time: [`Patch`] redirects the instruction.

mod announced;
mod calls;
mod coverage;
mod frame;
mod functions;
mod patch;
mod values;

pub use calls::{Callee, calls};
pub use coverage::unhooked;
pub use functions::Functions;
pub use patch::{ANNOUNCE_SPACE, Patch, Patches, TEMPORARY_SPACE};
pub use values::Operand;

use iced_x86::Instruction;
use std::ops::Range;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads, and then writes the same place.
    Both,
}

impl Effect {
    fn reads(self) -> bool {
        self != Effect::Write
    }

    fn writes(self) -> bool {
        self != Effect::Read
    }
}

/// What a call of a hook announces: an access of the address that is its first argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hook {
    /// Its kind.
    pub effect: Effect,
    /// Its length; the second argument if there is none.
    pub length: Option<usize>,
    /// Whether the access is volatile.
    pub is_volatile: bool,
}

/// What surrounds the code.
pub trait Surroundings {
    /// What calls of the function announce, if it is a hook.
    fn hook(&self, function: u64) -> Option<Hook>;
    /// The address that this place, through which code calls, holds.
    fn slot(&self, address: u64) -> Option<u64>;
    /// Whether the function of this address never returns, as `abort`.
    fn never_returns(&self, function: u64) -> bool;
    /// Whether this is memory of an image that the program does not write.
    fn is_constant(&self, address: u64) -> bool;
    /// Whether the compiler of the function omits hooks of variables on its stack that others may access.
    fn omits_hooks(&self, function: u64) -> bool;
    /// The places of the function's variables in its frame, from its end; none if they are not known.
    fn frame_variables(&self, function: u64) -> Option<Vec<Range<i64>>>;
}

/// An access without a hook.
#[derive(Clone, Debug)]
pub struct Access {
    /// The instruction.
    pub(crate) instruction: Instruction,
    /// What it does.
    pub effect: Effect,
    /// Where; none for instructions on strings.
    pub operand: Option<Operand>,
    /// Bytes; for instructions on strings those of one step.
    pub length: usize,
    /// The hook of a write announces it before the place is read. It counts only where plain accesses are events.
    pub is_late: bool,
    /// The instruction works on a copy, which this makes, or which it writes back.
    pub is_on_copy: bool,
}

impl Access {
    /// The address of the instruction.
    pub fn place(&self) -> u64 {
        self.instruction.ip()
    }

    /// Whether it is an instruction on strings that counts its steps.
    pub fn is_repeated(&self) -> bool {
        self.instruction.has_rep_prefix()
    }
}

/// A function's accesses without hooks.
#[derive(Clone, Debug, Default)]
pub struct Unhooked {
    /// Those that can be announced.
    pub accesses: Vec<Access>,
    /// Addresses of other instructions.
    pub unknown: Vec<u64>,
    /// Where hooks of writes return to, behind which the place is first read.
    pub late: Vec<u64>,
    /// Places that something may jump to.
    pub(crate) leaders: Vec<u64>,
    /// The instructions.
    pub(crate) instructions: Vec<Instruction>,
}
