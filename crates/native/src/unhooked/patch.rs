//! Redirects instructions to code that first announces their accesses and then performs them.

use super::{Access, Effect, Unhooked};
use iced_x86::{Encoder, FlowControl, Instruction, Register};
use std::ops::Range;

/// The size of the red zone: bytes below the stack pointer that an announcement preserves.
pub const ANNOUNCE_SPACE: usize = 128;
/// The number of bytes below the red zone that hold a copy of the operand of an instruction that
/// reads and writes.
pub const TEMPORARY_SPACE: usize = 16;

/// The length of a jump.
const JUMP: usize = 5;
/// An undefined instruction, which is used if a jump does not fit.
const UNDEFINED: [u8; 2] = [0x0f, 0x0b];

/// A replacement of some instructions.
#[derive(Clone, Debug)]
pub struct Patch {
    /// The addresses of the instructions.
    pub place: Range<u64>,
    /// The bytes that replace them.
    pub bytes: Vec<u8>,
    /// The address at which the program continues, through a jump or through a signal handler.
    pub trampoline: u64,
}

/// The replacements for accesses of some functions.
#[derive(Clone, Debug)]
pub struct Patches {
    /// The future address of the code.
    start: u64,
    /// The place that holds the address of the announcing function.
    announce: u64,
    /// The number of the first access.
    first: usize,
    /// The replacements, one for each place.
    pub patches: Vec<Patch>,
    /// The code to which they lead.
    pub code: Vec<u8>,
    /// The announced accesses, indexed by the number that the code passes, each with the address
    /// after its instruction.
    pub accesses: Vec<(Access, u64)>,
    /// The addresses of instructions that cannot be redirected.
    pub left: Vec<u64>,
}

impl Patches {
    /// Creates an empty set. The code will be at `start`, and will call the function whose address
    /// is stored at `announce`. Accesses are numbered from `first`.
    pub fn new(start: u64, announce: u64, first: usize) -> Patches {
        Patches {
            start,
            announce,
            first,
            patches: Vec::new(),
            code: Vec::new(),
            accesses: Vec::new(),
            left: Vec::new(),
        }
    }

    /// Adds the accesses of a function.
    pub fn add(&mut self, function: &Unhooked) {
        self.left.extend_from_slice(&function.unknown);
        let instructions = &function.instructions;
        let jumps_anywhere = instructions
            .iter()
            .any(|instruction| instruction.flow_control() == FlowControl::IndirectBranch);
        let access = |instruction: &Instruction| {
            let is_it = |access: &&Access| access.instruction.ip() == instruction.ip();
            function.accesses.iter().find(is_it)
        };
        let mut index = 0;
        while index < instructions.len() {
            if access(&instructions[index]).is_none() {
                index += 1;
                continue;
            }
            let mut end = index + 1;
            let length =
                |end: usize| (instructions[end - 1].next_ip() - instructions[index].ip()) as usize;
            while length(end) < JUMP
                && !jumps_anywhere
                && instructions.get(end).is_some_and(|next| {
                    next.flow_control() == FlowControl::Next
                        && function.leaders.binary_search(&next.ip()).is_err()
                })
            {
                end += 1;
            }
            if length(end) < JUMP {
                end = index + 1;
            }
            let group = &instructions[index..end];
            if self.redirect(group, access).is_none() {
                self.left.push(group[0].ip());
            }
            index = end;
        }
    }

