//! Value numbers for the contents of registers and stack slots: equal numbers mean equal values.

use iced_x86::{Code, Instruction, Mnemonic, OpKind, Register};
use std::collections::{BTreeMap, HashMap};

/// A base, which stands for an unknown number, plus a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Value {
    pub(super) base: u32,
    pub(super) offset: i64,
}

/// The base of constants.
pub(super) const ABSOLUTE: u32 = 0;
/// The stack pointer at the function's entry.
pub(super) const ENTRY_STACK: u32 = 1;
/// An unknown address on the thread's own stack.
const SOME_STACK: u32 = 2;
/// The thread pointer.
pub(super) const THREAD: u32 = 3;

pub(super) const STACK_POINTER: usize = 4;
pub(super) const FRAME_POINTER: usize = 5;

/// The meaning of a base.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Term {
    /// One of the bases above.
    Fixed(u32),
    /// The value that the instruction at this address leaves in a register.
    Result(u64, usize),
    /// The value of a register at the start of a block, where paths with different values may meet.
    Merged(usize, usize),
    /// A function of other values.
    Computed(u32, Vec<Value>),
    /// The product of a base and a scale of 2, 4 or 8.
    Scaled(u32, u32),
    /// The sum of two bases.
    Sum(u32, u32),
}

/// All bases of a function.
pub(super) struct Terms {
    known: HashMap<Term, u32>,
    /// For each base, whether it stands for an address on the thread's own stack.
    is_stack: Vec<bool>,
}

impl Terms {
    pub(super) fn new() -> Terms {
        let mut terms = Terms {
            known: HashMap::new(),
            is_stack: Vec::new(),
        };
        for base in [ABSOLUTE, ENTRY_STACK, SOME_STACK, THREAD] {
            terms.base(Term::Fixed(base), [ENTRY_STACK, SOME_STACK].contains(&base));
        }
        terms
    }

    fn base(&mut self, term: Term, is_stack: bool) -> u32 {
        let next = self.is_stack.len() as u32;
        let base = *self.known.entry(term).or_insert(next);
        if base == next {
            self.is_stack.push(is_stack);
        }
        base
    }

    fn value(&mut self, term: Term, is_stack: bool) -> Value {
        let base = self.base(term, is_stack);
        Value { base, offset: 0 }
    }

    /// Checks whether the value is an address on the thread's own stack.
    pub(super) fn is_stack(&self, value: Value) -> bool {
        self.is_stack[value.base as usize]
    }

    pub(super) fn merged(&mut self, block: usize, register: usize) -> Value {
        self.value(Term::Merged(block, register), false)
    }

    fn result(&mut self, instruction: &Instruction, register: usize) -> Value {
        self.value(Term::Result(instruction.ip(), register), false)
    }

    fn sum(&mut self, one: Value, other: Value) -> Value {
        let offset = one.offset.wrapping_add(other.offset);
        let base = match (one.base, other.base) {
            (ABSOLUTE, base) | (base, ABSOLUTE) => base,
            (one, other) => {
                let is_stack = self.is_stack[one as usize] || self.is_stack[other as usize];
                self.base(Term::Sum(one.min(other), one.max(other)), is_stack)
            }
        };
        Value { base, offset }
    }

    fn scaled(&mut self, value: Value, scale: u32) -> Value {
        let base = match (value.base, scale) {
            (ABSOLUTE, _) | (_, 1) => value.base,
            (base, scale) => self.base(Term::Scaled(base, scale), false),
        };
        Value {
            base,
            offset: value.offset.wrapping_mul(i64::from(scale)),
        }
    }

    /// Returns the address of a memory operand.
    pub(super) fn address(&mut self, state: &State, operand: Operand) -> Value {
        let mut address = constant(operand.displacement);
        if let Some(base) = operand.base {
            address = self.sum(address, state.registers[base]);
        }
        if let Some(index) = operand.index {
            let index = self.scaled(state.registers[index], operand.scale);
            address = self.sum(address, index);
        }
        match operand.is_thread_local {
            true => self.sum(
                address,
                Value {
                    base: THREAD,
                    offset: 0,
                },
            ),
            false => address,
        }
    }
}

