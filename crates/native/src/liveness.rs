//! Finds the values that are dead in a function when a call returns. A value in the stack frame or
//! in a register is dead if every path through the code overwrites it before reading it.
//!
//! This is the textbook analysis of live variables, run backwards over the machine code of one
//! function. If the analysis cannot decide, a value counts as live: variables whose address is
//! taken (other code may read them), arrays, computed jumps, frames of variable size.

mod addresses;

use crate::Surroundings;
use addresses::{Addresses, Known, Pointers, is_call};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfo, InstructionInfoFactory,
    Mnemonic, OpAccess, Register,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The registers that calls preserve.
pub const PRESERVED: [Register; 6] = [
    Register::R15,
    Register::R14,
    Register::R13,
    Register::R12,
    Register::RBP,
    Register::RBX,
];

/// Larger frames are not analysed.
const LARGEST_FRAME: i64 = 4096;
/// Functions with more instructions are not analysed.
const MOST_INSTRUCTIONS: usize = 8_000;
/// The red zone: bytes below the stack pointer that a function may use.
const RED_ZONE: i64 = 128;
/// The offset of the return address. All offsets are relative to the canonical frame address, which
/// is the stack pointer before the function was called.
const RETURN_ADDRESS: i64 = -8;

/// The function to analyse.
pub struct Function<'a> {
    /// The code of its image, and the address of that code.
    pub code: (&'a [u8], u64),
    pub addresses: Range<u64>,
    /// The places of all its variables in the frame; `None` if they are unknown.
    pub variables: Option<&'a [Range<i64>]>,
    /// The places of saved registers of its caller, which exceptions restore.
    pub saved: &'a [i64],
    /// Whether the function has landing pads: code that only exceptions reach.
    pub has_landing_pads: bool,
    /// What the analysis knows about the code around the function.
    pub around: &'a dyn Surroundings,
}

/// Dead values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dead {
    /// For each register of `PRESERVED`, whether it is dead.
    pub registers: [bool; 6],
    /// The dead parts of the frame.
    pub frame: Vec<Range<i64>>,
}

struct Analysis {
    instructions: Vec<Instruction>,
    /// The index of each instruction by its address.
    numbers: BTreeMap<u64, usize>,
    /// The state before each instruction; `None` if no path leads to the instruction.
    known: Vec<Option<Known>>,
    /// Landing pads: instructions to which exceptions lead.
    pads: Vec<usize>,
    /// Calls that do not return.
    endings: BTreeSet<usize>,
    /// The lowest offset of the frame.
    lowest: i64,
    addresses: Addresses,
    /// The places that are written relative to the stack pointer, like arguments of calls.
    pushed: Vec<i64>,
}

/// One bit for each byte of the frame, then one for each register.
#[derive(Clone, PartialEq, Eq)]
struct Live(Vec<u64>);

impl Function<'_> {
    /// Returns the values that are dead during a call that returns to `returns_to`. `stack` and
    /// `frame` are the offsets of the stack pointer and the frame pointer at that point, if they
    /// are known from elsewhere. Returns `None` if the analysis fails or computes other offsets.
    pub fn dead_at(&self, returns_to: u64, stack: Option<i64>, frame: Option<i64>) -> Option<Dead> {
        let analysis = Analysis::of(self)?;
        let at = *analysis.numbers.get(&returns_to)?;
        let call = at.checked_sub(1)?;
        let found = analysis.known[at]?.pointers;
        let is_same = stack.is_none_or(|stack| stack == found.stack)
            && frame.is_none_or(|frame| Some(frame) == found.frame)
            && is_call(&analysis.instructions[call]);
        if !is_same {
            return None;
        }
        let live = analysis.live();
        let mut kept = live[at].clone();
        let before = analysis.known[call]?.pointers;
        analysis.leave(&analysis.instructions[call], before, &live, &mut kept);
        analysis.keep_taken(self.variables, &mut kept);
        for &place in self.saved {
            kept.set(analysis.bit(place)..analysis.bit(place + 8));
        }
        Some(analysis.dead(&kept))
    }
}

