//! Finds accesses to memory in machine code that no hook announces: accesses of inline assembly,
//! and accesses for which compilers insert no hook because of their type or their statement.
//!
//! The analysis follows the paths of a function and numbers values: equal numbers mean equal
//! values. An access is announced if a hook with the same address and kind, and of sufficient
//! length, precedes it. Accesses to constants, to thread control blocks and to the thread's own
//! stack (but see `frame`) need no hook. All other accesses are announced at run time: [`Patch`]
//! redirects the instruction.

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

/// The effect of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A read followed by a write to the same place.
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

/// The announcement that a hook makes: an access to the address in its first argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hook {
    /// The kind of the access.
    pub effect: Effect,
    /// The length of the access; `None` if it is the second argument.
    pub length: Option<usize>,
    /// Whether the access is volatile.
    pub is_volatile: bool,
}

/// The environment of the analysed code.
pub trait Surroundings {
    /// Returns the announcement of a call to the function, if the function is a hook.
    fn hook(&self, function: u64) -> Option<Hook>;
    /// Returns the address of a function that is stored at this place, through which code makes
    /// calls. Returns `None` if the place is not known to hold such an address.
    fn slot(&self, address: u64) -> Option<u64>;
    /// Checks whether the function at this address never returns, like `abort`.
    fn never_returns(&self, function: u64) -> bool;
    /// Checks whether this is memory of an image that the program does not write.
    fn is_constant(&self, address: u64) -> bool;
    /// Checks whether the function's compiler omits hooks of stack variables that other threads may
    /// access.
    fn omits_hooks(&self, function: u64) -> bool;
    /// Returns the places of a function's variables relative to its canonical frame address
    /// (DWARF), or `None` if they are unknown.
    fn frame_variables(&self, function: u64) -> Option<Vec<Range<i64>>>;
}

/// An access without a hook.
#[derive(Clone, Debug)]
pub struct Access {
    /// The instruction.
    pub(crate) instruction: Instruction,
    /// The effect of the access.
    pub effect: Effect,
    /// The address; `None` for string instructions.
    pub operand: Option<Operand>,
    /// The length in bytes. For string instructions, the length of one step.
    pub length: usize,
    /// Whether this access is a write whose hook is already used up: the hook of the write
    /// announces a read of the same place, which comes first. The write itself is announced only if
    /// plain accesses are events.
    pub is_late: bool,
    /// Whether the redirected instruction works on a temporary copy of its operand. Then this
    /// access either makes the copy or writes it back.
    pub is_on_copy: bool,
}

impl Access {
    /// Returns the address of the instruction.
    pub fn place(&self) -> u64 {
        self.instruction.ip()
    }

    /// Checks whether the instruction is a string instruction with a repeat prefix.
    pub fn is_repeated(&self) -> bool {
        self.instruction.has_rep_prefix()
    }
}

/// The accesses of a function that no hook announces.
#[derive(Clone, Debug, Default)]
pub struct Unhooked {
    /// The accesses that can be announced.
    pub accesses: Vec<Access>,
    /// The addresses of instructions whose accesses cannot be announced.
    pub unknown: Vec<u64>,
    /// The return addresses of write hooks after which the program first reads the place and then
    /// writes it.
    pub late: Vec<u64>,
    /// The possible targets of jumps.
    pub(crate) leaders: Vec<u64>,
    /// The instructions.
    pub(crate) instructions: Vec<Instruction>,
}
