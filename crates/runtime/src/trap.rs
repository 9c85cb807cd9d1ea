//! Stack overflows, aborts and waits in the operating system for good of the program under test end the thread,
//! not the process; so does every other crash of a native program.
//!
//! A signal handler that finds a coroutine running makes it return, as if it had come to its end; what
//! is on its stack leaks. Signals that have another cause go to the handler that was there before.
//! Elsewhere than on Linux with x86-64 there is no handler, and such programs end the process.

use crate::current;
use crate::engine::Engine;
use std::cell::Cell;
use std::ptr::{self, NonNull};

/// Why a coroutine was ended by a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trap {
    StackOverflow,
    Abort,
    /// It waited for what no other thread could do meanwhile.
    Blocked,
    /// It ran on without an operation.
    Endless,
    /// It called `exit`.
    Exit,
    /// A native program was ended by another signal.
    Signal(Crash),
}

/// How a native program crashed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Crash {
    pub(crate) signal: i32,
    /// The address that could not be accessed, for the signals that have one.
    pub(crate) address: usize,
    /// The instruction.
    pub(crate) code: usize,
    /// The program sent the signal.
    pub(crate) is_sent: bool,
}

/// Called first in a signal handler, with the signal and the address that could not be accessed (for the signals that have
/// one): prepares for code of the checker, and tells whether the signal is to end the thread.
pub type Prologue = fn(i32, usize) -> bool;

/// Called last in a signal handler that ends no thread, though its [`Prologue`] said so: the program goes on.
pub type Epilogue = fn();

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use linux::install_for_native;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) fn install_for_native(_: Prologue, _: Epilogue) {}

thread_local! {
    static TRAPPED: Cell<Option<Trap>> = const { Cell::new(None) };
    /// Whether the program under test ends the process.
    static EXITS: Cell<bool> = const { Cell::new(false) };
}

/// A coroutine of this engine is about to run.
#[inline(always)]
pub(crate) fn enter(engine: NonNull<Engine>) {
    current::store_last(engine.as_ptr());
    // SAFETY: the engine is alive, and nothing else refers to it before a coroutine runs.
    unsafe { (*engine.as_ptr()).resumes += 1 };
}

/// The program under test ends the process: only its thread ends. Returns if no coroutine runs.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) fn exit_process() {
    EXITS.set(true);
    // SAFETY: the handler of the signal was installed before code of a program under test ran.
    unsafe { libc::raise(libc::SIGABRT) };
}

/// The engine is about to be dropped.
pub(crate) fn exit(engine: NonNull<Engine>) {
    if current::load_last() == engine.as_ptr() {
        current::store_last(ptr::null_mut());
    }
}

/// Why the coroutine that ran last came to its end.
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
    use crate::{endless_loop, watchdog};
    use corosensei::trap::TrapHandlerRegs;
    use libc::{c_int, c_void, sigaction, siginfo_t, ucontext_t};
    use std::mem::{self, MaybeUninit};
    use std::ptr;
    use std::sync::OnceLock;

    /// The handlers that were there before, for `SIGNALS`.
    static PREVIOUS: OnceLock<[sigaction; 4]> = OnceLock::new();
    const SIGNALS: [c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, watchdog::SIGNAL];

    /// Signals that end threads of native programs besides; the last one by a timer.
    const NATIVE_SIGNALS: [c_int; 4] = [libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGVTALRM];
    static NATIVE: OnceLock<(Prologue, Epilogue)> = OnceLock::new();

    /// Installs the handlers that a native program needs besides, once for the process.
    pub(crate) fn install_for_native(prologue: Prologue, epilogue: Epilogue) {
        if NATIVE.set((prologue, epilogue)).is_ok() {
            for signal in NATIVE_SIGNALS {
                take_over(signal);
            }
        }
    }

    /// Handles a signal from now on; gives what was done before.
    fn take_over(signal: c_int) -> sigaction {
        // SAFETY: the structures are plain data for which zero is valid, and `on_signal` has the signature
        // that SA_SIGINFO asks for.
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

    /// Installs the handlers, once for the process, and sees to it that they have a stack here.
    pub(crate) fn install() {
        give_signals_a_stack();
        endless_loop::install();
        PREVIOUS.get_or_init(|| SIGNALS.map(take_over));
    }

    /// A thread of the standard library has a stack for signals; others get one that they keep.
    fn give_signals_a_stack() {
        // SAFETY: the calls are given valid structures, and memory that is never freed.
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
        // SAFETY: the kernel passes a valid pointer; the field is there for the signals that it is used for.
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

    /// Makes the coroutine that runs return, if the signal is its doing.
    ///
    /// # Safety
    ///
    /// Called by a signal handler with what the kernel gave it.
    unsafe fn end_coroutine(signal: c_int, info: &siginfo_t, context: &mut ucontext_t) -> bool {
        let engine = current::load_last();
        let registers = &mut context.uc_mcontext.gregs;
        // SAFETY: the engine is alive while it is noted as running.
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
        // SAFETY: the field is there for the signals that it is used for.
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
        // SAFETY: the stack pointer is in the coroutine, whose frames are given up; all registers
        // that are asked for are set below.
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

    /// Does what would have been done without us.
    fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        let place = SIGNALS.iter().position(|&own| own == signal);
        let Some(previous) = PREVIOUS
            .get()
            .zip(place)
            .map(|(previous, place)| previous[place])
        else {
            return;
        };
        // SAFETY: the handler is called as the kernel would have called it.
        unsafe {
            match previous.sa_sigaction {
                libc::SIG_DFL | libc::SIG_IGN if signal == watchdog::SIGNAL => {}
                libc::SIG_DFL | libc::SIG_IGN => {
                    // The signal comes again when the handler returns, and finds the old action.
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
