//! The counters of each thread, and the events at which the thread has to do more than count.
//!
//! `next` is the number of the next stop: an event at which the thread waits or has to publish its
//! progress. An event whose end still has to be published sets `next` to 0, so that the next hook
//! of any kind publishes it. Other threads may set `next` to 0 at any time, so that the thread
//! consults a new plan. In a thread that is not enforced, `next` is never reached.

use crate::gate::Gate;
use crate::thread::Thread;
use crate::{delay, enforcement, failure, gate, recorder};
use explore::OpKind;
use report::Point;
use std::cell::Cell;
use std::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Relaxed, SeqCst},
    fence as barrier,
};

// A hook must not call a function to find the counters. So their distance from the thread pointer
// is fixed when the library is loaded, unlike that of a `thread_local!` in a library.
std::arch::global_asm!(
    ".pushsection .tdata.mazurka_enforce_own,\"awT\",@progbits",
    ".globl mazurka_enforce_own",
    ".hidden mazurka_enforce_own",
    ".type mazurka_enforce_own,@object",
    ".size mazurka_enforce_own, 64",
    ".balign 64",
    "mazurka_enforce_own:",
    ".quad 0",
    ".quad -1",
    ".quad 0, 0, 0, 0, 0, 0",
    ".popsection",
);

/// Offset of a thread's number of events.
pub const OWN_COUNT: usize = 0;
/// Offset of the number of the thread's next stop.
pub const OWN_NEXT: usize = 8;
/// Offset of the number that a plain access adds to the number of events.
pub const OWN_STEP: usize = 16;
const OWN_ERRNO: usize = 40;

/// The thread-local counters of a thread.
#[repr(C, align(64))]
pub(crate) struct Own {
    pub(crate) count: Cell<u64>,
    pub(crate) next: AtomicU64,
    pub(crate) step: Cell<u64>,
    /// The thread, or null if it is not enforced.
    pub(crate) thread: AtomicPtr<Thread>,
    /// Greater than 0 while Mazurka itself calls the C library.
    internal: Cell<u32>,
    /// The thread number given by the kernel; 0 until it is needed.
    system: Cell<u32>,
    /// The address of `errno`. Accesses to it are not events.
    pub(crate) errno: Cell<usize>,
}

const _: () = {
    assert!(size_of::<Own>() == 64);
    assert!(std::mem::offset_of!(Own, count) == OWN_COUNT);
    assert!(std::mem::offset_of!(Own, next) == OWN_NEXT);
    assert!(std::mem::offset_of!(Own, step) == OWN_STEP);
    assert!(std::mem::offset_of!(Own, errno) == OWN_ERRNO);
};

/// Returns the counters of the calling thread.
#[inline(always)]
pub(crate) fn own() -> &'static Own {
    let own: *const Own;
    // SAFETY: the symbol is the thread-local data above, which lives as long as the thread. Other
    // threads access only `next` and `thread`, which are atomic.
    unsafe {
        std::arch::asm!(
            "mov {own}, qword ptr [rip + mazurka_enforce_own@GOTTPOFF]",
            "add {own}, qword ptr fs:0",
            own = out(reg) own,
            options(nostack, pure, readonly),
        );
        &*own
    }
}

