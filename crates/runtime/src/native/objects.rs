//! Synchronisation objects of native programs, which come to life at their addresses when they are first used.

use super::Frame;
use super::annotations::Annotations;
use super::foreign::may_be_stack;
use super::laps::Given;
use super::reuse::Freed;
use crate::engine::Engine;
use crate::happens_before::Epoch;
use crate::perform::{perform_when, silently};
use crate::{Barrier, Condvar, Mutex, Once, RwLock, Semaphore};
use explore::{ObjectId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The objects of the execution by their addresses.
#[derive(Default)]
pub(crate) struct Objects {
    mutexes: FxHashMap<usize, Mutex>,
    condvars: FxHashMap<usize, Condvar>,
    rwlocks: FxHashMap<usize, RwLock>,
    semaphores: FxHashMap<usize, Semaphore>,
    barriers: FxHashMap<usize, Barrier>,
    onces: FxHashMap<usize, Once>,
    /// Pairs of (condition variable, a moment that comes after a wait for it that ended without a signal). Kept where races are
    /// looked for.
    ended_waits: Vec<(u32, Epoch)>,
    pub(super) annotations: Annotations,
    /// What the libraries of the compiler have done once.
    library_onces: FxHashSet<usize>,
    /// Objects that were initialised by a call and not destroyed, with the code of the call.
    initialised: FxHashMap<usize, usize>,
    pub(crate) freed: Freed,
    /// Sizes of blocks that others may take for new ones of their size, with the threads that freed them.
    pub(super) freed_by: FxHashSet<(usize, ThreadId)>,
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
        self.ended_waits.clear();
        self.annotations.clear();
        self.library_onces.clear();
        self.initialised.clear();
        self.freed.clear();
        self.freed_by.clear();
    }

    /// Becomes like the other.
    pub(crate) fn copy(&mut self, other: &Objects) {
        copy_table(&mut self.mutexes, &other.mutexes);
        copy_table(&mut self.condvars, &other.condvars);
        copy_table(&mut self.rwlocks, &other.rwlocks);
        copy_table(&mut self.semaphores, &other.semaphores);
        copy_table(&mut self.barriers, &other.barriers);
        copy_table(&mut self.onces, &other.onces);
        if !self.ended_waits.is_empty() || !other.ended_waits.is_empty() {
            self.ended_waits.clone_from(&other.ended_waits);
        }
        if !self.annotations.is_empty() || !other.annotations.is_empty() {
            self.annotations.clone_from(&other.annotations);
        }
        if self.library_onces.len() != other.library_onces.len() {
            self.library_onces.clone_from(&other.library_onces);
        }
        copy_table(&mut self.initialised, &other.initialised);
        copy_table(&mut self.freed, &other.freed);
        if !self.freed_by.is_empty() || !other.freed_by.is_empty() {
            self.freed_by.clone_from(&other.freed_by);
        }
    }

    fn forget(&mut self, address: usize) {
        self.initialised.remove(&address);
        self.mutexes.remove(&address);
        if let Some(condvar) = self.condvars.remove(&address) {
            self.ended_waits
                .retain(|&(number, _)| number != condvar.number);
        }
        self.rwlocks.remove(&address);
        self.semaphores.remove(&address);
        self.barriers.remove(&address);
        self.onces.remove(&address);
    }

    /// Memory begins anew: objects that were there, and not destroyed, are gone.
    pub(super) fn forget_within(&mut self, address: usize, size: usize) {
        let is_within = |own: &usize| own.wrapping_sub(address) < size;
        let condvars: Vec<usize> = self.condvars.keys().copied().filter(is_within).collect();
        condvars.into_iter().for_each(|own| self.forget(own));
        self.mutexes.retain(|own, _| !is_within(own));
        self.rwlocks.retain(|own, _| !is_within(own));
        self.semaphores.retain(|own, _| !is_within(own));
        self.barriers.retain(|own, _| !is_within(own));
        self.onces.retain(|own, _| !is_within(own));
    }

    /// What the condition variable, semaphore, barrier or lock at an address is called in events: the first of its parts, and how many.
    fn parts_at(&self, address: usize) -> Option<(ObjectId, u32)> {
        let condvar = self.condvars.get(&address).map(|known| known.object);
        let semaphore = self.semaphores.get(&address).map(|known| known.object);
        let barrier = self.barriers.get(&address).map(|known| known.object);
        let rwlock = self.rwlocks.get(&address).map(|known| known.object);
        let condvar = condvar.map(|object| (object, objects::Condvar::PARTS));
        let semaphore = semaphore.map(|object| (object, objects::Semaphore::PARTS));
        let barrier = barrier.map(|object| (object, objects::Barrier::PARTS));
        let rwlock = rwlock.map(|object| (object, objects::RwLock::PARTS));
        condvar.or(semaphore).or(barrier).or(rwlock)
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
            pub fn $function(address: usize, $($argument: $type,)? code: usize) -> $object {
                silently(|engine| {
                    engine.shadow_use(address, code);
                    engine.$function(address, $($argument)?)
                })
            }
        )*

        impl Engine {
            $(
                #[inline]
                fn $function(&mut self, address: usize, $($argument: $type)?) -> $object {
                    if let Some(&object) = self.native.objects.$table.get(&address) {
                        return object;
                    }
                    let object = $object::at(self, address, $($argument)?);
                    self.native.objects.$table.insert(address, object);
                    object
                }
            )*
        }
    };
}

