//! Objects whose `new` is `const`: they know of no model until they are used.
//!
//! An object *settles* at its first use in an execution: it gets its name, after the memory in which it lies
//! (see `names/sites.rs`), and its state in the model. In memory of the model it settles where it is. A static is
//! used by many executions, and by models of other threads at the same time; it is never written: each execution has a
//! copy of it as it was initialised, and uses that.

use crate::engine::Engine;
use crate::names::Site;
use crate::outside::outside;
use crate::perform::{clean_after_first_use, silently};
use crate::residents::Home;
use crate::source::Place;
use explore::ObjectId;
use std::cell::Cell;
use std::panic::{Location, RefUnwindSafe};
use std::ptr::NonNull;

/// What settles at its first use.
pub trait Settle {
    /// Whether it has.
    fn is_settled(&self) -> bool;

    /// Makes what it needs in the model.
    fn settle(&self, settling: &Settling);
}

/// That something settles which is in the memory of the model, where only the model's own thread of the operating
/// system has access.
#[derive(Debug)]
pub struct Settling {
    start: usize,
    size: usize,
    /// None if it is named by its creator and number, since it is not yet where it will be.
    site: Option<Site>,
}

impl Settling {
    /// The id of the object at this address.
    ///
    /// # Panics
    ///
    /// If the object is not part of what settles.
    #[inline]
    pub(crate) fn object(&self, engine: &mut Engine, address: usize, parts: u32) -> ObjectId {
        let offset = address.wrapping_sub(self.start);
        assert!(offset <= self.size, "an object settles with what it is in");
        match self.site {
            Some(site) => engine.create_at(site.at(offset), parts),
            None => engine.create(parts),
        }
    }
}

/// A value that settles, and is a fresh one in each execution if it is in a static.
#[repr(transparent)]
pub struct Placed<T: ?Sized>(T);

impl<T> Placed<T> {
    /// Not settled.
    pub const fn new(value: T) -> Placed<T> {
        Placed(value)
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T: Settle> Placed<T> {
    /// Settles at once, in the execution at hand and named by the thread that runs and its number there.
    ///
    /// # Panics
    ///
    /// Outside a model.
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
    /// The value of the execution at hand; with the feature `enforce` and outside a model the value itself.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self) -> &T {
        outside!(&self.0);
        settled(&self.0)
    }

    /// The value of the execution at hand; outside a model the one that each execution begins with.
    #[track_caller]
    pub fn peek(&self) -> &T {
        match crate::is_in_model() {
            true => self.get(),
            false => &self.0,
        }
    }

    /// The value, which nobody else can touch.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// A part of the model that objects of this type have.
pub trait Inborn: Copy {
    /// What it is made with.
    type Size: Copy;

    /// How many objects it is for the exploration.
    const PARTS: u32;

    /// What it is outside of models.
    #[cfg(feature = "enforce")]
    type Real: Send + Sync;

    /// One that begins, outside of models.
    #[cfg(feature = "enforce")]
    const REAL: Self::Real;

    /// One that begins.
    fn begin(object: ObjectId, size: Self::Size, location: &'static Location<'static>) -> Self;
}

/// A part of the model that is made when its owner settles.
pub struct Born<O: Inborn> {
    made: Cell<Option<O>>,
    #[cfg(feature = "enforce")]
    real: O::Real,
    size: O::Size,
    location: Place,
}

// SAFETY: what is in a static is never written (its copies are). Elsewhere it is written only when it settles,
// by the one thread of the operating system that runs the model.
unsafe impl<O: Inborn + Send> Sync for Born<O> where O::Size: Sync {}

impl<O: Inborn> RefUnwindSafe for Born<O> {}

impl<O: Inborn> Born<O> {
    /// Not settled.
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

    /// The real object.
    #[cfg(feature = "enforce")]
    #[inline(always)]
    pub(crate) fn real(&self) -> &O::Real {
        &self.real
    }

    /// What it is made with.
    #[cfg(feature = "enforce")]
    pub(crate) fn size(&self) -> O::Size {
        self.size
    }

    /// The part.
    ///
    /// # Panics
    ///
    /// If it has not settled.
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

/// The value of the execution at hand.
#[inline(always)]
#[track_caller]
pub(crate) fn settled<T: Settle + ?Sized>(value: &T) -> &T {
    let mut here = value;
    // The code is inlined into the program, whose stack must look the same whichever thread settles the object: so it looks
    // at the object again.
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

/// The copy of a value at this address.
fn at<T: ?Sized>(value: &T, copy: NonNull<u8>) -> &T {
    let mut pointer: *const T = value;
    // SAFETY: a pointer begins with the address. There is a copy of the value, which lives until the threads of the
    // execution have ended; statics and threads of other executions have no access to it by safe means but to keep
    // this reference, which is forbidden.
    unsafe {
        (&raw mut pointer).cast::<NonNull<u8>>().write(copy);
        &*pointer
    }
}

#[cold]
#[track_caller]
fn outside() -> ! {
    panic!(
        "an object of mazurka is used that was made outside the model: make it in the closure of the model, or let it \
         be a static, of which each execution has a fresh one"
    )
}