impl<'a> Function<'a> {
    fn decoder(&self, start: u64, length: usize) -> Option<Decoder<'a>> {
        let (code, address) = self.code;
        let offset = usize::try_from(start.checked_sub(address)?).ok()?;
        let code = code.get(offset..offset.checked_add(length)?)?;
        Some(Decoder::with_ip(64, code, start, DecoderOptions::NONE))
    }

    /// Returns the function that an instruction calls, if the function is known statically.
    fn called_by(&self, instruction: &Instruction) -> Option<u64> {
        match instruction.flow_control() {
            FlowControl::Call => Some(instruction.near_branch_target()),
            FlowControl::IndirectCall if instruction.is_ip_rel_memory_operand() => {
                self.around.slot(instruction.ip_rel_memory_address())
            }
            _ => None,
        }
    }

    /// Checks whether a function never returns: either this is known, or the function only calls
    /// another function that never returns, as `__clang_call_terminate` does.
    fn never_returns(&self, called: u64) -> bool {
        const LONGEST: usize = 32;
        let calls_ending = || {
            let mut instructions = self.decoder(called, LONGEST)?.into_iter();
            instructions.find_map(|instruction| match instruction.flow_control() {
                FlowControl::Next => None,
                FlowControl::Call | FlowControl::IndirectCall => {
                    let called = self.called_by(&instruction)?;
                    self.around.never_returns(called).then_some(true)
                }
                _ => Some(false),
            })
        };
        self.around.never_returns(called) || calls_ending() == Some(true)
    }
}

impl Analysis {
    fn of(function: &Function<'_>) -> Option<Analysis> {
        let length = usize::try_from(function.addresses.end - function.addresses.start).ok()?;
        let decoder = function.decoder(function.addresses.start, length)?;
        let instructions: Vec<Instruction> =
            decoder.into_iter().take(MOST_INSTRUCTIONS + 1).collect();
        if instructions.len() > MOST_INSTRUCTIONS {
            return None;
        }
        let numbers = instructions.iter().enumerate();
        let numbers = numbers
            .map(|(number, instruction)| (instruction.ip(), number))
            .collect();
        let mut analysis = Analysis {
            known: vec![None; instructions.len()],
            instructions,
            numbers,
            pads: Vec::new(),
            endings: BTreeSet::new(),
            lowest: 0,
            addresses: Addresses::default(),
            pushed: Vec::new(),
        };
        analysis.follow(0, Known::ENTRY, function)?;
        if function.has_landing_pads {
            analysis.follow_pads(function)?;
        }
        let mut pointers = analysis.known.iter().flatten().map(|known| known.pointers);
        analysis.lowest = pointers.clone().map(|at| at.stack).min()? - RED_ZONE;
        let is_small =
            analysis.lowest >= -LARGEST_FRAME && pointers.all(|at| at.stack <= RETURN_ADDRESS);
        is_small.then_some(())?;
        analysis.collect_arguments();
        Some(analysis)
    }

    /// Follows all paths from an instruction. Returns `None` if a path cannot be followed.
    fn follow(&mut self, from: usize, known: Known, function: &Function<'_>) -> Option<()> {
        let mut factory = InstructionInfoFactory::new();
        let mut left = vec![(from, known)];
        while let Some((number, mut before)) = left.pop() {
            if let Some(known) = *self.known.get(number)? {
                before = before.merge(known)?;
                if before == known {
                    continue;
                }
            }
            self.known[number] = Some(before);
            let instruction = self.instructions[number];
            if !self.can_be_followed(&instruction, before.pointers) {
                return None;
            }
            let called = function.called_by(&instruction);
            if called.is_some_and(|called| function.never_returns(called)) {
                self.endings.insert(number);
            }
            let hook = called.and_then(|called| function.around.hook(called));
            let calls_hook = hook.is_some_and(|hook| !hook.is_volatile);
            let info = factory.info(&instruction);
            let after = before.after(&instruction, info, calls_hook, &mut self.addresses)?;
            for next in self.successors(number) {
                left.push((next, after));
            }
        }
        Some(())
    }

