//! The await rule: a thread that goes round a loop in vain stops.

/// A round of a loop that waits for others is over (`spin_loop`, `yield_now`). No event.
///
/// A thread that comes here twice with the same stack and registers, and has only read or failed a
/// try in between, halts: it would do the same again until someone writes what it reads.
#[inline(never)]
pub fn hint() {
    todo!()
}
