//! The calls in a function's machine code.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};

/// What a call names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    /// A function, or a stub that jumps to one.
    Code(u64),
    /// A word that holds the address of a function.
    Slot(u64),
}

impl Callee {
    /// What a call or a jump names; nothing if that is in a register.
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

/// The calls in the code of a function that begins at this address: where each returns to, and what it names. Calls through registers are
/// left out.
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
