//! Translates addresses to names: source positions, functions, variables down to members and
//! elements.
//!
//! Names come from the debug information of the image (DWARF 4 and 5), or from its symbols if it
//! has none. Everything is read lazily. Pointers, virtual base classes and type units
//! (`-fdebug-types-section`) are not followed. A variable whose type is in a type unit has a name,
//! but its members have none.

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

/// The names in one image: a program or a shared library. Addresses are those of the file: the
/// address in the process minus the address at which the image is loaded (`dlpi_addr`).
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
    /// The addresses of code. Functions that the linker has dropped keep addresses outside these
    /// ranges.
    code: Vec<Range<u64>>,
}

/// A source position and the function that contains it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The qualified name without parameters: `queue::push`.
    pub function: Option<String>,
    /// A normalized path. It is absolute unless an option of the compiler (such as
    /// `-ffile-prefix-map`) changed the directories in the debugging information.
    pub file: Option<String>,
    /// Counted from 1.
    pub line: Option<u32>,
    /// Counted from 1; compilers may omit it.
    pub column: Option<u32>,
}

/// A variable, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name as in the source: `myqueue.nodes[244].next`, `main::shared`, `counters::total`.
    pub name: String,
    kind: Option<Kind>,
}

/// A function that waits for a call to return. Offsets are relative to its canonical frame address
/// (CFA), which is the stack pointer before the function was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Whether the CFA is given relative to the frame pointer (`rbp`), instead of the stack
    /// pointer.
    pub is_by_frame: bool,
    /// The number of bytes from that pointer up to the CFA.
    pub distance: i64,
    /// The places where the registers `r15`, `r14`, `r13`, `r12`, `rbp` and `rbx` of the caller are
    /// saved; `None` for a register that is not saved.
    pub saved: [Option<i64>; 6],
    /// The dead values of the function: registers in the same order, and parts of its frame.
    pub dead: Dead,
}

/// The number of `rbp` in the unwinding tables.
const FRAME_POINTER: u16 = 6;
/// The numbers, in the unwinding tables, of the registers that calls preserve.
const SAVED: [u16; 6] = [15, 14, 13, 12, FRAME_POINTER, 3];

/// The reason why there are no names.
#[derive(Debug, thiserror::Error)]
pub enum NamesError {
    /// The file cannot be read.
    #[error("{}: cannot read the names of this program: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error that the system reports.
        error: io::Error,
    },
    /// The file is not an ELF file.
    #[error("{}: cannot read names from this file: {error}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The problem with the file.
        error: object::Error,
    },
}

impl Names {
    /// Reads the symbols of an image and locates its debug information.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read. Missing or damaged debug information is not an
    /// error: symbols replace the debug information.
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

    /// Returns the source positions of an instruction, from the innermost inlined function to the
    /// function that contains the code. For a return address, pass the address of the byte before,
    /// which belongs to the call.
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

    /// Returns the variable at a fixed place that contains these bytes. With `size` 0, returns the
    /// variable that begins at the address: an element rather than an array, a structure rather
    /// than its first member.
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

    /// Returns the thread-local variable at an offset in a thread's block for this image
    /// (`PT_TLS`).
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

    /// Returns the local variable that contains `bytes` (address and size), in the frame of a
    /// function that runs or waits for a call. The current instruction in `registers` is an address
    /// in the image; all other addresses are in the process.
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

    /// Does the work of [`Images::waiting`] for the image at `base`.
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

    /// Returns the places of a function's variables, given the distance from the frame pointer to
    /// the canonical frame address.
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

    /// Does the work of [`Images::frame_variables`] for this image.
    fn frame_variables(&self, instruction: u64) -> Option<Vec<Range<i64>>> {
        // The return address and the saved frame pointer.
        const ABOVE_FRAME: i64 = 16;
        self.places(instruction, ABOVE_FRAME)
    }

    fn function_start(&self, instruction: u64) -> Option<u64> {
        let table = self.table(self.information.as_ref()?);
        Some(table.function(instruction)?.code.start)
    }

    /// Checks whether the compilation unit of an instruction is written in C, or in C++ before
    /// C++20. In these languages, a relaxed store continues the release sequence of its thread.
    /// Returns false if this is unknown.
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
            let demangled = || {
                let name = frame.function.as_ref()?.demangle().ok()?;
                Some(name.into_owned())
            };
            let location = frame.location.as_ref();
            frames.push(Frame {
                function: qualified().or_else(demangled),
                file: location.and_then(|location| location.file).map(direct),
                line: location.and_then(|location| location.line),
                column: location
                    .and_then(|location| location.column)
                    .filter(|column| *column > 0),
            });
        }
        Some(frames)
    }

    /// Returns the part of one of these variables that `span` selects by address.
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
        // An array without a length extends to the next variable.
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
    /// Formats the variable's bytes according to its type: `-1`, `true`, `'x'`, `RED`, `NULL`.
    pub fn value(&self, bytes: &[u8]) -> String {
        value::shown(self.kind.as_ref(), bytes)
    }

    /// Checks whether the value is an address, which may itself have a name.
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
