//! What processes send each other.

use std::fmt::Debug;

/// A value that can be sent: it can be copied, for a network that duplicates, and shown in reports.
pub trait Message: Clone + Debug + Send + 'static {}

impl<M: Clone + Debug + Send + 'static> Message for M {}
