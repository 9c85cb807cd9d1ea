//! Decodes a few instructions around a call, to check return addresses and to follow results of
//! calls.

use super::Memory;
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

/// The length of the longest instruction.
const LONGEST: u64 = 15;
/// The number of bytes that are searched for the destination of a result.
const NEAR: u64 = 160;

/// The call before a return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// A call to the function at this address.
    Direct(u64),
    /// A call to a function whose address is in a register or in memory.
    Indirect,
}

/// Returns the call that may precede an address, or `None` if the bytes before it are not a call.
pub fn call_before(returns_to: u64, memory: Memory<'_>) -> Option<Call> {
    // The lengths of direct calls, and of calls by register and memory, with short and long
    // displacement.
    for length in [5, 2, 3, 6, 4, 7] {
        let start = returns_to.checked_sub(length)?;
        let code = bytes(start, LONGEST, memory)?;
        let mut decoder = Decoder::with_ip(64, &code, start, DecoderOptions::NONE);
        let instruction = decoder.decode();
        if instruction.next_ip() != returns_to {
            continue;
        }
        if instruction.is_call_near() {
            return Some(Call::Direct(instruction.near_branch_target()));
        }
        if instruction.is_call_near_indirect() {
            return Some(Call::Indirect);
        }
    }
    None
}

/// The destination of the result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Memory at this distance from the frame pointer.
    Frame(i64),
    /// Memory at this address.
    Address(u64),
    /// The first argument of the function at this address.
    Argument(u64),
}

/// Follows the result of a call through the instructions after `returns_to`, until it is stored or
/// passed to a destination that `accept` accepts. The result is also followed through temporary
/// variables.
pub fn destination<T>(
    returns_to: u64,
    memory: Memory<'_>,
    accept: impl Fn(Destination) -> Option<T>,
) -> Option<T> {
    let code = bytes(returns_to, NEAR, memory)?;
    let mut decoder = Decoder::with_ip(64, &code, returns_to, DecoderOptions::NONE);
    let mut holders = Holders {
        registers: vec![Register::RAX],
        places: Vec::new(),
    };
    while decoder.can_decode() {
        let instruction = decoder.decode();
        if instruction.is_invalid() || instruction.mnemonic() == Mnemonic::Ret {
            return None;
        }
        let found = holders.leads_to(&instruction);
        if let Some(accepted) = found.and_then(&accept) {
            return Some(accepted);
        }
        if let Some(Destination::Frame(place)) = found {
            holders.places.push(place);
        }
        holders.follow(&instruction);
    }
    None
}

/// The registers and places that hold the result of a call.
struct Holders {
    registers: Vec<Register>,
    /// Places in the frame, by their distance from the frame pointer.
    places: Vec<i64>,
}

impl Holders {
    /// Returns the destination to which an instruction stores or passes the result.
    fn leads_to(&self, instruction: &Instruction) -> Option<Destination> {
        if instruction.is_call_near() && self.registers.contains(&Register::RDI) {
            return Some(Destination::Argument(instruction.near_branch_target()));
        }
        let is_store = instruction.mnemonic() == Mnemonic::Mov
            && instruction.op0_kind() == OpKind::Memory
            && instruction.op1_kind() == OpKind::Register
            && self.registers.contains(&instruction.op1_register());
        place(instruction).filter(|_| is_store)
    }

    /// Updates the holders for the effect of an instruction.
    fn follow(&mut self, instruction: &Instruction) {
        if instruction.mnemonic() == Mnemonic::Call {
            self.registers.retain(is_preserved);
            return;
        }
        let keeps = matches!(
            instruction.mnemonic(),
            Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Push
        );
        if instruction.op0_kind() != OpKind::Register || keeps {
            return;
        }
        let is_copy = instruction.mnemonic() == Mnemonic::Mov
            && match (instruction.op1_kind(), place(instruction)) {
                (OpKind::Register, _) => self.registers.contains(&instruction.op1_register()),
                (OpKind::Memory, Some(Destination::Frame(place))) => self.places.contains(&place),
                _ => false,
            };
        let written = instruction.op0_register().full_register();
        self.registers.retain(|holder| *holder != written);
        if is_copy {
            self.registers.push(written);
        }
    }
}

/// Returns the memory operand of an instruction.
fn place(instruction: &Instruction) -> Option<Destination> {
    if instruction.memory_index() != Register::None {
        return None;
    }
    let displacement = instruction.memory_displacement64();
    match instruction.memory_base() {
        Register::RBP => Some(Destination::Frame(displacement.cast_signed())),
        // For an operand relative to the instruction, the decoder returns the absolute address.
        Register::RIP | Register::None => Some(Destination::Address(displacement)),
        _ => None,
    }
}

fn is_preserved(register: &Register) -> bool {
    matches!(
        register,
        Register::RBX | Register::R12 | Register::R13 | Register::R14 | Register::R15
    )
}

/// Reads bytes of code, as far as they are readable.
fn bytes(start: u64, length: u64, memory: Memory<'_>) -> Option<Vec<u8>> {
    let words = (0..length.div_ceil(8)).map_while(|index| memory(start + 8 * index));
    let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    (!bytes.is_empty()).then_some(bytes)
}
