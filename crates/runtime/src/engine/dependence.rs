//! How a pending operation depends on the state of its object.

/// The property of a pending operation that depends on the state of its object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DependsOn {
    /// The access depends on the current value.
    Value,
    /// The alternatives depend on the waiters of the condition variable with this number.
    Waiters(u32),
    /// The alternatives depend on the freed blocks of this size.
    Freed(usize),
}
