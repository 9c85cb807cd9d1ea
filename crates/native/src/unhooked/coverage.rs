//! Determines which accesses of a function no hook announces.

use super::announced::{Announced, Coverage, covers, covers_start};
use super::calls::Callee;
use super::frame::Frame;
use super::values::{Operand, State, THREAD, Terms, Value};
use super::{Access, Effect, Surroundings, Unhooked};
use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic,
    OpAccess, OpKind, Register,
};
use std::collections::{BTreeMap, BTreeSet};

/// The state of the analysis at one place.
#[derive(Clone, PartialEq)]
struct Known {
    state: State,
    announced: Vec<Announced>,
}

struct Function<'s> {
    around: &'s dyn Surroundings,
    terms: Terms,
    factory: InstructionInfoFactory,
    instructions: Vec<Instruction>,
    /// The index of the first instruction of each block, in order.
    starts: Vec<usize>,
    frame: Frame,
    found: Unhooked,
}

/// Returns the accesses that no hook announces, in a function whose code begins at this address.
/// Returns `None` if the function has atomic instructions of its own, because its other accesses
/// cannot be distinguished from those that these instructions protect.
pub fn unhooked(code: &[u8], start: u64, around: &dyn Surroundings) -> Option<Unhooked> {
    let decoder = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
    let instructions: Vec<Instruction> = decoder.into_iter().collect();
    if instructions.iter().any(crate::unseen::is_atomic) {
        return None;
    }
    let mut function = Function {
        around,
        terms: Terms::new(),
        factory: InstructionInfoFactory::new(),
        starts: starts(&instructions),
        instructions,
        frame: Frame::of(start, around),
        found: Unhooked::default(),
    };
    let known = function.follow();
    function.frame.close(start, around);
    for (block, known) in known {
        function.run(block, known, true);
    }
    let mut found = function.found;
    found.leaders = function
        .starts
        .iter()
        .map(|&start| function.instructions[start].ip())
        .collect();
    found.instructions = function.instructions;
    found.late.sort_unstable();
    found.late.dedup();
    Some(found)
}

fn ends_block(instruction: &Instruction) -> bool {
    !matches!(
        instruction.flow_control(),
        FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall
    )
}

fn target(instruction: &Instruction) -> Option<u64> {
    let is_near = matches!(
        instruction.flow_control(),
        FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
    );
    is_near.then(|| instruction.near_branch_target())
}

fn starts(instructions: &[Instruction]) -> Vec<usize> {
    let position = |address: u64| {
        let found = instructions.binary_search_by_key(&address, Instruction::ip);
        found.ok()
    };
    let mut starts = BTreeSet::from([0]);
    for (index, instruction) in instructions.iter().enumerate() {
        if ends_block(instruction) && index + 1 < instructions.len() {
            starts.insert(index + 1);
        }
        if instruction.code() == Code::Endbr64 {
            starts.insert(index);
        }
        starts.extend(target(instruction).and_then(position));
    }
    starts.into_iter().collect()
}

