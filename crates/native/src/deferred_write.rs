//! Finds write hooks that are followed by another hook before the write itself. Gcc copies a
//! structure after two hooks: first the write hook, then the read hook.

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess,
    OpKind, Register,
};

/// The largest number of instructions to examine.
const ENOUGH: usize = 32;

/// Returns the slot of the next function that the code at `start` calls, if the code changes no
/// memory before the call. The slot holds the address of a shared library's function. The slot is
/// given as its distance from the beginning of the code.
///
/// ```
/// use mazurka_native::slot_of_next_call;
/// let mov_edi_eax_call_slot = [0x89, 0xc7, 0xff, 0x15, 0x10, 0, 0, 0];
/// assert_eq!(slot_of_next_call(&mov_edi_eax_call_slot, 0), Some(0x18));
/// let mov_to_rax_1_call_slot = [0xc6, 0x00, 0x01, 0xff, 0x15, 0x10, 0, 0, 0];
/// assert_eq!(slot_of_next_call(&mov_to_rax_1_call_slot, 0), None);
/// ```
pub fn slot_of_next_call(code: &[u8], start: usize) -> Option<usize> {
    let mut factory = InstructionInfoFactory::new();
    for instruction in instructions(code, start).take(ENOUGH) {
        match instruction.flow_control() {
            FlowControl::Next if !changes_memory(&mut factory, &instruction) => {}
            FlowControl::IndirectCall => return slot(&instruction),
            FlowControl::Call => {
                return slot_of_stub(code, instruction.near_branch_target() as usize);
            }
            _ => return None,
        }
    }
    None
}

/// Returns the slot through which a linker stub jumps.
fn slot_of_stub(code: &[u8], start: usize) -> Option<usize> {
    let mut stub = instructions(code, start);
    let jump = stub.find(|instruction| instruction.code() != Code::Endbr64)?;
    let jumps = jump.flow_control() == FlowControl::IndirectBranch;
    jumps.then(|| slot(&jump)).flatten()
}

/// Returns the memory location that holds the target of a call or jump, if this location is fixed.
fn slot(instruction: &Instruction) -> Option<usize> {
    let is_fixed = instruction.op0_kind() == OpKind::Memory
        && instruction.memory_base() == Register::RIP
        && instruction.memory_index() == Register::None;
    is_fixed.then(|| instruction.memory_displacement64() as usize)
}

fn changes_memory(factory: &mut InstructionInfoFactory, instruction: &Instruction) -> bool {
    let used = factory.info(instruction).used_memory();
    used.iter()
        .any(|memory| !matches!(memory.access(), OpAccess::Read | OpAccess::NoMemAccess))
}

fn instructions(code: &[u8], start: usize) -> impl Iterator<Item = Instruction> {
    let bytes = code.get(start..).unwrap_or_default();
    let decoder = Decoder::with_ip(64, bytes, start as u64, DecoderOptions::NONE);
    decoder
        .into_iter()
        .take_while(|instruction| !instruction.is_invalid())
}
