//! The gate between the program and the checker, which share one thread of the operating system.
//!
//! Code of the program runs while the gate is open. Every function that the program calls here closes it for
//! as long as it runs, and opens it again when it returns, by whatever way. Other threads of the operating
//! system (there are some in the checker) are never inside: they are told by their thread pointer.

use libc::c_int;
pub(crate) use runtime::native::FRAME;
use runtime::native::{Frame, call_program, enter_program, leave_program};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The thread pointer of the code of the program that runs; 0 while the checker runs.
pub(crate) static INSIDE: AtomicUsize = AtomicUsize::new(0);

/// Grows each time that the program calls us.
static BEAT: AtomicU64 = AtomicU64::new(0);

/// The thread pointer of the calling thread.
#[inline(always)]
pub(crate) fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: the first word that %fs points to is its own address, by the ABI of x86-64.
    unsafe {
        std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, preserves_flags));
    }
    pointer
}

/// Whether the caller is the program under check.
#[inline(always)]
pub(crate) fn is_inside() -> bool {
    let inside = INSIDE.load(Relaxed);
    inside != 0 && inside == thread_pointer()
}

/// Where the program called.
#[inline(always)]
pub(crate) fn frame() -> *const Frame {
    // SAFETY: the one thread that runs the program wrote it just before.
    unsafe { FRAME }
}

/// The address that the call returns to.
#[inline(always)]
pub(crate) fn code() -> usize {
    // SAFETY: the return address of the call is still there. Nothing has been noted while constructors run.
    unsafe { frame().as_ref() }.map_or(0, Frame::code)
}

/// How often the program has called us.
pub(crate) fn beat() -> u64 {
    BEAT.load(Relaxed)
}

/// The program called, and the gate stayed open.
#[inline(always)]
pub(crate) fn pass() {
    BEAT.store(BEAT.load(Relaxed).wrapping_add(1), Relaxed);
}

/// Words of the stack that the hook at hand leaves undefined. More than any build of the checker uses, so that all builds
/// leave the same.
pub(crate) static LEFT: AtomicUsize = AtomicUsize::new(LEFT_BY_PASSING);

/// That of a hook that closes the gate.
const LEFT_BY_ENGINE: usize = 1024;

/// That of a hook that does not.
const LEFT_BY_PASSING: usize = 256;

/// The vector registers that are compared, as bits for `xrstor`: those of a program with announced accesses, in the middle of whose code all
/// registers are kept on the stack.
pub(crate) static COMPARED_VECTORS: AtomicUsize = AtomicUsize::new(0);

/// An area of `xsave` in which all registers have their first values, but for the control word that is stored there.
#[repr(C, align(64))]
struct Initial([u8; 576]);

static mut INITIAL: Initial = Initial([0; 576]);

/// The end of a hook, in the place of a return: wipes what it has left on the stack and in registers that calls do not preserve. What it
/// returns stays, in two words.
///
/// # Safety
///
/// Jumped to where a hook would return to the program.
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

/// What belongs to the checker, for the one thread of the operating system that runs the program.
pub(crate) struct Own<T>(UnsafeCell<T>);

// SAFETY: only that thread uses it, as `get` demands.
unsafe impl<T> Sync for Own<T> {}

impl<T> Own<T> {
    /// With this value.
    pub(crate) const fn new(value: T) -> Own<T> {
        Own(UnsafeCell::new(value))
    }

    /// The value, for a moment: until the program goes on, or the next call of this.
    #[inline(always)]
    #[allow(
        clippy::mut_from_ref,
        reason = "there is one thread, and no reference outlives its use"
    )]
    pub(crate) fn get(&self) -> &mut T {
        // SAFETY: called while the gate is closed (or nothing of the program runs yet), by the one thread
        // that runs the program; references are not kept.
        unsafe { &mut *self.0.get() }
    }
}

/// Closed as long as this lives.
pub(crate) struct Closed {
    inside: usize,
    errno: c_int,
}

/// Closes the gate: the checker's code follows.
#[inline(always)]
pub(crate) fn close() -> Closed {
    let inside = INSIDE.load(Relaxed);
    INSIDE.store(0, Relaxed);
    LEFT.store(LEFT_BY_ENGINE, Relaxed);
    pass();
    if inside != SIMPLE.load(Relaxed) && inside != 0 {
        return leave(inside);
    }
    // SAFETY: the address of the errno of this thread, once it is known.
    let errno = unsafe { *errno() };
    if inside != 0 {
        LAST_ERRNO.store(errno, Relaxed);
    }
    Closed { inside, errno }
}

