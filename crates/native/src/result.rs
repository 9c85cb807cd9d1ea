//! Checks whether the code after a call uses the result of the call.

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess, Register,
};

/// The largest number of instructions to examine, over all paths.
const ENOUGH: usize = 64;

/// Checks whether the code at `start`, to which a function returns, may read the result (`eax`)
/// before overwriting it. Returns true if this cannot be determined.
///
/// ```
/// use mazurka_native::reads_result;
/// let mov_eax_0_ret = [0xb8, 0, 0, 0, 0, 0xc3];
/// assert!(!reads_result(&mov_eax_0_ret, 0));
/// let cmp_eax_minus_1 = [0x83, 0xf8, 0xff];
/// assert!(reads_result(&cmp_eax_minus_1, 0));
/// ```
pub fn reads_result(code: &[u8], start: usize) -> bool {
    let mut factory = InstructionInfoFactory::new();
    let mut seen = Vec::new();
    let mut ways = vec![start];
    while let Some(mut position) = ways.pop() {
        while !seen.contains(&position) {
            seen.push(position);
            let Some(instruction) = decoded(code, position).filter(|_| seen.len() < ENOUGH) else {
                return true;
            };
            match accumulator(&mut factory, &instruction) {
                Some(OpAccess::Write) => break,
                Some(OpAccess::None) | None => {}
                Some(_) => return true,
            }
            let target = instruction.near_branch_target() as usize;
            match instruction.flow_control() {
                FlowControl::Next => {}
                FlowControl::ConditionalBranch => ways.push(target),
                FlowControl::UnconditionalBranch => {
                    position = target;
                    continue;
                }
                // The called function takes no argument in `eax`, and overwrites it.
                FlowControl::Call | FlowControl::IndirectCall => break,
                _ => return true,
            }
            position += instruction.len();
        }
    }
    false
}

fn decoded(code: &[u8], position: usize) -> Option<Instruction> {
    let bytes = code.get(position..)?;
    let mut decoder = Decoder::with_ip(64, bytes, position as u64, DecoderOptions::NONE);
    let instruction = decoder.can_decode().then(|| decoder.decode())?;
    (!instruction.is_invalid()).then_some(instruction)
}

/// Returns how the instruction accesses the result register.
fn accumulator(
    factory: &mut InstructionInfoFactory,
    instruction: &Instruction,
) -> Option<OpAccess> {
    let used = factory.info(instruction).used_registers();
    let mut used = used.iter();
    let rax = used.find(|used| used.register().full_register() == Register::RAX);
    rax.map(|used| used.access())
}
