//! The announcement of one access, called in the middle of the program's code. All registers of the
//! program are preserved.

use crate::gate::{self, close, is_inside};
use crate::heap;
use crate::hooks::Call;
use native::{ANNOUNCE_SPACE, Access, Effect, Operand, TEMPORARY_SPACE};
use runtime::native::{self as model, Frame};
use std::arch::x86_64::{__cpuid_count, _xgetbv};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The announced accesses, each with the address after its instruction. The redirected code passes
/// the index of an access in this list.
pub(super) static ANNOUNCED: OnceLock<Vec<(Access, u64)>> = OnceLock::new();

/// Mask of the vector and floating-point registers that are saved, and their size in bytes.
static PARTS: AtomicUsize = AtomicUsize::new(3);
static SIZE: AtomicUsize = AtomicUsize::new(832);

/// Registers saved on the stack. Above them is the copy on which an instruction may work.
#[repr(C)]
struct Saved {
    registers: [usize; 16],
    flags: usize,
    returns: usize,
    number: usize,
    copy: [u8; 16],
}

/// Determines which vector and floating-point registers the processor has.
pub(super) fn prepare() {
    // Registers up to AVX-512. Code that calls hooks does not use other registers.
    const KNOWN: u64 = 0b1110_0111;
    // SAFETY: every processor of the last ten years can save its registers this way, and the system
    // permits it. A program built for older processors has no access that needs this.
    let parts = unsafe { enabled() } & KNOWN;
    let mut size = 512 + 64;
    for part in (2..8).filter(|part| parts & 1 << part != 0) {
        let leaf = __cpuid_count(0xd, part);
        size = size.max((leaf.eax + leaf.ebx) as usize);
    }
    PARTS.store(parts as usize, Relaxed);
    // The registers of the x87 unit are excluded, because hooks do not use them.
    gate::COMPARED_VECTORS.store(parts as usize & !1, Relaxed);
    SIZE.store(size.next_multiple_of(64), Relaxed);
}

#[target_feature(enable = "xsave")]
unsafe fn enabled() -> u64 {
    // SAFETY: as promised by the caller.
    unsafe { _xgetbv(0) }
}

/// Announces the access with the number on the stack. Preserves the state of the program.
///
/// # Safety
///
/// The calling code must not change the program's red zone.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn enter() {
    std::arch::naked_asm!(
        "pushfq",
        "push r15", "push r14", "push r13", "push r12", "push r11", "push r10", "push r9", "push r8",
        "push rdi", "push rsi", "push rbp", "push rsp", "push rbx", "push rdx", "push rcx", "push rax",
        "cld",
        "mov rbx, rsp",
        "sub rsp, [rip + {size}]",
        "and rsp, -64",
        "mov r12, rsp",
        // All other words are set to zero, so that the stack can be compared.
        "lea rdi, [rsp - 64]",
        "mov rcx, rbx",
        "sub rcx, rdi",
        "shr rcx, 3",
        "xor eax, eax",
        "rep stosq",
        "mov eax, [rip + {parts}]",
        "xor edx, edx",
        "xsave64 [r12]",
        "fninit",
        "mov rdi, rbx",
        "lea rsi, [r12 - 56]",
        "sub rsp, 64",
        "call {perform}",
        "mov eax, [rip + {parts}]",
        "xor edx, edx",
        "xrstor64 [r12]",
        "cmp byte ptr [rip + {wipes}], 0",
        "je 2f",
        "mov rcx, [rip + {left}]",
        "lea rdi, [8 * rcx]",
        "neg rdi",
        "add rdi, r12",
        "mov rcx, rbx",
        "sub rcx, rdi",
        "shr rcx, 3",
        "xor eax, eax",
        "rep stosq",
        "2:",
        "mov rsp, rbx",
        "pop rax", "pop rcx", "pop rdx", "pop rbx", "lea rsp, [rsp + 8]", "pop rbp", "pop rsi", "pop rdi",
        "pop r8", "pop r9", "pop r10", "pop r11", "pop r12", "pop r13", "pop r14", "pop r15",
        "popfq",
        "mov qword ptr [rsp - 8], 0", "mov qword ptr [rsp - 16], 0", "mov qword ptr [rsp - 24], 0",
        "mov qword ptr [rsp - 32], 0", "mov qword ptr [rsp - 40], 0", "mov qword ptr [rsp - 48], 0",
        "mov qword ptr [rsp - 56], 0", "mov qword ptr [rsp - 64], 0", "mov qword ptr [rsp - 72], 0",
        "mov qword ptr [rsp - 80], 0", "mov qword ptr [rsp - 88], 0", "mov qword ptr [rsp - 96], 0",
        "mov qword ptr [rsp - 104], 0", "mov qword ptr [rsp - 112], 0", "mov qword ptr [rsp - 120], 0",
        "mov qword ptr [rsp - 128], 0", "mov qword ptr [rsp - 136], 0",
        "ret",
        size = sym SIZE,
        parts = sym PARTS,
        perform = sym perform,
        wipes = sym model::WIPES,
        left = sym gate::LEFT,
    )
}

