//! The hint of a loop that waits for others, and the look at the local state that it needs.

use crate::outside::outside;
use crate::{await_rule, perform};
use std::time::Duration;

/// How long one round lasts of a thread that has patience.
const PAUSE: Duration = Duration::from_micros(20);

/// A round of a loop that waits for others is over (`spin_loop`, `yield_now`). No event.
///
/// A thread that comes here twice with the same stack and registers, and has only read or failed a
/// try in between, halts: it would do the same again until someone writes what it reads.
#[inline]
#[track_caller]
pub fn hint() {
    outside!(std::hint::spin_loop());
    perform::silently(|_| ());
    let is_in_vain = is_in_vain();
    perform::clean_after_calls();
    if is_in_vain {
        if perform::silently(|engine| engine.waits_for_time()) {
            std::thread::sleep(PAUSE);
        } else {
            perform::halt(await_rule::HALT);
        }
    }
}

/// As `std::hint::unreachable_unchecked`, but a panic.
///
/// # Safety
///
/// None is needed; the signature is that of `std`.
///
/// # Panics
///
/// If it is reached.
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("unreachable_unchecked was reached");
}

/// Compares the registers that calls preserve, and the stack above, with those of the last hint.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
extern "C" fn is_in_vain() -> bool {
    std::arch::naked_asm!(
        "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
        "mov rdi, rsp",
        "sub rsp, 8",
        "call {compare}",
        "add rsp, 8",
        "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx",
        "ret",
        compare = sym compare,
    )
}

#[cfg(target_arch = "x86_64")]
extern "C" fn compare(pointer: usize) -> bool {
    // SAFETY: the pointer is that of the stack of the thread that runs, in a frame of its caller.
    perform::silently(|engine| unsafe { engine.is_in_vain(pointer) })
}

#[cfg(not(target_arch = "x86_64"))]
fn is_in_vain() -> bool {
    perform::silently(|_| false)
}
