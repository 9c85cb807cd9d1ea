//! Evaluates location expressions of the debug information.

use super::information::{Information, Reader};
use gimli::{EvaluationResult, Expression, Location, Register, Unit, Value};

/// The registers of a thread at an instruction, as far as they are known.
///
/// ```
/// use mazurka_native::Registers;
/// let here = Registers::new(0x401136, 0x7ffe_0000, 0x7ffe_0010);
/// assert_eq!(here.instruction(), 0x401136);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    instruction: u64,
    /// Indexed by their numbers in the debug information.
    general: [Option<u64>; 16],
}

/// Reads eight bytes of the process's memory. Returns `None` if they cannot be read.
pub type Memory<'a> = &'a dyn Fn(u64) -> Option<u64>;

const STACK_POINTER: usize = 7;
const FRAME_POINTER: usize = 6;
/// The column of the return address in the unwinding tables.
pub const RETURN_ADDRESS: Register = Register(16);

impl Registers {
    /// Creates registers from the current instruction (for a caller: one byte before its return
    /// address), the stack pointer `rsp` and the frame pointer `rbp`.
    pub fn new(instruction: u64, stack: u64, frame: u64) -> Registers {
        let mut general = [None; 16];
        general[STACK_POINTER] = Some(stack);
        general[FRAME_POINTER] = Some(frame);
        Registers {
            instruction,
            general,
        }
    }

    /// Returns the address of the current instruction.
    pub fn instruction(&self) -> u64 {
        self.instruction
    }

    pub(super) fn without_frame_pointer(&self) -> Registers {
        let mut registers = self.clone();
        registers.general[FRAME_POINTER] = None;
        registers
    }

    pub(super) fn of(&self, register: Register) -> Option<u64> {
        *self.general.get(usize::from(register.0))?
    }

    pub(super) fn set(&mut self, register: Register, value: Option<u64>) {
        if let Some(known) = self.general.get_mut(usize::from(register.0)) {
            *known = value;
        }
    }

    pub(super) fn with_instruction(mut self, instruction: u64) -> Registers {
        self.instruction = instruction;
        self
    }

    pub(super) fn with_stack(mut self, stack: u64) -> Registers {
        self.general[STACK_POINTER] = Some(stack);
        self
    }
}

/// A stack frame, as expressions refer to it.
pub struct Machine<'a> {
    pub registers: &'a Registers,
    pub memory: Memory<'a>,
    /// The stack pointer before the call that created this frame.
    pub canonical_address: Option<u64>,
    pub frame_base: Option<u64>,
}

/// The location of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Address(u64),
    /// An offset in the block that each thread has for this image.
    ThreadLocal(u64),
    Value(u64),
}

/// Evaluates an expression. Without a machine, only fixed locations can be determined.
pub fn evaluate(
    information: &Information,
    unit: &Unit<Reader>,
    expression: Expression<Reader>,
    machine: Option<&Machine<'_>>,
) -> Option<Found> {
    let mut evaluation = expression.evaluation(unit.encoding());
    let mut result = evaluation.evaluate().ok()?;
    loop {
        let next = match result {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRelocatedAddress(address) => {
                evaluation.resume_with_relocated_address(address)
            }
            EvaluationResult::RequiresIndexedAddress { index, .. } => {
                let address = information.dwarf.address(unit, index).ok()?;
                evaluation.resume_with_indexed_address(address)
            }
            EvaluationResult::RequiresTls(offset) => return Some(Found::ThreadLocal(offset)),
            EvaluationResult::RequiresFrameBase => {
                evaluation.resume_with_frame_base(machine?.frame_base?)
            }
            EvaluationResult::RequiresCallFrameCfa => {
                evaluation.resume_with_call_frame_cfa(machine?.canonical_address?)
            }
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = machine?.registers.of(register)?;
                evaluation.resume_with_register(Value::Generic(value))
            }
            EvaluationResult::RequiresMemory {
                address, size: 8, ..
            } => {
                let value = (machine?.memory)(address)?;
                evaluation.resume_with_memory(Value::Generic(value))
            }
            _ => return None,
        };
        result = next.ok()?;
    }
    match evaluation.as_result().first()?.location {
        Location::Address { address } => Some(Found::Address(address)),
        Location::Register { register } => Some(Found::Value(machine?.registers.of(register)?)),
        Location::Value { value } => Some(Found::Value(value.to_u64(u64::MAX).ok()?)),
        Location::Empty | Location::Bytes { .. } | Location::ImplicitPointer { .. } => None,
    }
}
