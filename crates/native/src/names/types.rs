//! The structure of types, read lazily from the debug information.

use super::information::{Entry, EntryId, Information, direct, is_of_library};
use super::table::Table;
use super::value::Kind;
use gimli::{AttributeValue, constants};

/// A type without its aliases and qualifiers.
pub enum Shape {
    Scalar { kind: Kind, size: u64 },
    Array { element: EntryId, lengths: Vec<u64> },
    Record(Record),
    Opaque,
}

/// A structure, union or class.
pub struct Record {
    /// Whether the type belongs to a library. Members of such types are not shown if their names
    /// are reserved.
    pub is_of_library: bool,
    pub members: Vec<Member>,
}

/// A member, or a base class, which has no name.
pub struct Member {
    pub name: Option<String>,
    /// The distance from the start of the record, in bytes.
    pub offset: u64,
    pub type_of: EntryId,
    /// For a bit field: its first bit, counted from the start of the record, and its number of
    /// bits.
    pub bits: Option<(u64, u64)>,
}

#[derive(Clone, Copy)]
pub struct Types<'a> {
    pub information: &'a Information,
    pub table: &'a Table,
}

/// The greatest number of aliases and qualifiers around a type. A greater number means a cycle in
/// damaged data.
const DEEPEST: usize = 64;