    /// Checks whether the targets of an instruction are known. The target of a tail call need not
    /// be known: a function that has removed its frame may jump to another function.
    fn can_be_followed(&self, instruction: &Instruction, at: Pointers) -> bool {
        let is_over = at.stack == RETURN_ADDRESS && at.frame.is_none();
        match instruction.flow_control() {
            FlowControl::Next
            | FlowControl::Call
            | FlowControl::IndirectCall
            | FlowControl::Return => !instruction.is_invalid(),
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                let target = instruction.near_branch_target();
                is_over || self.numbers.contains_key(&target)
            }
            // An undefined instruction may be an access that a `Patch` has redirected.
            FlowControl::IndirectBranch
            | FlowControl::Interrupt
            | FlowControl::Exception
            | FlowControl::XbeginXabortXend => false,
        }
    }

    /// Follows the landing pads of exceptions. At a landing pad, the stack pointer and the frame
    /// pointer are the same as at the calls. Returns `None` if they differ between calls.
    fn follow_pads(&mut self, function: &Function<'_>) -> Option<()> {
        let calls = self.instructions.iter().zip(&self.known);
        let mut calls = calls.filter_map(|(instruction, known)| {
            let known = known.filter(|_| is_call(instruction))?;
            Some(known.pointers)
        });
        let body = calls.next()?;
        if calls.any(|at| at != body) {
            return None;
        }
        while let Some(pad) = self.known.iter().position(Option::is_none) {
            self.pads.push(pad);
            let known = Known::of(body);
            match self.instructions[pad].mnemonic() {
                // Padding between functions and their parts.
                Mnemonic::Nop => self.known[pad] = Some(known),
                _ => self.follow(pad, known, function)?,
            }
        }
        Some(())
    }

    /// Returns the successors of an instruction within the function.
    fn successors(&self, number: usize) -> Vec<usize> {
        let instruction = &self.instructions[number];
        let target = || self.numbers.get(&instruction.near_branch_target()).copied();
        let is_last = number + 1 == self.instructions.len() || self.endings.contains(&number);
        let next = (!is_last).then_some(number + 1);
        match instruction.flow_control() {
            FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {
                next.into_iter().collect()
            }
            FlowControl::ConditionalBranch => target().into_iter().chain(next).collect(),
            FlowControl::UnconditionalBranch => target().into_iter().collect(),
            FlowControl::Return
            | FlowControl::IndirectBranch
            | FlowControl::Interrupt
            | FlowControl::Exception
            | FlowControl::XbeginXabortXend => Vec::new(),
        }
    }

    /// Collects the places that are written as arguments of calls.
    fn collect_arguments(&mut self) {
        let mut factory = InstructionInfoFactory::new();
        for (instruction, known) in self.instructions.iter().zip(&self.known) {
            let Some(known) = known else { continue };
            for memory in factory.info(instruction).used_memory() {
                let is_written = !matches!(memory.access(), OpAccess::Read | OpAccess::NoMemAccess);
                if is_written && !is_call(instruction) && memory.base() == Register::RSP {
                    let place = known.pointers.place(memory.base(), memory.displacement());
                    self.pushed.extend(place);
                }
            }
        }
    }

    /// Returns the values that are live before each instruction.
    fn live(&self) -> Vec<Live> {
        let nothing = Live(vec![0; (self.bits() + PRESERVED.len()).div_ceil(64)]);
        let mut live = vec![nothing.clone(); self.instructions.len()];
        let mut factory = InstructionInfoFactory::new();
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for number in (0..self.instructions.len()).rev() {
                let Some(known) = self.known[number] else {
                    continue;
                };
                let at = known.pointers;
                let instruction = self.instructions[number];
                let mut now = nothing.clone();
                for next in self.successors(number) {
                    now.add(&live[next]);
                }
                self.leave(&instruction, at, &live, &mut now);
                self.perform(factory.info(&instruction), at, &mut now);
                if now != live[number] {
                    live[number] = now;
                    has_changed = true;
                }
            }
        }
        live
    }

    /// Adds the values that are live where the function calls another function or ends.
    fn leave(&self, instruction: &Instruction, at: Pointers, live: &[Live], now: &mut Live) {
        let preserved = self.bits()..self.bits() + PRESERVED.len();
        match instruction.flow_control() {
            FlowControl::Next | FlowControl::Exception => {}
            FlowControl::Return => now.set(preserved),
            FlowControl::Call | FlowControl::IndirectCall => {
                for pad in &self.pads {
                    now.add(&live[*pad]);
                }
                // Arguments on the stack, if there are any, begin at the stack pointer.
                if self
                    .pushed
                    .iter()
                    .any(|place| (at.stack - 7..at.stack + 8).contains(place))
                {
                    now.set(self.bit(at.stack)..self.bits());
                }
            }
            // A jump out of the function acts as a return.
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                if !self.numbers.contains_key(&instruction.near_branch_target()) {
                    now.set(preserved);
                }
            }
            FlowControl::IndirectBranch
            | FlowControl::Interrupt
            | FlowControl::XbeginXabortXend => now.set(0..preserved.end),
        }
    }

    /// Turns the values that are live after an instruction into the values that are live before the
    /// instruction.
    fn perform(&self, info: &InstructionInfo, at: Pointers, now: &mut Live) {
        let memory = info.used_memory().iter().filter_map(|memory| {
            let place = at.place(memory.base(), memory.displacement())?;
            let place = self.bit(place)..self.bit(place + memory.memory_size().size() as i64);
            Some((memory.access(), place, memory.memory_size().size() > 0))
        });
        let registers = info.used_registers().iter().filter_map(|used| {
            let full = used.register().full_register();
            let number = PRESERVED.iter().position(|&preserved| preserved == full)?;
            let bit = self.bits() + number;
            Some((used.access(), bit..bit + 1, used.register().size() >= 4))
        });
        let used: Vec<(OpAccess, Range<usize>, bool)> = memory.chain(registers).collect();
        for (access, place, is_whole) in &used {
            if *access == OpAccess::Write && *is_whole {
                now.clear(place.clone());
            }
        }
        for (access, place, is_whole) in used {
            match access {
                OpAccess::Write | OpAccess::CondWrite | OpAccess::None | OpAccess::NoMemAccess => {}
                OpAccess::Read
                | OpAccess::CondRead
                | OpAccess::ReadWrite
                | OpAccess::ReadCondWrite => match is_whole {
                    true => now.set(place),
                    false => now.set(place.start..self.bits().max(place.end)),
                },
            }
        }
    }

    /// Marks variables as live if their address is taken, because other code may read them.
    fn keep_taken(&self, variables: Option<&[Range<i64>]>, live: &mut Live) {
        let mut is_taken = self.addresses.is_any_taken;
        for place in self.addresses.taken() {
            let variables = variables.unwrap_or_default().iter();
            let around = variables.filter(|known| known.start <= place && place <= known.end);
            is_taken |= around.clone().next().is_none();
            around.for_each(|known| live.set(self.bit(known.start)..self.bit(known.end)));
        }
        if is_taken {
            live.set(0..self.bits());
        }
    }

    fn dead(&self, live: &Live) -> Dead {
        let mut dead = Dead::default();
        for (number, register) in dead.registers.iter_mut().enumerate() {
            *register = !live.has(self.bits() + number);
        }
        let mut bit = 0;
        while bit < self.bits() {
            let start = bit;
            while bit < self.bits() && !live.has(bit) {
                bit += 1;
            }
            if bit > start {
                let offset = |bit: usize| bit as i64 + self.lowest;
                dead.frame.push(offset(start)..offset(bit));
            }
            bit += 1;
        }
        dead
    }

    /// Returns the size of the frame in bytes, which is the number of its bits.
    fn bits(&self) -> usize {
        (RETURN_ADDRESS - self.lowest) as usize
    }

    /// Returns the bit of an offset, or the nearest bit.
    fn bit(&self, offset: i64) -> usize {
        (offset - self.lowest).clamp(0, self.bits() as i64) as usize
    }
}

impl Live {
    fn has(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 != 0
    }

    fn set(&mut self, bits: Range<usize>) {
        bits.for_each(|bit| self.0[bit / 64] |= 1 << (bit % 64));
    }

    fn clear(&mut self, bits: Range<usize>) {
        bits.for_each(|bit| self.0[bit / 64] &= !(1 << (bit % 64)));
    }

    fn add(&mut self, other: &Live) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(bits, more)| *bits |= more);
    }
}
