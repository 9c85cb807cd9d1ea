//! What POSIX knows of the threads of the program.

use super::{Destructor, Start};
use crate::gate::{self, Own};
use crate::{blocks, cancel, own_memory};
use libc::{c_int, c_void};
use runtime::native::{self, ControlWords};
use std::ptr;

/// A thread of the program. Plain data: it is copied often.
#[derive(Clone, Copy)]
pub(crate) struct Thread {
    pub(super) start: Option<Start>,
    pub(super) argument: *mut c_void,
    pub(super) result: *mut c_void,
    /// `start` returns an `int`, as threads of C11 do.
    pub(super) returns_int: bool,
    pub(super) is_detached: bool,
    pub(crate) is_joined: bool,
    /// It unwinds itself to its end.
    is_ending: bool,
    /// It has run its destructors, so that its thread-local memory is gone.
    pub(super) has_ended: bool,
    pub(super) cancel_state: c_int,
    /// How it computes with floating-point numbers when it starts: as its creator does.
    pub(super) words: ControlWords,
    /// Its clock, in nanoseconds.
    pub(super) clock: u64,
    /// What the clock was when the thread looked at it last.
    pub(super) looked_at: u64,
    /// The state of its random numbers.
    pub(super) random: u64,
    /// The signals that it blocks; a new thread blocks those of its creator.
    pub(crate) blocked: u64,
    /// What the program calls it, a string of C.
    pub(crate) name: [u8; NAME],
}

/// What a thread has many of; mostly none.
#[derive(Clone, Default)]
pub(crate) struct Lists {
    /// By key.
    pub(crate) values: Vec<*mut c_void>,
    /// Destructors of `thread_local` objects, with their arguments.
    pub(super) at_exit: Vec<(Destructor, *mut c_void)>,
    /// Where its handlers for its end begin (`pthread_cleanup_push`).
    handlers: Vec<*mut c_void>,
    /// Addresses of the mutexes that it holds and that survive it, the youngest last.
    pub(super) robust: Vec<usize>,
}

/// Bytes of the name of a thread, with the last one.
pub(crate) const NAME: usize = 16;

/// The state of a thread that can be cancelled.
pub(crate) const CANCEL_ENABLE: c_int = 0;
/// That of one that cannot.
pub(crate) const CANCEL_DISABLE: c_int = 1;

/// Indexed by thread.
static THREADS: Own<Vec<Thread>> = Own::new(Vec::new());
/// Indexed by thread.
static LISTS: Own<Vec<Lists>> = Own::new(Vec::new());
/// Whether any of the lists has been used in any execution.
static HAS_LISTS: Own<bool> = Own::new(false);
/// Indexed by thread: its thread pointer, from one execution to the next.
static POINTERS: Own<Vec<usize>> = Own::new(Vec::new());

/// A copy of the threads.
#[derive(Default)]
pub(crate) struct Saved {
    threads: Vec<Thread>,
    lists: Vec<Lists>,
    pointers: Vec<usize>,
}

/// The thread pointers of the threads that have one of their own.
pub(crate) fn pointers() -> impl Iterator<Item = usize> {
    let pointers = POINTERS.get().iter().copied();
    pointers.filter(|&pointer| pointer != 0 && pointer != gate::checker())
}

/// Copies the threads.
pub(crate) fn save_to(copy: &mut Saved) {
    copy.threads.clone_from(THREADS.get());
    copy.pointers.clone_from(POINTERS.get());
    copy.lists.clear();
    if *HAS_LISTS.get() {
        copy.lists.clone_from(LISTS.get());
    }
}

/// Puts back what was copied. Threads that were not there keep their thread pointers.
pub(crate) fn restore_from(copy: &Saved) {
    THREADS.get()[..copy.threads.len()].copy_from_slice(&copy.threads);
    if *HAS_LISTS.get() {
        let none = Lists::default();
        let copied = copy.lists.iter().chain(std::iter::repeat(&none));
        for (lists, copied) in LISTS.get().iter_mut().zip(copied) {
            lists.clone_from(copied);
        }
    }
}

impl Saved {
    /// Thread pointers, of threads that have one of their own.
    pub(crate) fn pointers(&self) -> impl Iterator<Item = usize> {
        let pointers = self.pointers.iter().copied();
        pointers.filter(|&pointer| pointer != gate::checker())
    }
}

/// How many threads have been in any execution.
pub(crate) fn count() -> usize {
    THREADS.get().len()
}

/// The thread with this number.
#[inline(always)]
pub(crate) fn at(index: usize) -> &'static mut Thread {
    &mut THREADS.get()[index]
}

/// What the thread with this number has many of, to be looked at.
#[inline(always)]
pub(crate) fn lists_at(index: usize) -> &'static Lists {
    &LISTS.get()[index]
}

/// The same to be changed.
pub(crate) fn lists_of(index: usize) -> &'static mut Lists {
    *HAS_LISTS.get() = true;
    &mut LISTS.get()[index]
}

/// The number of the thread that runs.
#[inline(always)]
pub(crate) fn own_index() -> usize {
    runtime::current().index()
}

