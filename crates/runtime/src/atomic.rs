//! Atomic variables and fences.

use explore::Token;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

/// What an atomic variable can hold.
pub trait Value: Copy + Debug {
    /// The name of the type in a trace, as `AtomicUsize`.
    const NAME: &'static str;

    /// Equal for equal values, and independent of the schedule.
    fn token(self) -> Token;
}

/// An atomic variable. It is `Sync` for all values that it can hold.
///
/// Every operation is an event; orderings matter for data races only (sequential consistency).
/// Which orderings are valid is the caller's business.
pub struct Atomic<V> {
    value: PhantomData<V>,
}

impl<V: Value> Atomic<V> {
    /// A new variable of the execution.
    #[track_caller]
    pub fn new(_value: V) -> Atomic<V> {
        todo!()
    }

    /// Reads the value.
    #[track_caller]
    pub fn load(&self, _order: Ordering) -> V {
        todo!()
    }

    /// Writes a value.
    #[track_caller]
    pub fn store(&self, _value: V, _order: Ordering) {
        todo!()
    }

    /// Replaces the value and gives the old one. `name` is the name of the operation, as `fetch_add`;
    /// `change` must not do anything else than to compute.
    #[track_caller]
    pub fn modify(&self, _name: &'static str, _order: Ordering, _change: impl FnOnce(V) -> V) -> V {
        todo!()
    }

    /// Replaces the value by `new` if it is `current`. Gives the old value, as `Err` if it is another.
    #[track_caller]
    pub fn compare_exchange(
        &self,
        _current: V,
        _new: V,
        _success: Ordering,
        _failure: Ordering,
    ) -> Result<V, V> {
        todo!()
    }

    /// The value, without an event: for `Debug`, and where nobody else has the variable.
    pub fn peek(&self) -> V {
        todo!()
    }

    /// The value, which nobody else can touch.
    pub fn get_mut(&mut self) -> &mut V {
        todo!()
    }
}

/// A memory fence: an event without an access.
#[track_caller]
pub fn fence(_order: Ordering) {
    todo!()
}
