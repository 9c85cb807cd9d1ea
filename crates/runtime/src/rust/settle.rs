//! Objects with a `const` constructor, which have no state in a model before their first use.
//!
//! An object *settles* at its first use in an execution: it gets its state in the model, and a name
//! that comes from its location in memory (see `names/sites.rs`). An object in memory of the model
//! settles in place. A static is used by many executions, and at the same time by models that other
//! threads run. So a static is never written: each execution copies its initial value and uses the
//! copy.

use crate::engine::Engine;
use crate::engine::names::Site;
use crate::engine::perform::{clean_after_first_use, silently};
use crate::engine::place::Place;
use crate::memory::residents::Home;
use crate::rust::outside::outside;
use explore::ObjectId;
use std::cell::Cell;
use std::panic::{Location, RefUnwindSafe};
use std::ptr::NonNull;

/// An object that settles at its first use.
pub trait Settle {
    /// Checks whether the object has settled.
    fn is_settled(&self) -> bool;

    /// Creates the object's parts in the model.
    fn settle(&self, settling: &Settling);
}

/// Proof that an object in the model's memory is being settled. Only the model's operating-system
/// thread has access to that memory.
#[derive(Debug)]
pub struct Settling {
    start: usize,
    size: usize,
    /// The location of the object, or `None` if its creator and number name the object, because it
    /// is not yet at its final address.
    site: Option<Site>,
}

impl Settling {
    /// Returns the id of the object at this address.
    ///
    /// # Panics
    ///
    /// Panics if the object is not part of the settling object.
    #[inline]
    pub(crate) fn object(&self, engine: &mut Engine, address: usize, parts: u32) -> ObjectId {
        let offset = address.wrapping_sub(self.start);
        assert!(
            offset <= self.size,
            "an object settles together with the object that contains it"
        );
        match self.site {
            Some(site) => engine.create_at(site.at(offset), parts),
            None => engine.create(parts),
        }
    }
}

/// A value that settles. If it is in a static, each execution uses a fresh copy.
#[repr(transparent)]
pub struct Placed<T: ?Sized>(T);