/// # Safety
///
/// The caller must be [`enter`], with the registers that it has saved and room for a frame.
unsafe extern "C-unwind" fn perform(saved: &mut Saved, frame: *mut [usize; 7]) {
    if !is_inside() {
        return;
    }
    let (access, code) = &ANNOUNCED.get().expect("code was redirected after this")[saved.number];
    let [_, _, _, rbx, _, rbp, _, _, _, _, _, _, r12, r13, r14, r15] = saved.registers;
    // SAFETY: there is room for the frame, and its address is not null.
    unsafe {
        frame.write([r15, r14, r13, r12, rbp, rbx, *code as usize]);
        gate::FRAME = frame.cast();
    }
    let frame = frame.cast_const().cast::<Frame>();
    // SAFETY: the program is about to perform this access.
    unsafe {
        match access.operand {
            Some(operand) => one(saved, access, operand, frame),
            None => string(saved, access, frame),
        }
    }
}

/// Announces an access to one place.
///
/// # Safety
///
/// The conditions are those of [`perform`].
unsafe fn one(saved: &mut Saved, access: &Access, operand: Operand, frame: *const Frame) {
    let address = address(saved, operand, access.is_on_copy);
    let length = access.length;
    // SAFETY: the program is about to access this.
    unsafe {
        announce(address, length, access.effect, frame);
        let memory = std::ptr::with_exposed_provenance_mut::<u8>(address);
        match access.effect {
            Effect::Read if access.is_on_copy => {
                saved
                    .copy
                    .as_mut_ptr()
                    .copy_from_nonoverlapping(memory, length);
            }
            Effect::Write if access.is_on_copy => {
                memory.copy_from_nonoverlapping(saved.copy.as_ptr(), length);
            }
            Effect::Read | Effect::Write | Effect::Both => {}
        }
    }
}

fn address(saved: &Saved, operand: Operand, is_on_copy: bool) -> usize {
    let space = ANNOUNCE_SPACE + if is_on_copy { TEMPORARY_SPACE } else { 0 };
    let register = |number: Option<usize>| match number {
        None => 0,
        Some(4) => (&raw const saved.copy).addr() + space,
        Some(number) => saved.registers[number],
    };
    let segment = match operand.is_thread_local {
        true => gate::thread_pointer(),
        false => 0,
    };
    let index = register(operand.index).wrapping_mul(operand.scale as usize);
    register(operand.base)
        .wrapping_add(index)
        .wrapping_add(operand.displacement as usize)
        .wrapping_add(segment)
}

/// # Safety
///
/// The conditions are those of [`perform`].
unsafe fn announce(address: usize, length: usize, effect: Effect, frame: *const Frame) {
    if super::is_constant(address) || gate::is_errno(address) {
        return;
    }
    let pointer = std::ptr::with_exposed_provenance(address);
    // SAFETY: as promised by the caller.
    unsafe {
        match effect {
            Effect::Read => read(address, length, frame),
            Effect::Write => Call::here().writes(pointer, length),
            Effect::Both => {
                read(address, length, frame);
                Call::here().writes(pointer, length);
            }
        }
    }
}

/// # Safety
///
/// The conditions are those of [`perform`].
unsafe fn read(address: usize, length: usize, frame: *const Frame) {
    // SAFETY: the frame exists.
    let code = unsafe { (*frame).code() };
    if !heap::contains(address) && model::reads_own(address, length, code) {
        return gate::pass();
    }
    {
        let _closed = close();
        heap::check(address, length, frame);
        // SAFETY: the program is about to read, and the frame is that of its code.
        unsafe { model::read(address, length, frame) };
    }
    // SAFETY: only this thread writes `FRAME`. Other threads of the program may have changed it.
    unsafe { gate::FRAME = frame };
}

/// Announces an instruction that fills or copies memory. Performs all steps of a repeated
/// instruction. Ignores instructions that go down in memory.
///
/// # Safety
///
/// The conditions are those of [`perform`].
unsafe fn string(saved: &mut Saved, access: &Access, frame: *const Frame) {
    const FLAG_DOWN: usize = 1 << 10;
    let [rax, rcx, .., rsi, rdi] = saved
        .registers
        .first_chunk::<8>()
        .copied()
        .unwrap_or_default();
    let count = if access.is_repeated() { rcx } else { 1 };
    let length = count * access.length;
    if length == 0 || saved.flags & FLAG_DOWN != 0 {
        return;
    }
    // SAFETY: as promised by the caller.
    unsafe {
        if !access.is_repeated() {
            if access.effect == Effect::Both {
                announce(rsi, length, Effect::Read, frame);
            }
            return announce(rdi, length, Effect::Write, frame);
        }
        if access.effect == Effect::Both {
            let _closed = close();
            heap::check(rdi, length, frame);
            heap::check(rsi, length, frame);
            model::copy(rdi, rsi, length, frame);
            saved.registers[6] += length;
        } else {
            let call = Call::here();
            for start in (rdi..rdi + length).step_by(8) {
                let size = 8.min(rdi + length - start);
                let to = std::ptr::with_exposed_provenance_mut::<u8>(start);
                call.writes(to.cast(), size);
                let bytes = rax.to_ne_bytes();
                for offset in 0..size {
                    to.add(offset).write(bytes[offset % access.length]);
                }
            }
        }
    }
    saved.registers[7] += length;
    saved.registers[1] = 0;
}

const _: () = assert!(size_of::<Saved>() == 19 * 8 + native::TEMPORARY_SPACE);
