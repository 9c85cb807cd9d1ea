//! What addresses are called: places in the source, functions, variables down to the member and the element.
//!
//! Everything is read from the debug information (DWARF 4 and 5) of the image, and from its symbols where there is none.
//! Nothing is read before it is asked for. Not followed: pointers; virtual base classes; types in units of their own
//! (`-fdebug-types-section`), whose variables have names without members.

mod access_path;
mod allocation;
mod code;
mod images;
mod information;
mod locals;
mod location;
mod stack;
mod standard;
mod symbols;
mod table;
mod types;
mod unwinding;
mod value;

pub use allocation::{Block, Content};
pub use images::{Activation, Images};
pub use location::{Memory, Registers};

use crate::Surroundings;
use crate::liveness::{Dead, Function};
use access_path::{Span, part};
use information::{EntryId, Information, direct};
use locals::{Local, Locals};
use location::Machine;
use object::{Object, ObjectSection, SectionKind};
use std::cell::OnceCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fs, io};
use symbols::Symbols;
pub use symbols::demangled;
use table::{Global, Table};
use types::Types;
pub(crate) use unwinding::Unwinding;
use unwinding::Unwound;
use value::Kind;

/// The names in one image: a program or a shared library. Addresses are those that the file has: the address in the
/// process less the one where the image was loaded (`dlpi_addr`).
///
/// ```
/// # fn main() -> Result<(), mazurka_native::NamesError> {
/// use mazurka_native::Names;
/// let names = Names::read(&std::env::current_exe().expect("this test is a program"))?;
/// assert!(names.frames(1).is_empty());
/// # Ok(())
/// # }
/// ```
pub struct Names {
    symbols: Symbols,
    information: Option<Information>,
    table: OnceCell<Table>,
    unwinding: Unwinding,
    /// The linker leaves addresses of functions that it has dropped, which are none of these.
    code: Vec<Range<u64>>,
}

/// A place in the source, with the function around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Qualified, without parameters: `queue::push`.
    pub function: Option<String>,
    /// An absolute path without detours, unless the compiler was told another one.
    pub file: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// From 1; compilers may leave it out.
    pub column: Option<u32>,
}

/// A variable, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// As in the source: `myqueue.nodes[244].next`, `main::shared`, `counters::total`.
    pub name: String,
    kind: Option<Kind>,
}

/// A function in the middle of a call. Offsets are from the end of its frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The end is above the frame pointer (`rbp`), or else above the stack pointer.
    pub is_by_frame: bool,
    /// By this many bytes.
    pub distance: i64,
    /// Where registers of the caller are saved: `r15`, `r14`, `r13`, `r12`, `rbp`, `rbx`.
    pub saved: [Option<i64>; 6],
    /// Its dead values: registers in that order, and parts of its frame.
    pub dead: Dead,
}

/// The number of `rbp` in the tables.
const FRAME_POINTER: u16 = 6;
/// The numbers of the registers that calls preserve.
const SAVED: [u16; 6] = [15, 14, 13, 12, FRAME_POINTER, 3];

/// Why there are no names.
#[derive(Debug, thiserror::Error)]
pub enum NamesError {
    /// The file cannot be read.
    #[error("{}: cannot read the names of this program: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It is no ELF file.
    #[error("{}: this file has no names that could be read: {error}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: object::Error,
    },
}

