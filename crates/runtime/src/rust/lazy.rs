//! Lazy statics that are initialized anew in each execution.
//!
//! The value belongs to the execution. The first thread that needs the value creates it, and the
//! value is dropped at the end of the last thread. Which thread is first depends on the schedule.
//! So objects that are created with the value get their names from the static, not from the thread.

#[cfg(feature = "enforce")]
mod outside;

use crate::engine::Engine;
use crate::engine::names::{Region, Resident, Site};
use crate::engine::perform::silently;
use crate::engine::place::Place;
use crate::memory::image;
use crate::rust::once::{Entry, Once};
use crate::rust::outside::outside;
use explore::ObjectId;
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::rc::Rc;

/// A static that its first user initializes, anew in each execution. `lazy_static!` expands to this
/// type.
///
/// ```
/// use runtime::{Atomic, Config, Lazy, Model};
/// use std::sync::atomic::Ordering::SeqCst;
///
/// static COUNT: Lazy<Atomic<u32>> = Lazy::new(|| Atomic::new(0));
///
/// let mut model = Model::new(Config::default(), || {
///     assert_eq!(COUNT.get().modify("fetch_add", SeqCst, |old| old + 1), 0);
/// });
/// for _ in 0..2 {
///     let mut strategy = explore::Algorithm::Optimal.strategy(explore::Options::default());
///     explore::explore(&mut model, &mut strategy, &mut ()).unwrap();
///     assert!(model.failure().is_none());
/// }
/// ```
pub struct Lazy<T: 'static> {
    make: fn() -> T,
    /// Makes the type `Sync` only if `T` is, because outside of models threads use the value
    /// concurrently.
    #[cfg(feature = "enforce")]
    shared: std::marker::PhantomData<T>,
}

/// A static of the execution.
pub(crate) struct Static {
    address: usize,
    /// Decides which thread creates the value.
    once: Rc<Once>,
    /// The value, or `None` before it is created and after it was dropped.
    pub(crate) value: Option<Box<dyn Any>>,
}

/// The static that a thread initializes, and the number of objects created for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Making {
    address: usize,
    created: u32,
}

impl<T: 'static> Lazy<T> {
    /// Creates a static that is not initialized.
    pub const fn new(make: fn() -> T) -> Lazy<T> {
        Lazy {
            make,
            #[cfg(feature = "enforce")]
            shared: std::marker::PhantomData,
        }
    }

    /// Returns the value. The first call in an execution creates the value. Other calls wait for
    /// the thread that creates it. The value must not be used after the execution.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        outside!(outside::at((&raw const *self).addr(), self.make));
        Lazy::at((&raw const *self).addr(), self.make)
    }

    /// Returns the value of a static at this address, inside models only. The type must be the same
    /// each time.
    #[track_caller]
    pub fn at(address: usize, make: fn() -> T) -> &'static T {
        let location = Location::caller();
        let once = silently(|engine| engine.once_of_static(address, location));
        if !once.is_done()
            && let Entry::Initialize { .. } = once.enter()
        {
            let fails = Fails(&once);
            let value = making(address, make);
            silently(|engine| engine.own_by_static(address, value));
            std::mem::forget(fails);
            once.done();
        }
        let value: *const T = silently(|engine| {
            let value = engine.static_at(address).value.as_deref();
            let value = value.and_then(<dyn Any>::downcast_ref);
            value.map(|value| &raw const *value)
        })
        .unwrap_or_else(|| halt_in_tear_down());
        // SAFETY: the value is in a box that is dropped when the threads of the execution have
        // ended. Statics and threads of other executions could reach it by safe code only if they
        // kept this reference, which is forbidden.
        unsafe { &*value }
    }
}

/// Reports to the model that the initializer panicked.
struct Fails<'o>(&'o Once);

impl Drop for Fails<'_> {
    fn drop(&mut self) {
        self.0.fail();
    }
}

