//! Tracks the stack pointer and frame pointer of a function, and the registers that hold addresses
//! of its frame.

use super::RETURN_ADDRESS;
use iced_x86::{
    FlowControl, Instruction, InstructionInfo, Mnemonic, OpAccess, OpKind, Register, UsedRegister,
};

/// The values of the two pointers before an instruction, as offsets from the canonical frame
/// address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointers {
    pub stack: i64,
    /// `None` if the register `rbp` is not known to point into the frame.
    pub frame: Option<i64>,
}

/// The state of the analysis before an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    pub pointers: Pointers,
    /// For each general register, the frame addresses that it may hold, as bits of [`Addresses`].
    held: [u64; 16],
}

/// The frame addresses that the function computes.
#[derive(Default)]
pub struct Addresses {
    offsets: Vec<i64>,
    /// The addresses that are used for anything other than a call of a hook. Other code may read
    /// there.
    taken: u64,
    /// Whether addresses that are not in `offsets` may also be used in this way.
    pub is_any_taken: bool,
}

impl Addresses {
    /// Returns the offsets of the addresses that are taken.
    pub fn taken(&self) -> impl Iterator<Item = i64> {
        let offsets = self.offsets.iter().enumerate();
        let taken = offsets.filter(|(number, _)| self.taken >> number & 1 != 0);
        taken.map(|(_, &offset)| offset)
    }

    fn bit(&mut self, offset: i64) -> Option<u64> {
        let known = self.offsets.iter().position(|&known| known == offset);
        let number = known.unwrap_or_else(|| {
            self.offsets.push(offset);
            self.offsets.len() - 1
        });
        1_u64.checked_shl(u32::try_from(number).ok()?)
    }
}

impl Known {
    /// The state at the beginning of a function.
    pub const ENTRY: Known = Known::of(Pointers {
        stack: RETURN_ADDRESS,
        frame: None,
    });

    pub const fn of(pointers: Pointers) -> Known {
        Known {
            pointers,
            held: [0; 16],
        }
    }

    /// Merges the states of two paths that meet. Returns `None` if the pointers differ.
    pub fn merge(self, other: Known) -> Option<Known> {
        let mut merged = self;
        for (one, more) in merged.held.iter_mut().zip(other.held) {
            *one |= more;
        }
        (self.pointers == other.pointers).then_some(merged)
    }

    /// Returns the state after an instruction, or `None` if the analysis fails. `calls_hook` is
    /// true if the instruction calls a hook that only announces an access.
    pub fn after(
        self,
        instruction: &Instruction,
        info: &InstructionInfo,
        calls_hook: bool,
        addresses: &mut Addresses,
    ) -> Option<Known> {
        let mut after = Known {
            pointers: self.pointers.after(instruction, info)?,
            held: self.held,
        };
        if is_call(instruction) {
            for register in (0..16).filter(|&register| !is_preserved(register)) {
                let held = std::mem::take(&mut after.held[register]);
                addresses.taken |= if calls_hook { 0 } else { held };
            }
            if !calls_hook {
                // If the function throws, code outside this analysis may use the preserved
                // registers.
                addresses.taken |= after.held.iter().fold(0, |all, held| all | held);
            }
            return Some(after);
        }
        let target = instruction.op0_register();
        if let Some(offset) = self.pointers.address(instruction) {
            after.held[number(target)?] = addresses.bit(offset)?;
            return Some(after);
        }
        if let Some(source) = self.copied(instruction) {
            after.held[number(target)?] = self.held[source];
            return Some(after);
        }
        addresses.is_any_taken |= self.pointers.gives_away(instruction, info);
        for used in info.used_registers() {
            let Some(register) = number(used.register().full_register()) else {
                continue;
            };
            if reads(used) || used.register().size() < 4 {
                addresses.taken |= self.held[register];
            }
            if writes(used) {
                after.held[register] = 0;
            }
        }
        Some(after)
    }

    /// Returns the source register if the instruction copies a general register to another one.
    /// Copies of the two pointers do not count.
    fn copied(&self, instruction: &Instruction) -> Option<usize> {
        let [target, source] = [instruction.op0_register(), instruction.op1_register()];
        let is_copy = instruction.mnemonic() == Mnemonic::Mov
            && instruction.op_kind(0) == OpKind::Register
            && instruction.op_kind(1) == OpKind::Register
            && target.is_gpr64()
            && source.is_gpr64()
            && !self.pointers.is_pointer(source)
            && target != Register::RSP;
        is_copy.then(|| number(source)).flatten()
    }
}

impl Pointers {
    /// Returns the offset of the address that the instruction computes into a register other than
    /// the two pointers.
    fn address(self, instruction: &Instruction) -> Option<i64> {
        let target = instruction.op0_register();
        let is_plain = instruction.op_kind(0) == OpKind::Register
            && target.is_gpr64()
            && target != Register::RSP;
        if !is_plain {
            return None;
        }
        match instruction.mnemonic() {
            Mnemonic::Lea if instruction.memory_index() == Register::None => self.place(
                instruction.memory_base(),
                instruction.memory_displacement64(),
            ),
            Mnemonic::Mov
                if instruction.op_kind(1) == OpKind::Register && target != Register::RBP =>
            {
                self.place(instruction.op1_register(), 0)
            }
            _ => None,
        }
    }