impl Names {
    /// Reads the symbols of an image, and finds its debug information.
    ///
    /// # Errors
    /// If it cannot be read. Debug information that is missing or damaged is none: symbols take its place.
    pub fn read(path: &Path) -> Result<Names, NamesError> {
        let data = fs::read(path).map_err(|error| NamesError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        let file = object::File::parse(&*data).map_err(|error| NamesError::Foreign {
            path: path.to_owned(),
            error,
        })?;
        Ok(Names {
            symbols: Symbols::of(&file),
            information: Information::of(&file),
            table: OnceCell::new(),
            unwinding: Unwinding::of(&file),
            code: code(&file),
        })
    }

    /// The places in the source of an instruction: the innermost inlined function first, the one that has the code
    /// last. For a return address ask for the byte before it, which belongs to the call.
    pub fn frames(&self, instruction: u64) -> Vec<Frame> {
        if !self.code.iter().any(|code| code.contains(&instruction)) {
            return Vec::new();
        }
        let frames = self.known_frames(instruction).unwrap_or_default();
        match (frames.is_empty(), self.symbols.function(instruction)) {
            (true, Some(function)) => vec![Frame {
                function: Some(function),
                ..Frame::default()
            }],
            _ => frames,
        }
    }

    /// The variable with a fixed place that has these bytes. With `size` 0 what begins at the address: an element
    /// rather than an array, a structure rather than its first member.
    pub fn variable(&self, address: u64, size: u64) -> Option<Variable> {
        let known = self.information.as_ref().and_then(|information| {
            let globals = &self.table(information).globals;
            self.part_of(
                information,
                globals,
                Span {
                    offset: address,
                    size,
                },
            )
        });
        known.or_else(|| self.symbols.variable(address).map(Variable::without_type))
    }

    /// The thread-local variable at an offset of the block that each thread has of this image (`PT_TLS`).
    pub fn thread_local(&self, offset: u64, size: u64) -> Option<Variable> {
        let known = self.information.as_ref().and_then(|information| {
            let globals = &self.table(information).thread_locals;
            self.part_of(information, globals, Span { offset, size })
        });
        known.or_else(|| {
            self.symbols
                .thread_local(offset)
                .map(Variable::without_type)
        })
    }

    /// The local variable that has these bytes, in the frame of a function that runs, or waits for one that it has
    /// called. The instruction is an address of the image, all others are those of the process.
    pub fn local(
        &self,
        registers: &Registers,
        memory: Memory<'_>,
        bytes: (u64, u64),
    ) -> Option<Variable> {
        let machine = Machine {
            registers,
            memory,
            canonical_address: self
                .unwind(registers, memory)
                .map(|frame| frame.canonical_address),
            frame_base: None,
        };
        self.local_in(&machine, bytes)
    }

    fn local_in(&self, machine: &Machine<'_>, bytes: (u64, u64)) -> Option<Variable> {
        let information = self.information.as_ref()?;
        let (address, size) = bytes;
        let local = self.found_local(machine, address)?;
        let offset = address - local.address;
        let part = part(
            self.types(information),
            local.type_of,
            Span { offset, size },
        );
        Some(Variable {
            name: format!("{}{}", local.name, part.path),
            kind: part.kind,
        })
    }

    fn found_local(&self, machine: &Machine<'_>, address: u64) -> Option<Local> {
        let information = self.information.as_ref()?;
        let table = self.table(information);
        let locals = Locals {
            information,
            table,
            function: table.function(machine.registers.instruction())?,
        };
        locals.at(address, machine)
    }

    /// As [`Images::waiting`], of the image at `base`.
    fn waiting(
        &self,
        returns_to: u64,
        base: u64,
        (code, offset): (&[u8], usize),
        around: &dyn Surroundings,
    ) -> Option<Waiting> {
        let layout = self.unwinding.layout(returns_to - 1)?;
        let (register, distance) = layout.end;
        let is_by_frame = match register {
            unwinding::STACK_POINTER => false,
            FRAME_POINTER => true,
            _ => return None,
        };
        let saved: Vec<i64> = layout.saved.iter().map(|&(_, place)| place).collect();
        let variables = is_by_frame
            .then(|| self.places(returns_to - 1, distance))
            .flatten();
        let returns_to = base + returns_to;
        let function = Function {
            code: (code, returns_to - offset as u64),
            addresses: base + layout.function.start..base + layout.function.end,
            variables: variables.as_deref(),
            saved: &saved,
            has_landing_pads: layout.has_landing_pads,
            around,
        };
        let pointer = |is_here: bool| is_here.then_some(-distance);
        let dead = function.dead_at(returns_to, pointer(!is_by_frame), pointer(is_by_frame));
        Some(Waiting {
            is_by_frame,
            distance,
            saved: SAVED.map(|number| {
                let mut saved = layout.saved.iter();
                saved
                    .find(|(register, _)| *register == number)
                    .map(|&(_, place)| place)
            }),
            dead: dead.unwrap_or_default(),
        })
    }

    /// The places of a function's variables, given the distance from its frame pointer to the end of its frame.
    fn places(&self, instruction: u64, above_frame: i64) -> Option<Vec<Range<i64>>> {
        const END: u64 = 1 << 40;
        let information = self.information.as_ref()?;
        let table = self.table(information);
        let frame = END.wrapping_add_signed(-above_frame);
        let locals = Locals {
            information,
            table,
            function: table.function(instruction)?,
        };
        locals.places(&Machine {
            registers: &Registers::new(instruction, 0, frame),
            memory: &|_| None,
            canonical_address: Some(END),
            frame_base: None,
        })
    }

    /// As [`Images::frame_variables`], of this image.
    fn frame_variables(&self, instruction: u64) -> Option<Vec<Range<i64>>> {
        // What has been pushed before the frame pointer points there.
        const ABOVE_FRAME: i64 = 16;
        self.places(instruction, ABOVE_FRAME)
    }

    fn function_start(&self, instruction: u64) -> Option<u64> {
        let table = self.table(self.information.as_ref()?);
        Some(table.function(instruction)?.code.start)
    }

    /// Whether the code of a unit is C, or C++ before C++20: there a relaxed store continues the release sequence of its
    /// thread. False where nothing is known.
    pub fn continues_release_sequences(&self, instruction: u64) -> bool {
        self.information.as_ref().is_some_and(|information| {
            let function = self.table(information).function(instruction);
            function.is_some_and(|function| {
                standard::continues_release_sequences(information, function.entry.unit)
            })
        })
    }

    fn unwind(&self, registers: &Registers, memory: Memory<'_>) -> Option<Unwound> {
        self.unwinding.unwind(registers, memory)
    }

    fn known_frames(&self, instruction: u64) -> Option<Vec<Frame>> {
        let information = self.information.as_ref()?;
        let mut found = information
            .lines
            .find_frames(instruction)
            .skip_all_loads()
            .ok()?;
        let table = self.table(information);
        let unit = table
            .function(instruction)
            .map(|function| function.entry.unit);
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            let qualified = || {
                let id = EntryId {
                    unit: unit?,
                    offset: frame.dw_die_offset?,
                };
                table.name(information, id).cloned()
            };
            let own = || {
                let name = frame.function.as_ref()?.demangle().ok()?;
                Some(name.into_owned())
            };
            let location = frame.location.as_ref();
            frames.push(Frame {
                function: qualified().or_else(own),
                file: location.and_then(|location| location.file).map(direct),
                line: location.and_then(|location| location.line),
                column: location
                    .and_then(|location| location.column)
                    .filter(|column| *column > 0),
            });
        }
        Some(frames)
    }