impl Types<'_> {
    pub fn shape(&self, id: EntryId) -> Shape {
        self.known_shape(id).unwrap_or(Shape::Opaque)
    }

    /// Returns the size in bytes, or `None` for a type that is only declared.
    pub fn size(&self, id: EntryId) -> Option<u64> {
        let (id, entry) = self.bare(id)?;
        match entry.tag() {
            constants::DW_TAG_array_type => {
                let element = self.information.type_of(id.unit, &entry)?;
                let elements: u64 = self.lengths(id).iter().product();
                Some(self.size(element)? * elements)
            }
            constants::DW_TAG_pointer_type
            | constants::DW_TAG_reference_type
            | constants::DW_TAG_rvalue_reference_type => Some(8),
            _ => Information::number(&entry, constants::DW_AT_byte_size),
        }
    }

    /// Returns the type to which a pointer or reference points. Returns `None` for a pointer to
    /// `void`, and for other types.
    pub fn pointed_at(&self, id: EntryId) -> Option<EntryId> {
        let (id, entry) = self.bare(id)?;
        let is_pointer = matches!(
            entry.tag(),
            constants::DW_TAG_pointer_type | constants::DW_TAG_reference_type
        );
        let pointed_at = self.information.type_of(id.unit, &entry)?;
        is_pointer.then_some(pointed_at)
    }

    /// Returns the name of a type without qualifiers: the outermost alias, or the type's own name.
    pub fn name(&self, mut id: EntryId) -> Option<String> {
        for _ in 0..DEEPEST {
            let entry = self.information.entry(id)?;
            let is_nameless_qualifier = matches!(
                entry.tag(),
                constants::DW_TAG_const_type
                    | constants::DW_TAG_volatile_type
                    | constants::DW_TAG_atomic_type
            );
            if !is_nameless_qualifier {
                let name_of_entry = || self.information.own_name(id.unit, &entry);
                return self
                    .table
                    .name(self.information, id)
                    .cloned()
                    .or_else(name_of_entry);
            }
            id = self.information.type_of(id.unit, &entry)?;
        }
        None
    }

    fn known_shape(&self, id: EntryId) -> Option<Shape> {
        let (id, entry) = self.bare(id)?;
        Some(match entry.tag() {
            constants::DW_TAG_array_type => Shape::Array {
                element: self.information.type_of(id.unit, &entry)?,
                lengths: self.lengths(id),
            },
            constants::DW_TAG_structure_type
            | constants::DW_TAG_class_type
            | constants::DW_TAG_union_type => Shape::Record(Record {
                is_of_library: self.is_of_library(id, &entry),
                members: self.members(id),
            }),
            constants::DW_TAG_base_type => Shape::Scalar {
                kind: self.base(id, &entry)?,
                size: self.size(id)?,
            },
            constants::DW_TAG_enumeration_type => Shape::Scalar {
                kind: Kind::Enumeration(self.constants(id)),
                size: self.size(id)?,
            },
            constants::DW_TAG_pointer_type
            | constants::DW_TAG_reference_type
            | constants::DW_TAG_rvalue_reference_type => Shape::Scalar {
                kind: Kind::Pointer,
                size: 8,
            },
            _ => Shape::Opaque,
        })
    }

    /// Returns the type without aliases and qualifiers.
    fn bare(&self, mut id: EntryId) -> Option<(EntryId, Entry)> {
        for _ in 0..DEEPEST {
            let entry = self.information.entry(id)?;
            match entry.tag() {
                constants::DW_TAG_typedef
                | constants::DW_TAG_const_type
                | constants::DW_TAG_volatile_type
                | constants::DW_TAG_restrict_type
                | constants::DW_TAG_atomic_type => {
                    id = self.information.type_of(id.unit, &entry)?;
                }
                _ => return Some((id, entry)),
            }
        }
        None
    }

    pub fn children(&self, id: EntryId) -> Vec<Entry> {
        let mut children = Vec::new();
        let Ok(mut cursor) = self.information.unit(id).entries_at_offset(id.offset) else {
            return children;
        };
        if cursor.next_dfs().is_err() {
            return children;
        }
        let Some(depth) = cursor.current().map(|entry| entry.depth()) else {
            return children;
        };
        while let Ok(Some(entry)) = cursor.next_dfs() {
            match entry.depth() - depth {
                1 => children.push(entry.clone()),
                deeper if deeper > 1 => {}
                _ => break,
            }
        }
        children
    }

    /// Returns the lengths of an array's dimensions, with 0 for a dimension without a length.
    fn lengths(&self, id: EntryId) -> Vec<u64> {
        let children = self.children(id);
        let dimensions = children
            .iter()
            .filter(|child| child.tag() == constants::DW_TAG_subrange_type);
        dimensions
            .map(|dimension| {
                let count = Information::number(dimension, constants::DW_AT_count);
                let last = Information::number(dimension, constants::DW_AT_upper_bound);
                count.or(last.map(|last| last.wrapping_add(1))).unwrap_or(0)
            })
            .collect()
    }

    fn members(&self, id: EntryId) -> Vec<Member> {
        let children = self.children(id);
        let members = children.iter().filter_map(|child| match child.tag() {
            constants::DW_TAG_member | constants::DW_TAG_inheritance => self.member(id.unit, child),
            _ => None,
        });
        members.collect()
    }

    /// Returns `None` for a static member, and for a virtual base class, whose place differs
    /// between objects.
    fn member(&self, unit: usize, entry: &Entry) -> Option<Member> {
        if entry.has_attr(constants::DW_AT_external) || entry.has_attr(constants::DW_AT_declaration)
        {
            return None;
        }
        let type_of = self.information.type_of(unit, entry)?;
        let number = |attribute| Information::number(entry, attribute);
        let offset = match entry.attr_value(constants::DW_AT_data_member_location) {
            Some(value) => value.udata_value()?,
            None => 0,
        };
        let bits = number(constants::DW_AT_bit_size).and_then(|width| {
            let first = number(constants::DW_AT_data_bit_offset).map(|bit| offset * 8 + bit);
            // Before DWARF 4, the bit is counted from the most significant bit of the storage unit.
            let before = || {
                let from_top = number(constants::DW_AT_bit_offset)?;
                let stored = number(constants::DW_AT_byte_size).or_else(|| self.size(type_of))?;
                (offset * 8 + stored * 8).checked_sub(from_top + width)
            };
            Some((first.or_else(before)?, width))
        });
        Some(Member {
            name: match entry.tag() {
                constants::DW_TAG_inheritance => None,
                _ => self.information.own_name(unit, entry),
            },
            offset,
            type_of,
            bits,
        })
    }

    fn base(&self, id: EntryId, entry: &Entry) -> Option<Kind> {
        let AttributeValue::Encoding(encoding) = entry.attr_value(constants::DW_AT_encoding)?
        else {
            return None;
        };
        let is_plain_char = || self.information.own_name(id.unit, entry).as_deref() == Some("char");
        Some(match encoding {
            constants::DW_ATE_boolean => Kind::Boolean,
            constants::DW_ATE_float => Kind::Float,
            constants::DW_ATE_signed_char | constants::DW_ATE_unsigned_char if is_plain_char() => {
                Kind::Character
            }
            constants::DW_ATE_signed | constants::DW_ATE_signed_char => Kind::Signed,
            constants::DW_ATE_unsigned
            | constants::DW_ATE_unsigned_char
            | constants::DW_ATE_UTF
            | constants::DW_ATE_address => Kind::Unsigned,
            _ => return None,
        })
    }

    fn constants(&self, id: EntryId) -> Vec<(i128, String)> {
        let children = self.children(id);
        let constants = children.iter().filter_map(|child| {
            let value = child.attr_value(constants::DW_AT_const_value)?;
            let number = match value {
                AttributeValue::Sdata(signed) => i128::from(signed),
                other => i128::from(other.udata_value()?),
            };
            Some((number, self.information.own_name(id.unit, child)?))
        });
        constants.collect()
    }

    fn is_of_library(&self, id: EntryId, entry: &Entry) -> bool {
        let name = self.table.name(self.information, id);
        if name.is_some_and(|name| name.starts_with("std::") || name.starts_with("__gnu_cxx::")) {
            return true;
        }
        let file = self.information.file(id.unit, entry);
        // Clang writes `/usr/bin/../include`.
        let file = file.map(|file| direct(&file.to_string_lossy()));
        file.is_some_and(|file| is_of_library(&file))
    }
}
