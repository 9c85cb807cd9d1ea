//! Operations on the objects inside the mirrors of `std`, such as the lock in
//! `mazurka::sync::Mutex`. Each operation acts on the object of the model or, with the feature
//! `enforce` and outside of a model, on the real object that is stored beside it.

use crate::rust::outside::outside;
use crate::rust::settle::Born;
use crate::{Arrival, Barrier, Condvar, Entry, Mutex, Notify, Once, Place, RwLock, Semaphore};
#[cfg(feature = "enforce")]
use enforce::blocking::Deadline;
use std::time::Duration;

impl Born<Mutex> {
    /// See [`Mutex::lock`].
    #[inline(always)]
    #[track_caller]
    pub fn lock(&self) {
        outside!(self.real().lock_anew());
        self.get().lock();
    }

    /// See [`Mutex::try_lock`].
    #[inline(always)]
    #[track_caller]
    pub fn try_lock(&self) -> bool {
        outside!(self.real().try_lock(None).is_ok());
        self.get().try_lock()
    }

    /// See [`Mutex::unlock`].
    #[inline(always)]
    #[track_caller]
    pub fn unlock(&self) {
        outside!(self.real().release());
        self.get().unlock();
    }
}

impl Born<Condvar> {
    /// See [`Condvar::wait`].
    #[inline(always)]
    #[track_caller]
    pub fn wait(&self, mutex: &Born<Mutex>) {
        outside!({
            self.real().wait(mutex.real(), None);
        });
        self.get().wait(&mutex.get());
    }

    /// See [`Condvar::wait_timed`]. A model ignores the time limit.
    #[inline(always)]
    #[track_caller]
    #[cfg_attr(not(feature = "enforce"), allow(unused_variables))]
    pub fn wait_timed(&self, mutex: &Born<Mutex>, limit: Duration) -> bool {
        outside!(self.real().wait(mutex.real(), Some(Deadline::after(limit))));
        self.get().wait_timed(&mutex.get())
    }

    /// See [`Condvar::signal`].
    #[inline(always)]
    #[track_caller]
    pub fn signal(&self) {
        outside!(self.real().signal());
        self.get().signal();
    }

    /// See [`Condvar::broadcast`].
    #[inline(always)]
    #[track_caller]
    pub fn broadcast(&self) {
        outside!(self.real().broadcast());
        self.get().broadcast();
    }
}

impl Born<RwLock> {
    /// See [`RwLock::read`].
    #[inline(always)]
    #[track_caller]
    pub fn read(&self) -> Place {
        outside!({
            self.real().read();
            Place::of(false)
        });
        self.get().read()
    }

    /// See [`RwLock::write`].
    #[inline(always)]
    #[track_caller]
    pub fn write(&self) -> Place {
        outside!({
            self.real().write();
            Place::of(true)
        });
        self.get().write()
    }

    /// See [`RwLock::try_read`].
    #[inline(always)]
    #[track_caller]
    pub fn try_read(&self) -> Option<Place> {
        outside!(self.real().try_read(None).then(|| Place::of(false)));
        self.get().try_read()
    }

    /// See [`RwLock::try_write`].
    #[inline(always)]
    #[track_caller]
    pub fn try_write(&self) -> Option<Place> {
        outside!(self.real().try_write(None).then(|| Place::of(true)));
        self.get().try_write()
    }

    /// See [`RwLock::release`].
    #[inline(always)]
    #[track_caller]
    pub fn release(&self, place: &Place) {
        outside!(self.real().release());
        self.get().release(place);
    }

    /// See [`RwLock::downgrade`].
    #[inline(always)]
    #[track_caller]
    pub fn downgrade(&self, place: &mut Place) {
        outside!({
            self.real().downgrade();
            *place = Place::of(false);
        });
        self.get().downgrade(place);
    }
}

impl Born<Semaphore> {
    /// See [`Semaphore::acquire`].
    #[inline(always)]
    #[track_caller]
    pub fn acquire(&self) {
        outside!(self.real_semaphore().acquire());
        self.get().acquire();
    }

