//! Synchronization objects of native programs, created at their addresses when they are first used.

use super::Frame;
use super::annotations::Annotations;
use super::foreign::may_be_stack;
use super::places::Given;
use super::reuse::Freed;
use crate::engine::Engine;
use crate::engine::life::life;
use crate::engine::perform::{perform_when, silently};
use crate::watch::happens_before::Epoch;
use crate::{Barrier, Condvar, Mutex, Once, RwLock, Semaphore};
use explore::{ObjectId, ThreadId};
use objects::Object;
use rustc_hash::{FxHashMap, FxHashSet};

life! {
    /// The objects of the execution by their addresses.
    pub(crate) struct Objects {
        mutexes: FxHashMap<usize, Mutex>,
        condvars: FxHashMap<usize, Condvar>,
        rwlocks: FxHashMap<usize, RwLock>,
        semaphores: FxHashMap<usize, Semaphore>,
        barriers: FxHashMap<usize, Barrier>,
        onces: FxHashMap<usize, Once>,
        /// For each wait that ended without a signal: the number of the condition variable, and an
        /// epoch (a point in a thread) before which the wait ended. Recorded only while data races
        /// are searched for.
        ended_waits: Vec<(u32, Epoch)>,
        pub(super) annotations: Annotations,
        /// The one-time actions that the compiler's libraries have already done.
        library_onces: FxHashSet<usize>,
        /// The addresses of objects that a call has initialized and no call has destroyed, with the
        /// code of the last such call.
        initialized: FxHashMap<usize, usize>,
        pub(crate) freed: Freed,
        /// Pairs of (size, freeing thread) of freed blocks whose address another thread has read.
        /// The reader may mistake a new block of the same size for the freed block.
        pub(super) freed_by: FxHashSet<(usize, ThreadId)>,
    }
}

impl Objects {
    fn forget(&mut self, address: usize) {
        self.initialized.remove(&address);
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

    /// Forgets objects in this memory that were not destroyed, because the memory is reused.
    pub(super) fn forget_within(&mut self, address: usize, size: usize) {
        let is_within = |object: &usize| object.wrapping_sub(address) < size;
        let condvars: Vec<usize> = self.condvars.keys().copied().filter(is_within).collect();
        condvars
            .into_iter()
            .for_each(|condvar| self.forget(condvar));
        self.mutexes.retain(|object, _| !is_within(object));
        self.rwlocks.retain(|object, _| !is_within(object));
        self.semaphores.retain(|object, _| !is_within(object));
        self.barriers.retain(|object, _| !is_within(object));
        self.onces.retain(|object, _| !is_within(object));
    }

    /// Returns the condition variable, semaphore, barrier or reader-writer lock at an address: its
    /// first part as named in events, and its number of parts. Returns `None` if there is no such
    /// object.
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
                    if let Some(&object) = self.guests.native.life.objects.$table.get(&address) {
                        return object;
                    }
                    let object = $object::at(self, address, $($argument)?);
                    self.guests.native.life.objects.$table.insert(address, object);
                    object
                }
            )*
        }
    };
}

objects_at! {
    /// Returns the mutex at an address, used by the program at `code`.
    mutex_at, mutexes, Mutex ();
    /// Returns the condition variable at an address.
    condvar_at, condvars, Condvar ();
    /// Returns the reader-writer lock at an address. If this is its first use, `prefers_readers`
    /// decides whether new readers come before waiting writers.
    rwlock_at, rwlocks, RwLock (prefers_readers: bool);
    /// Returns the semaphore at an address, with the given number of permits if this is its first
    /// use.
    semaphore_at, semaphores, Semaphore (permits: usize);
    /// Returns the barrier at an address, for the given number of threads if this is its first use.
    barrier_at, barriers, Barrier (places: usize);
    /// Returns the once at an address.
    once_at, onces, Once ();
}

/// Checks the use of an object for races, like an atomic access: its memory must exist, and writes
/// there by other threads must be ordered with the use.
pub fn use_at(address: usize, code: usize) {
    silently(|engine| engine.shadow_use(address, code));
}

