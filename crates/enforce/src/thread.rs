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

/// The position of a thread in the tree of spawns.
#[derive(Clone, Copy, Default)]
pub(crate) struct Origin {
    parent: Option<&'static Thread>,
    /// The number of the thread among the children of its parent.
    place: u32,
    /// Hash of the spawn path.
    hash: u64,
    /// Seed of the thread's random numbers, different from that of other threads.
    seed: u64,
}

/// An enforced thread, or spare memory for a thread.
// Aligned like `Gate`: no two threads share a cache line.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Thread {
    /// Number of references to the thread. They are held by the thread itself until it ends, by its
    /// [`Child`], by the threads that it started (their paths contain its path), and by the
    /// recorder.
    holders: AtomicU32,
    origin: Cell<Origin>,
    /// Values that the front-end passes to the thread at its start.
    carried: [AtomicUsize; 2],
    /// Its number in the file, from 1; 0 as long as the file does not name the thread.
    number: AtomicU64,
    /// The number of children that it has started.
    children: Cell<u32>,
    /// Held while another thread uses its thread-local memory, and while the thread clears `own`
    /// before this memory is gone.
    latch: Latch,
    /// Its thread-local memory, as long as the thread lives.
    own: AtomicPtr<Own>,
    has_ended: AtomicBool,
    /// The likely position of its next stop.
    pub(crate) likely_stop: Cell<usize>,
    /// The event for which the thread waits, as thread number and index; 0 if there is none.
    waits_for: AtomicU64,
    /// The plan that makes the thread wait.
    waits_under: AtomicPtr<Plan>,
    /// State of its random delays.
    pub(crate) random: Cell<u64>,
    /// Its notes for the record.
    pub(crate) record: UnsafeCell<recorder::Own>,
}

// SAFETY: only the thread uses `children`, `likely_stop`, `random` and `record` (also read at the
// process's end, see `recorder`). `origin` changes only without other references. The rest is
// atomic.
unsafe impl Sync for Thread {}

impl RefUnwindSafe for Thread {}

/// Returns the total number of events that the running threads have begun. The latest events may be
/// missing.
pub(crate) fn progress() -> u64 {
    let progress = |thread: &&Thread| {
        // SAFETY: a number that its thread may change meanwhile. Any value is acceptable.
        let count = |own: &Own| unsafe { own.count.as_ptr().read_volatile() };
        thread.with_own(count).unwrap_or(0)
    };
    with_all(|threads| threads.iter().map(progress).fold(0, u64::wrapping_add))
}

/// Checks whether all threads of the program have ended.
pub(crate) fn all_have_ended() -> bool {
    with_all(|threads| threads.iter().all(|thread| thread.has_ended()))
}

/// Makes all threads consult the plan at their next hook.
pub(crate) fn poke() {
    with_all(|threads| {
        for thread in threads {
            thread.with_own(|own| own.next.store(0, SeqCst));
        }
    });
}

/// A thread that its parent is about to start or has started.
pub struct Child(&'static Thread);

/// Returns the next child of the calling thread, or `None` if the calling thread is not enforced.
pub fn upcoming() -> Option<Child> {
    let parent = own().thread()?;
    let child = parent.children.get();
    parent.children.set(child + 1);
    Some(Child::with(Some(parent), child))
}

/// Makes the calling thread this child.
pub fn adopt(child: &Child) {
    let (own, thread) = (own(), child.0);
    own.count.set(0);
    own.step.set(u64::from(enforcement::counts_plain()));
    own.errno.set(errno());
    own.thread.store(ptr::from_ref(thread).cast_mut(), Relaxed);
    thread.own.store(ptr::from_ref(own).cast_mut(), SeqCst);
    thread.runs();
    own.set_next_stop(thread);
}

fn errno() -> usize {
    unsafe extern "C" {
        safe fn __errno_location() -> *mut i32;
    }
    __errno_location().addr()
}

/// Ends the calling thread. Its end is its last event. This event is counted, because other threads
/// may poll for it.
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
    // This comes last, because a thread that observes it may restart the safe trace (`again`).
    thread.has_ended.store(true, Release);
    release(thread);
}

