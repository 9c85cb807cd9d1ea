//! The debug information of one image: its units, entries, and references between entries.

use addr2line::Context;
use gimli::{
    AttributeValue, DebugInfoOffset, DebuggingInformationEntry, DwAt, Dwarf, EndianArcSlice,
    LittleEndian, Reader as _, Unit, UnitOffset, constants,
};
use object::{Object, ObjectSection};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

pub type Reader = EndianArcSlice<LittleEndian>;
pub type Entry = DebuggingInformationEntry<Reader>;

/// An entry of the debug information.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryId {
    /// The index in [`Information::units`].
    pub unit: usize,
    pub offset: UnitOffset,
}

pub struct Information {
    pub dwarf: Arc<Dwarf<Reader>>,
    /// The units in the order of their offsets.
    pub units: Vec<Unit<Reader>>,
    pub lines: Context<Reader>,
}

impl Information {
    /// Reads the debug information. Returns `None` if it is missing or unreadable.
    pub fn of(file: &object::File<'_>) -> Option<Information> {
        file.section_by_name(".debug_info")?;
        let load = |id: gimli::SectionId| Ok::<_, gimli::Error>(section(file, id.name()));
        let dwarf = Arc::new(Dwarf::load(load).ok()?);
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            units.push(dwarf.unit(header).ok()?);
        }
        let lines = Context::from_arc_dwarf(Arc::clone(&dwarf)).ok()?;
        Some(Information {
            dwarf,
            units,
            lines,
        })
    }

    pub fn unit(&self, id: EntryId) -> &Unit<Reader> {
        &self.units[id.unit]
    }

    pub fn entry(&self, id: EntryId) -> Option<Entry> {
        self.unit(id).entry(id.offset).ok()
    }

    /// Returns the entry that an attribute refers to.
    pub fn referred(&self, unit: usize, entry: &Entry, attribute: DwAt) -> Option<EntryId> {
        match entry.attr_value(attribute)? {
            AttributeValue::UnitRef(offset) => Some(EntryId { unit, offset }),
            AttributeValue::DebugInfoRef(offset) => self.anywhere(offset),
            _ => None,
        }
    }

    /// Returns the entry that this entry completes: a declaration, or the function that was
    /// inlined.
    pub fn origin(&self, unit: usize, entry: &Entry) -> Option<EntryId> {
        [
            constants::DW_AT_specification,
            constants::DW_AT_abstract_origin,
        ]
        .iter()
        .find_map(|attribute| self.referred(unit, entry, *attribute))
    }

    /// Returns the name that the entry itself has.
    pub fn own_name(&self, unit: usize, entry: &Entry) -> Option<String> {
        let value = entry.attr_value(constants::DW_AT_name)?;
        let text = self.dwarf.attr_string(&self.units[unit], value).ok()?;
        Some(text.to_string_lossy().ok()?.into_owned())
    }

    /// Returns the name of an entry or of its origin.
    pub fn name(&self, unit: usize, entry: &Entry) -> Option<String> {
        self.with_origin(unit, entry, |unit, entry| self.own_name(unit, entry))
    }

    /// Returns the type of an entry or of its origin.
    pub fn type_of(&self, unit: usize, entry: &Entry) -> Option<EntryId> {
        self.with_origin(unit, entry, |unit, entry| {
            self.referred(unit, entry, constants::DW_AT_type)
        })
    }

    pub fn number(entry: &Entry, attribute: DwAt) -> Option<u64> {
        entry.attr_value(attribute)?.udata_value()
    }

    /// Returns the source file of an entry.
    pub fn file(&self, unit: usize, entry: &Entry) -> Option<PathBuf> {
        let AttributeValue::FileIndex(index) = entry.attr_value(constants::DW_AT_decl_file)? else {
            return None;
        };
        let unit = &self.units[unit];
        let header = unit.line_program.as_ref()?.header();
        let file = header.file(index)?;
        let text = |value| {
            let text = self.dwarf.attr_string(unit, value).ok()?;
            Some(PathBuf::from(text.to_string_lossy().ok()?.into_owned()))
        };
        let folder = file.directory(header).and_then(text).unwrap_or_default();
        Some(folder.join(text(file.path_name())?))
    }

    /// Returns the first result of `ask` for an entry, its origin, and the origin of its origin.
    fn with_origin<T>(
        &self,
        unit: usize,
        entry: &Entry,
        ask: impl Fn(usize, &Entry) -> Option<T>,
    ) -> Option<T> {
        let mut at = (unit, entry.clone());
        for _ in 0..3 {
            if let Some(answer) = ask(at.0, &at.1) {
                return Some(answer);
            }
            let origin = self.origin(at.0, &at.1)?;
            at = (origin.unit, self.entry(origin)?);
        }
        None
    }

    fn anywhere(&self, offset: DebugInfoOffset) -> Option<EntryId> {
        let starts_after = |unit: &Unit<Reader>| {
            let start = unit.header.debug_info_offset();
            start.is_some_and(|start| start > offset)
        };
        let unit = self
            .units
            .iter()
            .position(starts_after)
            .unwrap_or(self.units.len())
            .checked_sub(1)?;
        let offset = offset.to_unit_offset(&self.units[unit].header)?;
        Some(EntryId { unit, offset })
    }
}

/// Returns the bytes of a section, empty if it is missing.
pub fn section(file: &object::File<'_>, name: &str) -> Reader {
    let data = file
        .section_by_name(name)
        .and_then(|section| section.uncompressed_data().ok())
        .unwrap_or_default();
    EndianArcSlice::new(Arc::from(&*data), LittleEndian)
}

/// Normalizes a path: `/a/./b/../c.c` becomes `/a/c.c`.
pub fn direct(path: &str) -> String {
    let mut parts = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if parts.file_name().is_some() => {
                parts.pop();
            }
            Component::ParentDir
            | Component::Prefix(_)
            | Component::RootDir
            | Component::Normal(_) => parts.push(part),
        }
    }
    parts.to_string_lossy().into_owned()
}

/// Checks whether a file belongs to the system, whose internals are not shown.
pub fn is_of_library(file: &str) -> bool {
    file.starts_with("/usr/include/") || file.starts_with("/usr/lib/")
}