/// Returns the mutex at an address without [checking its use](use_at). This is for locks that the
/// checker itself uses, and for a mutex whose owner has ended.
pub fn inner_mutex_at(address: usize) -> Mutex {
    silently(|engine| engine.mutex_at(address))
}

/// Returns the condition variable at an address without [checking its use](use_at), for the queue
/// of a futex.
pub(super) fn inner_condvar_at(address: usize) -> Condvar {
    silently(|engine| engine.condvar_at(address))
}

/// Initializes an object at the address. An earlier object there is forgotten.
pub fn initialize(address: usize, code: usize) {
    silently(|engine| {
        engine.search_for_lifetime_races();
        engine.thread().life.guests.round.take_effect();
        engine.shadow_initialize(address, code);
        engine.guests.native.life.objects.forget(address);
        let objects = &mut engine.guests.native.life.objects;
        objects.initialized.insert(address, code);
    });
}

/// Returns the code that initialized an object at the address by a call, if the object was not
/// destroyed. The object's memory may have another use by now. Returns `None` on stacks, where
/// frames reuse addresses.
pub fn initialized_at(address: usize) -> Option<usize> {
    let initialized = |engine: &mut Engine| {
        let objects = &engine.guests.native.life.objects;
        objects.initialized.get(&address).copied()
    };
    silently(initialized).filter(|_| !may_be_stack(address))
}

/// Destroys the object at the address.
pub fn destroy(address: usize, code: usize) {
    silently(|engine| {
        engine.search_for_lifetime_races();
        engine.thread().life.guests.round.take_effect();
        engine.shadow_destroy(address, code);
        engine.guests.native.life.objects.forget(address);
    });
}

/// Returns whether a thread waits for the condition variable, semaphore, barrier or reader-writer
/// lock at the address. For a condition variable, also returns true if a thread could still wait in
/// another order of unordered events.
pub fn is_waited_for(address: usize) -> bool {
    silently(|engine| {
        let parts = engine.guests.native.life.objects.parts_at(address);
        let is_about = |about: ObjectId| {
            parts.is_some_and(|(first, parts)| about.0.wrapping_sub(first.0) < parts)
        };
        // The list may contain granted waits: they are removed at the end of the step that grants
        // them.
        let is_granted = |thread| {
            let wait = engine.wait_of(thread);
            wait.is_some_and(|wait| engine.life.objects.is_granted(wait))
        };
        let mut waiting = engine.life.waiting.iter();
        let condvar = engine
            .guests
            .native
            .life
            .objects
            .condvars
            .get(&address)
            .copied();
        waiting.any(|&(thread, about)| is_about(about) && !is_granted(thread))
            || condvar.is_some_and(|condvar| engine.is_condvar_waited_for(condvar.number))
    })
}

/// Returns whether a thread waits for a condition variable in a block of memory, as
/// [`is_waited_for`] does.
pub fn is_condvar_waited_for_within(address: usize, size: usize) -> bool {
    silently(|engine| {
        let condvars = engine.guests.native.life.objects.condvars.iter();
        let within: Vec<u32> = condvars
            .filter(|&(&at, _)| at.wrapping_sub(address) < size)
            .map(|(_, condvar)| condvar.number)
            .collect();
        let mut within = within.into_iter();
        within.any(|number| engine.is_condvar_waited_for(number))
    })
}

impl Engine {
    /// Returns whether a thread waits for a condition variable, or could still wait in another
    /// order of events. The latter holds if a wait ended without a signal, and its end does not
    /// happen before the present of the running thread.
    fn is_condvar_waited_for(&mut self, number: u32) -> bool {
        if self.life.objects.condvars.get(number).waiters() > 0 {
            return true;
        }
        let (running, happens_before) = (self.running, &mut self.guests.happens_before);
        let mut ended_waits = self.guests.native.life.objects.ended_waits.iter();
        let is_unordered = ended_waits
            .any(|&(waited, epoch)| waited == number && !happens_before.knows(running, epoch));
        // Without the clocks of atomic accesses, ordered events may seem unordered.
        let is_certain = self.guests.native.is_ordering;
        if is_unordered && !is_certain {
            self.order_atomics();
        }
        is_unordered && is_certain
    }

