//! Finds local variables from their addresses alone, without the registers of the stack's thread.
//!
//! The frame of a function lies between two return addresses. The upper one is the return address
//! of the function itself. Its place marks the end of the frame, and the call before it often names
//! the function. The lower one is the return address of a function that this function has called,
//! so it gives the current instruction. Some words only look like return addresses. So the two
//! addresses are checked against each other.

use super::code::{Call, call_before};
use super::images::Images;
use super::information::is_of_library;
use super::location::Machine;
use super::{Frame, Memory, Registers, Variable};

/// The greatest distance, in bytes, from a variable to either end of its frame.
const FARTHEST: u64 = 64 * 1024;
/// The number of words below a variable that are searched for its function's saved frame pointer.
const KEPT_WITHIN: usize = 4096;
/// The greatest depth of nested library calls.
const DEEPEST: usize = 24;
/// The number of possible return addresses that are tried on each side.
const TRIED: usize = 12;

/// A word of a stack that may be a return address.
#[derive(Clone, Copy)]
struct Slot {
    address: u64,
    returns_to: u64,
    call: Call,
}

impl Frame {
    /// Checks whether the source file is not that of a library.
    fn is_own(&self) -> bool {
        let file = self.file.as_deref();
        file.is_some_and(|file| !is_of_library(file))
    }
}

/// A search: its target, and the words seen on the way.
struct Scan<'a> {
    bytes: (u64, u64),
    memory: Memory<'a>,
    /// Words below the variable that may be frame pointers of its function.
    kept: Vec<u64>,
}

impl Images {
    /// Returns the local variable, of any function, that contains `bytes` (address and size) on a
    /// stack. `memory` reads only this stack and the code of the process.
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

    /// Returns the innermost return address in the program's own source: `returns_to`, or a return
    /// address further up on the stack if the call returns into a library or its headers. `slot` is
    /// the place of `returns_to` on the stack. Returns `None` if no such address is found.
    pub fn outside_libraries(&self, returns_to: u64, slot: u64, memory: Memory<'_>) -> Option<u64> {
        let mut returns = self.returns(returns_to, slot, memory);
        returns.find(|address| self.is_own(address - 1))
    }

    /// Returns the functions that wait for a call to return, the innermost first. `slot` is the
    /// place of `returns_to` on the stack.
    pub fn callers(
        &self,
        returns_to: u64,
        slot: u64,
        memory: Memory<'_>,
    ) -> impl Iterator<Item = Frame> {
        let returns = self.returns(returns_to, slot, memory);
        returns.flat_map(|address| self.frames(address - 1))
    }

    /// Checks whether a function with a matching name made a call, directly or through library
    /// functions.
    pub fn is_called_by(
        &self,
        is_caller: impl Fn(&str) -> bool,
        returns_to: u64,
        slot: u64,
        memory: Memory<'_>,
    ) -> bool {
        let named = |frame: &Frame| frame.function.as_deref().is_some_and(&is_caller);
        let mut callers = self.callers(returns_to, slot, memory);
        let decisive = callers.find(|frame| named(frame) || frame.is_own());
        decisive.is_some_and(|frame| named(&frame))
    }

    /// Returns the return addresses of a call and of the calls around it. The outermost return
    /// addresses may be missing.
    fn returns(&self, returns_to: u64, slot: u64, memory: Memory<'_>) -> impl Iterator<Item = u64> {
        let start = Some((returns_to, slot));
        let all = std::iter::successors(start, move |&at| self.return_of(at, memory));
        let addresses = all.map(|(address, _)| address).take(DEEPEST);
        addresses.take_while(|&address| address > 0)
    }

    /// Returns the source position of an instruction: the innermost position outside of libraries,
    /// or the innermost position if all are in libraries. (Functions of headers may be inlined into
    /// the program's own functions.) Returns `None` if no position is known.
    pub fn place(&self, instruction: u64) -> Option<Frame> {
        let mut frames = self.frames(instruction);
        frames.retain(|frame| frame.file.is_some());
        let found = frames.iter().position(Frame::is_own).unwrap_or_default();
        (found < frames.len()).then(|| frames.swap_remove(found))
    }

    /// Checks whether the source of an instruction is not that of a library.
    pub fn is_own(&self, instruction: u64) -> bool {
        self.place(instruction).is_some_and(|place| place.is_own())
    }

    /// Given the return address of a call and its place on the stack, returns those of the calling
    /// function.
    fn return_of(&self, (returns_to, slot): (u64, u64), memory: Memory<'_>) -> Option<(u64, u64)> {
        let call = returns_to.checked_sub(1)?;
        let (names, base) = self.at(call)?;
        let registers = Registers::new(call - base, slot + 8, 0).without_frame_pointer();
        if let Some(unwound) = names.unwind(&registers, memory) {
            let slot = unwound.canonical_address - 8;
            return Some((memory(slot)?, slot));
        }
        let function = self.function_at(call)?;
        let above = (slot + 8..slot.saturating_add(FARTHEST)).step_by(8);
        let callers = self.slots(above, memory);
        let caller = callers.iter().find(|caller| match caller.call {
            Call::Direct(target) => self.function_at(target) == Some(function),
            Call::Indirect => false,
        })?;
        Some((caller.returns_to, caller.address))
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

    /// Returns the variable in the frame between two return addresses, if they belong to one frame.
    fn within(&self, start: Slot, end: Slot, scan: &Scan<'_>) -> Option<Variable> {
        let canonical_address = end.address + 8;
        let (names, base) = self.at(start.returns_to - 1)?;
        let registers = Registers::new(
            start.returns_to - 1 - base,
            start.address + 8,
            // The value that a frame pointer has, if the function uses one.
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
            // Without a frame pointer, the size of the frame must match. With a frame pointer, the
            // called function has saved the pointer.
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

    /// Returns the start of the function that contains this instruction.
    fn function_at(&self, instruction: u64) -> Option<u64> {
        let (names, base) = self.at(instruction)?;
        Some(base + names.function_start(instruction - base)?)
    }
}
