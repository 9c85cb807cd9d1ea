//! Threads of the program, from their start to their end.

use crate::blocking::Latch;
use crate::gate::Gate;
use crate::own::{Own, own};
use crate::path::{self, Path};
use crate::threads::{self, with_all};
use crate::{Plan, delay, enforcement, failure, follow, recorder};
use report::Point;
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::panic::RefUnwindSafe;
use std::ptr;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
};

/// Where a thread comes from.
#[derive(Clone, Copy, Default)]
pub(crate) struct Origin {
    parent: Option<&'static Thread>,
    /// Its number among the children of the parent.
    place: u32,
    /// Of its spawn path.
    hash: u64,
    /// Differs from those of other threads.
    seed: u64,
}

/// A thread that is enforced, or the memory of one.
// As `Gate`: no two threads share a line of a cache.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Thread {
    /// Who can name it: itself until it has ended, whoever has a [`Child`] of it, the threads that it started, by their paths,
    /// and a record.
    holders: AtomicU32,
    origin: Cell<Origin>,
    /// What the front-end starts it with.
    carried: [AtomicUsize; 2],
    /// Its number in the file, from 1; 0 as long as the file does not name it.
    number: AtomicU64,
    children: Cell<u32>,
    /// Who looks at its thread-local memory holds it, and it before that is gone.
    latch: Latch,
    /// Its thread-local memory, while it lives.
    own: AtomicPtr<Own>,
    has_ended: AtomicBool,
    /// The position of its next stop, as a rule.
    pub(crate) likely_stop: Cell<usize>,
    /// What it waits for, as number and index; 0 for nothing.
    waits_for: AtomicU64,
    /// The plan that it waits for the sake of.
    waits_under: AtomicPtr<Plan>,
    /// Of its random delays.
    pub(crate) random: Cell<u64>,
    pub(crate) record: UnsafeCell<recorder::Own>,
}

// SAFETY: `children`, `likely_stop`, `random` and `record` are used by the thread itself only (`record` also when the process
// ends, by whoever ends it, see `recorder`); `origin` changes when nobody else can name the thread; all else is atomic.
unsafe impl Sync for Thread {}

impl RefUnwindSafe for Thread {}

/// How many events all threads have begun, as far as one can see from outside.
pub(crate) fn progress() -> u64 {
    let progress = |thread: &&Thread| {
        // SAFETY: a number that its thread may change meanwhile; any value will do.
        let count = |own: &Own| unsafe { own.count.as_ptr().read_volatile() };
        thread.with_own(count).unwrap_or(0)
    };
    with_all(|threads| threads.iter().map(progress).fold(0, u64::wrapping_add))
}

/// Whether no thread of the program is left.
pub(crate) fn all_have_ended() -> bool {
    with_all(|threads| threads.iter().all(|thread| thread.has_ended()))
}

/// Has all threads look at the plan at their next hook.
pub(crate) fn poke() {
    with_all(|threads| {
        for thread in threads {
            thread.with_own(|own| own.next.store(0, SeqCst));
        }
    });
}