/// The thread that runs.
#[inline(always)]
pub(crate) fn own() -> &'static mut Thread {
    at(own_index())
}

/// The thread that runs, as the owner of a mutex.
#[inline(always)]
pub(crate) fn own_number() -> c_int {
    own_index() as c_int + 1
}

/// The clock of the thread that runs.
pub(crate) fn own_time() -> &'static mut u64 {
    &mut own().clock
}

/// The thread that runs looks at its clock.
pub(crate) fn look_at_clock() -> u64 {
    let own = own();
    own.looked_at = own.clock;
    own.clock
}

/// Adds what the thread with this number can find out of itself. Its clock counts only as far as it has looked at it.
pub(crate) fn tell(index: usize, state: &mut Vec<u8>) {
    let Thread {
        cancel_state,
        looked_at,
        random,
        blocked,
        name,
        ..
    } = at(index);
    let words = [*cancel_state as u64, *looked_at, *random, *blocked];
    state.extend_from_slice(words.map(u64::to_ne_bytes).as_flattened());
    state.extend_from_slice(name);
    let Lists {
        values,
        at_exit,
        handlers,
        robust,
    } = lists_at(index);
    for value in values {
        state.extend_from_slice(&value.addr().to_ne_bytes());
    }
    state.extend_from_slice(
        &[at_exit.len(), handlers.len(), robust.len()].map(|length| length as u8),
    );
}

/// The state of the random numbers of the thread that runs.
pub(crate) fn own_random() -> &'static mut u64 {
    &mut own().random
}

/// What the thread that runs gives to whoever joins it.
pub(crate) fn set_result(result: *mut c_void) {
    own().result = result;
}

/// Whether the thread that runs acts on requests to end.
pub(crate) fn can_be_cancelled() -> bool {
    own().cancel_state == CANCEL_ENABLE
}

/// Gives the state before.
pub(crate) fn set_cancel_state(state: c_int) -> c_int {
    std::mem::replace(&mut own().cancel_state, state)
}

/// The thread that runs registers a handler for its end.
pub(crate) fn add_handler(place: *mut c_void) {
    let lists = lists_of(own_index());
    native::privately(|| lists.handlers.push(place));
}

/// The youngest handler of the thread that runs, no longer registered.
pub(crate) fn take_handler() -> Option<*mut c_void> {
    lists_of(own_index()).handlers.pop()
}

/// The thread that runs ends, by unwinding itself.
pub(crate) fn unwind() -> ! {
    own().is_ending = true;
    native::return_from_thread()
}

/// Whether the thread with this number does that.
pub(crate) fn is_ending(index: usize) -> bool {
    at(index).is_ending
}

/// Notes what the thread that runs leaves to be done.
pub(crate) fn at_exit(destructor: Destructor, object: *mut c_void) {
    let lists = lists_of(own_index());
    native::privately(|| lists.at_exit.push((destructor, object)));
}

/// The thread that runs has taken a mutex that survives it.
pub(crate) fn hold_robust(mutex: usize) {
    let lists = lists_of(own_index());
    native::privately(|| lists.robust.push(mutex));
}

/// It gives it back.
pub(crate) fn release_robust(mutex: usize) {
    lists_of(own_index()).robust.retain(|&held| held != mutex);
}

/// The one that it has taken last, which it gives back.
pub(crate) fn youngest_robust() -> Option<usize> {
    lists_of(own_index()).robust.pop()
}

/// The thread pointer of the thread that runs.
pub(crate) fn own_pointer() -> usize {
    pointer_of(own_index())
}

/// Whether this is thread-local memory of a thread that has ended.
#[cold]
pub(crate) fn is_local_of_ended(address: usize) -> bool {
    own_memory::thread_of_stack(address).is_some_and(|index| index < count() && at(index).has_ended)
}

/// The thread pointer of the thread with this number.
pub(crate) fn pointer_of(index: usize) -> usize {
    POINTERS.get()[index]
}

/// A thread is about to be started.
pub(super) fn prepare(
    index: usize,
    start: Option<Start>,
    argument: *mut c_void,
    returns_int: bool,
) {
    let thread = Thread {
        start,
        argument,
        result: ptr::null_mut(),
        returns_int,
        is_detached: false,
        is_joined: false,
        is_ending: false,
        has_ended: false,
        cancel_state: CANCEL_ENABLE,
        words: ControlWords::now(),
        clock: 0,
        looked_at: 0,
        random: index as u64 + 1,
        blocked: 0,
        name: [0; NAME],
    };
    while count() <= index {
        THREADS.get().push(thread);
        LISTS.get().push(Lists::default());
        POINTERS.get().push(gate::checker());
    }
    *at(index) = thread;
    if *HAS_LISTS.get() {
        let lists = lists_of(index);
        lists.values.clear();
        lists.at_exit.clear();
        lists.handlers.clear();
        lists.robust.clear();
    }
    let pointer = &mut POINTERS.get()[index];
    if index > 0 && *pointer == gate::checker() && blocks::are_there() {
        *pointer = blocks::take_parked(index);
    }
    cancel::begin(index);
}