/// Gives up a reference to a thread. If it was the last one, recycles the memory of the thread and
/// gives up the thread's reference to its parent.
pub(crate) fn release(thread: &'static Thread) {
    let mut last = Some(thread);
    while let Some(thread) = last.filter(|thread| thread.holders.fetch_sub(1, AcqRel) == 1) {
        last = thread.origin.get().parent;
        threads::recycle(thread);
    }
}

/// Starts the program again: the main thread, which calls this function, and new threads count
/// their events from zero. The process ends with a message if another thread calls this function or
/// has not ended.
pub fn again() {
    let own = own();
    let Some(main) = own.thread() else {
        return;
    };
    if let Some(why) = main.begins_too_early() {
        failure::fail(&format!("the program cannot start again: {why}"));
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
    own.set_next_stop(main);
}

impl Child {
    /// Returns the main thread of the program.
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
            // The parent draws a new number each time, so a program that restarts the safe trace
            // (`again`) gets other delays.
            seed: mixed ^ parent.map_or(0, delay::drawn),
        });
        parent.inspect(|parent| parent.hold());
        recorder::keep(thread);
        thread.find_number(enforcement::plan());
        Child(thread)
    }

    /// Stores values that the front-end passes to the child. So the child does not receive them in
    /// allocated memory that it would have to free before it starts.
    pub fn carry(&self, what: [usize; 2]) {
        for (place, what) in self.0.carried.iter().zip(what) {
            place.store(what, Relaxed);
        }
    }

    /// Returns the values stored by [`carry`](Child::carry).
    pub fn carried(&self) -> [usize; 2] {
        [0, 1].map(|place| self.0.carried[place].load(Relaxed))
    }

    /// Returns a pointer to the thread, for functions that have a pointer as argument.
    pub fn as_raw(&self) -> *mut c_void {
        ptr::from_ref(self.0).cast_mut().cast()
    }

    /// Returns the child that a pointer refers to, for use by the thread itself.
    ///
    /// # Safety
    ///
    /// The pointer is from [`Child::as_raw`], and the thread has not ended.
    pub unsafe fn from_raw(pointer: *mut c_void) -> ManuallyDrop<Child> {
        // SAFETY: the pointer is from `as_raw`, as promised by the caller. A thread that has not
        // ended holds a reference to its `Thread`.
        ManuallyDrop::new(Child(unsafe { &*pointer.cast::<Thread>() }))
    }

    /// Checks whether the thread has performed its last event, which is its end.
    pub fn has_ended(&self) -> bool {
        self.0.has_ended()
    }

    /// Records that the thread could not be started.
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
        // In a forked process, a thread that does not exist there may hold the latch.
        if !enforcement::is_off() {
            release(self.0);
        }
    }
}

impl Thread {
    /// Initializes memory for a thread that begins, with two references: its own and a [`Child`].
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

    /// Adds a reference.
    pub(crate) fn hold(&self) {
        self.holders.fetch_add(1, Relaxed);
    }

    /// Returns the thread's spawn path as text.
    pub(crate) fn name(&self) -> String {
        path::written(&self.path())
    }

    fn path(&self) -> Path {
        let mut path: Path = self.places().collect();
        path.reverse();
        path
    }

    /// Returns the numbers of the thread's spawn path, from the last to the first.
    fn places(&self) -> impl Iterator<Item = u32> {
        let innermost = Some(self.origin.get());
        let ancestors =
            std::iter::successors(innermost, |thread| Some(thread.parent?.origin.get()));
        ancestors.map(|origin| origin.place)
    }

    pub(crate) fn number(&self) -> Option<usize> {
        (self.number.load(Relaxed) as usize).checked_sub(1)
    }

