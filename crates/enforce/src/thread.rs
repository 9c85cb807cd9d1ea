//! Threads of the program, from their start to their end.

use crate::blocking::Latch;
use crate::gate::Gate;
use crate::own::{Own, own};
use crate::{Plan, enforcement, recorder};
use report::Point;
use std::cell::{Cell, UnsafeCell};
use std::ptr;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

/// A thread that is enforced. Never freed: others may look at it at any time.
pub(crate) struct Thread {
    path: String,
    /// Its number in the file, from 1; 0 as long as the file does not name it.
    number: AtomicU64,
    children: Cell<u32>,
    /// Its thread-local memory, while it lives.
    own: AtomicPtr<Own>,
    has_ended: AtomicBool,
    /// What it waits for, as number and index; 0 for nothing.
    waits_for: AtomicU64,
    /// Of its random delays.
    pub(crate) random: Cell<u64>,
    pub(crate) record: UnsafeCell<recorder::Own>,
}

// SAFETY: `children`, `random` and `record` are used by the thread itself only (`record` also when the process
// ends, by whoever ends it, see `recorder`); all else is atomic or never changes.
unsafe impl Sync for Thread {}

/// The threads that live, and with records those that have lived.
struct Threads {
    latch: Latch,
    list: UnsafeCell<Vec<&'static Thread>>,
}

// SAFETY: the list is used under the latch.
unsafe impl Sync for Threads {}

static THREADS: Threads = Threads {
    latch: Latch::new(),
    list: UnsafeCell::new(Vec::new()),
};

/// Does something with the threads, none of which ends meanwhile.
pub(crate) fn with_all<R>(does: impl FnOnce(&mut Vec<&'static Thread>) -> R) -> R {
    THREADS.latch.hold(|| {
        // SAFETY: under the latch, and nothing that is done here comes back.
        does(unsafe { &mut *THREADS.list.get() })
    })
}

/// How many events all threads have begun, as far as one can see from outside.
pub(crate) fn progress() -> u64 {
    let progress = |thread: &&Thread| {
        // SAFETY: the pointer is null before the memory of a thread is gone.
        let own = unsafe { thread.own.load(SeqCst).as_ref() };
        // SAFETY: a number that its thread may change meanwhile; any value will do.
        own.map_or(0, |own| unsafe { own.count.as_ptr().read_volatile() })
    };
    with_all(|threads| threads.iter().map(progress).fold(0, u64::wrapping_add))
}

/// Has all threads look at the plan at their next hook.
pub(crate) fn poke() {
    with_all(|threads| {
        for thread in threads {
            // SAFETY: as in `progress`.
            if let Some(own) = unsafe { thread.own.load(SeqCst).as_ref() } {
                own.next.store(0, SeqCst);
            }
        }
    });
}

/// A thread that its parent is about to start.
#[derive(Clone, Copy)]
pub struct Child(&'static Thread);

/// The next child of the calling thread; none if that is not enforced.
pub fn upcoming() -> Option<Child> {
    let parent = own().thread()?;
    let child = parent.children.get();
    parent.children.set(child + 1);
    Some(Child::with(format!("{}.{child}", parent.path)))
}

/// The calling thread is this one from here on.
pub fn adopt(child: Child) {
    let (own, thread) = (own(), child.0);
    own.count.set(0);
    own.step.set(u64::from(enforcement::counts_plain()));
    own.errno.set(errno());
    own.thread.store(ptr::from_ref(thread).cast_mut(), Relaxed);
    thread.own.store(ptr::from_ref(own).cast_mut(), SeqCst);
    // The first hook looks at the plan.
    own.next.store(0, Relaxed);
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
    thread.has_ended.store(true, Release);
    thread.publish(own.count.get() + 1);
    thread.close();
}

/// The program begins once more, if the calling thread is its main one: what it counts begins from nothing, and so will
/// the threads that it starts. All others have to have ended.
pub fn again() {
    let own = own();
    let Some(main) = own.thread().filter(|thread| thread.path == "0") else {
        return;
    };
    main.children.set(0);
    recorder::again(main);
    for number in 0..enforcement::plan().threads() {
        Gate::of(number).reopen();
    }
    own.count.set(0);
    // The next hook looks at the plan.
    own.next.store(0, Relaxed);
}

impl Child {
    /// The main thread of the program.
    pub(crate) fn main() -> Child {
        Child::with("0".to_owned())
    }

    fn with(path: String) -> Child {
        let seed = path.bytes().fold(enforcement::seed(), |seed, byte| {
            (seed ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let thread = Box::leak(Box::new(Thread {
            path,
            number: AtomicU64::new(0),
            children: Cell::new(0),
            own: AtomicPtr::new(ptr::null_mut()),
            has_ended: AtomicBool::new(false),
            waits_for: AtomicU64::new(0),
            random: Cell::new(seed | 1),
            record: UnsafeCell::default(),
        }));
        with_all(|threads| threads.push(thread));
        Child(thread)
    }

    /// Whether it has performed its last event.
    pub fn has_ended(self) -> bool {
        self.0.has_ended()
    }

    /// It was not started after all.
    pub fn fails(self) {
        self.0.goes();
        self.0.has_ended.store(true, Release);
        self.0.find_number(enforcement::plan());
        self.0.close();
    }
}

impl Thread {
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn number(&self) -> Option<usize> {
        (self.number.load(Relaxed) as usize).checked_sub(1)
    }

    /// Its thread-local memory will be gone.
    fn goes(&self) {
        with_all(|threads| {
            self.own.store(ptr::null_mut(), SeqCst);
            if !recorder::is_on() {
                threads.retain(|other| !ptr::eq(*other, self));
            }
        });
    }

    /// Looks whether the file names it.
    #[inline]
    pub(crate) fn find_number(&self, plan: &Plan) {
        if self.number.load(Relaxed) == 0
            && let Some(number) = plan.number_of(&self.path)
        {
            self.number.store(number as u64 + 1, Relaxed);
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

    pub(crate) fn waits_for(&self, point: Option<Point>) {
        let code = point.map_or(0, |point| {
            u64::from(point.thread + 1) << 32 | u64::from(point.index)
        });
        self.waits_for.store(code, SeqCst);
    }

    pub(crate) fn awaited(&self) -> Option<Point> {
        let code = self.waits_for.load(SeqCst);
        let thread = ((code >> 32) as u32).checked_sub(1)?;
        Some(Point {
            thread,
            index: code as u32,
        })
    }

    /// Nothing of it will happen any more, nor of the threads that it did not start.
    fn close(&self) {
        let plan = enforcement::plan();
        if let Some(number) = self.number() {
            Gate::of(number).close();
        }
        let beneath = format!("{}.", self.path);
        for number in 0..plan.threads() {
            let path = plan.path(number);
            let is_unborn = path.strip_prefix(&beneath).is_some_and(|rest| {
                let child = rest.split('.').next().and_then(|child| child.parse().ok());
                child.is_some_and(|child: u32| child >= self.children.get())
            });
            if is_unborn {
                Gate::of(number).close();
            }
        }
    }

    /// The process ends with this thread: what it did not perform will never happen.
    pub(crate) fn leaves(&self) -> Option<(&'static Thread, Point)> {
        let number = self.number()? as u32;
        let in_vain = |other: &&'static Thread| {
            let point = other.awaited()?;
            let is_in_vain =
                point.thread == number && !Gate::of(number as usize).has_published(point.index);
            is_in_vain.then_some((*other, point))
        };
        with_all(|threads| threads.iter().find_map(in_vain))
    }
}
