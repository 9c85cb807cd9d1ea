//! Unwinds from a stack frame to that of its caller, with the exception tables (`.eh_frame`).

use super::information::{Reader, section};
use super::location::{Machine, Memory, RETURN_ADDRESS, Registers};
use gimli::{
    BaseAddresses, CfaRule, CieOrFde, EhFrame, EhFrameHdr, EvaluationResult, Expression, Location,
    ParsedEhFrameHdr, Register, RegisterRule, UnwindContext, UnwindSection, UnwindTableRow, Value,
};
use object::{Object, ObjectSection};
use std::ops::Range;

pub struct Unwinding {
    frames: EhFrame<Reader>,
    index: Option<ParsedEhFrameHdr<Reader>>,
    bases: BaseAddresses,
}

/// An unwound frame. Code addresses are those of the image, stack addresses those of the process.
pub struct Unwound {
    /// The canonical frame address (CFA): the stack pointer before the call that created this
    /// frame.
    pub canonical_address: u64,
    /// The caller's registers, with the return address minus one as the current instruction. `None`
    /// for the outermost frame.
    pub caller: Option<Registers>,
}

/// The layout of a function's frame while a call runs. Offsets are relative to the CFA.
#[derive(Clone, Debug)]
pub struct Layout {
    pub function: Range<u64>,
    /// A register, and the distance from its value to the CFA.
    pub end: (u16, i64),
    /// The registers of the caller that are saved, and their places.
    pub saved: Vec<(u16, i64)>,
    pub has_landing_pads: bool,
}

/// The number of `rsp` in the tables.
pub const STACK_POINTER: u16 = 7;

/// The number of general registers, which include all that calls preserve.
const REGISTERS: u16 = 16;
const ENCODING: gimli::Encoding = gimli::Encoding {
    address_size: 8,
    format: gimli::Format::Dwarf32,
    version: 4,
};

impl Unwinding {
    pub fn of(file: &object::File<'_>) -> Unwinding {
        let address = |name| {
            file.section_by_name(name)
                .map_or(0, |found| found.address())
        };
        let bases = BaseAddresses::default()
            .set_eh_frame(address(".eh_frame"))
            .set_eh_frame_hdr(address(".eh_frame_hdr"))
            .set_text(address(".text"));
        let index = EhFrameHdr::from(section(file, ".eh_frame_hdr"));
        Unwinding {
            frames: EhFrame::from(section(file, ".eh_frame")),
            index: index.parse(&bases, ENCODING.address_size).ok(),
            bases,
        }
    }

