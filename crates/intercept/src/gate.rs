//! The gate between the program and the checker, which share one thread of the operating system.
//!
//! The gate is open while the program's code runs. A function of this library that the program
//! calls closes the gate before it runs the checker's code, and opens the gate again on every path
//! by which it returns. A few short functions leave the gate open. A caller is *inside* if the gate
//! is open for its thread pointer. Other threads of the operating system (the checker has some) are
//! never inside, because their thread pointers differ.

use libc::c_int;
pub(crate) use runtime::native::FRAME;
use runtime::native::{Frame, call_program, enter_program, leave_program};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Thread pointer of the program code that runs, or 0 while the checker runs.
pub(crate) static INSIDE: AtomicUsize = AtomicUsize::new(0);

/// Number of counted calls from the program to this library ([`close`] and [`pass`]), modulo 2^64.
static BEAT: AtomicU64 = AtomicU64::new(0);

/// Returns the thread pointer of the calling thread.
#[inline(always)]
pub(crate) fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: by the ABI of x86-64 the first word that %fs points to contains its own address.
    unsafe {
        std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, preserves_flags));
    }
    pointer
}

/// Checks whether the caller is the program under check.
#[inline(always)]
pub(crate) fn is_inside() -> bool {
    let inside = INSIDE.load(Relaxed);
    inside != 0 && inside == thread_pointer()
}

/// Returns the frame of the program's current call.
#[inline(always)]
pub(crate) fn frame() -> *const Frame {
    // SAFETY: only the thread that runs the program writes `FRAME`, and has written it for this
    // call.
    unsafe { FRAME }
}

/// Returns the return address of the current call, or 0 if no call was recorded.
#[inline(always)]
pub(crate) fn code() -> usize {
    // SAFETY: the frame of the call exists. It is null while constructors run.
    unsafe { frame().as_ref() }.map_or(0, Frame::code)
}

/// Returns the number of counted calls from the program.
pub(crate) fn beat() -> u64 {
    BEAT.load(Relaxed)
}

/// Counts a call from the program for which the gate stays open.
#[inline(always)]
pub(crate) fn pass() {
    BEAT.store(BEAT.load(Relaxed).wrapping_add(1), Relaxed);
}

/// Number of words below the stack pointer that `wipe` clears after the current hook. The hook uses
/// less of the stack in any build of the checker, so all builds wipe the same part.
pub(crate) static LEFT: AtomicUsize = AtomicUsize::new(LEFT_BY_PASSING);

/// Value of `LEFT` for a hook that closes the gate.
const LEFT_BY_ENGINE: usize = 1024;

/// Value of `LEFT` for a hook that leaves the gate open.
const LEFT_BY_PASSING: usize = 256;

/// Mask for `xrstor` of the vector registers that `wipe` resets. The mask is zero unless redirected
/// code announces accesses of the program (`unhooked`). This code saves all registers on the stack,
/// and the await rule, which stops spin loops without progress, compares the stack.
pub(crate) static COMPARED_VECTORS: AtomicUsize = AtomicUsize::new(0);

/// An `xsave` area in which all registers but the control word have their initial values.
#[repr(C, align(64))]
struct Initial([u8; 576]);

static mut INITIAL: Initial = Initial([0; 576]);

/// Ends a hook: wipes the hook's remains on the stack and in registers that calls do not preserve,
/// and returns to the program. Keeps a result of up to two words.
///
/// # Safety
///
/// Only hooks may jump here, in place of a return to the program.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn wipe() {
    std::arch::naked_asm!(
        "mov r8, rax",
        "mov rcx, [rip + {left}]",
        "mov qword ptr [rip + {left}], {passing}",
        "lea rax, [8 * rcx]",
        "mov rdi, rsp",
        "sub rdi, rax",
        "xor eax, eax",
        "rep stosq",
        "mov eax, [rip + {vectors}]",
        "test eax, eax",
        "je 2f",
        "mov rsi, rdx",
        "xor edx, edx",
        "stmxcsr [rip + {initial} + 24]",
        "xrstor64 [rip + {initial}]",
        "mov rdx, rsi",
        "2:",
        "mov rax, r8",
        "xor esi, esi", "xor r8d, r8d", "xor r9d, r9d", "xor r10d, r10d", "xor r11d, r11d",
        "ret",
        vectors = sym COMPARED_VECTORS,
        initial = sym INITIAL,
        left = sym LEFT,
        passing = const LEFT_BY_PASSING,
    )
}

