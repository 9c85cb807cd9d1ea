//! The messages of processes.

use std::fmt::Debug;

/// A value that can be sent. It can be copied, for a network that duplicates, and shown in reports.
pub trait Message: Clone + Debug + Send + 'static {}

impl<M: Clone + Debug + Send + 'static> Message for M {}