    /// Unwinds the frame with these registers. The instruction in them is an address in the image.
    pub fn unwind(&self, registers: &Registers, memory: Memory<'_>) -> Option<Unwound> {
        let mut context = UnwindContext::new();
        let row = self.row(&mut context, registers.instruction())?;
        let machine = |canonical_address| Machine {
            registers,
            memory,
            canonical_address,
            frame_base: None,
        };
        let canonical_address = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                registers.of(*register)?.wrapping_add_signed(*offset)
            }
            CfaRule::Expression(expression) => {
                let expression = expression.get(&self.frames).ok()?;
                value(expression, &machine(None), None)?
            }
        };
        let machine = machine(Some(canonical_address));
        let caller = self.caller(row, &machine);
        Some(Unwound {
            canonical_address,
            caller,
        })
    }

    /// Returns the layout of a function's frame at an instruction, usually a call.
    pub fn layout(&self, instruction: u64) -> Option<Layout> {
        let get_cie = EhFrame::cie_from_offset;
        let function = match self.index.as_ref().and_then(ParsedEhFrameHdr::table) {
            Some(table) => table.fde_for_address(&self.frames, &self.bases, instruction, get_cie),
            None => self
                .frames
                .fde_for_address(&self.bases, instruction, get_cie),
        };
        let function = function.ok()?;
        let start = function.initial_address();
        let mut context = UnwindContext::new();
        // An entry that begins in the middle describes a part of another function.
        if self.end_of_frame(self.row(&mut context, start)?)? != (STACK_POINTER, 8) {
            return None;
        }
        let mut context = UnwindContext::new();
        let row = self.row(&mut context, instruction)?;
        let saved = (0..REGISTERS).filter_map(|number| match row.register(Register(number)) {
            None | Some(RegisterRule::SameValue) => None,
            Some(RegisterRule::Offset(offset)) => Some(Some((number, offset))),
            Some(_) => Some(None),
        });
        Some(Layout {
            function: start..start + function.len(),
            end: self.end_of_frame(row)?,
            saved: saved.collect::<Option<_>>()?,
            has_landing_pads: function.lsda().is_some(),
        })
    }

    fn end_of_frame(&self, row: &UnwindTableRow<usize>) -> Option<(u16, i64)> {
        match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => Some((register.0, *offset)),
            CfaRule::Expression(_) => None,
        }
    }

    /// Returns the address and the size of each function in the tables.
    pub fn functions(&self) -> Vec<(u64, u64)> {
        let mut entries = self.frames.entries(&self.bases);
        let mut found = Vec::new();
        while let Ok(Some(entry)) = entries.next() {
            if let CieOrFde::Fde(partial) = entry
                && let Ok(entry) = partial.parse(EhFrame::cie_from_offset)
            {
                found.push((entry.initial_address(), entry.len()));
            }
        }
        found
    }

    fn row<'a>(
        &self,
        context: &'a mut UnwindContext<usize>,
        instruction: u64,
    ) -> Option<&'a UnwindTableRow<usize>> {
        let get_cie = EhFrame::cie_from_offset;
        match self.index.as_ref().and_then(ParsedEhFrameHdr::table) {
            Some(table) => table
                .unwind_info_for_address(&self.frames, &self.bases, context, instruction, get_cie)
                .ok(),
            None => self
                .frames
                .unwind_info_for_address(&self.bases, context, instruction, get_cie)
                .ok(),
        }
    }

    fn caller(&self, row: &UnwindTableRow<usize>, machine: &Machine<'_>) -> Option<Registers> {
        let returns_to = self.restored(row, RETURN_ADDRESS, machine)?;
        let mut caller = machine.registers.clone();
        for number in 0..REGISTERS {
            let register = Register(number);
            caller.set(register, self.restored(row, register, machine));
        }
        let stack = machine.canonical_address?;
        Some(
            caller
                .with_instruction(returns_to.checked_sub(1)?)
                .with_stack(stack),
        )
    }

    fn restored(
        &self,
        row: &UnwindTableRow<usize>,
        register: Register,
        machine: &Machine<'_>,
    ) -> Option<u64> {
        let stack = machine.canonical_address?;
        match row.register(register) {
            None | Some(RegisterRule::SameValue) => machine.registers.of(register),
            Some(RegisterRule::Offset(offset)) => {
                (machine.memory)(stack.wrapping_add_signed(offset))
            }
            Some(RegisterRule::ValOffset(offset)) => Some(stack.wrapping_add_signed(offset)),
            Some(RegisterRule::Register(other)) => machine.registers.of(other),
            Some(RegisterRule::Expression(expression)) => {
                let expression = expression.get(&self.frames).ok()?;
                (machine.memory)(value(expression, machine, Some(stack))?)
            }
            Some(RegisterRule::ValExpression(expression)) => {
                value(expression.get(&self.frames).ok()?, machine, Some(stack))
            }
            Some(RegisterRule::Constant(value)) => Some(value),
            Some(_) => None,
        }
    }
}

/// Evaluates an expression of the tables. The evaluation stack initially contains `first`.
fn value(expression: Expression<Reader>, machine: &Machine<'_>, first: Option<u64>) -> Option<u64> {
    let mut evaluation = expression.evaluation(ENCODING);
    if let Some(first) = first {
        evaluation.set_initial_value(first);
    }
    let mut result = evaluation.evaluate().ok()?;
    loop {
        result = match result {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = machine.registers.of(register)?;
                evaluation
                    .resume_with_register(Value::Generic(value))
                    .ok()?
            }
            EvaluationResult::RequiresMemory {
                address, size: 8, ..
            } => {
                let value = (machine.memory)(address)?;
                evaluation.resume_with_memory(Value::Generic(value)).ok()?
            }
            _ => return None,
        };
    }
    match evaluation.as_result().first()?.location {
        Location::Address { address } => Some(address),
        _ => None,
    }
}