pub(super) fn constant(offset: i64) -> Value {
    Value {
        base: ABSOLUTE,
        offset,
    }
}

/// A memory operand. Registers are given by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The base register.
    pub base: Option<usize>,
    /// The index register, which is multiplied by the scale.
    pub index: Option<usize>,
    /// 1, 2, 4 or 8.
    pub scale: u32,
    /// A constant, or an address.
    pub displacement: i64,
    /// Whether the address is relative to the thread pointer.
    pub is_thread_local: bool,
}

impl Operand {
    /// Creates an operand from its parts. Returns `None` if this kind of operand is not supported.
    pub(super) fn of(
        [base, index, segment]: [Register; 3],
        scale: u32,
        displacement: u64,
    ) -> Option<Operand> {
        let number = |register: Register| match register {
            Register::None | Register::RIP => Some(None),
            register if register.is_gpr64() => Some(Some(register.number())),
            _ => None,
        };
        Some(Operand {
            base: number(base)?,
            index: number(index)?,
            scale,
            displacement: displacement as i64,
            is_thread_local: segment == Register::FS,
        })
    }

    /// Returns the explicit memory operand of the instruction.
    pub(super) fn explicit(instruction: &Instruction) -> Option<Operand> {
        let base = instruction.memory_base();
        let index = instruction.memory_index();
        Operand::of(
            [base, index, instruction.memory_segment()],
            instruction.memory_index_scale(),
            instruction.memory_displacement64(),
        )
    }
}

/// The values in registers and stack slots at one place.
#[derive(Clone, PartialEq)]
pub(super) struct State {
    pub(super) registers: [Value; 16],
    /// The known values of stack slots, by their addresses and lengths.
    slots: BTreeMap<(Value, usize), Value>,
}

impl State {
    /// The state at the entry of a function.
    pub(super) fn entry(terms: &mut Terms) -> State {
        let mut state = State::unknown(terms, usize::MAX, false);
        state.registers[STACK_POINTER] = Value {
            base: ENTRY_STACK,
            offset: 0,
        };
        state
    }

    /// The state at a block that no known path reaches.
    pub(super) fn unknown(terms: &mut Terms, block: usize, has_frame_pointer: bool) -> State {
        let mut registers = std::array::from_fn(|register| terms.merged(block, register));
        registers[STACK_POINTER] = Value {
            base: SOME_STACK,
            offset: 0,
        };
        if has_frame_pointer {
            // The value of the frame pointer after the prologue has pushed it.
            registers[FRAME_POINTER] = Value {
                base: ENTRY_STACK,
                offset: -8,
            };
        }
        State {
            registers,
            slots: BTreeMap::new(),
        }
    }

    /// Keeps the values that are equal on both paths to a block. Returns whether this changes the
    /// state.
    pub(super) fn merge(&mut self, other: &State, terms: &mut Terms, block: usize) -> bool {
        let mut changes = false;
        for register in 0..16 {
            if self.registers[register] != other.registers[register] {
                let one = self.registers[register];
                let is_stack = terms.is_stack(one) && terms.is_stack(other.registers[register]);
                let merged = match is_stack {
                    true => Value {
                        base: SOME_STACK,
                        offset: 0,
                    },
                    false => terms.merged(block, register),
                };
                changes |= one != merged;
                self.registers[register] = merged;
            }
        }
        let before = self.slots.len();
        self.slots
            .retain(|slot, value| other.slots.get(slot) == Some(value));
        changes || before != self.slots.len()
    }

    /// Applies a call, which changes registers. Stack slots keep their values. If the called
    /// function can change a slot, the caller has hooks for its own accesses to the slot (but see
    /// `frame`), and the analysis calls `forget` at each of these hooks.
    pub(super) fn call(&mut self, terms: &mut Terms, instruction: &Instruction) {
        for register in [0, 1, 2, 6, 7, 8, 9, 10, 11] {
            self.registers[register] = terms.result(instruction, register);
        }
    }

