//! Finds the variables in a function's frame that other threads may access although clang omits
//! hooks for them.
//!
//! Clang omits the hook of an access whose address does not escape. For a member or an element,
//! clang considers only its own address, not the address of the whole variable (LLVM 14). This
//! analysis considers the whole variable: if an address in the variable escapes, accesses to all
//! its parts need a hook.

use super::Surroundings;
use super::values::{ENTRY_STACK, STACK_POINTER, State, Terms, Value};
use iced_x86::{Instruction, Mnemonic, OpAccess, OpKind, Register, UsedRegister};
use std::collections::BTreeSet;
use std::ops::Range;

/// The registers of the first arguments of a call.
const ARGUMENTS: [usize; 6] = [7, 6, 2, 1, 8, 9];
/// The distance from the stack pointer at a function's entry to the function's canonical frame
/// address (DWARF).
const RETURN_ADDRESS: i64 = 8;

/// The addresses of a frame that escape.
#[derive(Default)]
pub(super) struct Frame {
    /// Whether accesses to its variables may lack hooks.
    pub(super) may_lack_hooks: bool,
    escaped: BTreeSet<Value>,
    /// Addresses of the frame that are stored in the frame itself, as pairs (place, address).
    kept: BTreeSet<(Value, Value)>,
    /// The places of all variables, relative to the stack pointer at the entry; `None` if unknown.
    variables: Option<Vec<Range<i64>>>,
}

impl Frame {
    pub(super) fn of(function: u64, around: &dyn Surroundings) -> Frame {
        Frame {
            may_lack_hooks: around.omits_hooks(function),
            ..Frame::default()
        }
    }

    /// Records a call to a function that is not a hook.
    pub(super) fn call(&mut self, state: &State, terms: &Terms) {
        let arguments = ARGUMENTS.map(|register| state.registers[register]);
        self.escaped
            .extend(arguments.into_iter().filter(|&value| terms.is_stack(value)));
    }

    /// Records that an instruction uses these registers, and perhaps stores to this address.
    pub(super) fn step(
        &mut self,
        instruction: &Instruction,
        used: &[UsedRegister],
        stored: Option<Value>,
        (state, terms): (&State, &Terms),
    ) {
        let held = |register: Register| {
            let is_whole = register.is_gpr64() && register.number() != STACK_POINTER;
            let value = state.registers[register.full_register().number() & 15];
            (is_whole && terms.is_stack(value)).then_some(value)
        };
        let is_followed = match instruction.mnemonic() {
            Mnemonic::Lea | Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Pop | Mnemonic::Leave => {
                true
            }
            Mnemonic::Add | Mnemonic::Sub => instruction.op0_kind() == OpKind::Register,
            Mnemonic::Mov => instruction.op0_kind() == OpKind::Register,
            Mnemonic::Push => instruction.op0_register() == Register::RBP,
            _ => false,
        };
        if is_followed {
            return;
        }
        let is_slot = instruction.mnemonic() == Mnemonic::Mov
            && instruction.memory_base() != Register::RSP
            && stored.is_some_and(|place| terms.is_stack(place));
        let is_address = |register: Register| {
            register == instruction.memory_base() || register == instruction.memory_index()
        };
        let is_operand = |register: Register| {
            (0..instruction.op_count()).any(|operand| {
                instruction.op_kind(operand) == OpKind::Register
                    && instruction.op_register(operand) == register
            })
        };
        let read = used
            .iter()
            .filter(|used| !matches!(used.access(), OpAccess::Write | OpAccess::CondWrite))
            .map(UsedRegister::register)
            .filter(|&register| is_operand(register) || !is_address(register));
        for value in read.filter_map(held) {
            match stored.filter(|_| is_slot) {
                Some(place) => {
                    self.kept.insert((place, value));
                }
                None => {
                    self.escaped.insert(value);
                }
            }
        }
    }

    /// Completes the set of escaped addresses after the function has been followed. An address that
    /// is stored in the frame also escapes, in two cases: if it is stored in a variable, or if it
    /// is stored at or above an escaped address.
    pub(super) fn close(&mut self, function: u64, around: &dyn Surroundings) {
        if !self.may_lack_hooks || self.escaped.is_empty() && self.kept.is_empty() {
            return;
        }
        let places = around.frame_variables(function);
        self.variables = places.map(|places| {
            let shifted =
                |place: Range<i64>| place.start + RETURN_ADDRESS..place.end + RETURN_ADDRESS;
            places.into_iter().map(shifted).collect()
        });
        loop {
            let found = self.kept.iter().filter(|&&(place, value)| {
                !self.escaped.contains(&value)
                    && (self.variable_at(place).is_some() || self.is_behind_escaped(place))
            });
            let found: Vec<Value> = found.map(|&(_, value)| value).collect();
            if found.is_empty() {
                return;
            }
            self.escaped.extend(found);
        }
    }

    fn variable_at(&self, place: Value) -> Option<&Range<i64>> {
        let variables = self.variables.iter().flatten();
        let mut variables = variables.filter(|_| place.base == ENTRY_STACK);
        variables.find(|variable| variable.contains(&place.offset))
    }

    fn is_behind_escaped(&self, place: Value) -> bool {
        let first = Value {
            base: place.base,
            offset: i64::MIN,
        };
        self.escaped.range(first..=place).next().is_some()
    }

    /// Checks whether other threads may access the variable at an address.
    pub(super) fn is_shared(&self, place: Value) -> bool {
        if self.variables.is_none() || place.base != ENTRY_STACK {
            return self.is_behind_escaped(place);
        }
        self.variable_at(place).is_some_and(|variable| {
            let [first, last] = [variable.start, variable.end - 1].map(|offset| Value {
                base: ENTRY_STACK,
                offset,
            });
            first <= last && self.escaped.range(first..=last).next().is_some()
        })
    }
}
