//! Choices and assumptions.

/// Any number below `alternatives`: the exploration tries them all.
#[track_caller]
pub fn choose(_alternatives: u32) -> u32 {
    todo!()
}

/// Ends the thread for good, without a bug, where the condition does not hold.
#[track_caller]
pub fn assume(_condition: bool) {
    todo!()
}
