//! Zeroes the stack and registers. The await rule compares both, so they must hold no values of the
//! checker.

use crate::engine::Engine;
use std::ptr::NonNull;

/// The number of bytes below a frame of the program in which the model's calls may leave values.
/// Frames are larger in unoptimized code.
pub(crate) const LEFT_BY_CALLS: usize = if cfg!(debug_assertions) {
    32 * 1024
} else {
    4096
};

/// The number of bytes of a stack in which the last execution may have left values. A thread with
/// hints is assumed to use no more.
pub(crate) const LEFT_BY_THREADS: usize = 32 * 1024;

/// Zeroes up to `bytes` bytes of the unused stack below the caller's frame, and the registers that
/// a call does not preserve. The program may copy their content, for example as the unused bytes of
/// a `None`. On processors other than x86-64, this does nothing.
#[cold]
#[inline(never)]
pub(crate) fn clean(engine: NonNull<Engine>, bytes: usize) {
    // SAFETY: the engine is alive and nothing else uses it.
    let room = unsafe { (*engine.as_ptr()).room_on_stack((&raw const bytes) as usize) };
    zero_below(bytes.min(room));
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn zero_below(bytes: usize) {
    // SAFETY: memory below the stack pointer is unused, and the stack has this many bytes there.
    unsafe {
        std::arch::asm!(
            "mov rdi, rsp",
            "sub rdi, rcx",
            "shr rcx, 3",
            "rep stosq",
            "xor edi, edi", "xor esi, esi", "xor edx, edx",
            "xor r8d, r8d", "xor r9d, r9d", "xor r10d, r10d", "xor r11d, r11d",
            inout("rcx") bytes & !7 => _,
            out("rdi") _, out("rsi") _, out("rdx") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            in("rax") 0,
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn zero_below(_: usize) {}
