//! The code that runs between a call and the called library function. It reports the call and
//! preserves all arguments.

use super::{Callee, report};
use runtime::native::{self, Frame};

/// The arguments of a call, as the ABI of x86-64 passes them.
#[repr(C)]
pub(crate) struct Arguments {
    words: [usize; 6],
    vectors: [[u64; 2]; 8],
    /// The register `rax`: at the call, the number of vector registers with arguments of a variadic
    /// function; afterwards the result, if the function need not be called.
    result: usize,
    callee: &'static Callee,
    frame: *const Frame,
}

/// The unnamed arguments of a variadic function: `va_list`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct List {
    word_offset: u32,
    vector_offset: u32,
    rest: usize,
    registers: usize,
}

/// Size in bytes of the word arguments, and of all arguments in registers.
const WORDS: u32 = 48;
const REGISTERS: u32 = 176;

/// Size in bytes of the registers and the return address on the stack.
const FRAME: usize = 56;

impl Arguments {
    /// Returns the arguments of a call that does not come through [`enter`].
    pub(super) fn new(
        words: [usize; 6],
        callee: &'static Callee,
        frame: *const Frame,
    ) -> Arguments {
        Arguments {
            words,
            vectors: [[0; 2]; 8],
            result: 0,
            callee,
            frame,
        }
    }

    pub(super) fn result(&self) -> usize {
        self.result
    }

    pub(super) fn callee(&self) -> &'static Callee {
        self.callee
    }

    pub(super) fn frame(&self) -> *const Frame {
        self.frame
    }

    pub(super) fn set_result(&mut self, result: usize) {
        self.result = result;
    }

    /// Returns the word argument with this number among the word arguments.
    pub(super) fn word(&self, number: usize) -> usize {
        let on_stack = || {
            let place = self.frame.addr() + FRAME + 8 * (number - self.words.len());
            // SAFETY: the program passes as many arguments as the function has.
            unsafe { std::ptr::with_exposed_provenance::<usize>(place).read() }
        };
        self.words.get(number).copied().unwrap_or_else(on_stack)
    }

    /// Returns the arguments after the named arguments.
    pub(super) fn list(&self, named: usize) -> List {
        List {
            word_offset: 8 * named as u32,
            vector_offset: WORDS,
            rest: self.frame.addr() + FRAME,
            registers: (&raw const *self).expose_provenance(),
        }
    }

    /// Calls the function, which has words as arguments and returns a word.
    ///
    /// # Safety
    ///
    /// The program must have called the function with these arguments.
    pub(super) unsafe fn call(&self) -> usize {
        let [first, second, third, fourth, fifth, sixth] = self.words;
        // SAFETY: as promised by the caller.
        unsafe { self.function()(first, second, third, fourth, fifth, sixth) }
    }

    /// Returns the function, to be called with other arguments.
    pub(super) fn function(&self) -> Function {
        // SAFETY: `callee.function` is the address of the function. A function with fewer arguments
        // ignores the other words.
        unsafe { std::mem::transmute(self.callee.function) }
    }
}

pub(super) type Function =
    unsafe extern "C-unwind" fn(usize, usize, usize, usize, usize, usize) -> usize;

impl List {
    /// Returns the next argument, which is a word.
    ///
    /// # Safety
    ///
    /// The program must have passed a word.
    pub(super) unsafe fn word(&mut self) -> usize {
        let mut place = self.registers + self.word_offset as usize;
        if self.word_offset < WORDS {
            self.word_offset += 8;
        } else {
            place = self.rest;
            self.rest += 8;
        }
        // SAFETY: as promised by the caller.
        unsafe { std::ptr::with_exposed_provenance::<usize>(place).read() }
    }

    /// Skips the next argument, which is a `double`.
    pub(super) fn skip_double(&mut self) {
        if self.vector_offset < REGISTERS {
            self.vector_offset += 16;
        } else {
            self.rest += 8;
        }
    }

    /// Skips the next argument, which is a `long double`.
    pub(super) fn skip_long_double(&mut self) {
        self.rest = self.rest.next_multiple_of(16) + 16;
    }
}

/// Runs in place of the function of the [`Callee`] in `r11`: reports the accesses of the call, then
/// jumps to the function, or returns if the function has been performed.
///
/// # Safety
///
/// Only the program's call to the function may jump here, with a [`Callee`] in `r11`.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn enter() {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
        "mov r10, rsp",
        "sub rsp, 200",
        ".cfi_def_cfa_offset 256",
        "mov [rsp], rdi", "mov [rsp + 8], rsi", "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx", "mov [rsp + 32], r8", "mov [rsp + 40], r9",
        "movaps [rsp + 48], xmm0", "movaps [rsp + 64], xmm1", "movaps [rsp + 80], xmm2",
        "movaps [rsp + 96], xmm3", "movaps [rsp + 112], xmm4", "movaps [rsp + 128], xmm5",
        "movaps [rsp + 144], xmm6", "movaps [rsp + 160], xmm7",
        "mov [rsp + 176], rax", "mov [rsp + 184], r11", "mov [rsp + 192], r10",
        // Only the thread that runs the program may write the frame (see `gate`).
        "mov rax, fs:0",
        "cmp rax, [rip + {inside}]",
        "jne 2f",
        "mov [rip + {frame}], r10",
        "2:",
        "mov rdi, rsp",
        "call {report}",
        "cmp byte ptr [rip + {wipes}], 0",
        "je 3f",
        "call {wipe}",
        "3:",
        "test al, al",
        // None of the following instructions changes flags.
        "mov rdi, [rsp]", "mov rsi, [rsp + 8]", "mov rdx, [rsp + 16]",
        "mov rcx, [rsp + 24]", "mov r8, [rsp + 32]", "mov r9, [rsp + 40]",
        "movaps xmm0, [rsp + 48]", "movaps xmm1, [rsp + 64]", "movaps xmm2, [rsp + 80]",
        "movaps xmm3, [rsp + 96]", "movaps xmm4, [rsp + 112]", "movaps xmm5, [rsp + 128]",
        "movaps xmm6, [rsp + 144]", "movaps xmm7, [rsp + 160]",
        "mov rax, [rsp + 176]", "mov r11, [rsp + 184]", "mov r11, [r11]",
        // Clear the used part of the stack, so that nothing of the arguments remains on it.
        "xorps xmm15, xmm15",
        "mov qword ptr [rsp - 8], 0",
        "movaps [rsp], xmm15", "movaps [rsp + 16], xmm15", "movaps [rsp + 32], xmm15",
        "movaps [rsp + 48], xmm15", "movaps [rsp + 64], xmm15", "movaps [rsp + 80], xmm15",
        "movaps [rsp + 96], xmm15", "movaps [rsp + 112], xmm15", "movaps [rsp + 128], xmm15",
        "movaps [rsp + 144], xmm15", "movaps [rsp + 160], xmm15", "movaps [rsp + 176], xmm15",
        "mov qword ptr [rsp + 192], 0",
        "lea rsp, [rsp + 200]",
        ".cfi_def_cfa_offset 56",
        "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx",
        ".cfi_def_cfa_offset 8",
        "je 4f",
        "ret",
        "4:",
        "jmp r11",
        ".cfi_endproc",
        inside = sym crate::gate::INSIDE,
        frame = sym crate::gate::FRAME,
        report = sym report,
        wipes = sym native::WIPES,
        wipe = sym crate::gate::wipe,
    )
}

const _: () = assert!(size_of::<Arguments>() == 200);
const _: () = assert!(std::mem::offset_of!(Callee, function) == 0);
