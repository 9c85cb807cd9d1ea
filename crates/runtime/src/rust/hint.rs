//! The hint of a spin loop, and the capture of the local state that the await rule compares.

use crate::engine::perform;
use crate::rust::outside::outside;
use crate::watch::await_rule::hints::RoundResult;
use explore::{Bound, Halt};
use std::time::Duration;

/// The time that a thread sleeps at a hint if its loop waits for real time to pass.
const PAUSE: Duration = Duration::from_micros(20);

/// Ends a round of a spin loop (`spin_loop`, `yield_now`). This is not an event.
///
/// A thread halts (stops permanently) if it calls this function twice with the same stack and
/// registers, and has only read or failed a try in between. It would repeat this round until
/// another thread writes a value that the round reads (the await rule, see `watch/await_rule.rs`).
#[inline(always)]
#[track_caller]
pub fn hint() {
    outside!(std::hint::spin_loop());
    // The frames between this function and the comparison of stacks have slots that are never
    // written. Old bytes in these slots would make equal stacks differ.
    perform::clean_after_calls();
    end_round();
}

/// Yields to other threads (`sched_yield`, a sleep): a switch at the next operation is not a
/// preemption. This is not an event.
pub fn yields() {
    perform::silently(|engine| engine.thread().life.has_yielded = true);
}

#[inline(never)]
#[track_caller]
fn end_round() {
    perform::silently(|_| ());
    let result = arrive();
    perform::clean_after_calls();
    match result {
        RoundResult::Changed => yields(),
        RoundResult::NoProgress if perform::silently(|engine| engine.waits_for_time()) => {
            std::thread::sleep(PAUSE);
        }
        RoundResult::NoProgress => perform::halt(Halt::Await),
        RoundResult::TooMany => perform::halt(Halt::Bound(Bound::Unroll)),
    }
}

/// Panics where `std::hint::unreachable_unchecked` would be undefined behaviour.
///
/// # Safety
///
/// There are no conditions; the signature is that of `std`.
///
/// # Panics
///
/// Panics if this call is reached.
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("unreachable_unchecked was reached");
}

/// Compares the callee-saved registers and the stack of the callers with those at earlier hints.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
extern "C" fn arrive() -> RoundResult {
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
extern "C" fn compare(pointer: usize) -> RoundResult {
    // SAFETY: the pointer is in the stack of the running thread, in a frame of its caller.
    perform::silently(|engine| unsafe { engine.arrive(pointer) })
}

#[cfg(not(target_arch = "x86_64"))]
fn arrive() -> RoundResult {
    perform::silently(|_| RoundResult::Changed)
}