    fn after(self, instruction: &Instruction, info: &InstructionInfo) -> Option<Pointers> {
        let Pointers {
            mut stack,
            mut frame,
        } = self;
        let writes = |register| {
            let mut used = info.used_registers().iter();
            used.any(|used| used.register().full_register() == register && writes(used))
        };
        let [first, second] = [instruction.op0_register(), instruction.op1_register()];
        let is_immediate =
            instruction.op1_kind() != OpKind::Register && instruction.op1_kind() != OpKind::Memory;
        match instruction.mnemonic() {
            Mnemonic::Push | Mnemonic::Pop if instruction.stack_pointer_increment().abs() != 8 => {
                return None;
            }
            Mnemonic::Push => stack -= 8,
            Mnemonic::Pop if first == Register::RSP => return None,
            Mnemonic::Pop => {
                stack += 8;
                if first == Register::RBP {
                    frame = None;
                }
            }
            Mnemonic::Leave => {
                stack = frame? + 8;
                frame = None;
            }
            Mnemonic::Sub if first == Register::RSP && is_immediate => {
                stack = stack.checked_sub(instruction.immediate(1) as i64)?;
            }
            Mnemonic::Add if first == Register::RSP && is_immediate => {
                stack = stack.checked_add(instruction.immediate(1) as i64)?;
            }
            Mnemonic::Lea if first == Register::RSP => {
                stack = self.place(
                    instruction.memory_base(),
                    instruction.memory_displacement64(),
                )?;
                (instruction.memory_index() == Register::None).then_some(())?;
            }
            Mnemonic::Mov if first == Register::RBP && second == Register::RSP => {
                frame = Some(stack);
            }
            Mnemonic::Mov if first == Register::RSP && second == Register::RBP => stack = frame?,
            Mnemonic::Call => {}
            Mnemonic::Ret => (stack == RETURN_ADDRESS).then_some(())?,
            _ if writes(Register::RSP) => return None,
            _ if writes(Register::RBP) => frame = None,
            _ => {}
        }
        Some(Pointers { stack, frame })
    }

    /// Checks whether the instruction uses a pointer to the frame in a way that the analysis does
    /// not follow.
    fn gives_away(self, instruction: &Instruction, info: &InstructionInfo) -> bool {
        let has_index = info.used_memory().iter().any(|memory| {
            self.is_pointer(memory.index())
                || self.is_pointer(memory.base()) && memory.index() != Register::None
        });
        let [first, second] = [instruction.op0_register(), instruction.op1_register()];
        let is_known = match instruction.mnemonic() {
            Mnemonic::Sub | Mnemonic::Add => {
                first == Register::RSP && instruction.op_kind(1) != OpKind::Register
            }
            Mnemonic::Mov => matches!(
                (first, second),
                (Register::RBP, Register::RSP) | (Register::RSP, Register::RBP)
            ),
            Mnemonic::Pop => true,
            Mnemonic::Lea => first == Register::RSP || !self.is_pointer(instruction.memory_base()),
            _ => false,
        };
        let mut operands = 0..instruction.op_count();
        let has_pointer = operands.any(|number| {
            instruction.op_kind(number) == OpKind::Register
                && self.is_pointer(instruction.op_register(number))
        });
        let is_lea = instruction.mnemonic() == Mnemonic::Lea;
        has_index || !is_known && (has_pointer || is_lea)
    }

    fn is_pointer(self, register: Register) -> bool {
        match register.full_register() {
            Register::RSP => true,
            Register::RBP => self.frame.is_some(),
            _ => false,
        }
    }

    /// Returns the offset that a register and a displacement refer to. Returns `None` if the
    /// register is not one of the two pointers.
    pub fn place(self, base: Register, displacement: u64) -> Option<i64> {
        let base = match base {
            Register::RSP => Some(self.stack),
            Register::RBP => self.frame,
            _ => None,
        };
        base?.checked_add(displacement as i64)
    }
}

pub fn is_call(instruction: &Instruction) -> bool {
    let flow = instruction.flow_control();
    matches!(flow, FlowControl::Call | FlowControl::IndirectCall)
}

pub fn reads(used: &UsedRegister) -> bool {
    !matches!(
        used.access(),
        OpAccess::Write | OpAccess::CondWrite | OpAccess::None
    )
}

fn writes(used: &UsedRegister) -> bool {
    !matches!(
        used.access(),
        OpAccess::Read | OpAccess::CondRead | OpAccess::None | OpAccess::NoMemAccess
    )
}

/// Returns the number of a general register.
fn number(register: Register) -> Option<usize> {
    register.is_gpr64().then(|| register.number())
}

fn is_preserved(number: usize) -> bool {
    super::PRESERVED
        .iter()
        .any(|preserved| preserved.number() == number)
}
