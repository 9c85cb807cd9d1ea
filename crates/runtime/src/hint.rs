//! The hint of a loop that waits for others, and the look at the local state that it needs.

use crate::await_rule::{HALT, Lap};
use crate::outside::outside;
use crate::perform;
use explore::{Bound, Halt};
use std::time::Duration;

/// How long one round lasts of a thread that has patience.
const PAUSE: Duration = Duration::from_micros(20);

/// A round of a loop that waits for others is over (`spin_loop`, `yield_now`). No event.
///
/// A thread that comes here twice with the same stack and registers, and has only read or failed a
/// try in between, halts: it would do the same again until someone writes what it reads.
#[inline(always)]
#[track_caller]
pub fn hint() {
    outside!(std::hint::spin_loop());
    // The frames from here to the comparison have slots that nothing sets.
    perform::clean_after_calls();
    end_round();
}

/// Others may go first (`sched_yield`, a sleep): a switch to them at the next operation is no preemption. No event.
pub fn yields() {
    perform::silently(|engine| engine.thread().has_yielded = true);
}

#[inline(never)]
#[track_caller]
fn end_round() {
    perform::silently(|_| ());
    let lap = arrive();
    perform::clean_after_calls();
    match lap {
        Lap::GoesOn => yields(),
        Lap::IsVain if perform::silently(|engine| engine.waits_for_time()) => {
            std::thread::sleep(PAUSE);
        }
        Lap::IsVain => perform::halt(HALT),
        Lap::IsNoticed => perform::halt(Halt::Bound(Bound::Unroll)),
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
extern "C" fn arrive() -> Lap {
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
extern "C" fn compare(pointer: usize) -> Lap {
    // SAFETY: the pointer is that of the stack of the thread that runs, in a frame of its caller.
    perform::silently(|engine| unsafe { engine.arrive(pointer) })
}

#[cfg(not(target_arch = "x86_64"))]
fn arrive() -> Lap {
    perform::silently(|_| Lap::GoesOn)
}
