//! The messages of processes.

use std::fmt::Debug;

/// A value that can be sent. `Clone` lets the network duplicate it, and `Debug` shows it in
/// reports.
pub trait Message: Clone + Debug + Send + 'static {}

impl<M: Clone + Debug + Send + 'static> Message for M {}