/// Data of the checker. Only one thread of the operating system uses it: the thread that runs the
/// program.
pub(crate) struct Own<T>(UnsafeCell<T>);

// SAFETY: only the thread that runs the program uses it, as `get` requires.
unsafe impl<T> Sync for Own<T> {}

impl<T> Own<T> {
    pub(crate) const fn new(value: T) -> Own<T> {
        Own(UnsafeCell::new(value))
    }

    /// Returns the value, for use until the program continues or `get` is called again.
    #[inline(always)]
    #[allow(
        clippy::mut_from_ref,
        reason = "there is one thread, and no reference outlives its use"
    )]
    pub(crate) fn get(&self) -> &mut T {
        // SAFETY: only the thread that runs the program calls `get`, while the gate is closed or
        // before the program runs. No reference is kept.
        unsafe { &mut *self.0.get() }
    }
}

/// Keeps the gate closed until it is dropped.
pub(crate) struct Closed {
    inside: usize,
    errno: c_int,
}

/// Closes the gate before the checker's code runs.
#[inline(always)]
pub(crate) fn close() -> Closed {
    let inside = INSIDE.load(Relaxed);
    INSIDE.store(0, Relaxed);
    LEFT.store(LEFT_BY_ENGINE, Relaxed);
    pass();
    if inside != SIMPLE.load(Relaxed) && inside != 0 {
        return leave(inside);
    }
    // SAFETY: the address of this thread's errno, which is known before the program can call.
    let errno = unsafe { *errno() };
    if inside != 0 {
        LAST_ERRNO.store(errno, Relaxed);
    }
    Closed { inside, errno }
}

impl Closed {
    /// Sets the `errno` that the program finds after the call.
    pub(crate) fn fail(&mut self, error: c_int) {
        self.errno = error;
    }

    /// Returns this result of a call of the C library, which has just returned. If it is negative,
    /// the program will find the error of that call in `errno`.
    pub(crate) fn keep_error(&mut self, result: c_int) -> c_int {
        if result < 0 {
            // SAFETY: every thread has an errno.
            self.fail(unsafe { *libc::__errno_location() });
        }
        result
    }

    /// Returns 0 for 0. For an error number, sets `errno` and returns -1.
    pub(crate) fn result(&mut self, error: c_int) -> c_int {
        if error == 0 {
            return 0;
        }
        self.fail(error);
        -1
    }
}

impl Drop for Closed {
    #[inline(always)]
    fn drop(&mut self) {
        if self.inside != SIMPLE.load(Relaxed) && self.inside != 0 {
            enter(self.inside, self.errno);
        } else {
            // SAFETY: as in `close`.
            unsafe { *errno() = self.errno };
        }
        INSIDE.store(self.inside, Relaxed);
    }
}

/// Enters the checker from a thread with its own thread-local memory, or in an audited execution
/// (in which the runtime looks for writes that no hook reports).
#[inline(never)]
fn leave(inside: usize) -> Closed {
    let has_own = inside != CHECKER.load(Relaxed);
    // SAFETY: the address of the checker's errno.
    let errno = if has_own { 0 } else { unsafe { *errno() } };
    match has_own {
        true => leave_blocks(),
        false => LAST_ERRNO.store(errno, Relaxed),
    }
    if is_audited() {
        leave_program(Some(code()));
    }
    Closed { inside, errno }
}

/// Enters the program again.
#[inline(never)]
fn enter(inside: usize, error: c_int) {
    if is_audited() {
        enter_program();
    }
    if inside == CHECKER.load(Relaxed) {
        // SAFETY: as in `close`.
        unsafe { *errno() = error };
        return;
    }
    enter_blocks(inside);
    if error != 0 {
        // SAFETY: the errno of the thread whose thread pointer has just been set.
        unsafe { *libc::__errno_location() = error };
    }
}

/// Keeps the gate open until it is dropped.
pub(crate) struct Open(());

/// Opens the gate for a thread with this thread pointer before the program's code runs.
pub(crate) fn open(pointer: usize) -> Open {
    if is_audited() {
        enter_program();
    }
    if pointer != CHECKER.load(Relaxed) {
        enter_blocks(pointer);
    }
    INSIDE.store(pointer, Relaxed);
    Open(())
}

