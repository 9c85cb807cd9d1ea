//! Plain memory: accesses that must not race.

/// Finds data races at one piece of plain memory. No events: races are found by the order that C11
/// promises, whatever the interleaving.
#[derive(Debug)]
pub struct Plain {}

impl Plain {
    /// New memory of the execution, written by its creator.
    #[track_caller]
    pub fn new() -> Plain {
        todo!()
    }

    /// It is read.
    #[track_caller]
    #[inline]
    pub fn read(&self) {
        todo!()
    }

    /// It is written.
    #[track_caller]
    #[inline]
    pub fn write(&self) {
        todo!()
    }
}
