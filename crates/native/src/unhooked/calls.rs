//! The calls in a function's machine code.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};

/// The target of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    /// The address of a function, or of a stub that jumps to a function.
    Code(u64),
    /// The address of a word that holds the address of a function.
    Slot(u64),
}

impl Callee {
    /// Returns the target of a direct call, or of an indirect call or jump through a word at a
    /// fixed address (relative to `rip`). Returns `None` for other instructions.
    pub(super) fn of(instruction: &Instruction) -> Option<Callee> {
        let is_slot = instruction.op0_kind() == OpKind::Memory
            && instruction.memory_base() == Register::RIP
            && instruction.memory_index() == Register::None;
        match instruction.flow_control() {
            FlowControl::Call => Some(Callee::Code(instruction.near_branch_target())),
            _ => is_slot.then(|| Callee::Slot(instruction.memory_displacement64())),
        }
    }
}

/// Returns the calls in the code of a function that begins at this address: the return address and
/// the target of each. Calls through registers or computed addresses are omitted.
///
/// ```
/// use mazurka_native::{Callee, calls};
/// let code = [0xe8, 0x0b, 0, 0, 0, 0xc3]; // call 0x1010; ret
/// assert_eq!(calls(&code, 0x1000), [(0x1005, Callee::Code(0x1010))]);
/// ```
pub fn calls(code: &[u8], start: u64) -> Vec<(u64, Callee)> {
    let decoder = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
    let is_call = |instruction: &Instruction| {
        let flow = instruction.flow_control();
        matches!(flow, FlowControl::Call | FlowControl::IndirectCall)
    };
    let calls = decoder.into_iter().filter(is_call);
    calls
        .filter_map(|call| Some((call.next_ip(), Callee::of(&call)?)))
        .collect()
}