impl Drop for Open {
    fn drop(&mut self) {
        let inside = INSIDE.swap(0, Relaxed);
        if inside != CHECKER.load(Relaxed) {
            leave_blocks();
        }
        if is_audited() {
            leave_program(None);
        }
    }
}

/// Opens the gate before a jump into the program's code, which does not return here.
pub(crate) fn reopen(pointer: usize) {
    std::mem::forget(open(pointer));
}

/// Calls a function of the program from the checker, with this thread pointer. If hooks wipe the
/// stack (`WIPES`), the stack is wiped before the call.
///
/// # Safety
///
/// The program must have supplied the function. It has at most these words as arguments, and
/// returns a word or nothing.
pub(crate) unsafe fn run(pointer: usize, function: usize, words: [usize; 3]) -> usize {
    if is_audited() {
        call_program(function);
    }
    let thrown = Thrown;
    let _open = open(pointer);
    let [first, second, third] = words;
    // SAFETY: as promised by the caller.
    let result = unsafe { call(first, second, third, 0, 0, function) };
    std::mem::forget(thrown);
    result
}

/// Whether an uncaught exception of the program has reached the checker. Rust's standard library
/// then aborts the process.
pub(crate) static IS_THROWN: AtomicBool = AtomicBool::new(false);

/// A value that is dropped when unwinding leaves the program's code.
struct Thrown;

impl Drop for Thrown {
    fn drop(&mut self) {
        // An unwinding panic is not an exception: the checker ends threads by panics.
        IS_THROWN.store(!std::thread::panicking(), Relaxed);
    }
}

/// Calls a function of the program, or a library function that calls one. If hooks wipe the stack
/// (`WIPES`), the stack is wiped before the call.
///
/// # Safety
///
/// The function must have at most these words as arguments, and return a word or nothing. The gate
/// must be open.
#[unsafe(naked)]
pub(crate) unsafe extern "C-unwind" fn call(
    first: usize,
    second: usize,
    third: usize,
    fourth: usize,
    fifth: usize,
    function: usize,
) -> usize {
    std::arch::naked_asm!(
        "mov r11, r9",
        "mov r9, rdi",
        "mov r10, rcx",
        "cmp byte ptr [rip + {wipes}], 0",
        "je 2f",
        "lea rdi, [rsp - 8 * {words}]",
        "mov ecx, {words}",
        "xor eax, eax",
        "rep stosq",
        "2:",
        "mov rdi, r9",
        "mov rcx, r10",
        "jmp r11",
        wipes = sym runtime::native::WIPES,
        words = const LEFT_BY_ENGINE,
    )
}

/// Closes the gate at a signal, before the checker's code runs. Returns whether the gate was open.
pub(crate) fn interrupt() -> bool {
    let inside = INSIDE.swap(0, Relaxed);
    INTERRUPTED.store(inside, Relaxed);
    if inside != 0 && inside != CHECKER.load(Relaxed) {
        leave_blocks();
    }
    inside != 0
}

/// Thread pointer of the code that the last signal interrupted.
static INTERRUPTED: AtomicUsize = AtomicUsize::new(0);

/// Continues the program at the place where the signal interrupted it.
pub(crate) fn cancel_interrupt() {
    let inside = INTERRUPTED.swap(0, Relaxed);
    if inside != 0 {
        reopen(inside);
    }
}

/// Thread pointer of the checker and of the program's main thread; 0 before the start.
static CHECKER: AtomicUsize = AtomicUsize::new(0);

/// Thread pointer for which opening and closing the gate takes a short path: that of the checker,
/// or 0 while an execution is audited.
static SIMPLE: AtomicUsize = AtomicUsize::new(0);

/// Sets whether the next execution is audited.
pub(crate) fn audit(is_on: bool) {
    SIMPLE.store(if is_on { 0 } else { checker() }, Relaxed);
}

/// Checks whether the current execution is audited.
pub(crate) fn is_audited() -> bool {
    SIMPLE.load(Relaxed) == 0
}

/// Address of the errno of the checker's thread.
static ERRNO: AtomicUsize = AtomicUsize::new(0);

