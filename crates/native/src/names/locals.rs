//! Local variables that live on the stack.

use super::information::{Entry, EntryId, Information, Reader};
use super::location::{Found, Machine, evaluate};
use super::table::{Function, Table};
use super::types::Types;
use gimli::{AttributeValue, EntriesCursor, Unit, constants};
use std::ops::Range;

/// A local variable or parameter that contains the address in question.
pub struct Local {
    /// The name with that of its function: `main::shared`.
    pub name: String,
    pub address: u64,
    pub type_of: EntryId,
}

/// Finds the local variable of a function at an address of its frame.
pub struct Locals<'a> {
    pub information: &'a Information,
    pub table: &'a Table,
    pub function: &'a Function,
}

impl Locals<'_> {
    /// Returns the innermost variable at `address`, in the frame that `machine` describes. The
    /// instruction of `machine` is an address in the image.
    pub fn at(&self, address: u64, machine: &Machine<'_>) -> Option<Local> {
        let id = self.function.entry;
        let unit = self.information.unit(id);
        let entry = self.information.entry(id)?;
        let frame_base =
            match self.expression(unit, &entry, constants::DW_AT_frame_base, machine)? {
                Found::Address(base) | Found::Value(base) => base,
                Found::ThreadLocal(_) => return None,
            };
        let machine = Machine {
            frame_base: Some(frame_base),
            ..*machine
        };
        let mut found = None;
        let mut cursor = unit.entries_at_offset(id.offset).ok()?;
        let depth = entry_after(&mut cursor)?.depth();
        // This function and those inlined into it, with their depths, the innermost last.
        let mut around = vec![(depth, id)];
        let mut skipped: Option<isize> = None;
        while let Some(entry) = entry_after(&mut cursor).filter(|entry| entry.depth() > depth) {
            if skipped.is_some_and(|above| entry.depth() > above) {
                continue;
            }
            skipped = None;
            around.retain(|(above, _)| *above < entry.depth());
            let id = EntryId {
                offset: entry.offset(),
                ..id
            };
            match entry.tag() {
                constants::DW_TAG_variable | constants::DW_TAG_formal_parameter => {
                    let scope = around.last().map(|(_, scope)| *scope);
                    found = self.variable(&entry, scope, address, &machine).or(found);
                }
                constants::DW_TAG_lexical_block if self.runs_in(unit, &entry, &machine) => {}
                constants::DW_TAG_inlined_subroutine if self.runs_in(unit, &entry, &machine) => {
                    around.push((entry.depth(), id));
                }
                _ => skipped = Some(entry.depth()),
            }
        }
        found
    }

    /// Returns the places of all variables, relative to the canonical frame address, if each has
    /// one place in the whole function, as in code that is not optimized.
    pub fn places(&self, machine: &Machine<'_>) -> Option<Vec<Range<i64>>> {
        let id = self.function.entry;
        let unit = self.information.unit(id);
        let entry = self.information.entry(id)?;
        let (Found::Address(base) | Found::Value(base)) =
            self.expression(unit, &entry, constants::DW_AT_frame_base, machine)?
        else {
            return None;
        };
        let machine = Machine {
            frame_base: Some(base),
            ..*machine
        };
        let types = Types {
            information: self.information,
            table: self.table,
        };
        let mut places = Vec::new();
        let mut cursor = unit.entries_at_offset(id.offset).ok()?;
        let depth = entry_after(&mut cursor)?.depth();
        while let Some(entry) = entry_after(&mut cursor).filter(|entry| entry.depth() > depth) {
            match entry.tag() {
                constants::DW_TAG_variable | constants::DW_TAG_formal_parameter => {}
                constants::DW_TAG_inlined_subroutine => return None,
                _ => continue,
            }
            let expression = match entry.attr_value(constants::DW_AT_location) {
                Some(AttributeValue::Exprloc(expression)) => expression,
                None if is_without_place(&entry) => continue,
                Some(_) | None => return None,
            };
            if let Found::Address(start) =
                evaluate(self.information, unit, expression, Some(&machine))?
            {
                let size = types.size(self.information.type_of(id.unit, &entry)?)?;
                let start = start.wrapping_sub(machine.canonical_address?) as i64;
                places.push(start..start.checked_add_unsigned(size)?);
            }
        }
        Some(places)
    }

    fn variable(
        &self,
        entry: &Entry,
        scope: Option<EntryId>,
        address: u64,
        machine: &Machine<'_>,
    ) -> Option<Local> {
        let unit = self.function.entry.unit;
        let location = constants::DW_AT_location;
        let Found::Address(start) =
            self.expression(&self.information.units[unit], entry, location, machine)?
        else {
            return None;
        };
        let type_of = self.information.type_of(unit, entry)?;
        let types = Types {
            information: self.information,
            table: self.table,
        };
        let offset = address.checked_sub(start)?;
        if offset >= types.size(type_of)?.max(1) {
            return None;
        }
        let name = self.information.name(unit, entry)?;
        let function = scope.and_then(|scope| self.table.name(self.information, scope));
        Some(Local {
            name: match function {
                Some(function) => format!("{function}::{name}"),
                None => name,
            },
            address: start,
            type_of,
        })
    }

    /// Evaluates an attribute that is an expression, or a list of expressions for parts of the
    /// code.
    fn expression(
        &self,
        unit: &Unit<Reader>,
        entry: &Entry,
        attribute: gimli::DwAt,
        machine: &Machine<'_>,
    ) -> Option<Found> {
        let value = entry.attr_value(attribute)?;
        if let AttributeValue::Exprloc(expression) = value {
            return evaluate(self.information, unit, expression, Some(machine));
        }
        let mut locations = self.information.dwarf.attr_locations(unit, value).ok()??;
        let instruction = machine.registers.instruction();
        while let Ok(Some(part)) = locations.next() {
            if (part.range.begin..part.range.end).contains(&instruction) {
                return evaluate(self.information, unit, part.data, Some(machine));
            }
        }
        None
    }

    /// Checks whether the instruction is in a block. A block without code ranges counts as
    /// containing the instruction.
    fn runs_in(&self, unit: &Unit<Reader>, entry: &Entry, machine: &Machine<'_>) -> bool {
        let Ok(mut ranges) = self.information.dwarf.die_ranges(unit, entry) else {
            return true;
        };
        let instruction = machine.registers.instruction();
        let mut has_code = false;
        while let Ok(Some(range)) = ranges.next() {
            if (range.begin..range.end).contains(&instruction) {
                return true;
            }
            has_code = true;
        }
        !has_code
    }
}

fn entry_after(cursor: &mut EntriesCursor<'_, Reader>) -> Option<Entry> {
    cursor.next_dfs().ok()?.cloned()
}

/// Checks whether the entry of a variable says that it has no place of its own.
fn is_without_place(entry: &Entry) -> bool {
    let has = |attribute| entry.attr_value(attribute).is_some();
    has(constants::DW_AT_const_value) || has(constants::DW_AT_declaration)
}
