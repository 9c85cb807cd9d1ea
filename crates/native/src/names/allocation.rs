//! Finds the type of a heap block from the variable in which the result of the allocation is
//! stored, or from the parameter to which the result is passed (such as a constructor's `this`).
//! The type is that to which the variable or the parameter points.

use super::access_path::{Span, part};
use super::code::{Destination, destination};
use super::images::Images;
use super::information::{EntryId, Information};
use super::location::Machine;
use super::table::Table;
use super::types::Types;
use super::{Memory, Names, Registers, Variable};
use gimli::constants;

/// A block of the heap.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The address that the call of the allocating function returns to.
    pub returns_to: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// A part of a block of the heap.
#[derive(Clone, Debug)]
pub struct Content {
    /// The type of the block or of its elements: `list::node`. Empty for a type without a name.
    pub type_name: String,
    /// The part. Its name follows that of the block: `.next`, `[2].value`, or empty.
    pub part: Variable,
}

/// The end of an imaginary frame, in which the variable at a given place is looked up.
const SOMEWHERE: u64 = 1 << 40;

impl Images {
    /// Returns the part of a block that begins at `offset` and has `size` bytes, or `None` if the
    /// type of the block is unknown. `memory` reads the code of the process.
    pub fn in_block(
        &self,
        block: Block,
        (offset, size): (u64, u64),
        memory: Memory<'_>,
    ) -> Option<Content> {
        // The origin of a block may be unknown.
        let (names, base) = self.at(block.returns_to.checked_sub(1)?)?;
        let information = names.information.as_ref()?;
        let table = names.table(information);
        let call = block.returns_to - 1 - base;
        let content = destination(block.returns_to, memory, |destination| match destination {
            Destination::Frame(distance) => names.pointed_at_by_local(call, distance),
            Destination::Address(address) => names.pointed_at_by_global(address.checked_sub(base)?),
            Destination::Argument(function) => {
                first_parameter(information, table, function.checked_sub(base)?)
            }
        })?;
        let types = Types { information, table };
        let type_size = types.size(content).filter(|size| *size > 0)?;
        let within = Span {
            offset: offset % type_size,
            size,
        };
        // Bytes that span several elements have no name.
        if within.offset + size > type_size {
            return None;
        }
        let part = part(types, content, within);
        let index = match block.size > type_size {
            true => format!("[{}]", offset / type_size),
            false => String::new(),
        };
        Some(Content {
            type_name: types.name(content).unwrap_or_default(),
            part: Variable {
                name: format!("{index}{}", part.path),
                kind: part.kind,
            },
        })
    }
}

impl Names {
    /// Returns the type that a local variable at a distance from the frame pointer points to.
    fn pointed_at_by_local(&self, instruction: u64, distance: i64) -> Option<EntryId> {
        let frame = SOMEWHERE - 16;
        let registers = Registers::new(instruction, frame, frame);
        let machine = Machine {
            registers: &registers,
            memory: &|_| None,
            canonical_address: Some(SOMEWHERE),
            frame_base: None,
        };
        let local = self.found_local(&machine, frame.wrapping_add_signed(distance))?;
        let is_whole = local.address == frame.wrapping_add_signed(distance);
        let information = self.information.as_ref()?;
        self.types(information)
            .pointed_at(local.type_of)
            .filter(|_| is_whole)
    }

    /// Returns the type that a variable at a fixed address points to.
    fn pointed_at_by_global(&self, address: u64) -> Option<EntryId> {
        let information = self.information.as_ref()?;
        let globals = &self.table(information).globals;
        let index = globals.binary_search_by_key(&address, |global| global.address);
        let type_of = globals[index.ok()?].type_of?;
        self.types(information).pointed_at(type_of)
    }
}

/// Returns the type that the first parameter of a function points to.
fn first_parameter(information: &Information, table: &Table, function: u64) -> Option<EntryId> {
    let function = table.function(function)?.entry;
    let types = Types { information, table };
    let children = types.children(function);
    let first = children
        .iter()
        .find(|child| child.tag() == constants::DW_TAG_formal_parameter)?;
    types.pointed_at(information.type_of(function.unit, first)?)
}
