//! Shared ownership that detects leaks and exposes the order in which owners drop their shares.
//!
//! The reference count itself is that of `std::sync::Arc`. This module adds two things. First, each
//! drop of a share happens before the drop of the value (a release by each owner, and an acquire by
//! the last owner). Destructors rely on this order. Second, a value that is never dropped is a
//! failure.
//!
//! Changes of the count are events only where their order is known to matter. An exploration starts
//! again when it learns that the order matters (`Coarsening`). If schedules must be enforceable,
//! all changes are events from the start.
//!
//! 1. Giving up a share is an event in two cases: if the destructor of the value performs
//!    operations, so that it matters which thread is last (`Coarsening::Ordered`), and if a thread
//!    reads the count (`Coarsening::Polled`). In the second case, taking a share is an event, too.
//!    Changes of the count commute with each other, but not with reads of the count. So for the
//!    exploration, changes are read accesses, and reads are write accesses.
//! 2. Changes of weak shares are events if a thread reads their count (`Coarsening::Scanned`).

mod conversions;
mod counter;
mod traits;
mod weak;

pub use weak::Weak;

#[cfg(feature = "enforce")]
use crate::rust::outside::event;
use crate::rust::outside::outside;
use counter::{Counter, Owners};
#[cfg(feature = "enforce")]
use explore::OpKind;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::sync::Arc as Shared;

/// A `std::sync::Arc` whose value must be dropped. If it is not dropped, the execution is a failure
/// (see `leaks_fail` in the configuration).
///
/// ```
/// use runtime::{Arc, Config, Model};
///
/// let mut model = Model::new(Config::default(), || {
///     let pair = Arc::new((1, 2));
///     std::mem::forget(pair);
/// });
/// let mut strategy = explore::Algorithm::Optimal.strategy(explore::Options::default());
/// explore::explore(&mut model, &mut strategy, &mut ()).unwrap();
/// assert!(model.failure().unwrap().message.contains("never dropped"));
/// ```
pub struct Arc<T: ?Sized> {
    value: ManuallyDrop<Shared<T>>,
    counter: Counter,
}

impl<T: RefUnwindSafe + ?Sized> UnwindSafe for Arc<T> {}

impl<T> Arc<T> {
    /// Creates a value with one owner.
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        Arc::of(Shared::new(value), Counter::new())
    }

    /// Creates a value that Mazurka itself uses, with one owner. Reports call it `what`. It may leak.
    #[doc(hidden)]
    #[track_caller]
    pub fn new_named(value: T, what: &'static str) -> Arc<T> {
        Arc::of(Shared::new(value), Counter::named(what, false))
    }

    /// Creates a pinned value with one owner.
    #[track_caller]
    pub fn pin(value: T) -> Pin<Arc<T>> {
        // SAFETY: the value is on the heap. Only `try_unwrap` and `into_inner` move it out, and
        // they take an `Arc`.
        unsafe { Pin::new_unchecked(Arc::new(value)) }
    }

    /// Creates a value that has a weak reference to itself.
    #[track_caller]
    pub fn new_cyclic<F>(make: F) -> Arc<T>
    where
        F: FnOnce(&Weak<T>) -> T,
    {
        let counter = Counter::new();
        outside!({
            let value = Shared::new_cyclic(|weak| {
                let value = {
                    let weak = Weak::of(weak.clone(), Some(counter));
                    make(&weak)
                };
                // The event ends when the value can be found.
                enforce::begin(OpKind::ReadModifyWrite);
                value
            });
            enforce::end();
            Arc::of(value, counter)
        });
        counter.await_value();
        let value = Shared::new_cyclic(|weak| make(&Weak::of(weak.clone(), Some(counter))));
        counter.begin();
        Arc::of(value, counter)
    }

    /// Returns the value if this is its only owner.
    ///
    /// # Errors
    ///
    /// Returns the `Arc` as the error if there are other owners.
    #[track_caller]
    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        outside!(event(OpKind::ReadModifyWrite, || {
            let counter = this.counter;
            Shared::try_unwrap(this.into_shared()).map_err(|shared| Arc::of(shared, counter))
        }));
        let is_only = this.counter.take_last();
        match is_only {
            true => {
                Ok(Shared::try_unwrap(this.into_shared()).unwrap_or_else(|_| halt_in_tear_down()))
            }
            false => Err(this),
        }
    }

    /// Gives up the share. Returns the value if the share was the last one.
    #[track_caller]
    pub fn into_inner(this: Arc<T>) -> Option<T> {
        outside!(event(OpKind::ReadModifyWrite, || Shared::into_inner(
            this.into_shared()
        )));
        this.counter.give_up_and_check();
        Shared::into_inner(this.into_shared())
    }

    /// Returns the value if this is its only owner, and a clone of the value otherwise.
    #[track_caller]
    pub fn unwrap_or_clone(this: Arc<T>) -> T
    where
        T: Clone,
    {
        Arc::try_unwrap(this).unwrap_or_else(|shared| (*shared).clone())
    }
}