impl Own {
    /// Returns the thread if it is enforced.
    #[inline]
    pub(crate) fn thread(&self) -> Option<&'static Thread> {
        // SAFETY: a thread holds a reference to its `Thread` until it ends.
        unsafe { self.thread.load(Relaxed).as_ref() }
    }

    /// Returns the index of the thread's last event, numbered as in a safe trace. It is at most
    /// `u32::MAX`.
    #[inline]
    pub(crate) fn index(&self) -> u32 {
        u32::try_from(self.count.get()).unwrap_or(u32::MAX)
    }

    /// Sets the thread's next stop.
    pub(crate) fn set_next_stop(&self, thread: &Thread) {
        let index = self.index().saturating_add(1);
        loop {
            let plan = enforcement::plan();
            thread.find_number(plan);
            let stops = thread.number().and_then(|number| plan.stops(number));
            let next = stops.map_or(u64::MAX, |stops| {
                stops.index_of(stops.position_near(thread.likely_stop.get(), index))
            });
            if settles(self, plan, next_stop(next)) {
                break;
            }
        }
    }

    /// Returns a number that no other living thread of the system has.
    #[inline]
    pub(crate) fn system(&self) -> u32 {
        if self.system.get() == 0 {
            let number = rustix::thread::gettid().as_raw_nonzero().get();
            self.system.set(number as u32);
        }
        self.system.get()
    }
}

/// Announces that the calling thread is about to perform an event of this kind.
#[inline(always)]
pub fn begin(kind: OpKind) {
    let own = own();
    let count = own.count.get() + 1;
    own.count.set(count);
    if count >= own.next.load(Relaxed) {
        begins(own, kind);
    }
}

/// Announces that the calling thread has performed the event, so that other threads may observe the
/// event.
#[inline(always)]
pub fn end() {
    let own = own();
    if own.next.load(Relaxed) == 0 {
        ends(own);
    }
}

/// Publishes all events of the calling thread. It has performed them, and is about to do something
/// that may take long, such as a wait.
#[inline]
pub fn publish() {
    let own = own();
    if let Some(thread) = own.thread() {
        recorder::ended(thread);
        thread.publish(own.count.get());
    }
    end();
}

/// Performs a fence, an event without an access.
#[inline]
pub fn fence() {
    begin(OpKind::Fence);
    barrier(SeqCst);
    end();
}

/// Checks whether plain accesses of the calling thread are events.
#[inline]
pub fn counts_plain() -> bool {
    own().step.get() > 0
}

/// Checks whether the current call to the C library comes from Mazurka itself.
#[inline]
pub fn is_internal() -> bool {
    own().internal.get() > 0
}

/// Checks whether the calling thread is enforced. Threads of forked processes are not.
#[inline]
pub fn is_thread_enforced() -> bool {
    own().thread().is_some()
}

/// Runs a closure whose calls to the C library count as Mazurka's own.
pub fn internally<R>(does: impl FnOnce() -> R) -> R {
    let own = own();
    own.internal.set(own.internal.get() + 1);
    let result = does();
    own.internal.set(own.internal.get() - 1);
    result
}

macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident, $slow:ident;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(naked)]
            pub extern "C-unwind" fn $name(_address: usize) {
                std::arch::naked_asm!(
                    "mov rax, qword ptr [rip + mazurka_enforce_own@GOTTPOFF]",
                    "cmp rdi, qword ptr fs:[rax + {errno}]",
                    "je 2f",
                    "mov rcx, qword ptr fs:[rax + {step}]",
                    "add rcx, qword ptr fs:[rax + {count}]",
                    "mov qword ptr fs:[rax + {count}], rcx",
                    "cmp rcx, qword ptr fs:[rax + {next}]",
                    "jae {slow}",
                    "2:",
                    "ret",
                    errno = const OWN_ERRNO,
                    step = const OWN_STEP,
                    count = const OWN_COUNT,
                    next = const OWN_NEXT,
                    slow = sym $slow,
                )
            }
        )*
    };
}

plain! {
    /// The hook before a plain read of this address.
    plain_read, slow_read;
    /// The hook before a plain write of this address.
    plain_write, slow_write;
}

/// Runs the slow part of [`plain_read`], at a stop.
#[cold]
pub extern "C-unwind" fn slow_read() {
    slow_plain(OpKind::Load);
}

/// Runs the slow part of [`plain_write`], at a stop.
#[cold]
pub extern "C-unwind" fn slow_write() {
    slow_plain(OpKind::Store);
}