    /// The part of one of these variables at an address; the span is in their addresses.
    fn part_of(
        &self,
        information: &Information,
        globals: &[Global],
        span: Span,
    ) -> Option<Variable> {
        let types = self.types(information);
        let after = globals.partition_point(|global| global.address <= span.offset);
        let global = globals[..after].last()?;
        let offset = span.offset - global.address;
        let Some(id) = global.type_of else {
            return (offset == 0).then(|| Variable::without_type(global.name.clone()));
        };
        // An array without an end goes on to the next variable.
        let is_within = types.size(id).is_none_or(|size| size == 0 || offset < size);
        is_within.then(|| {
            let part = part(types, id, Span { offset, ..span });
            Variable {
                name: format!("{}{}", global.name, part.path),
                kind: part.kind,
            }
        })
    }

    fn types<'a>(&'a self, information: &'a Information) -> Types<'a> {
        Types {
            information,
            table: self.table(information),
        }
    }

    fn table(&self, information: &Information) -> &Table {
        self.table.get_or_init(|| Table::of(information))
    }
}

impl Variable {
    /// The value of its bytes, as its type says: `-1`, `true`, `'x'`, `RED`, `NULL`.
    pub fn value(&self, bytes: &[u8]) -> String {
        value::shown(self.kind.as_ref(), bytes)
    }

    /// Whether its value is an address, which may have a name, too.
    pub fn is_pointer(&self) -> bool {
        self.kind == Some(Kind::Pointer)
    }

    fn without_type(name: String) -> Variable {
        Variable { name, kind: None }
    }
}

fn code(file: &object::File<'_>) -> Vec<Range<u64>> {
    let sections = file
        .sections()
        .filter(|section| section.kind() == SectionKind::Text);
    sections
        .map(|section| section.address()..section.address() + section.size())
        .collect()
}