impl<T> Placed<T> {
    /// Creates a value that has not settled.
    pub const fn new(value: T) -> Placed<T> {
        Placed(value)
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T: Settle> Placed<T> {
    /// Settles at once, in the current execution. The name consists of the running thread and the
    /// value's number among the objects of that thread.
    ///
    /// # Panics
    ///
    /// Panics outside of a model.
    #[must_use]
    #[track_caller]
    pub fn settled(self) -> Placed<T> {
        outside!(self);
        silently(|_| ());
        self.0.settle(&Settling {
            start: (&raw const self.0).addr(),
            size: size_of::<T>(),
            site: None,
        });
        self
    }
}

impl<T: Settle + ?Sized> Placed<T> {
    /// Returns the value of the current execution. With the feature `enforce` and outside of a
    /// model, returns the value itself.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self) -> &T {
        outside!(&self.0);
        settled(&self.0)
    }

    /// Returns the value of the current execution, or outside of a model the value with which each
    /// execution begins.
    #[track_caller]
    pub fn peek(&self) -> &T {
        match crate::is_in_model() {
            true => self.get(),
            false => &self.0,
        }
    }

    /// Returns the value, to which the caller has exclusive access.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// The model's part of a mirror of `std`, such as the lock in `mazurka::sync::Mutex`.
pub trait Inborn: Copy {
    /// The parameters of the creation of an object.
    type Size: Copy;

    /// The number of objects that represent the part in the exploration.
    const PARTS: u32;

    /// The real object outside of models.
    #[cfg(feature = "enforce")]
    type Real: Send + Sync;

    /// The initial real object.
    #[cfg(feature = "enforce")]
    const REAL: Self::Real;

    /// Creates a new object of the model.
    fn begin(object: ObjectId, size: Self::Size, location: &'static Location<'static>) -> Self;
}

/// The model's part of a mirror, which is created when the mirror settles.
pub struct Born<O: Inborn> {
    /// The object of the model, or `None` until the mirror settles.
    made: Cell<Option<O>>,
    #[cfg(feature = "enforce")]
    real: O::Real,
    size: O::Size,
    location: Place,
}

// SAFETY: the content of a static is never written, only that of its copies. Elsewhere the cell is
// written only when the object settles, by the operating-system thread that runs the model.
unsafe impl<O: Inborn + Send> Sync for Born<O> where O::Size: Sync {}

impl<O: Inborn> RefUnwindSafe for Born<O> {}

impl<O: Inborn> Born<O> {
    /// Creates a part that has not settled.
    #[track_caller]
    pub const fn new(size: O::Size) -> Born<O> {
        Born {
            made: Cell::new(None),
            #[cfg(feature = "enforce")]
            real: O::REAL,
            size,
            location: Location::caller(),
        }
    }

    /// Returns the real object.
    #[cfg(feature = "enforce")]
    #[inline(always)]
    pub(crate) fn real(&self) -> &O::Real {
        &self.real
    }

    /// Returns the parameters of the object's creation.
    #[cfg(feature = "enforce")]
    pub(crate) fn size(&self) -> O::Size {
        self.size
    }

    /// Returns the model's part.
    ///
    /// # Panics
    ///
    /// Panics if the owner has not settled.
    #[inline(always)]
    pub fn get(&self) -> O {
        match self.made.get() {
            Some(made) => made,
            None => unsettled(),
        }
    }
}

#[cold]
fn unsettled() -> ! {
    panic!("an object settles before it is used")
}

impl<O: Inborn> Settle for Born<O> {
    #[inline(always)]
    fn is_settled(&self) -> bool {
        self.made.get().is_some()
    }

    fn settle(&self, settling: &Settling) {
        let address = (&raw const *self).addr();
        let object = silently(|engine| settling.object(engine, address, O::PARTS));
        self.made
            .set(Some(O::begin(object, self.size, self.location)));
    }
}

/// Returns the value of the current execution: `value` itself, or its copy if it is in a static.
/// Settles it first if it has not settled.
#[inline(always)]
#[track_caller]
pub(crate) fn settled<T: Settle + ?Sized>(value: &T) -> &T {
    let mut here = value;
    // This code is inlined into the program. The program's stack must look the same whichever
    // thread settled the object, so the loop always ends with a check that succeeds.
    while !here.is_settled() {
        here = settle(here);
        clean_after_first_use();
    }
    here
}

#[cold]
#[inline(never)]
#[track_caller]
fn settle<T: Settle + ?Sized>(value: &T) -> &T {
    let (start, size) = ((&raw const *value).addr(), size_of_val(value));
    match silently(|engine| engine.home_of(start)) {
        Home::Here(site) => {
            let site = Some(site);
            value.settle(&Settling { start, size, site });
            value
        }
        Home::Copied(copy) => at(value, copy),
        Home::Static(site) => {
            let copy = silently(|engine| engine.copy_static(value));
            let copied = at(value, copy);
            let (start, site) = (copy.addr().get(), Some(site));
            copied.settle(&Settling { start, size, site });
            copied
        }
        Home::Unknown => outside(),
    }
}

/// Returns the copy of a value at this address.
fn at<T: ?Sized>(value: &T, copy: NonNull<u8>) -> &T {
    let mut pointer: *const T = value;
    // SAFETY: a pointer begins with the address, even if metadata follows. There is a copy of the
    // value, which lives until the threads of the execution have ended. Statics and threads of
    // other executions could reach it by safe code only if they kept this reference, which is
    // forbidden.
    unsafe {
        (&raw mut pointer).cast::<NonNull<u8>>().write(copy);
        &*pointer
    }
}

#[cold]
#[track_caller]
fn outside() -> ! {
    panic!(
        "an object of mazurka was created outside the model that uses it: create it in the closure of the model, or \
         make it a static, which is fresh in each execution"
    )
}