/// Never returns. The value is missing only while the execution is torn down, because no other
/// thread creates it then. `assume(false)` ends the thread.
fn halt_in_tear_down() -> ! {
    loop {
        crate::assume(false);
    }
}

/// Runs the initializer. Objects that it creates are named after the static.
fn making<T>(address: usize, make: fn() -> T) -> T {
    let making = Making {
        address,
        created: 1,
    };
    let before = silently(|engine| engine.thread().guests.making.replace(making));
    let value = catch_unwind(AssertUnwindSafe(make));
    silently(|engine| engine.thread().guests.making = before);
    value.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Engine {
    fn static_at(&mut self, address: usize) -> &mut Static {
        let mut statics = self.guests.statics.iter_mut();
        let found = statics.find(|known| known.address == address);
        found.expect("a used static is registered")
    }

    fn once_of_static(&mut self, address: usize, location: Place) -> Rc<Once> {
        if let Some(known) = self
            .guests
            .statics
            .iter()
            .find(|known| known.address == address)
        {
            return Rc::clone(&known.once);
        }
        let object = self.create_for_static(address, 0, <objects::Once as objects::Object>::PARTS);
        let once = Rc::new(Once::named(self, object, (), location));
        self.guests.statics.push(Static {
            address,
            once: Rc::clone(&once),
            value: None,
        });
        once
    }

    /// Returns the position of an address in the value of a static, or `None` if it is in no such
    /// value.
    pub(crate) fn site_in_static(&self, address: usize) -> Option<Site> {
        let mut statics = self.guests.statics.iter();
        statics.find_map(|known| {
            let value = known.value.as_deref()?;
            let offset = address.wrapping_sub((&raw const *value).addr());
            let site = image::site_of(known.address);
            (offset < size_of_val(value)).then_some(Site {
                region: Region::Lazy,
                offset: site.offset << 20 ^ offset as u64,
                ..site
            })
        })
    }

    fn create_for_static(&mut self, address: usize, number: u32, parts: u32) -> ObjectId {
        self.names.resident(Resident {
            site: image::site_of(address),
            predecessors: number,
            parts,
        })
    }

    /// Creates the next object of the running thread or, if the thread initializes a static, of
    /// this static.
    pub(crate) fn create(&mut self, parts: u32) -> ObjectId {
        let thread = &mut self.threads[self.running.index()];
        if let Some(making) = thread.guests.making {
            return self.create_for_making(making, parts);
        }
        let number = thread.life.created;
        thread.life.created += 1;
        self.names.object(self.running, number, parts)
    }

    /// Creates the next object of the static that the running thread initializes.
    #[cold]
    pub(crate) fn create_for_making(&mut self, making: Making, parts: u32) -> ObjectId {
        self.thread().guests.making = Some(Making {
            created: making.created + 1,
            ..making
        });
        self.create_for_static(making.address, making.created, parts)
    }

    /// Stores the value of the static.
    fn own_by_static<T: 'static>(&mut self, address: usize, value: T) {
        let mut spare = self.guests.spare_statics.iter();
        let value: Box<dyn Any> = match spare.position(|&(owner, _)| owner == address) {
            Some(index) => {
                let (_, memory) = self.guests.spare_statics.swap_remove(index);
                let memory: *mut T = memory.cast();
                // SAFETY: a box of this type was leaked here, and only this static has the address.
                unsafe {
                    memory.write(value);
                    Box::from_raw(memory)
                }
            }
            None => Box::new(value),
        };
        self.static_at(address).value = Some(value);
    }

    /// Forgets the statics of the execution. Leaks their values that were not dropped; values of
    /// later executions reuse the memory.
    #[inline]
    pub(crate) fn forget_statics(&mut self) {
        self.guests.residents.clear();
        for known in self.guests.statics.drain(..) {
            if let Some(value) = known.value {
                let memory = Box::into_raw(value).cast();
                self.guests.spare_statics.push((known.address, memory));
            }
        }
    }
}

impl<T: 'static> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}
