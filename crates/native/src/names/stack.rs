//! Local variables by their addresses alone, without the registers of the thread whose stack it is.
//!
//! The frame of a function lies between two return addresses: that of the function itself, which tells where the frame
//! ends and, by the call before it, often which function it is; and below, that of the function which it has called,
//! which tells where it stands. Words that only look so are told by checking one against the other.

use super::code::{Call, call_before};
use super::images::Images;
use super::location::Machine;
use super::{Memory, Registers, Variable};

/// How far a frame may reach on either side of a variable, in bytes.
const FARTHEST: u64 = 64 * 1024;
/// How far below a variable the frame pointer of its function is kept by what that has called, in words.
const KEPT_WITHIN: usize = 4096;
/// How many words that look like return addresses are tried on either side.
const TRIED: usize = 12;

/// A word of a stack that an instruction may return to.
#[derive(Clone, Copy)]
struct Slot {
    address: u64,
    returns_to: u64,
    call: Call,
}

/// What is looked for, and what was seen.
struct Scan<'a> {
    bytes: (u64, u64),
    memory: Memory<'a>,
    /// Words below the variable that could be frame pointers of its function.
    kept: Vec<u64>,
}

impl Images {
    /// The local variable of whichever function that has `size` bytes at an address of a stack. `memory` reads the code
    /// of the process, too, and nothing outside of the stack.
    pub fn on_stack(&self, bytes: (u64, u64), memory: Memory<'_>) -> Option<Variable> {
        let (address, _) = bytes;
        let above = (address.next_multiple_of(8)..address.saturating_add(FARTHEST)).step_by(8);
        let below = (1..FARTHEST / 8).map_while(|words| (address & !7).checked_sub(8 * words));
        let starts = self.slots(below.clone(), memory);
        let kept = below.take(KEPT_WITHIN).map_while(memory);
        let near = address..address.saturating_add(FARTHEST);
        let scan = Scan {
            bytes,
            memory,
            kept: kept.filter(|word| near.contains(word)).collect(),
        };
        let ends = self.slots(above, memory);
        ends.iter().find_map(|end| {
            let mut starts = starts.iter();
            starts.find_map(|start| self.within(*start, *end, &scan))
        })
    }

    fn slots(&self, addresses: impl Iterator<Item = u64>, memory: Memory<'_>) -> Vec<Slot> {
        let words = addresses.map_while(|address| Some((address, memory(address)?)));
        let slots = words.filter_map(|(address, returns_to)| {
            let call = self
                .has_code(returns_to)
                .then(|| call_before(returns_to, memory))??;
            Some(Slot {
                address,
                returns_to,
                call,
            })
        });
        slots.take(TRIED).collect()
    }

    /// The variable in the frame between two return addresses, if they are those of one frame.
    fn within(&self, start: Slot, end: Slot, scan: &Scan<'_>) -> Option<Variable> {
        let canonical_address = end.address + 8;
        let (names, base) = self.at(start.returns_to - 1)?;
        let registers = Registers::new(
            start.returns_to - 1 - base,
            start.address + 8,
            // Where functions with a frame pointer have it.
            canonical_address - 16,
        );
        let fits = |registers: &Registers| {
            let unwound = names.unwind(registers, scan.memory);
            unwound.is_some_and(|unwound| unwound.canonical_address == canonical_address)
        };
        let called = match end.call {
            Call::Direct(target) => self.function_at(target),
            Call::Indirect => None,
        };
        let is_one_frame = match called {
            Some(called) => Some(called) == self.function_at(start.returns_to - 1),
            // Without a frame pointer the size of the frame must be right; with one, what was called keeps it.
            None => {
                let is_kept = scan.kept.contains(&(canonical_address - 16));
                is_kept || fits(&registers.without_frame_pointer())
            }
        };
        if !is_one_frame || !fits(&registers) {
            return None;
        }
        let machine = Machine {
            registers: &registers,
            memory: scan.memory,
            canonical_address: Some(canonical_address),
            frame_base: None,
        };
        names.local_in(&machine, scan.bytes)
    }

    /// Where the function that has this instruction begins.
    fn function_at(&self, instruction: u64) -> Option<u64> {
        let (names, base) = self.at(instruction)?;
        Some(base + names.function_start(instruction - base)?)
    }
}