impl<T: ?Sized> Arc<T> {
    fn of(value: Shared<T>, counter: Counter) -> Arc<T> {
        Arc {
            value: ManuallyDrop::new(value),
            counter,
        }
    }

    /// Returns the share without giving it up.
    fn into_shared(self) -> Shared<T> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is neither dropped nor used again.
        unsafe { ManuallyDrop::take(&mut this.value) }
    }

    /// Returns the number of owners.
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        outside!(event(OpKind::Load, || Shared::strong_count(&this.value)));
        this.counter.read_shares()
    }

    /// Returns the number of weak references.
    #[track_caller]
    pub fn weak_count(this: &Arc<T>) -> usize {
        outside!(event(OpKind::Load, || Shared::weak_count(&this.value)));
        this.counter.read_weak(|| Shared::weak_count(&this.value))
    }

    /// Creates a reference that does not keep the value alive.
    #[track_caller]
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        outside!(event(OpKind::ReadModifyWrite, || Weak::of(
            Shared::downgrade(&this.value),
            Some(this.counter)
        )));
        this.counter.change_weak("downgrade", 1);
        Weak::of(Shared::downgrade(&this.value), Some(this.counter))
    }

    /// Returns the value if this is its only owner and there are no weak references.
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        outside!(event(OpKind::Load, || Shared::get_mut(&mut this.value)));
        this.counter.check_unique();
        Shared::get_mut(&mut this.value)
    }

    /// Checks whether both are owners of the same value.
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        Shared::ptr_eq(&this.value, &other.value)
    }
}

impl<T: Clone> Arc<T> {
    /// Returns the value. If there are other owners, replaces it with a clone first. If there are
    /// only weak references besides, these lose the value.
    #[track_caller]
    pub fn make_mut(this: &mut Arc<T>) -> &mut T {
        match Arc::owners(this) {
            Owners::One => {}
            Owners::Several => *this = Arc::new((**this).clone()),
            Owners::OneBesideWeak => {
                this.counter = Counter::new();
                if !this.take_from_weak() {
                    halt_in_tear_down()
                }
            }
        }
        Shared::get_mut(&mut this.value).unwrap_or_else(|| halt_in_tear_down())
    }

    /// Finds out whether the value has other owners. Outside of models, if it has only weak
    /// references besides this owner, also moves it to a place that they do not find.
    #[track_caller]
    fn owners(this: &mut Arc<T>) -> Owners {
        outside!(event(OpKind::ReadModifyWrite, || {
            let is_only = Shared::get_mut(&mut this.value).is_some() || this.take_from_weak();
            if is_only {
                Owners::One
            } else {
                Owners::Several
            }
        }));
        let Arc { value, counter } = this;
        counter.make_unique(|| Shared::weak_count(value) > 0)
    }
}

impl<T> Arc<T> {
    /// Moves the value to a place that weak references do not find. Returns whether this was its
    /// only owner. Otherwise, does nothing.
    fn take_from_weak(&mut self) -> bool {
        // SAFETY: the field is written before it is used again. Nothing in between unwinds.
        let shared = unsafe { ManuallyDrop::take(&mut self.value) };
        let (shared, is_only) = match Shared::try_unwrap(shared) {
            Ok(value) => (Shared::new(value), true),
            Err(shared) => (shared, false),
        };
        self.value = ManuallyDrop::new(shared);
        is_only
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    #[inline]
    fn clone(&self) -> Arc<T> {
        outside!(event(OpKind::ReadModifyWrite, || Arc::of(
            Shared::clone(&self.value),
            self.counter
        )));
        self.counter.take_share();
        Arc::of(Shared::clone(&self.value), self.counter)
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    #[track_caller]
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the field is not used again. The share is dropped even if the operation unwinds.
        let value = unsafe { ManuallyDrop::take(&mut self.value) };
        outside!(event(OpKind::ReadModifyWrite, || drop(value)));
        let is_last = self.counter.give_up();
        match is_last {
            true => self.counter.watch_destructor(|| drop(value)),
            false => drop(value),
        }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

/// Never returns. The counter and the `Arc` of `std` disagree only while an execution is torn down,
/// because operations then return results that do not hold. `assume(false)` ends the thread.
fn halt_in_tear_down() -> ! {
    loop {
        crate::assume(false);
    }
}
