//! Facts about an object that a front-end may discover only in the middle of the exploration.

/// The reason why the forms of an object were too fine: they treated dependent operations as
/// independent.
///
/// The front-end records the reason permanently. From then on, it announces coarser forms, in which
/// these operations conflict. It restarts the exploration (`Interrupt::Coarsened`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Coarsening {
    /// A thread performs a try or timed operation on a reader-writer lock or a channel, reads the
    /// number of permits of a semaphore, or may raise this number to its limit.
    Tried,
    /// A thread queries the leader of a barrier, more threads use a barrier than it has places, or
    /// the destructor of a shared value performs operations.
    Ordered,
    /// A thread checks whether a thread has ended (without waiting for it), whether a lock is
    /// poisoned (without holding it), or how many shares an `Arc` has.
    Polled,
    /// Another process sends signals to a process or observes its end. In a native program, another
    /// thread accesses a thread's stack, or blocks of one size are both freed and allocated while
    /// several threads run.
    Shared,
    /// A process has a registered name, which its end frees.
    Registered,
    /// A thread iterates over a table from the first to the last key, or reads the number of weak
    /// shares of an `Arc`.
    Scanned,
    /// The program tells apart threads that run the same code. The object is the end of the first
    /// of these threads.
    Distinguished,
}