/// Offset of a thread's errno from its thread pointer, the same for all threads.
static ERRNO_OFFSET: AtomicUsize = AtomicUsize::new(0);

/// Declares that the calling thread runs the program.
pub(crate) fn begin() {
    CHECKER.store(thread_pointer(), Relaxed);
    audit(false);
    // SAFETY: every thread has an errno.
    let errno = unsafe { libc::__errno_location() }.expose_provenance();
    ERRNO.store(errno, Relaxed);
    ERRNO_OFFSET.store(errno.wrapping_sub(thread_pointer()), Relaxed);
}

/// Checks whether a thread with this thread pointer runs the program, or the checker on its behalf.
#[inline(always)]
pub(crate) fn is_runner(pointer: usize) -> bool {
    pointer == CHECKER.load(Relaxed) || pointer == INSIDE.load(Relaxed)
}

/// Returns the thread pointer of the checker.
pub(crate) fn checker() -> usize {
    CHECKER.load(Relaxed)
}

#[inline(always)]
fn errno() -> *mut c_int {
    std::ptr::with_exposed_provenance_mut(ERRNO.load(Relaxed))
}

/// The program's errno at the time when the gate was closed. The checker's code may have changed
/// errno since then.
static LAST_ERRNO: AtomicI32 = AtomicI32::new(0);

/// Keeps the checker's errno at 0 until it is dropped. The program's main thread, and threads
/// without their own thread-local memory, have their errno at the same address. A value that the
/// checker left there must not become part of their memory.
pub(crate) struct WithoutErrno(c_int);

impl WithoutErrno {
    pub(crate) fn begin() -> WithoutErrno {
        // SAFETY: the address of the errno of the checker, whose code runs.
        WithoutErrno(unsafe { errno().replace(0) })
    }
}

impl Drop for WithoutErrno {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { *errno() = self.0 };
    }
}

/// Returns the errno of the thread with this thread pointer, whose code has run until now.
pub(crate) fn errno_at(pointer: usize) -> c_int {
    if pointer == checker() {
        return LAST_ERRNO.load(Relaxed);
    }
    let place = pointer.wrapping_add(ERRNO_OFFSET.load(Relaxed));
    // SAFETY: each thread has its errno at this offset.
    unsafe { std::ptr::with_exposed_provenance::<c_int>(place).read() }
}

/// Checks whether this is the errno of the running program code, which other threads do not access.
#[inline(always)]
pub(crate) fn is_errno(address: usize) -> bool {
    address.wrapping_sub(INSIDE.load(Relaxed)) == ERRNO_OFFSET.load(Relaxed)
}

/// Switches from the thread-local memory of a program's thread to that of the checker.
#[inline(never)]
fn leave_blocks() {
    set_thread_pointer(CHECKER.load(Relaxed));
}

/// Switches to the thread-local memory of a program's thread.
#[inline(never)]
fn enter_blocks(pointer: usize) {
    set_thread_pointer(pointer);
}

/// Checks whether the system permits programs to set the thread pointer by an instruction.
fn has_instruction() -> bool {
    const FSGSBASE: u64 = 1 << 1;
    // SAFETY: the call only queries a number.
    unsafe { libc::getauxval(libc::AT_HWCAP2) & FSGSBASE != 0 }
}

/// The way to set the thread pointer: 0 unknown, 1 by instruction, 2 by system call.
static WAY: AtomicUsize = AtomicUsize::new(0);

fn set_thread_pointer(pointer: usize) {
    if WAY.load(Relaxed) == 0 {
        WAY.store(if has_instruction() { 1 } else { 2 }, Relaxed);
    }
    const ARCH_PRCTL: usize = 158;
    const SET_FS: usize = 0x1002;
    // SAFETY: the pointer is this thread's own or that of a parked thread of this process. The
    // compiler keeps no value relative to the thread pointer.
    unsafe {
        if WAY.load(Relaxed) == 1 {
            std::arch::asm!("wrfsbase {}", in(reg) pointer, options(nostack, preserves_flags));
        } else {
            std::arch::asm!(
                "syscall",
                inout("rax") ARCH_PRCTL => _,
                in("rdi") SET_FS,
                in("rsi") pointer,
                out("rcx") _,
                out("r11") _,
                options(nostack),
            );
        }
    }
}