    /// Records that a wait of the running thread ends without a signal.
    pub(crate) fn record_end_of_wait(&mut self, number: u32) {
        if self.config.native.is_some() && self.watch.races {
            let epoch = self.guests.happens_before.now(self.running);
            let objects = &mut self.guests.native.life.objects;
            objects.ended_waits.push((number, epoch));
        }
    }

    /// Records a signal by the running thread. A thread that is ordered after the signal is also
    /// ordered after the ends of all earlier waits, so the epoch of the signal replaces theirs.
    pub(crate) fn order_ends_of_waits(&mut self, number: u32) {
        if self.guests.native.life.objects.ended_waits.is_empty() {
            return;
        }
        let now = self.guests.happens_before.now(self.running);
        for (waited, epoch) in &mut self.guests.native.life.objects.ended_waits {
            if *waited == number {
                *epoch = now;
            }
        }
    }
}

/// Records that a compiler's library is about to run the one-time initializer whose control
/// variable is at this address. Returns whether this is the first time in the execution.
pub fn begins_library_once(control: usize) -> bool {
    silently(|engine| {
        engine
            .guests
            .native
            .life
            .objects
            .library_onces
            .insert(control)
    })
}

/// Calls `does`, an action with an effect that the program performs at this place.
#[inline]
pub fn at<R>(code: usize, does: impl FnOnce() -> R) -> R {
    silently(|engine| {
        let thread = engine.thread();
        thread.life.code = code;
        thread.life.guests.round.take_effect();
        engine.end_frames();
    });
    does()
}

/// Calls `waits`, an action by which the program waits for a lock and takes it, at this place in
/// the code. Under the await rule, a thread stops if it returns to this call in an earlier state
/// and has had no effect since. The lock is an effect until the thread releases it.
///
/// # Safety
///
/// `frame` must be that of the program's call.
#[inline]
pub unsafe fn wait_for_lock_at<R>(frame: *const Frame, waits: impl FnOnce() -> R) -> R {
    // SAFETY: as promised by the caller.
    let continues = |engine: &mut Engine| unsafe {
        engine.thread().life.code = (*frame).code();
        engine.end_frames();
        !engine.stops_by_lock(frame)
    };
    perform_when(continues, |_| ());
    waits()
}

/// Calls `tries`, an action by which the program takes a lock at this place if the lock is free.
/// The conditions and effects are those of [`try_at`].
///
/// # Safety
///
/// `frame` must be that of the program's call.
#[inline]
pub unsafe fn try_lock_at<R>(frame: *const Frame, tries: impl FnOnce() -> R) -> R {
    // SAFETY: as promised by the caller.
    unsafe {
        silently(|engine| engine.counts_lock(frame));
        try_at(frame, tries)
    }
}

/// Calls `releases`, an action by which the program releases a lock at this place.
#[inline]
pub fn unlock_at<R>(code: usize, releases: impl FnOnce() -> R) -> R {
    silently(|engine| {
        engine.thread().life.code = code;
        if !engine.undoes_locks() {
            engine.take_effect();
        }
        engine.end_frames();
    });
    releases()
}

/// Calls `tries`, an action that may fail and change nothing. Under the await rule, a thread stops
/// if it returns to this call in an earlier state and has had no effect since.
///
/// # Safety
///
/// `frame` must be that of the program's call.
#[inline]
pub unsafe fn try_at<R>(frame: *const Frame, tries: impl FnOnce() -> R) -> R {
    // SAFETY: as promised by the caller.
    let continues = |engine: &mut Engine| unsafe {
        engine.thread().life.code = (*frame).code();
        engine.end_frames();
        !engine.stops_by(frame, true, Given::Part([0; 3]))
    };
    perform_when(continues, |_| ());
    tries()
}