impl Closed {
    /// What the program finds in `errno`.
    pub(crate) fn fail(&mut self, error: c_int) {
        self.errno = error;
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

/// The checker is entered. It has thread-local memory of its own, or audits the execution.
#[inline(never)]
fn leave(inside: usize) -> Closed {
    let has_own = inside != CHECKER.load(Relaxed);
    // SAFETY: the address of the errno of the checker.
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

/// The program is entered again.
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
        // SAFETY: the errno of the thread pointer that is set again.
        unsafe { *libc::__errno_location() = error };
    }
}

/// Open as long as this lives.
pub(crate) struct Open(());

/// Opens the gate for a thread with this thread pointer: the program's code follows.
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

/// The gate stays open from here on: the program's code follows, by a jump.
pub(crate) fn reopen(pointer: usize) {
    std::mem::forget(open(pointer));
}

/// Calls code of the program from here, as a hook would go on with it: where hooks wipe the stack behind them, it is wiped
/// before the call, too.
///
/// # Safety
///
/// The program gave the function, which takes words, at most these, and returns one or nothing.
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

/// An exception of the program that it does not catch reaches the checker, whose standard library aborts.
pub(crate) static IS_THROWN: AtomicBool = AtomicBool::new(false);

/// Dropped where the program's code is left by unwinding.
struct Thrown;

impl Drop for Thrown {
    fn drop(&mut self) {
        // The checker ends threads by panics.
        IS_THROWN.store(!std::thread::panicking(), Relaxed);
    }
}

/// Calls a function that calls code of the program, or is such, behind what hooks leave on the stack.
///
/// # Safety
///
/// The function takes words, at most these, and returns one or nothing; the gate is open.
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

/// A signal found the program running: the checker's code follows. Whether it was inside.
pub(crate) fn slam() -> bool {
    let inside = INSIDE.swap(0, Relaxed);
    SLAMMED.store(inside, Relaxed);
    if inside != 0 && inside != CHECKER.load(Relaxed) {
        leave_blocks();
    }
    inside != 0
}

/// The thread pointer of the code that the last signal found running.
static SLAMMED: AtomicUsize = AtomicUsize::new(0);

/// The program goes on where the signal found it.
pub(crate) fn unslam() {
    let inside = SLAMMED.swap(0, Relaxed);
    if inside != 0 {
        reopen(inside);
    }
}

/// The thread pointer of the checker, which the program's main thread has, too; 0 before the start.
static CHECKER: AtomicUsize = AtomicUsize::new(0);

/// With this thread pointer the gate takes the short way. It is 0 while an execution is audited.
static SIMPLE: AtomicUsize = AtomicUsize::new(0);

/// Whether the execution that begins is audited.
pub(crate) fn audit(is_on: bool) {
    SIMPLE.store(if is_on { 0 } else { checker() }, Relaxed);
}

/// Whether the execution at hand is audited.
pub(crate) fn is_audited() -> bool {
    SIMPLE.load(Relaxed) == 0
}

/// Where that thread has its errno.
static ERRNO: AtomicUsize = AtomicUsize::new(0);

/// How far behind its thread pointer each thread has its errno.
static ERRNO_OFFSET: AtomicUsize = AtomicUsize::new(0);

/// The calling thread is the one that runs the program.
pub(crate) fn begin() {
    CHECKER.store(thread_pointer(), Relaxed);
    audit(false);
    // SAFETY: errno is always there.
    let errno = unsafe { libc::__errno_location() }.expose_provenance();
    ERRNO.store(errno, Relaxed);
    ERRNO_OFFSET.store(errno.wrapping_sub(thread_pointer()), Relaxed);
}

/// Whether a thread with this thread pointer runs the program, or the checker in between.
#[inline(always)]
pub(crate) fn is_runner(pointer: usize) -> bool {
    pointer == CHECKER.load(Relaxed) || pointer == INSIDE.load(Relaxed)
}

/// The thread pointer of the checker.
pub(crate) fn checker() -> usize {
    CHECKER.load(Relaxed)
}

#[inline(always)]
fn errno() -> *mut c_int {
    std::ptr::with_exposed_provenance_mut(ERRNO.load(Relaxed))
}

/// What the program had there when the gate was closed: since then the checker's code may have written to it.
static LAST_ERRNO: AtomicI32 = AtomicI32::new(0);

/// As long as this lives the checker's errno is 0: threads of the program have theirs at the same place, and what the checker
/// left there is none of their memory.
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

/// The errno of the thread with this thread pointer, whose code ran until now.
pub(crate) fn errno_at(pointer: usize) -> c_int {
    if pointer == checker() {
        return LAST_ERRNO.load(Relaxed);
    }
    let place = pointer.wrapping_add(ERRNO_OFFSET.load(Relaxed));
    // SAFETY: each thread has one at this distance.
    unsafe { std::ptr::with_exposed_provenance::<c_int>(place).read() }
}

/// Whether this is the errno of the code of the program that runs, which others do not access.
#[inline(always)]
pub(crate) fn is_errno(address: usize) -> bool {
    address.wrapping_sub(INSIDE.load(Relaxed)) == ERRNO_OFFSET.load(Relaxed)
}

/// From the thread-local memory of a thread of the program to that of the checker.
#[inline(never)]
fn leave_blocks() {
    set_thread_pointer(CHECKER.load(Relaxed));
}

/// The program is entered again.
#[inline(never)]
fn enter_blocks(pointer: usize) {
    set_thread_pointer(pointer);
}

/// Whether the processor and the system let programs set the thread pointer by an instruction.
fn has_instruction() -> bool {
    const FSGSBASE: u64 = 1 << 1;
    // SAFETY: asks for a number.
    unsafe { libc::getauxval(libc::AT_HWCAP2) & FSGSBASE != 0 }
}

/// 0 unknown, 1 by instruction, 2 by system call.
static WAY: AtomicUsize = AtomicUsize::new(0);

fn set_thread_pointer(pointer: usize) {
    if WAY.load(Relaxed) == 0 {
        WAY.store(if has_instruction() { 1 } else { 2 }, Relaxed);
    }
    const ARCH_PRCTL: usize = 158;
    const SET_FS: usize = 0x1002;
    // SAFETY: the pointer is that of a thread of this process, which is parked, or this one's own. No value of the
    // compiler's is kept relative to it.
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