/// Publishes the thread's progress at the end of a function of the program.
#[cold]
pub extern "C-unwind" fn slow_exit() {
    ends(own());
}

fn slow_plain(kind: OpKind) {
    let own = own();
    match own.step.get() {
        0 => {
            ends(own);
            delay::some(own.thread());
        }
        _ => begins(own, kind),
    }
}

/// Begins an event whose number has reached `next`: a stop, or any event while `next` is 0.
#[cold]
#[inline(never)]
fn begins(own: &'static Own, kind: OpKind) {
    let Some(thread) = own.thread() else {
        return own.next.store(u64::MAX, Relaxed);
    };
    let index = own.count.get();
    if own.next.load(Relaxed) == 0 {
        recorder::ended(thread);
        thread.publish(index - 1);
    }
    delay::some(Some(thread));
    loop {
        let plan = enforcement::plan();
        thread.find_number(plan);
        if let Some(next) = stops_at(thread, plan, own.index(), kind)
            && settles(own, plan, next)
        {
            break;
        }
    }
    recorder::begun(thread);
}

/// Does the work of a stop. Returns the number of the next stop, or `None` if the plan changed
/// meanwhile.
fn stops_at(thread: &Thread, plan: &'static crate::Plan, index: u32, kind: OpKind) -> Option<u64> {
    let number = thread.number();
    let Some((number, stops)) = number.and_then(|number| Some((number, plan.stops(number)?)))
    else {
        return Some(next_stop(u64::MAX));
    };
    let point = Point {
        thread: number as u32,
        index,
    };
    let position = stops.position_near(thread.likely_stop.get(), index);
    let Some(stop) = stops.get(position, index) else {
        compare(plan, plan.kind(number, index), point, kind);
        return Some(next_stop(stops.index_of(position)));
    };
    if !waits(thread, plan, &stop.waits, point) {
        return None;
    }
    compare(plan, stop.kind, point, kind);
    thread.likely_stop.set(position + 1);
    Some(match stop.is_first {
        true => 0,
        false => next_stop(stops.index_of(position + 1)),
    })
}

/// Waits for the events that must come first. Returns false if the plan changed meanwhile.
fn waits(thread: &Thread, plan: &'static crate::Plan, firsts: &[Point], point: Point) -> bool {
    for &first in firsts {
        let gate = Gate::of(first.thread as usize);
        if gate.has_published(first.index) {
            continue;
        }
        thread.waits_for(first, plan);
        let ended = gate.wait(first.index, || enforcement::is_current(plan));
        thread.end_wait();
        match ended {
            gate::Wait::Reached => {}
            gate::Wait::Changed => return false,
            gate::Wait::Never => failure::never(plan, first, point),
        }
    }
    enforcement::is_current(plan)
}

/// Fails if the event is not of the kind that the file names.
fn compare(plan: &crate::Plan, expected: Option<OpKind>, point: Point, kind: OpKind) {
    if expected.is_some_and(|expected| expected != kind) {
        failure::differs(plan, point, kind);
    }
}

/// Returns the value of `next` for a thread whose next stop in the plan is `index`. If every hook
/// is a stop, this is 0, which the next hook reaches.
fn next_stop(index: u64) -> u64 {
    match enforcement::watches_all() {
        true => 0,
        false => index,
    }
}

/// Sets the next stop. Returns false if the plan has changed, so that the stop may be wrong.
fn settles(own: &Own, plan: &'static crate::Plan, next: u64) -> bool {
    // A thread that changes the plan stores the plan first and then `next`.
    own.next.swap(next, SeqCst);
    enforcement::is_current(plan)
}

/// Publishes all events of the thread, which has performed them, and sets the next stop.
#[cold]
#[inline(never)]
fn ends(own: &'static Own) {
    let Some(thread) = own.thread() else {
        return own.next.store(u64::MAX, Relaxed);
    };
    recorder::ended(thread);
    thread.publish(own.count.get());
    own.set_next_stop(thread);
}