    /// See [`Semaphore::try_acquire`].
    #[inline(always)]
    #[track_caller]
    pub fn try_acquire(&self) -> bool {
        outside!(self.real_semaphore().try_acquire(None));
        self.get().try_acquire()
    }

    /// See [`Semaphore::acquire_timed`]. A model ignores the time limit.
    #[inline(always)]
    #[track_caller]
    #[cfg_attr(not(feature = "enforce"), allow(unused_variables))]
    pub fn acquire_timed(&self, limit: Duration) -> bool {
        outside!({
            let deadline = Deadline::after(limit);
            self.real_semaphore().try_acquire(Some(deadline))
        });
        self.get().acquire_timed()
    }

    /// See [`Semaphore::release`].
    #[inline(always)]
    #[track_caller]
    pub fn release(&self) {
        outside!(self.real_semaphore().release());
        self.get().release();
    }

    #[cfg(feature = "enforce")]
    fn real_semaphore(&self) -> &enforce::blocking::Semaphore {
        let permits = u32::try_from(self.size());
        let permits = permits.expect("a semaphore has at most 2^32 permits");
        let begin = || enforce::blocking::Semaphore::new(permits);
        self.real().get_or_init(begin)
    }
}

impl Born<Barrier> {
    /// See [`Barrier::wait`].
    #[inline(always)]
    #[track_caller]
    pub fn wait(&self) -> Arrival {
        outside!({
            let places = u32::try_from(self.size()).unwrap_or(u32::MAX);
            let begin = || enforce::blocking::Barrier::new(places);
            Arrival::outside(self.real().get_or_init(begin).wait())
        });
        self.get().wait()
    }
}

impl Born<Once> {
    /// See [`Once::enter`].
    #[inline(always)]
    #[track_caller]
    pub fn enter(&self) -> Entry {
        outside!(match self.real().enter() {
            enforce::blocking::Entry::Done => Entry::Done,
            enforce::blocking::Entry::Initialize => Entry::Initialize {
                after_failure: self.real().has_failed(),
            },
        });
        self.get().enter()
    }

    /// See [`Once::wait`].
    #[inline(always)]
    #[track_caller]
    pub fn wait(&self) -> bool {
        outside!(self.real().wait_for_other());
        self.get().wait()
    }

    /// See [`Once::wait_force`].
    #[inline(always)]
    #[track_caller]
    pub fn wait_force(&self) {
        outside!(self.real().wait_until_done());
        self.get().wait_force();
    }

    /// See [`Once::done`].
    #[inline(always)]
    #[track_caller]
    pub fn done(&self) {
        outside!(self.real().done());
        self.get().done();
    }

    /// See [`Once::fail`].
    #[inline(always)]
    #[track_caller]
    pub fn fail(&self) {
        outside!(self.real().fail());
        self.get().fail();
    }

    /// See [`Once::is_done`].
    #[inline(always)]
    #[track_caller]
    pub fn is_done(&self) -> bool {
        outside!(self.real().is_done());
        self.get().is_done()
    }
}

impl Born<Notify> {
    /// See [`Notify::wait`].
    #[inline(always)]
    #[track_caller]
    pub fn wait(&self) {
        outside!(self.real().take());
        self.get().wait();
    }

    /// See [`Notify::wait_at`].
    #[inline(always)]
    #[track_caller]
    pub fn wait_at(&self, location: &'static std::panic::Location<'static>) -> bool {
        outside!({
            self.real().take();
            false
        });
        self.get().wait_at(location)
    }

    /// See [`Notify::own`].
    pub fn own(&self) {
        outside!();
        self.get().own();
    }

    /// See [`Notify::is_own_gift`].
    pub fn is_own_gift(&self) -> bool {
        outside!(false);
        self.get().is_own_gift()
    }

    /// See [`Notify::notify`].
    #[inline(always)]
    #[track_caller]
    pub fn notify(&self) {
        outside!(self.real().give());
        self.get().notify();
    }

    /// See [`Notify::notify_at`].
    #[inline(always)]
    #[track_caller]
    pub fn notify_at(&self, location: &'static std::panic::Location<'static>) {
        outside!(self.real().give());
        self.get().notify_at(location);
    }
}
