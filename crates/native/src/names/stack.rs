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
/// How far below a call its frame pointer is kept, in words.
const KEPT_WITHIN: u64 = 48;
/// How many words that look like return addresses are tried on either side.
const TRIED: usize = 12;

/// A word of a stack that an instruction may return to.
#[derive(Clone, Copy)]
struct Slot {
    address: u64,
    returns_to: u64,
    call: Call,
}

impl Images {
    /// The local variable of whichever function that has `size` bytes at an address of a stack. `memory` reads the code
    /// of the process, too, and nothing outside of the stack.
    pub fn on_stack(&self, bytes: (u64, u64), memory: Memory<'_>) -> Option<Variable> {
        let (address, _) = bytes;
        let above = (address.next_multiple_of(8)..address.saturating_add(FARTHEST)).step_by(8);
        let below = (1..FARTHEST / 8).map_while(|words| (address & !7).checked_sub(8 * words));
        let ends: Vec<Slot> = self.slots(above, memory);
        let starts: Vec<Slot> = self.slots(below, memory);
        ends.iter().find_map(|end| {
            starts
                .iter()
                .find_map(|start| self.within(*start, *end, bytes, memory))
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
    fn within(
        &self,
        start: Slot,
        end: Slot,
        bytes: (u64, u64),
        memory: Memory<'_>,
    ) -> Option<Variable> {
        let canonical_address = end.address + 8;
        let (names, base) = self.at(start.returns_to - 1)?;
        let registers = Registers::new(
            start.returns_to - 1 - base,
            start.address + 8,
            // Where functions with a frame pointer have it.
            canonical_address - 16,
        );
        let fits = |registers: &Registers| {
            let unwound = names.unwind(registers, memory);
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
                fits(&registers.without_frame_pointer()) || is_kept_below(start, &registers, memory)
            }
        };
        if !is_one_frame || !fits(&registers) {
            return None;
        }
        let machine = Machine {
            registers: &registers,
            memory,
            canonical_address: Some(canonical_address),
            frame_base: None,
        };
        names.local_in(&machine, bytes)
    }

    /// Where the function that has this instruction begins.
    fn function_at(&self, instruction: u64) -> Option<u64> {
        let (names, base) = self.at(instruction)?;
        Some(base + names.function_start(instruction - base)?)
    }
}

/// Whether what a function has called keeps that function's frame pointer, as it must before it changes it.
fn is_kept_below(start: Slot, registers: &Registers, memory: Memory<'_>) -> bool {
    let frame_pointer = registers.frame_pointer();
    let kept = (1..=KEPT_WITHIN).filter_map(|words| memory(start.address.checked_sub(8 * words)?));
    kept.into_iter().any(|word| Some(word) == frame_pointer)
}
