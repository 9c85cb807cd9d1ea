//! The engine whose program runs on the calling thread of the operating system, or null while the
//! checker runs there.
//!
//! Every operation loads this variable. The library for programs in machine code is a shared
//! library, in which access to a `thread_local!` needs a call. The variables of this module need
//! only one load there, because the library is loaded with the program (initial-exec model of
//! thread-local storage, ELF).

use crate::engine::Engine;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod variable {
    use super::Engine;
    use std::arch::{asm, global_asm};

    global_asm!(
        ".pushsection .tbss.mazurka_runtime_current,\"awT\",@nobits",
        ".p2align 3",
        ".globl mazurka_runtime_current",
        ".hidden mazurka_runtime_current",
        ".type mazurka_runtime_current,@object",
        ".size mazurka_runtime_current,16",
        "mazurka_runtime_current:",
        ".zero 16",
        ".popsection",
    );

    #[inline(always)]
    pub(super) fn load<const NUMBER: usize>() -> *mut Engine {
        let engine;
        // SAFETY: reads the variable above of this thread.
        unsafe {
            asm!(
                "mov {place}, qword ptr [rip + mazurka_runtime_current@gottpoff]",
                "mov {engine}, qword ptr fs:[{place} + 8 * {number}]",
                place = out(reg) _,
                engine = lateout(reg) engine,
                number = const NUMBER,
                options(nostack, readonly, preserves_flags),
            );
        }
        engine
    }

    #[inline(always)]
    pub(super) fn store<const NUMBER: usize>(engine: *mut Engine) {
        // SAFETY: writes the variable above of this thread.
        unsafe {
            asm!(
                "mov {place}, qword ptr [rip + mazurka_runtime_current@gottpoff]",
                "mov qword ptr fs:[{place} + 8 * {number}], {engine}",
                place = out(reg) _,
                engine = in(reg) engine,
                number = const NUMBER,
                options(nostack, preserves_flags),
            );
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod variable {
    use super::Engine;
    use std::cell::Cell;

    thread_local! {
        static ENGINES: [Cell<*mut Engine>; 2] = const { [const { Cell::new(std::ptr::null_mut()) }; 2] };
    }

    #[inline(always)]
    pub(super) fn load<const NUMBER: usize>() -> *mut Engine {
        ENGINES.with(|engines| engines[NUMBER].get())
    }

    #[inline(always)]
    pub(super) fn store<const NUMBER: usize>(engine: *mut Engine) {
        ENGINES.with(|engines| engines[NUMBER].set(engine));
    }
}

/// Returns the current engine.
#[inline(always)]
pub(crate) fn load() -> *mut Engine {
    variable::load::<0>()
}

/// Sets the current engine.
#[inline(always)]
pub(crate) fn store(engine: *mut Engine) {
    variable::store::<0>(engine);
}

/// Returns the engine of the coroutine that runs or last ran.
pub(crate) fn load_last() -> *mut Engine {
    variable::load::<1>()
}

/// Sets the engine of the coroutine that runs or last ran.
#[inline(always)]
pub(crate) fn store_last(engine: *mut Engine) {
    variable::store::<1>(engine);
}
