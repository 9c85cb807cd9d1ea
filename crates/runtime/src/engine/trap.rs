//! Makes a stack overflow, an abort, a call of `exit`, an endless loop or a permanent wait in the
//! operating system end only the thread of the program, not the process. In a native program, the
//! same holds for other crashes.
//!
//! If a coroutine runs, a signal handler makes it return as if it had finished. The values on its
//! stack leak. Signals with another cause are passed to the previous handler. This handler exists
//! only on Linux with x86-64. On other systems, these programs end the process or hang.

use crate::engine::Engine;
use crate::engine::current;
use std::cell::Cell;
use std::ptr::{self, NonNull};

/// The reason why a signal ended a coroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trap {
    StackOverflow,
    Abort,
    /// The thread waited in the operating system for another thread, which could not run meanwhile.
    Blocked,
    /// The thread ran endlessly without an operation.
    Endless,
    /// The thread called `exit`.
    Exit,
    /// Another signal ended a thread of a native program.
    Signal(Crash),
}

/// The crash of a native program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Crash {
    pub(crate) signal: i32,
    /// The address that could not be accessed, for the signals that have one.
    pub(crate) address: usize,
    /// The address of the instruction.
    pub(crate) code: usize,
    /// Whether a process, usually the program itself, sent the signal. If not, the kernel did,
    /// usually because of the instruction.
    pub(crate) is_sent: bool,
}

/// A function called first in a signal handler, with the signal and the address that could not be
/// accessed (for the signals that have one). The function returns false if the program simply
/// continues after the signal. If it returns true, it has made it possible to run code of the
/// checker, and the signal may end the thread.
pub type Prologue = fn(i32, usize) -> bool;

/// A function called in a signal handler that ends no thread although its [`Prologue`] returned
/// true. Afterwards the signal is passed to the previous handler.
pub type Epilogue = fn();

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use linux::install_for_native;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) fn install_for_native(_: Prologue, _: Epilogue) {}

thread_local! {
    static TRAPPED: Cell<Option<Trap>> = const { Cell::new(None) };
    /// Whether the next `SIGABRT` stands for a call of `exit`.
    static EXITS: Cell<bool> = const { Cell::new(false) };
}

/// Records that a coroutine of this engine is about to run.
#[inline(always)]
pub(crate) fn enter(engine: NonNull<Engine>) {
    current::store_last(engine.as_ptr());
    // SAFETY: the engine is alive, and nothing else refers to it before a coroutine runs.
    unsafe { (*engine.as_ptr()).resumes += 1 };
}

/// Ends the running thread of a program that has called `exit`. Returns if no coroutine runs.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) fn exit_process() {
    EXITS.set(true);
    // SAFETY: the handler of the signal was installed before code of a program under test ran.
    unsafe { libc::raise(libc::SIGABRT) };
}

/// Records that the engine is about to be dropped.
pub(crate) fn exit(engine: NonNull<Engine>) {
    if current::load_last() == engine.as_ptr() {
        current::store_last(ptr::null_mut());
    }
}