    fn redirect<'a>(
        &mut self,
        group: &[Instruction],
        access: impl Fn(&Instruction) -> Option<&'a Access>,
    ) -> Option<()> {
        let place = group.first()?.ip()..group.last()?.next_ip();
        let length = (place.end - place.start) as usize;
        let announce = self.announce;
        let trampoline = self.start + self.code.len() as u64;
        let mut code = Assembler {
            start: trampoline,
            bytes: Vec::new(),
            announce,
        };
        let mut accesses = Vec::new();
        for instruction in group {
            let Some(access) = access(instruction) else {
                code.instruction(instruction)?;
                continue;
            };
            let number = self.first + self.accesses.len() + accesses.len();
            if access.effect == Effect::Both && access.operand.is_some() {
                let effects = [Effect::Read, Effect::Write];
                accesses.extend(effects.map(|effect| {
                    let part = Access {
                        effect,
                        is_on_copy: true,
                        ..access.clone()
                    };
                    (part, instruction.next_ip())
                }));
                code.on_a_copy(instruction, access.length, number)?;
            } else {
                accesses.push((access.clone(), instruction.next_ip()));
                code.announced(instruction, number)?;
            }
        }
        code.jump(place.end)?;
        let mut bytes = match length {
            JUMP.. => {
                let mut jump = Assembler {
                    start: place.start,
                    bytes: Vec::new(),
                    announce,
                };
                jump.jump(trampoline)?;
                jump.bytes
            }
            2.. => UNDEFINED.to_vec(),
            _ => return None,
        };
        bytes.resize(length, 0x90);
        self.code.extend_from_slice(&code.bytes);
        self.accesses.extend(accesses);
        self.patches.push(Patch {
            place,
            bytes,
            trampoline,
        });
        Some(())
    }
}

struct Assembler {
    start: u64,
    bytes: Vec<u8>,
    announce: u64,
}

impl Assembler {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Appends `lea rsp, [rsp + by]`, which preserves the flags.
    fn move_stack(&mut self, by: i32) {
        self.bytes.extend_from_slice(&[0x48, 0x8d, 0xa4, 0x24]);
        self.bytes.extend_from_slice(&by.to_le_bytes());
    }

    /// Appends a call of the announcing function. Its argument, a number on the stack, stays there.
    fn announce(&mut self, number: usize) -> Option<()> {
        self.bytes.push(0x68);
        self.bytes
            .extend_from_slice(&i32::try_from(number).ok()?.to_le_bytes());
        self.bytes.extend_from_slice(&[0xff, 0x15]);
        self.distance(self.announce)
    }

    /// Appends the distance to an address, measured from the end of the appended bytes.
    fn distance(&mut self, address: u64) -> Option<()> {
        let distance = address.wrapping_sub(self.end() + 4) as i64;
        self.bytes
            .extend_from_slice(&i32::try_from(distance).ok()?.to_le_bytes());
        Some(())
    }

    fn jump(&mut self, address: u64) -> Option<()> {
        self.bytes.push(0xe9);
        self.distance(address)
    }

    fn instruction(&mut self, instruction: &Instruction) -> Option<()> {
        let mut encoder = Encoder::new(64);
        encoder.encode(instruction, self.end()).ok()?;
        self.bytes.extend_from_slice(&encoder.take_buffer());
        Some(())
    }

    fn announced(&mut self, instruction: &Instruction, number: usize) -> Option<()> {
        self.move_stack(-(ANNOUNCE_SPACE as i32));
        self.announce(number)?;
        self.move_stack(ANNOUNCE_SPACE as i32 + 8);
        self.instruction(instruction)
    }

    /// Redirects an instruction that reads and writes memory. The instruction works on a copy of
    /// its operand, so that the read and the write are two accesses.
    fn on_a_copy(&mut self, instruction: &Instruction, length: usize, number: usize) -> Option<()> {
        let space = (ANNOUNCE_SPACE + TEMPORARY_SPACE) as i32;
        let uses_stack = (0..instruction.op_count())
            .any(|operand| instruction.op_register(operand).full_register() == Register::RSP);
        if length > TEMPORARY_SPACE || uses_stack {
            return None;
        }
        self.move_stack(-space);
        self.announce(number)?;
        self.move_stack(8);
        let mut copied = *instruction;
        copied.set_segment_prefix(Register::None);
        copied.set_memory_base(Register::RSP);
        copied.set_memory_index(Register::None);
        copied.set_memory_index_scale(1);
        copied.set_memory_displacement64(0);
        copied.set_memory_displ_size(0);
        self.instruction(&copied)?;
        self.announce(number + 1)?;
        self.move_stack(space + 8);
        Some(())
    }
}