impl Function<'_> {
    /// Returns the state at the beginning of each block, except for padding between blocks.
    fn follow(&mut self) -> BTreeMap<usize, Known> {
        let mut known: BTreeMap<usize, Known> = BTreeMap::new();
        let entry = State::entry(&mut self.terms);
        let mut waiting = BTreeSet::from([0]);
        known.insert(
            0,
            Known {
                state: entry,
                announced: Vec::new(),
            },
        );
        let mut unreached = 1..self.starts.len();
        // The state where the function jumps through a table, and the blocks that may follow.
        let (mut jumped, mut seeded): (Option<State>, Vec<usize>) = (None, Vec::new());
        // The prologue (`push rbp; mov rbp, rsp`) is in the first block, so the frame pointer is
        // set in all other blocks.
        let has_frame_pointer = self.instructions.iter().take(4).any(|instruction| {
            instruction.mnemonic() == Mnemonic::Mov
                && instruction.op0_register() == Register::RBP
                && instruction.op1_register() == Register::RSP
        });
        loop {
            while let Some(block) = waiting.pop_first() {
                let after = self.run(block, known[&block].clone(), false);
                let mut next = self.next(block);
                if self.jumps_by_table(block) {
                    match &mut jumped {
                        None => jumped = Some(after.state.clone()),
                        Some(before) => {
                            before.merge(&after.state, &mut self.terms, self.starts.len());
                        }
                    }
                    next.extend_from_slice(&seeded);
                }
                for next in next {
                    let changes = match known.get_mut(&next) {
                        None => {
                            known.insert(next, after.clone());
                            true
                        }
                        Some(before) => before.merge(&after, &mut self.terms, next),
                    };
                    if changes {
                        waiting.insert(next);
                    }
                }
            }
            // Other blocks are reached through a jump table or by an exception.
            let is_left = |block: &usize| {
                let is_padding = jumped.is_none() && self.is_padding(*block);
                !known.contains_key(block) && !is_padding
            };
            let Some(block) = unreached.find(is_left) else {
                return known;
            };
            let state = jumped
                .clone()
                .unwrap_or_else(|| State::unknown(&mut self.terms, block, has_frame_pointer));
            let announced = Vec::new();
            known.insert(block, Known { state, announced });
            seeded.push(block);
            waiting.insert(block);
        }
    }

    /// Checks whether the block only aligns the next block. A jump table may lead into such a
    /// block.
    fn is_padding(&self, block: usize) -> bool {
        let mut instructions = self.instructions[self.range(block)].iter();
        instructions.all(|instruction| instruction.mnemonic() == Mnemonic::Nop)
    }

    fn range(&self, block: usize) -> std::ops::Range<usize> {
        let end = self.starts.get(block + 1).copied();
        self.starts[block]..end.unwrap_or(self.instructions.len())
    }

    fn jumps_by_table(&self, block: usize) -> bool {
        let last = self.range(block).next_back();
        last.is_some_and(|last| {
            self.instructions[last].flow_control() == FlowControl::IndirectBranch
        })
    }

    fn next(&self, block: usize) -> Vec<usize> {
        let Some(last) = self.range(block).next_back() else {
            return Vec::new();
        };
        let last = &self.instructions[last];
        let jump = target(last).and_then(|target| {
            let at = |&start: &usize| self.instructions[start].ip();
            self.starts.binary_search_by_key(&target, at).ok()
        });
        let falls_through =
            !ends_block(last) || last.flow_control() == FlowControl::ConditionalBranch;
        let following = (falls_through && block + 1 < self.starts.len()).then_some(block + 1);
        jump.into_iter().chain(following).collect()
    }

    /// Returns the state after a block. `records` is true in the last pass, which records the
    /// accesses that no hook announces.
    fn run(&mut self, block: usize, mut known: Known, records: bool) -> Known {
        for index in self.range(block) {
            let instruction = self.instructions[index];
            self.step(&instruction, &mut known, records);
        }
        known
    }

    fn step(&mut self, instruction: &Instruction, known: &mut Known, records: bool) {
        let is_call = matches!(
            instruction.flow_control(),
            FlowControl::Call | FlowControl::IndirectCall
        );
        if is_call {
            return self.call(instruction, known);
        }
        if instruction.mnemonic() == Mnemonic::Nop || instruction.is_invalid() {
            return;
        }
        let info = self.factory.info(instruction);
        let memory = info.used_memory().to_vec();
        let registers = info.used_registers().to_vec();
        let moves = instruction.flow_control() == FlowControl::Next;
        let mut stores = Vec::new();
        for used in &memory {
            let effect = match used.access() {
                OpAccess::Read | OpAccess::CondRead => Effect::Read,
                OpAccess::Write | OpAccess::CondWrite => Effect::Write,
                OpAccess::ReadWrite | OpAccess::ReadCondWrite => Effect::Both,
                OpAccess::None | OpAccess::NoMemAccess => continue,
            };
            let length = used.memory_size().size();
            let operand = Operand::of(
                [used.base(), used.index(), used.segment()],
                used.scale(),
                used.displacement(),
            );
            let Some(operand) = operand else {
                if records {
                    self.found.unknown.push(instruction.ip());
                }
                continue;
            };
            let address = self.terms.address(&known.state, operand);
            if self.terms.is_stack(address) {
                if effect.writes() {
                    stores.push((address, length));
                }
                if !self.is_shared(instruction, &known.state) {
                    continue;
                }
            }
            let is_control_block = address.base == THREAD && address.offset >= 0;
            if !moves || is_control_block || self.around.is_constant(address.offset as u64) {
                continue;
            }
            if is_string(instruction) {
                if !covers_start(&mut known.announced, address, effect) && records {
                    self.record_string(instruction);
                }
                continue;
            }
            let late = match covers(&mut known.announced, address, length, effect) {
                Coverage::Full => continue,
                Coverage::Late(code) => Some(code),
                Coverage::None => None,
            };
            if let (Some(code), true) = (late, records) {
                self.found.late.push(code);
            }
            // The write hook already announces the read.
            if records && !(late.is_some() && effect == Effect::Read) {
                self.record_access(instruction, effect, length, late.is_some());
            }
        }
        if self.frame.may_lack_hooks && !records {
            let stored = stores.first().map(|&(address, _)| address);
            let around = (&known.state, &self.terms);
            self.frame.step(instruction, &registers, stored, around);
        }
        for (address, length) in stores {
            known
                .state
                .store(&mut self.terms, address, length, instruction);
        }
        let written = registers.iter().filter(|used| {
            used.register().is_gpr()
                && !matches!(used.access(), OpAccess::Read | OpAccess::CondRead)
        });
        let left: Vec<(usize, Value)> = written
            .map(|used| {
                let register = used.register().full_register().number();
                let state = &mut known.state;
                (
                    register,
                    state.computed(&mut self.terms, instruction, register),
                )
            })
            .collect();
        for (register, value) in left {
            known.state.registers[register] = value;
        }
    }

    fn call(&mut self, instruction: &Instruction, known: &mut Known) {
        let hook = self
            .callee(instruction)
            .and_then(|function| self.around.hook(function));
        if let Some(hook) = hook {
            let [address, length] = [7, 6].map(|register| known.state.registers[register]);
            let length = hook.length.unwrap_or(match length.base {
                super::values::ABSOLUTE => length.offset as usize,
                _ => usize::MAX >> 2,
            });
            known.announced.retain(|announced| !announced.is_used);
            if self.terms.is_stack(address) {
                known.state.forget(address, length);
            }
            known.announced.push(Announced {
                address,
                length,
                hook,
                code: instruction.next_ip(),
                written: 0,
                is_used: false,
                is_late: false,
            });
        } else {
            known.announced.clear();
            self.frame.call(&known.state, &self.terms);
        }
        known.state.call(&mut self.terms, instruction);
    }

    /// Returns the called function, if it is fixed.
    fn callee(&self, instruction: &Instruction) -> Option<u64> {
        match Callee::of(instruction)? {
            Callee::Code(function) => Some(function),
            Callee::Slot(slot) => self.around.slot(slot),
        }
    }

    /// Checks whether an instruction may access, without a hook, a stack variable that other
    /// threads may access.
    fn is_shared(&mut self, instruction: &Instruction, state: &State) -> bool {
        let operand = Operand::explicit(instruction).filter(|operand| operand.base.is_some());
        operand.is_some_and(|operand| {
            let first = Operand {
                index: None,
                ..operand
            };
            let place = self.terms.address(state, first);
            self.frame.may_lack_hooks && self.frame.is_shared(place)
        })
    }

    fn record_access(
        &mut self,
        instruction: &Instruction,
        effect: Effect,
        length: usize,
        is_late: bool,
    ) {
        let operand = Operand::explicit(instruction);
        let is_one = instruction
            .op_kinds()
            .filter(|&kind| kind == OpKind::Memory)
            .count()
            == 1;
        if length == 0 || operand.is_none() || !is_one || instruction.is_vsib() {
            return self.found.unknown.push(instruction.ip());
        }
        self.found.accesses.push(Access {
            instruction: *instruction,
            effect,
            operand,
            length,
            is_late,
            is_on_copy: false,
        });
    }

    fn record_string(&mut self, instruction: &Instruction) {
        let length = instruction.memory_size().size();
        let effect = match instruction.mnemonic() {
            Mnemonic::Stosb | Mnemonic::Stosw | Mnemonic::Stosd | Mnemonic::Stosq => Effect::Write,
            Mnemonic::Movsb | Mnemonic::Movsw | Mnemonic::Movsd | Mnemonic::Movsq => Effect::Both,
            _ => return self.found.unknown.push(instruction.ip()),
        };
        let is_known = |access: &Access| access.instruction.ip() == instruction.ip();
        if !self.found.accesses.last().is_some_and(is_known) {
            self.found.accesses.push(Access {
                instruction: *instruction,
                effect,
                operand: None,
                length,
                is_late: false,
                is_on_copy: false,
            });
        }
    }
}

fn is_string(instruction: &Instruction) -> bool {
    instruction.op_kinds().any(|kind| {
        matches!(
            kind,
            OpKind::MemoryESRDI
                | OpKind::MemoryESEDI
                | OpKind::MemorySegRSI
                | OpKind::MemorySegESI
                | OpKind::MemorySegRDI
        )
    })
}

impl Known {
    fn merge(&mut self, other: &Known, terms: &mut Terms, block: usize) -> bool {
        let before = self.announced.len();
        self.announced
            .retain(|announced| other.announced.contains(announced));
        self.state.merge(&other.state, terms, block) || before != self.announced.len()
    }
}
