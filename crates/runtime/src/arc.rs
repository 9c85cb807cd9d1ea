//! Shared ownership that tells of leaks and of who drops the value.
//!
//! The counter is that of `std::sync::Arc`. What is added: giving up a share happens before the value is
//! dropped, which destructors rely on (release, and acquire by the last one); and a value that nobody drops is a failure.
//!
//! 1. Giving up a share is an event only where the order matters: where the destructor of the value performs operations, so that
//!    it matters which thread is last (`Coarsening::Ordered`), or where somebody looks at the count (`Coarsening::Polled`). In the
//!    second case taking a share is an event, too; looks are writes, and the others, which commute, are reads.
//! 2. Weak shares are events only where somebody counts them (`Coarsening::Scanned`).

mod conversions;
mod counter;
mod traits;
mod weak;

pub use weak::Weak;

#[cfg(feature = "enforce")]
use crate::outside::event;
use crate::outside::outside;
use counter::Counter;
#[cfg(feature = "enforce")]
use explore::OpKind;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::sync::Arc as Shared;

/// As `std::sync::Arc`; that a value is never dropped is a failure (see the `leaks_fail` of the configuration).
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
    /// A value with one owner.
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        Arc::of(Shared::new(value), Counter::new())
    }

    /// The same, pinned.
    #[track_caller]
    pub fn pin(value: T) -> Pin<Arc<T>> {
        // SAFETY: the value is on the heap and is only moved out by `try_unwrap` and `into_inner`, which take an `Arc`.
        unsafe { Pin::new_unchecked(Arc::new(value)) }
    }

    /// A value that knows itself.
    #[track_caller]
    pub fn new_cyclic<F>(make: F) -> Arc<T>
    where
        F: FnOnce(&Weak<T>) -> T,
    {
        let counter = Counter::new();
        let value = Shared::new_cyclic(|weak| make(&Weak::of(weak.clone(), Some(counter))));
        Arc::of(value, counter)
    }

    /// The value, if this is its only owner.
    ///
    /// # Errors
    ///
    /// With the `Arc`, if there are others.
    #[track_caller]
    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        outside!(event(OpKind::ReadModifyWrite, || {
            let counter = this.counter;
            Shared::try_unwrap(this.into_shared()).map_err(|shared| Arc::of(shared, counter))
        }));
        let is_only = this.counter.take_last();
        match is_only {
            true => Ok(Shared::try_unwrap(this.into_shared()).unwrap_or_else(|_| torn())),
            false => Err(this),
        }
    }

    /// Gives up the share; the value, if it was the last.
    #[track_caller]
    pub fn into_inner(this: Arc<T>) -> Option<T> {
        outside!(event(OpKind::ReadModifyWrite, || Shared::into_inner(
            this.into_shared()
        )));
        this.counter.give_up_and_tell();
        Shared::into_inner(this.into_shared())
    }

    /// The value, if this is its only owner, else a clone.
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

    /// The share without the end of it.
    fn into_shared(self) -> Shared<T> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, and not used again.
        unsafe { ManuallyDrop::take(&mut this.value) }
    }

    /// How many owners there are.
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        outside!(event(OpKind::Load, || Shared::strong_count(&this.value)));
        this.counter.look()
    }

    /// How many weak references there are.
    #[track_caller]
    pub fn weak_count(this: &Arc<T>) -> usize {
        outside!(event(OpKind::Load, || Shared::weak_count(&this.value)));
        this.counter
            .look_at_weak(|| Shared::weak_count(&this.value))
    }

    /// A reference that does not keep the value alive.
    #[track_caller]
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        outside!(event(OpKind::ReadModifyWrite, || Weak::of(
            Shared::downgrade(&this.value),
            Some(this.counter)
        )));
        this.counter.change_weak("downgrade", 1);
        Weak::of(Shared::downgrade(&this.value), Some(this.counter))
    }

    /// The value, if this is its only owner and there are no weak references.
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        outside!(event(OpKind::Load, || Shared::get_mut(&mut this.value)));
        this.counter.look_if_unique();
        Shared::get_mut(&mut this.value)
    }

    /// Whether both are owners of the same value.
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        Shared::ptr_eq(&this.value, &other.value)
    }
}

impl<T: Clone> Arc<T> {
    /// The value; a clone of its own if there are other owners.
    #[track_caller]
    pub fn make_mut(this: &mut Arc<T>) -> &mut T {
        if Arc::get_mut(this).is_none() {
            *this = Arc::new((**this).clone());
        }
        Shared::get_mut(&mut this.value).unwrap_or_else(|| torn())
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
        // SAFETY: the field is not used again. The share is dropped also if the operation unwinds.
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

/// While the execution is torn down, a thread is told what does not hold any more.
fn torn() -> ! {
    loop {
        crate::assume(false);
    }
}