/// A thread that its parent is about to start, or has started.
pub struct Child(&'static Thread);

/// The next child of the calling thread; none if that is not enforced.
pub fn upcoming() -> Option<Child> {
    let parent = own().thread()?;
    let child = parent.children.get();
    parent.children.set(child + 1);
    Some(Child::with(Some(parent), child))
}

/// The calling thread is this one from here on.
pub fn adopt(child: &Child) {
    let (own, thread) = (own(), child.0);
    own.count.set(0);
    own.step.set(u64::from(enforcement::counts_plain()));
    own.errno.set(errno());
    own.thread.store(ptr::from_ref(thread).cast_mut(), Relaxed);
    thread.own.store(ptr::from_ref(own).cast_mut(), SeqCst);
    thread.runs();
    own.looks_ahead(thread);
}

fn errno() -> usize {
    unsafe extern "C" {
        safe fn __errno_location() -> *mut i32;
    }
    __errno_location().addr()
}

/// The calling thread performs nothing more. Its last event, the end, counts: it may be polled.
pub fn end_thread() {
    let own = own();
    let Some(thread) = own.thread() else {
        return;
    };
    thread.goes();
    own.thread.store(ptr::null_mut(), Relaxed);
    own.next.store(u64::MAX, Relaxed);
    own.step.set(0);
    recorder::ended(thread);
    thread.find_number(enforcement::plan());
    thread.publish(own.count.get() + 1);
    thread.close();
    // As the last: who sees it may begin the program once more.
    thread.has_ended.store(true, Release);
    release(thread);
}

/// One of those who can name the thread does so no more.
pub(crate) fn release(thread: &'static Thread) {
    let mut last = Some(thread);
    while let Some(thread) = last.filter(|thread| thread.holders.fetch_sub(1, AcqRel) == 1) {
        last = thread.origin.get().parent;
        threads::recycle(thread);
    }
}

/// The program begins once more, if the calling thread is its main one: what it counts begins from nothing, and so will
/// the threads that it starts. All others have to have ended, or the process ends with a message.
pub fn again() {
    let own = own();
    let Some(main) = own.thread() else {
        return;
    };
    if let Some(why) = main.begins_too_early() {
        failure::fail(&format!("the program cannot begin once more: {why}"));
    }
    main.children.set(0);
    main.likely_stop.set(0);
    recorder::again(main);
    for number in 0..enforcement::plan().threads() {
        Gate::of(number).reopen();
    }
    main.runs();
    follow::starts_in();
    own.count.set(0);
    own.looks_ahead(main);
}

impl Child {
    /// The main thread of the program.
    pub(crate) fn main() -> Child {
        Child::with(None, 0)
    }

    fn with(parent: Option<&'static Thread>, place: u32) -> Child {
        let above = parent.map(|parent| parent.origin.get());
        let seed = above.map_or_else(enforcement::seed, |above| above.seed);
        let mixed = (seed ^ u64::from(place)).wrapping_mul(0x0000_0100_0000_01b3);
        let thread = threads::add(Origin {
            parent,
            place,
            hash: path::extended(above.map(|above| above.hash), place),
            // In a program that begins once more the delays are others.
            seed: mixed ^ parent.map_or(0, delay::drawn),
        });
        parent.inspect(|parent| parent.hold());
        recorder::keep(thread);
        thread.find_number(enforcement::plan());
        Child(thread)
    }

    /// Has the child carry what the front-end starts it with, so that it need not free memory as its first deed.
    pub fn carry(&self, what: [usize; 2]) {
        for (place, what) in self.0.carried.iter().zip(what) {
            place.store(what, Relaxed);
        }
    }

    /// What it carries.
    pub fn carried(&self) -> [usize; 2] {
        [0, 1].map(|place| self.0.carried[place].load(Relaxed))
    }

    /// For functions that take a pointer.
    pub fn as_raw(&self) -> *mut c_void {
        ptr::from_ref(self.0).cast_mut().cast()
    }

    /// The child as it finds itself.
    ///
    /// # Safety
    ///
    /// The pointer is from [`Child::as_raw`], and the thread has not ended.
    pub unsafe fn from_raw(pointer: *mut c_void) -> ManuallyDrop<Child> {
        // SAFETY: as the caller promises; until its end the thread holds itself.
        ManuallyDrop::new(Child(unsafe { &*pointer.cast::<Thread>() }))
    }

    /// Whether it has performed its last event.
    pub fn has_ended(&self) -> bool {
        self.0.has_ended()
    }

    /// It was not started after all.
    pub fn fails(&self) {
        self.0.goes();
        self.0.find_number(enforcement::plan());
        self.0.close();
        self.0.has_ended.store(true, Release);
        release(self.0);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // In a process that was forked the latch may be held by a thread that is not there.
        if !enforcement::is_off() {
            release(self.0);
        }
    }
}

impl Thread {
    /// The memory is that of a thread that begins, which itself can name, and a [`Child`].
    pub(crate) fn begin(&self, origin: Origin) {
        self.origin.set(origin);
        self.holders.store(2, Relaxed);
        self.number.store(0, Relaxed);
        self.children.set(0);
        self.has_ended.store(false, Relaxed);
        self.likely_stop.set(0);
        self.random.set(origin.seed | 1);
        recorder::forget(self);
    }

    /// One more can name it.
    pub(crate) fn hold(&self) {
        self.holders.fetch_add(1, Relaxed);
    }

    /// Its spawn path, for people.
    pub(crate) fn name(&self) -> String {
        path::written(&self.path())
    }

    fn path(&self) -> Path {
        let mut path: Path = self.places().collect();
        path.reverse();
        path
    }

    /// Its spawn path, from its end on.
    fn places(&self) -> impl Iterator<Item = u32> {
        let own = Some(self.origin.get());
        let ancestors = std::iter::successors(own, |own| Some(own.parent?.origin.get()));
        ancestors.map(|own| own.place)
    }

    pub(crate) fn number(&self) -> Option<usize> {
        (self.number.load(Relaxed) as usize).checked_sub(1)
    }

    /// Does something with its thread-local memory, if it lives.
    fn with_own<R>(&self, does: impl FnOnce(&Own) -> R) -> Option<R> {
        self.latch.hold(|| {
            // SAFETY: under the latch, and the pointer is null before the memory is gone.
            unsafe { self.own.load(SeqCst).as_ref() }.map(does)
        })
    }

    /// Its thread-local memory will be gone.
    fn goes(&self) {
        self.latch.hold(|| self.own.store(ptr::null_mut(), SeqCst));
    }

    /// Looks whether the file names it.
    #[inline]
    pub(crate) fn find_number(&self, plan: &Plan) {
        if self.number.load(Relaxed) == 0
            && let Some(number) = plan.number_by(self.origin.get().hash, |path| {
                path.iter().rev().copied().eq(self.places())
            })
        {
            self.number.store(number as u64 + 1, Relaxed);
        }
    }

    /// It performs events.
    fn runs(&self) {
        if let Some(number) = self.number() {
            Gate::of(number).begin();
        }
    }

    /// Its events up to this one are performed.
    pub(crate) fn publish(&self, index: u64) {
        if let Some(number) = self.number() {
            Gate::of(number).publish(index);
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Acquire)
    }

    /// It waits for an event, as this plan says.
    pub(crate) fn waits_for(&self, point: Point, plan: &'static Plan) {
        self.waits_under
            .store(ptr::from_ref(plan).cast_mut(), Relaxed);
        let code = u64::from(point.thread + 1) << 32 | u64::from(point.index);
        self.waits_for.store(code, SeqCst);
    }

    /// It waits for nothing any more.
    pub(crate) fn goes_on(&self) {
        self.waits_for.store(0, SeqCst);
    }

    pub(crate) fn awaited(&self) -> Option<Point> {
        let code = self.waits_for.load(SeqCst);
        let thread = ((code >> 32) as u32).checked_sub(1)?;
        Some(Point {
            thread,
            index: code as u32,
        })
    }

    /// Why the program cannot begin once more by this thread, if it cannot.
    fn begins_too_early(&self) -> Option<String> {
        if self.origin.get().parent.is_some() {
            return Some(format!(
                "thread {} says so, which is not the main one",
                self.name()
            ));
        }
        let lives = |other: &&&Thread| !ptr::eq(**other, self) && !other.has_ended();
        let living = with_all(|threads| threads.iter().find(lives).map(|other| other.name()))?;
        Some(format!("thread {living} has not ended; join it before"))
    }

    /// Nothing of it will happen any more, nor of the threads that it did not start.
    fn close(&self) {
        let plan = enforcement::plan();
        if let Some(number) = self.number() {
            Gate::of(number).close();
        }
        let children = self.children.get();
        if plan.has_more_children(self.origin.get().hash, children) {
            for number in plan.children_from(&self.path(), children) {
                Gate::of(number).close();
            }
        }
    }

    /// The process ends with this thread: what it did not perform will never happen.
    ///
    /// Gives one who waits for it, by name. Who has not seen yet that a new plan lets it go on is not one.
    pub(crate) fn leaves(&self) -> Option<(String, Point)> {
        let number = self.number()? as u32;
        let in_vain = |other: &&Thread| Some((other.name(), other.awaits_in_vain(number)?));
        with_all(|threads| threads.iter().find_map(in_vain))
    }

    /// What it waits for, if that is an event of the thread with this number that will never happen.
    fn awaits_in_vain(&self, number: u32) -> Option<Point> {
        let point = self.awaited().filter(|point| point.thread == number)?;
        let is_told = enforcement::is_at_hand(self.waits_under.load(Relaxed));
        let has_happened = Gate::of(number as usize).has_published(point.index);
        (is_told && !has_happened).then_some(point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a thread that performs nothing, and joins it.
    fn start_and_join() -> Child {
        let child = upcoming().expect("the calling thread is enforced");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                adopt(&child);
                end_thread();
            });
        });
        child
    }

    #[test]
    fn who_ends_the_program_is_not_told_of_a_wait_that_a_new_plan_has_ended() {
        let waiting = Thread::default();
        let point = Point {
            thread: 0,
            index: u32::MAX,
        };
        enforcement::take_over(Plan::free());
        waiting.waits_for(point, enforcement::plan());
        assert_eq!(waiting.awaits_in_vain(0), Some(point));
        assert_eq!(waiting.awaits_in_vain(1), None, "it is another's event");
        enforcement::take_over(Plan::free());
        assert_eq!(waiting.awaits_in_vain(0), None);
        waiting.waits_for(point, enforcement::plan());
        waiting.goes_on();
        assert_eq!(waiting.awaits_in_vain(0), None);
    }

    #[test]
    fn threads_that_nobody_can_name_any_more_leave_their_memory_to_later_ones() {
        adopt(&Child::main());
        let kept = start_and_join();
        let before = threads::number();
        for _ in 0..1_000 {
            drop(start_and_join());
        }
        assert_eq!(threads::number(), before + 1);
        assert!(kept.has_ended());
        assert_eq!(kept.0.name(), "0.0", "who holds a child can name it");
        let child = upcoming().expect("the calling thread is enforced");
        let grandchild = std::thread::scope(|scope| {
            let started = scope.spawn(|| {
                adopt(&child);
                let grandchild = upcoming();
                end_thread();
                grandchild
            });
            started.join().unwrap()
        });
        drop(child);
        assert_eq!(grandchild.unwrap().0.name(), "0.1001.0");
        end_thread();
    }
}
