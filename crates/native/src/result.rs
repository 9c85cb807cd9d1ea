//! Whether the code behind a call looks at what the call gave.

use iced_x86::{Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, OpAccess, Register};

/// Whether the code that a function returns to reads its result (`eax`) before it overwrites it. Where the code does
/// not tell, it does.
///
/// ```
/// use mazurka_native::reads_result;
/// let mov_eax_0_ret = [0xb8, 0, 0, 0, 0, 0xc3];
/// assert!(!reads_result(&mov_eax_0_ret));
/// let cmp_eax_minus_1 = [0x83, 0xf8, 0xff];
/// assert!(reads_result(&cmp_eax_minus_1));
/// ```
pub fn reads_result(code: &[u8]) -> bool {
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let mut factory = InstructionInfoFactory::new();
    for instruction in &mut decoder {
        if instruction.is_invalid() {
            return true;
        }
        let info = factory.info(&instruction);
        let mut uses = info.used_registers().iter();
        let accumulator = uses.find(|used| used.register().full_register() == Register::RAX);
        match accumulator.map(|used| used.access()) {
            Some(OpAccess::Write) => return false,
            Some(OpAccess::None) | None => {}
            Some(_) => return true,
        }
        match instruction.flow_control() {
            FlowControl::Next => {}
            // What is called gets no argument there, and overwrites it.
            FlowControl::Call | FlowControl::IndirectCall => return false,
            _ => return true,
        }
    }
    true
}