objects_at! {
    /// The mutex at an address, used by the program at `code`.
    mutex_at, mutexes, Mutex ();
    /// The condition variable at an address.
    condvar_at, condvars, Condvar ();
    /// The reader-writer lock at an address, which may prefer readers to writers that wait.
    rwlock_at, rwlocks, RwLock (prefers_readers: bool);
    /// The semaphore at an address, with so many permits if it is used for the first time.
    semaphore_at, semaphores, Semaphore (permits: usize);
    /// The barrier at an address, for so many threads if it is used for the first time.
    barrier_at, barriers, Barrier (places: usize);
    /// The once at an address.
    once_at, onces, Once ();
}

/// A function uses an object at an address as atomics are used: not when it is gone or another thread writes there.
pub fn use_at(address: usize, code: usize) {
    silently(|engine| engine.shadow_use(address, code));
}

/// The mutex of an operation that is carried out under a lock of the checker's, or whose owner has ended.
pub fn inner_mutex_at(address: usize) -> Mutex {
    silently(|engine| engine.mutex_at(address))
}

/// The number of the queue of a futex. Its word may be gone already: to wake threads at memory that was freed is allowed.
pub(crate) fn condvar_number(address: usize) -> u32 {
    silently(|engine| engine.condvar_at(address)).number
}

/// The program initialises an object at the address: what was there is gone.
pub fn initialise(address: usize, code: usize) {
    silently(|engine| {
        engine.look_for_races_of_objects();
        engine.thread().laps.take_effect();
        engine.shadow_initialise(address, code);
        engine.native.objects.forget(address);
        engine.native.objects.initialised.insert(address, code);
    });
}

/// Where an object at the address was initialised by a call, if it was not destroyed. Its memory may be another's by now. Unknown
/// on stacks, where the same frames come again.
pub fn initialised_at(address: usize) -> Option<usize> {
    let objects = |engine: &mut Engine| engine.native.objects.initialised.get(&address).copied();
    silently(objects).filter(|_| !may_be_stack(address))
}

/// The program destroys the object at the address.
pub fn destroy(address: usize, code: usize) {
    silently(|engine| {
        engine.look_for_races_of_objects();
        engine.thread().laps.take_effect();
        engine.shadow_destroy(address, code);
        engine.native.objects.forget(address);
    });
}

/// Whether a thread waits for the object at the address, or would in another order of events that nothing orders.
pub fn is_waited_for(address: usize) -> bool {
    silently(|engine| {
        let parts = engine.native.objects.parts_at(address);
        let is_about = |about: ObjectId| {
            parts.is_some_and(|(first, parts)| about.0.wrapping_sub(first.0) < parts)
        };
        // Waits that have been granted are taken off the list at the end of the step that grants them.
        let is_granted = |thread| {
            let wait = engine.wait_of(thread);
            wait.is_some_and(|wait| engine.objects.is_granted(wait))
        };
        let mut waiting = engine.waiting.iter();
        let condvar = engine.native.objects.condvars.get(&address).copied();
        waiting.any(|&(thread, about)| is_about(about) && !is_granted(thread))
            || condvar.is_some_and(|condvar| engine.is_condvar_waited_for(condvar.number))
    })
}

/// The same for condition variables in a block of memory.
pub fn is_condvar_waited_for_within(address: usize, size: usize) -> bool {
    silently(|engine| {
        let condvars = engine.native.objects.condvars.iter();
        let within: Vec<u32> = condvars
            .filter(|&(&own, _)| own.wrapping_sub(address) < size)
            .map(|(_, condvar)| condvar.number)
            .collect();
        let mut within = within.into_iter();
        within.any(|number| engine.is_condvar_waited_for(number))
    })
}

impl Engine {
    /// Whether a thread waits for a condition variable, or a wait has ended by itself that could still go on: nothing orders its
    /// end before what the thread that runs does.
    fn is_condvar_waited_for(&mut self, number: u32) -> bool {
        if self.objects.condvars.get(number).waiters() > 0 {
            return true;
        }
        let (running, happens_before) = (self.running, &mut self.happens_before);
        let mut ended_waits = self.native.objects.ended_waits.iter();
        let is_unordered =
            ended_waits.any(|&(own, epoch)| own == number && !happens_before.knows(running, epoch));
        // Without all clocks what is ordered may seem not to be.
        let is_certain = self.native.is_ordering;
        if is_unordered && !is_certain {
            self.order_atomics();
        }
        is_unordered && is_certain
    }

    /// The wait of the thread that runs ends without a signal.
    pub(crate) fn note_end_of_wait(&mut self, number: u32) {
        if self.config.native.is_some() && self.watch.races {
            let epoch = self.happens_before.now(self.running);
            self.native.objects.ended_waits.push((number, epoch));
        }
    }

    /// The thread that runs signals: waits that have ended by then are over for all who know of the signal.
    pub(crate) fn order_ends_of_waits(&mut self, number: u32) {
        if self.native.objects.ended_waits.is_empty() {
            return;
        }
        let now = self.happens_before.now(self.running);
        for (own, epoch) in &mut self.native.objects.ended_waits {
            if *own == number {
                *epoch = now;
            }
        }
    }
}

/// Whether a library of the compiler does at this address what it does once, for the first time in the execution.
pub fn begins_library_once(control: usize) -> bool {
    silently(|engine| engine.native.objects.library_onces.insert(control))
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
        !engine.stops_by(frame, true, Given::Part([0; 3]))
    };
    perform_when(goes_on, |_| ());
    tries()
}