/// Removes and returns the reason why the coroutine that ran last has ended.
pub(crate) fn take() -> Option<Trap> {
    TRAPPED.take()
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) fn install() {}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use linux::install;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux {
    use super::{Crash, EXITS, Epilogue, Prologue, TRAPPED, Trap, current};
    use crate::engine::endless_loop;
    use crate::engine::watchdog;
    use corosensei::trap::TrapHandlerRegs;
    use libc::{c_int, c_void, sigaction, siginfo_t, ucontext_t};
    use std::mem::{self, MaybeUninit};
    use std::ptr;
    use std::sync::OnceLock;

    /// The previous handlers of `SIGNALS`.
    static PREVIOUS: OnceLock<[sigaction; 4]> = OnceLock::new();
    const SIGNALS: [c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, watchdog::SIGNAL];

    /// Signals that also end threads of native programs. A timer sends the last one.
    const NATIVE_SIGNALS: [c_int; 4] = [libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGVTALRM];
    static NATIVE: OnceLock<(Prologue, Epilogue)> = OnceLock::new();

    /// Installs the additional handlers for native programs, once per process.
    pub(crate) fn install_for_native(prologue: Prologue, epilogue: Epilogue) {
        if NATIVE.set((prologue, epilogue)).is_ok() {
            for signal in NATIVE_SIGNALS {
                take_over(signal);
            }
        }
    }

    /// Installs the handler of a signal. Returns the previous action.
    fn take_over(signal: c_int) -> sigaction {
        // SAFETY: the structures are plain data for which zero is valid, and `on_signal` has the
        // signature that SA_SIGINFO requires.
        unsafe {
            let mut action: sigaction = mem::zeroed();
            action.sa_sigaction = on_signal as extern "C" fn(_, _, _) as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            if [watchdog::SIGNAL, libc::SIGVTALRM].contains(&signal) {
                action.sa_flags |= libc::SA_RESTART;
            }
            let mut previous: sigaction = mem::zeroed();
            libc::sigaction(signal, &raw const action, &raw mut previous);
            previous
        }
    }

    /// Installs the handlers, once per process, and gives this thread a stack for them.
    pub(crate) fn install() {
        give_signals_a_stack();
        endless_loop::install();
        PREVIOUS.get_or_init(|| SIGNALS.map(take_over));
    }

    /// Gives this thread a stack for signals, which is never freed, unless the thread has a signal
    /// stack from `std`.
    fn give_signals_a_stack() {
        // SAFETY: the arguments are valid structures, and memory that is never freed.
        unsafe {
            let mut stack = MaybeUninit::<libc::stack_t>::zeroed();
            libc::sigaltstack(ptr::null(), stack.as_mut_ptr());
            if stack.assume_init().ss_flags & libc::SS_DISABLE == 0 {
                return;
            }
            let size = libc::SIGSTKSZ.max(64 * 1024);
            let memory = Vec::<u8>::with_capacity(size).leak();
            let stack = libc::stack_t {
                ss_sp: memory.as_mut_ptr().cast(),
                ss_flags: 0,
                ss_size: size,
            };
            libc::sigaltstack(&raw const stack, ptr::null_mut());
        }
    }

    extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the kernel passes a valid pointer. The field is valid for the signals that use
        // it.
        let address = unsafe { (*info).si_addr() } as usize;
        if NATIVE
            .get()
            .is_some_and(|(prologue, _)| !prologue(signal, address))
        {
            return;
        }
        // SAFETY: the kernel passes valid pointers to a handler with SA_SIGINFO.
        let is_ended = unsafe { end_coroutine(signal, &*info, &mut *context.cast()) };
        if !is_ended {
            if let Some((_, epilogue)) = NATIVE.get() {
                epilogue();
            }
            pass_on(signal, info, context);
        }
    }

    /// Makes the running coroutine return, if the signal concerns it and must end it. Returns
    /// whether this is the case.
    ///
    /// # Safety
    ///
    /// Only a signal handler may call this, with the arguments from the kernel.
    unsafe fn end_coroutine(signal: c_int, info: &siginfo_t, context: &mut ucontext_t) -> bool {
        let engine = current::load_last();
        let registers = &mut context.uc_mcontext.gregs;
        // SAFETY: the engine is alive while it is recorded as running.
        let Some(engine) = (unsafe { engine.as_ref() }) else {
            return false;
        };
        let Some(fibre) = engine.running_fibre() else {
            return false;
        };
        let stack_pointer = registers[libc::REG_RSP as usize] as usize;
        let Some(handler) = fibre.trap_handler() else {
            return false;
        };
        if !handler.stack_ptr_in_bounds(stack_pointer) {
            return false;
        }
        let instruction = registers[libc::REG_RIP as usize] as usize;
        // SAFETY: the field is valid for the signals that use it.
        let address = unsafe { info.si_addr() } as usize;
        let trap = if signal == libc::SIGABRT {
            match EXITS.take() {
                true => Trap::Exit,
                false => Trap::Abort,
            }
        } else if signal == watchdog::SIGNAL {
            if watchdog::is_accused(stack_pointer, instruction) {
                Trap::Blocked
            } else if NATIVE.get().is_none() && endless_loop::is_endless(engine, instruction) {
                Trap::Endless
            } else {
                return false;
            }
        } else if [libc::SIGSEGV, libc::SIGBUS].contains(&signal) && fibre.is_guard(address) {
            Trap::StackOverflow
        } else if NATIVE.get().is_some() {
            Trap::Signal(Crash {
                signal,
                address,
                code: instruction,
                is_sent: info.si_code <= 0,
            })
        } else {
            return false;
        };
        TRAPPED.set(Some(trap));
        // SAFETY: the stack pointer is in the coroutine, whose frames are abandoned. The code below
        // sets all required registers.
        let TrapHandlerRegs {
            rip,
            rsp,
            rbp,
            rdi,
            rsi,
        } = unsafe { handler.setup_trap_handler(|| ()) };
        registers[libc::REG_RIP as usize] = rip as i64;
        registers[libc::REG_RSP as usize] = rsp as i64;
        registers[libc::REG_RBP as usize] = rbp as i64;
        registers[libc::REG_RDI as usize] = rdi as i64;
        registers[libc::REG_RSI as usize] = rsi as i64;
        true
    }

    /// Does what the previous handler of the signal would do.
    fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        let position = SIGNALS.iter().position(|&known| known == signal);
        let Some(previous) = PREVIOUS
            .get()
            .zip(position)
            .map(|(previous, position)| previous[position])
        else {
            return;
        };
        // SAFETY: the handler is called in the same way as by the kernel.
        unsafe {
            match previous.sa_sigaction {
                libc::SIG_DFL | libc::SIG_IGN if signal == watchdog::SIGNAL => {}
                libc::SIG_DFL | libc::SIG_IGN => {
                    // After the handler, the same instruction or `abort` raises the signal again.
                    // The old action then applies.
                    libc::sigaction(signal, &raw const previous, ptr::null_mut());
                }
                handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
                    let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                        mem::transmute(handler);
                    handler(signal, info, context);
                }
                handler => {
                    let handler: extern "C" fn(c_int) = mem::transmute(handler);
                    handler(signal);
                }
            }
        }
    }
}
