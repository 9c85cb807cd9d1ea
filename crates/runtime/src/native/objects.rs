//! Synchronisation objects of native programs, which come to life at their addresses when they are first used.

use super::Frame;
use super::annotations::Annotations;
use crate::engine::Engine;
use crate::perform::{perform_when, silently};
use crate::{Barrier, Condvar, Mutex, Once, RwLock, Semaphore};
use rustc_hash::FxHashMap;

/// The objects of the execution by their addresses.
#[derive(Default)]
pub(crate) struct Objects {
    mutexes: FxHashMap<usize, Mutex>,
    condvars: FxHashMap<usize, Condvar>,
    rwlocks: FxHashMap<usize, RwLock>,
    semaphores: FxHashMap<usize, Semaphore>,
    barriers: FxHashMap<usize, Barrier>,
    onces: FxHashMap<usize, Once>,
    pub(super) annotations: Annotations,
}

impl Objects {
    /// Forgets the execution.
    pub(crate) fn clear(&mut self) {
        self.mutexes.clear();
        self.condvars.clear();
        self.rwlocks.clear();
        self.semaphores.clear();
        self.barriers.clear();
        self.onces.clear();
        self.annotations.clear();
    }

    /// Becomes like the other.
    pub(crate) fn copy(&mut self, other: &Objects) {
        copy_table(&mut self.mutexes, &other.mutexes);
        copy_table(&mut self.condvars, &other.condvars);
        copy_table(&mut self.rwlocks, &other.rwlocks);
        copy_table(&mut self.semaphores, &other.semaphores);
        copy_table(&mut self.barriers, &other.barriers);
        copy_table(&mut self.onces, &other.onces);
        self.annotations.clone_from(&other.annotations);
    }
}

/// Most programs have objects of one or two kinds.
#[inline(always)]
fn copy_table<T: Clone>(table: &mut FxHashMap<usize, T>, other: &FxHashMap<usize, T>) {
    if !table.is_empty() || !other.is_empty() {
        table.clone_from(other);
    }
}

macro_rules! objects_at {
    ($($(#[$doc:meta])* $function:ident, $table:ident, $object:ident ($($argument:ident: $type:ty)?);)*) => {
        $(
            $(#[$doc])*
            #[inline]
            pub fn $function(address: usize, $($argument: $type)?) -> $object {
                silently(|engine| {
                    if let Some(&object) = engine.native.objects.$table.get(&address) {
                        return object;
                    }
                    let object = $object::at(engine, address, $($argument)?);
                    engine.native.objects.$table.insert(address, object);
                    object
                })
            }
        )*
    };
}

objects_at! {
    /// The mutex at an address.
    mutex_at, mutexes, Mutex ();
    /// The condition variable at an address.
    condvar_at, condvars, Condvar ();
    /// The reader-writer lock at an address.
    rwlock_at, rwlocks, RwLock ();
    /// The semaphore at an address, with so many permits if it is used for the first time.
    semaphore_at, semaphores, Semaphore (permits: usize);
    /// The barrier at an address, for so many threads if it is used for the first time.
    barrier_at, barriers, Barrier (places: usize);
    /// The once at an address.
    once_at, onces, Once ();
}

/// The number of the condition variable at an address.
pub(crate) fn condvar_number(address: usize) -> u32 {
    condvar_at(address).number
}

/// An object of this kind is made anew at the address: what was there is gone.
pub fn forget(address: usize) {
    silently(|engine| {
        engine.thread().laps.take_effect();
        let objects = &mut engine.native.objects;
        objects.mutexes.remove(&address);
        objects.condvars.remove(&address);
        objects.rwlocks.remove(&address);
        objects.semaphores.remove(&address);
        objects.barriers.remove(&address);
        objects.onces.remove(&address);
    });
}

/// Does something that the program does at this place.
#[inline]
pub fn at<R>(code: usize, does: impl FnOnce() -> R) -> R {
    silently(|engine| {
        let thread = engine.thread();
        thread.code = code;
        thread.laps.take_effect();
    });
    does()
}

/// The same for what may fail and change nothing: a thread that comes back without an effect in between, and would
/// fail again, stops.
///
/// # Safety
///
/// `frame` is that of the program's call.
#[inline]
pub unsafe fn try_at<R>(frame: *const Frame, tries: impl FnOnce() -> R) -> R {
    // SAFETY: as promised by the caller.
    let goes_on = |engine: &mut Engine| unsafe {
        engine.thread().code = (*frame).code();
        !engine.stops_by(frame, true)
    };
    perform_when(goes_on, |_| ());
    tries()
}