    /// Forgets the values of these bytes of the stack.
    pub(super) fn forget(&mut self, address: Value, length: usize) {
        self.slots.retain(|&(slot, size), _| {
            slot.base != address.base
                || slot.offset + size as i64 <= address.offset
                || address.offset + length as i64 <= slot.offset
        });
    }

    /// Applies a write to the stack.
    pub(super) fn store(
        &mut self,
        terms: &mut Terms,
        address: Value,
        length: usize,
        instruction: &Instruction,
    ) {
        self.forget(address, length);
        let source = match instruction.mnemonic() {
            Mnemonic::Mov if instruction.op1_kind() == OpKind::Register => {
                instruction.op1_register()
            }
            Mnemonic::Push if instruction.op0_kind() == OpKind::Register => {
                instruction.op0_register()
            }
            _ => return,
        };
        if source.is_gpr64() {
            let value = self.registers[source.number()];
            self.slots.insert((address, length), value);
        } else if source.is_gpr32() {
            // A later load reads this value, and clears the upper half of its register.
            let value = self.registers[source.number()];
            let lower = terms.value(Term::Computed(LOWER_HALF, vec![value]), false);
            self.slots.insert((address, length), lower);
        }
    }

    /// Returns the value that the instruction leaves in a register that it writes.
    pub(super) fn computed(
        &mut self,
        terms: &mut Terms,
        instruction: &Instruction,
        register: usize,
    ) -> Value {
        let unknown = terms.result(instruction, register);
        let is_first = instruction.op0_kind() == OpKind::Register
            && instruction.op0_register().full_register().number() == register;
        match instruction.mnemonic() {
            Mnemonic::Cdqe | Mnemonic::Cwde | Mnemonic::Cdq | Mnemonic::Cqo => {
                let key = instruction.code() as u32;
                return terms.value(Term::Computed(key, vec![self.registers[0]]), false);
            }
            Mnemonic::Push | Mnemonic::Pop if register == STACK_POINTER => {
                let by = instruction.stack_pointer_increment();
                return terms.sum(self.registers[STACK_POINTER], constant(i64::from(by)));
            }
            Mnemonic::Leave if register == STACK_POINTER => {
                return terms.sum(self.registers[FRAME_POINTER], constant(8));
            }
            Mnemonic::Pop | Mnemonic::Leave => {
                let place = match instruction.mnemonic() {
                    Mnemonic::Leave => self.registers[FRAME_POINTER],
                    _ => self.registers[STACK_POINTER],
                };
                return self.slots.get(&(place, 8)).copied().unwrap_or(unknown);
            }
            _ if !is_first || instruction.op_count() == 0 => return unknown,
            _ => {}
        }
        let is_whole = instruction.op0_register().is_gpr64();
        match (instruction.mnemonic(), is_whole) {
            (Mnemonic::Lea, true) => {
                return Operand::explicit(instruction).map_or(unknown, |operand| {
                    terms.address(
                        self,
                        Operand {
                            is_thread_local: false,
                            ..operand
                        },
                    )
                });
            }
            (Mnemonic::Mov, true) if instruction.op1_kind() == OpKind::Register => {
                return self.registers[instruction.op1_register().full_register().number()];
            }
            (Mnemonic::Mov, _) if instruction.op1_kind() == OpKind::Memory => {
                return self.loaded(terms, instruction, unknown);
            }
            (Mnemonic::Mov, _)
                if is_immediate(instruction.op1_kind())
                    && (is_whole || instruction.op0_register().is_gpr32()) =>
            {
                return constant(instruction.immediate(1) as i64);
            }
            (Mnemonic::Xor, _)
                if instruction.op1_kind() == OpKind::Register
                    && instruction.op0_register() == instruction.op1_register() =>
            {
                return constant(0);
            }
            (Mnemonic::Add | Mnemonic::Sub, true) => {
                let is_sum = instruction.mnemonic() == Mnemonic::Add;
                let one = self.registers[register];
                if is_immediate(instruction.op1_kind()) {
                    let by = instruction.immediate(1) as i64;
                    let by = if is_sum { by } else { by.wrapping_neg() };
                    return terms.sum(one, constant(by));
                }
                if is_sum && instruction.op1_kind() == OpKind::Register {
                    let other = self.registers[instruction.op1_register().full_register().number()];
                    return terms.sum(one, other);
                }
            }
            (Mnemonic::Shl, true) if is_immediate(instruction.op1_kind()) => {
                let by = instruction.immediate(1);
                if (1..=3).contains(&by) {
                    return terms.scaled(self.registers[register], 1 << by);
                }
            }
            _ => {}
        }
        self.function_of_operands(terms, instruction, register)
            .unwrap_or(unknown)
    }

