//! The names of all images of a process, by addresses in the process.

use super::{Frame, Memory, Names, Registers, Variable, Waiting};
use crate::{RUNTIME_LIBRARY, Surroundings};
use std::cell::OnceCell;
use std::ops::Range;
use std::path::PathBuf;

/// The images of a process. Each image is read the first time that an address in it is queried.
///
/// ```
/// use mazurka_native::Images;
/// let mut images = Images::default();
/// images.add("/proc/self/exe".into(), 0x5555_5555_4000, 0x5555_5555_4000..0x5555_5557_0000);
/// assert!(images.variable(0x1000, 4).is_none());
/// ```
#[derive(Default)]
pub struct Images {
    images: Vec<Image>,
}

struct Image {
    path: PathBuf,
    base: u64,
    addresses: Range<u64>,
    /// `None` if the file cannot be read.
    names: OnceCell<Option<Names>>,
}

/// A function that runs or waits for a call to return.
#[derive(Clone, Debug)]
pub struct Activation {
    /// Its source positions, inlined functions first.
    pub frames: Vec<Frame>,
    /// Its current instruction, as an address in the process.
    pub instruction: u64,
    /// Its canonical frame address: the stack pointer before the function was called.
    pub end: u64,
}

/// The greatest number of frames. More frames would be useless, and a damaged stack may have no
/// end.
const DEEPEST: usize = 256;

impl Images {
    /// Adds an image: its file, the address at which it is loaded (`dlpi_addr`; 0 for a program
    /// with fixed addresses), and the addresses that it occupies.
    pub fn add(&mut self, path: PathBuf, base: u64, addresses: Range<u64>) {
        self.images.push(Image {
            path,
            base,
            addresses,
            names: OnceCell::new(),
        });
    }

    /// Does the same as [`Names::frames`], for the image that contains this address.
    pub fn frames(&self, instruction: u64) -> Vec<Frame> {
        self.at(instruction)
            .map(|(names, base)| names.frames(instruction - base))
            .unwrap_or_default()
    }

    /// Does the same as [`Names::continues_release_sequences`], for the image that contains this
    /// address.
    pub fn continues_release_sequences(&self, instruction: u64) -> bool {
        self.at(instruction)
            .is_some_and(|(names, base)| names.continues_release_sequences(instruction - base))
    }

    /// Does the same as [`Names::variable`], for the image that contains this address.
    pub fn variable(&self, address: u64, size: u64) -> Option<Variable> {
        let (names, base) = self.at(address)?;
        names.variable(address - base, size)
    }

    /// Does the same as [`Names::thread_local`], for the image that contains the address `image`,
    /// for example the address of `main`.
    pub fn thread_local(&self, image: u64, offset: u64, size: u64) -> Option<Variable> {
        let (names, _) = self.at(image)?;
        names.thread_local(offset, size)
    }

    /// Returns the functions on a stack, the innermost first.
    pub fn stack(&self, registers: &Registers, memory: Memory<'_>) -> Vec<Activation> {
        let mut activations = Vec::new();
        self.walk(registers, memory, |registers, end| {
            activations.push(Activation {
                frames: self.frames(registers.instruction()),
                instruction: registers.instruction(),
                end,
            });
            true
        });
        activations
    }

    /// Returns the local variable, in any frame of a stack, that contains `bytes` (address and
    /// size). `registers` are those of the thread that owns the stack.
    pub fn local(
        &self,
        registers: &Registers,
        memory: Memory<'_>,
        bytes: (u64, u64),
    ) -> Option<Variable> {
        let mut found = None;
        self.walk(registers, memory, |registers, end| {
            if bytes.0 >= end {
                return true;
            }
            found = self.at(registers.instruction()).and_then(|(names, base)| {
                let registers = relative(registers, base);
                names.local(&registers, memory, bytes)
            });
            false
        });
        found
    }

    /// Returns the function to which a call returns, and its dead values. `code` is the code around
    /// the return address, with the offset of the return address in it.
    pub fn waiting(
        &self,
        returns_to: u64,
        code: (&[u8], usize),
        around: &dyn Surroundings,
    ) -> Option<Waiting> {
        let (names, base) = self.at(returns_to)?;
        names.waiting(returns_to - base, base, code, around)
    }

    /// Returns the places of a function's variables, relative to its canonical frame address, if
    /// the function has a frame pointer and each variable has only one place.
    pub fn frame_variables(&self, function: u64) -> Option<Vec<Range<i64>>> {
        let (names, base) = self.at(function)?;
        names.frame_variables(function - base)
    }

    /// Formats the value of a variable. For an address that has a name, shows the name:
    /// `&queue.nodes[3]`.
    pub fn value(&self, variable: &Variable, bytes: &[u8]) -> String {
        let address = <[u8; 8]>::try_from(bytes).map(u64::from_le_bytes);
        match address {
            Ok(address) if variable.is_pointer() => self
                .pointed_at(address)
                .unwrap_or_else(|| variable.value(bytes)),
            Ok(_) | Err(_) => variable.value(bytes),
        }
    }

    fn pointed_at(&self, address: u64) -> Option<String> {
        let (names, base) = self.at(address)?;
        let variable = names.variable(address - base, 0);
        let variable = variable.map(|variable| format!("&{}", variable.name));
        variable.or_else(|| names.frames(address - base).pop()?.function)
    }

    /// Visits frames from the innermost outwards until `visit` returns false. `visit` receives the
    /// registers, with addresses in the process, and the canonical frame address.
    fn walk(
        &self,
        registers: &Registers,
        memory: Memory<'_>,
        mut visit: impl FnMut(&Registers, u64) -> bool,
    ) {
        let mut at = registers.clone();
        for _ in 0..DEEPEST {
            let Some((names, base)) = self.at(at.instruction()) else {
                return;
            };
            let Some(unwound) = names.unwind(&relative(&at, base), memory) else {
                return;
            };
            if !visit(&at, unwound.canonical_address) {
                return;
            }
            match unwound.caller {
                Some(caller) => at = caller,
                None => return,
            }
        }
    }

    /// Checks whether an address lies in an image.
    pub fn has_code(&self, address: u64) -> bool {
        self.image(address).is_some()
    }

    /// Returns the names of the image that contains an address, and the address at which it is
    /// loaded. The names of our own library are never shown.
    pub(super) fn at(&self, address: u64) -> Option<(&Names, u64)> {
        let image = self
            .image(address)
            .filter(|image| !image.path.ends_with(RUNTIME_LIBRARY))?;
        let names = image.names.get_or_init(|| Names::read(&image.path).ok());
        Some((names.as_ref()?, image.base))
    }

    fn image(&self, address: u64) -> Option<&Image> {
        let mut images = self.images.iter();
        images.find(|image| image.addresses.contains(&address))
    }
}

/// Converts the instruction to an address in the image.
fn relative(registers: &Registers, base: u64) -> Registers {
    registers
        .clone()
        .with_instruction(registers.instruction() - base)
}