    /// Runs a closure on the thread's thread-local memory, as long as the thread lives.
    fn with_own<R>(&self, does: impl FnOnce(&Own) -> R) -> Option<R> {
        self.latch.hold(|| {
            // SAFETY: under the latch, and the pointer is null before the memory is gone.
            unsafe { self.own.load(SeqCst).as_ref() }.map(does)
        })
    }

    /// Makes the thread's thread-local memory inaccessible, because it will soon be gone.
    fn goes(&self) {
        self.latch.hold(|| self.own.store(ptr::null_mut(), SeqCst));
    }

    /// Looks up the thread's number, if the file names the thread.
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

    /// Records that the thread has been started.
    fn runs(&self) {
        if let Some(number) = self.number() {
            Gate::of(number).begin();
        }
    }

    /// Publishes the thread's events up to this index.
    pub(crate) fn publish(&self, index: u64) {
        if let Some(number) = self.number() {
            Gate::of(number).publish(index);
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Acquire)
    }

    /// Records that the thread waits for an event because of this plan.
    pub(crate) fn waits_for(&self, point: Point, plan: &'static Plan) {
        self.waits_under
            .store(ptr::from_ref(plan).cast_mut(), Relaxed);
        let code = u64::from(point.thread + 1) << 32 | u64::from(point.index);
        self.waits_for.store(code, SeqCst);
    }

    /// Records that the thread no longer waits.
    pub(crate) fn end_wait(&self) {
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

    /// Returns the reason why this thread cannot restart the safe trace, or `None` if it can.
    fn begins_too_early(&self) -> Option<String> {
        if self.origin.get().parent.is_some() {
            return Some(format!(
                "thread {} requests it, which is not the main thread",
                self.name()
            ));
        }
        let lives = |other: &&&Thread| !ptr::eq(**other, self) && !other.has_ended();
        let living = with_all(|threads| threads.iter().find(lives).map(|other| other.name()))?;
        Some(format!("thread {living} has not ended; join it first"))
    }

    /// Closes the gates of the thread and of the threads below it that were never started: they
    /// perform no more events.
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

    /// Called when this thread is about to end the process. If a thread waits for an event of this
    /// thread, which can no longer happen, returns the name of that thread and the event. Returns
    /// `None` if there is no such thread. A thread does not count if a new plan ends its wait.
    pub(crate) fn leaves(&self) -> Option<(String, Point)> {
        let number = self.number()? as u32;
        let unsatisfiable =
            |other: &&Thread| Some((other.name(), other.unsatisfiable_wait(number)?));
        with_all(|threads| threads.iter().find_map(unsatisfiable))
    }

    /// Returns the event for which the thread waits, if it is an event of the given thread that
    /// will never happen.
    fn unsatisfiable_wait(&self, number: u32) -> Option<Point> {
        let point = self.awaited().filter(|point| point.thread == number)?;
        let is_enforced = enforcement::is_at_hand(self.waits_under.load(Relaxed));
        let has_happened = Gate::of(number as usize).has_published(point.index);
        (is_enforced && !has_happened).then_some(point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a thread that performs no events, and joins it.
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
    fn a_wait_that_a_new_plan_has_ended_is_not_reported_at_the_end_of_the_program() {
        let waiting = Thread::default();
        let point = Point {
            thread: 0,
            index: u32::MAX,
        };
        enforcement::take_over(Plan::free());
        waiting.waits_for(point, enforcement::plan());
        assert_eq!(waiting.unsatisfiable_wait(0), Some(point));
        assert_eq!(
            waiting.unsatisfiable_wait(1),
            None,
            "the event belongs to another thread"
        );
        enforcement::take_over(Plan::free());
        assert_eq!(waiting.unsatisfiable_wait(0), None);
        waiting.waits_for(point, enforcement::plan());
        waiting.end_wait();
        assert_eq!(waiting.unsatisfiable_wait(0), None);
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
        assert_eq!(kept.0.name(), "0.0", "the holder of a child can name it");
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
