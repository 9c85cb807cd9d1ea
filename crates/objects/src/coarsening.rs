//! What a front-end may learn of an object only in the middle of the exploration.

/// Why the forms of an object were too fine: they took for independent what is not.
///
/// The front-end remembers it for the object for good, announces the coarser forms from then on, and
/// has the exploration start again (`Interrupt::Coarsened`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Coarsening {
    /// A reader-writer lock, or a channel, is used with a try or timed operation.
    Tried,
    /// Who leads at a barrier was asked, or more threads use it than it has places.
    Ordered,
    /// Whether a thread has ended was asked without waiting for it, or whether a lock is poisoned without
    /// holding it.
    Polled,
    /// Another process sends signals to a process, or wants to know of its end; or another thread of a native program accesses
    /// the stack of a thread.
    Shared,
    /// A process has a name, which its end takes away.
    Registered,
    /// A table is looked through from the first to the last key.
    Scanned,
}