    /// Returns the value of a load, which is known for stack slots and for the thread pointer.
    fn loaded(&mut self, terms: &mut Terms, instruction: &Instruction, unknown: Value) -> Value {
        let length = instruction.memory_size().size();
        let Some(operand) = Operand::explicit(instruction) else {
            return unknown;
        };
        let address = terms.address(self, operand);
        if address.base == THREAD && address.offset == 0 {
            return Value {
                base: THREAD,
                offset: 0,
            };
        }
        match terms.is_stack(address) && matches!(length, 4 | 8) {
            true => *self.slots.entry((address, length)).or_insert(unknown),
            false => unknown,
        }
    }

    /// Returns the value if it depends only on registers, constants and a stack slot: equal inputs
    /// give an equal value.
    fn function_of_operands(
        &mut self,
        terms: &mut Terms,
        instruction: &Instruction,
        register: usize,
    ) -> Option<Value> {
        use Mnemonic::{
            Add, And, Imul, Mov, Movsx, Movsxd, Movzx, Neg, Not, Or, Sar, Shl, Shr, Sub, Xor,
        };
        let mnemonic = instruction.mnemonic();
        let is_known = matches!(
            mnemonic,
            And | Imul
                | Mov
                | Movsx
                | Movsxd
                | Movzx
                | Neg
                | Not
                | Or
                | Sar
                | Shl
                | Shr
                | Sub
                | Xor
                | Add
        );
        if !is_known {
            return None;
        }
        let mut inputs = Vec::new();
        let keeps = !matches!(mnemonic, Mov | Movsx | Movsxd | Movzx)
            || !(instruction.op0_register().is_gpr64() || instruction.op0_register().is_gpr32());
        if keeps && !(mnemonic == Imul && instruction.op_count() == 3) {
            inputs.push(self.registers[register]);
        }
        for operand in 1..instruction.op_count() {
            let kind = instruction.op_kind(operand);
            if kind == OpKind::Register {
                let source = instruction.op_register(operand);
                if !source.is_gpr() || is_high(source) {
                    return None;
                }
                inputs.push(self.registers[source.full_register().number()]);
            } else if is_immediate(kind) {
                inputs.push(constant(instruction.immediate(operand) as i64));
            } else if kind == OpKind::Memory {
                // A load of a stack slot with an extension.
                let operand = Operand::explicit(instruction)?;
                let address = terms.address(self, operand);
                if !terms.is_stack(address) {
                    return None;
                }
                let length = instruction.memory_size().size();
                let fresh = terms.result(instruction, 16);
                inputs.push(*self.slots.entry((address, length)).or_insert(fresh));
            } else {
                return None;
            }
        }
        if instruction.op0_register().is_gpr() && is_high(instruction.op0_register()) {
            return None;
        }
        let key = match instruction.code() {
            Code::Mov_r32_rm32 | Code::Mov_rm32_r32 => LOWER_HALF,
            code => code as u32,
        };
        let is_stack =
            mnemonic == And && inputs.first().is_some_and(|&first| terms.is_stack(first));
        Some(terms.value(Term::Computed(key, inputs), is_stack))
    }
}

/// The first field of a `Computed` term that is the lower half of a value. In other `Computed`
/// terms, this field is an instruction code.
const LOWER_HALF: u32 = u32::MAX;

fn is_high(register: Register) -> bool {
    matches!(
        register,
        Register::AH | Register::BH | Register::CH | Register::DH
    )
}

fn is_immediate(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64
    )
}
