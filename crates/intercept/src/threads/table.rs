//! The POSIX state of the program's threads.

use super::{Destructor, Start};
use crate::gate::{self, Own};
use crate::{blocks, cancel, own_memory};
use libc::{c_int, c_void};
use runtime::native::{self, ControlWords};
use std::ptr;

/// A thread of the program. This is plain data, because it is copied often.
#[derive(Clone, Copy)]
pub(crate) struct Thread {
    pub(super) start: Option<Start>,
    pub(super) argument: *mut c_void,
    pub(super) result: *mut c_void,
    /// Whether `start` returns an `int`, as in threads of C11.
    pub(super) returns_int: bool,
    pub(super) is_detached: bool,
    pub(crate) is_joined: bool,
    /// Whether the thread is being ended by unwinding.
    is_ending: bool,
    /// Whether its destructors have run, so that its thread-local memory is gone.
    pub(super) has_ended: bool,
    pub(super) cancel_state: c_int,
    /// Its floating-point control words at the start, which are those of its creator.
    pub(super) words: ControlWords,
    /// Its clock, in nanoseconds.
    pub(super) clock: u64,
    /// Its clock when the thread last read it.
    pub(super) last_read: u64,
    /// The state of its random numbers.
    pub(super) random: u64,
    /// The signals that it blocks, initially those that its creator blocked.
    pub(crate) blocked: u64,
    /// The name that the program has given to the thread, a terminated string.
    pub(crate) name: [u8; NAME],
}

/// Lists of a thread's data, mostly empty.
#[derive(Clone, Default)]
pub(crate) struct Lists {
    /// Its values by key.
    pub(crate) values: Vec<*mut c_void>,
    /// Destructors of `thread_local` objects, with their arguments.
    pub(super) at_exit: Vec<(Destructor, *mut c_void)>,
    /// Its handlers of `pthread_cleanup_push`, as places to jump to.
    handlers: Vec<*mut c_void>,
    /// Addresses of the robust mutexes that it holds, the youngest last.
    pub(super) robust: Vec<usize>,
    /// The set of processors that the program has set for it, or nothing.
    pub(crate) processors: Vec<u8>,
}

/// Size in bytes of the name of a thread, with the terminator.
pub(crate) const NAME: usize = 16;

/// The state of a thread that can be cancelled.
pub(crate) const CANCEL_ENABLE: c_int = 0;
/// The state of a thread that cannot be cancelled.
pub(crate) const CANCEL_DISABLE: c_int = 1;

/// Indexed by thread.
static THREADS: Own<Vec<Thread>> = Own::new(Vec::new());
/// Indexed by thread.
static LISTS: Own<Vec<Lists>> = Own::new(Vec::new());
/// Whether any of the lists has been used in any execution.
static HAS_LISTS: Own<bool> = Own::new(false);
/// Thread pointers, indexed by thread. A thread without its own thread-local memory has the thread
/// pointer of the checker. The pointers are kept between executions.
static POINTERS: Own<Vec<usize>> = Own::new(Vec::new());

/// A copy of the threads.
#[derive(Default)]
pub(crate) struct Saved {
    threads: Vec<Thread>,
    lists: Vec<Lists>,
    pointers: Vec<usize>,
}

/// Returns the thread pointers of the threads that have their own.
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

/// Restores the threads from a copy. Threads that are not in the copy keep their thread pointers.
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
    /// Returns the thread pointers of the threads that have their own.
    pub(crate) fn pointers(&self) -> impl Iterator<Item = usize> {
        let pointers = self.pointers.iter().copied();
        pointers.filter(|&pointer| pointer != gate::checker())
    }
}

/// Returns the greatest number of threads in any execution so far.
pub(crate) fn count() -> usize {
    THREADS.get().len()
}

/// Returns the thread with this number.
#[inline(always)]
pub(crate) fn at(index: usize) -> &'static mut Thread {
    &mut THREADS.get()[index]
}

/// Returns the lists of the thread with this number, for reading.
#[inline(always)]
pub(crate) fn lists_at(index: usize) -> &'static Lists {
    &LISTS.get()[index]
}

/// Returns the lists of the thread with this number, for changes.
pub(crate) fn lists_of(index: usize) -> &'static mut Lists {
    *HAS_LISTS.get() = true;
    &mut LISTS.get()[index]
}

/// Returns the number of the running thread.
#[inline(always)]
pub(crate) fn own_index() -> usize {
    runtime::current().index()
}

/// Returns the running thread.
#[inline(always)]
pub(crate) fn own() -> &'static mut Thread {
    at(own_index())
}

/// Returns the number of the running thread as the owner of a mutex.
#[inline(always)]
pub(crate) fn own_number() -> c_int {
    own_index() as c_int + 1
}

/// Returns the clock of the running thread.
pub(crate) fn own_time() -> &'static mut u64 {
    &mut own().clock
}

/// Reads the clock of the running thread.
pub(crate) fn read_clock() -> u64 {
    let running = own();
    running.last_read = running.clock;
    running.clock
}

/// Appends the state that the thread with this number can observe of itself. For its clock, this is
/// the value that it last read.
pub(crate) fn append_state(index: usize, state: &mut Vec<u8>) {
    let Thread {
        cancel_state,
        last_read,
        random,
        blocked,
        name,
        ..
    } = at(index);
    let words = [*cancel_state as u64, *last_read, *random, *blocked];
    state.extend_from_slice(words.map(u64::to_ne_bytes).as_flattened());
    state.extend_from_slice(name);
    let Lists {
        values,
        at_exit,
        handlers,
        robust,
        processors,
    } = lists_at(index);
    state.push(processors.len() as u8);
    state.extend_from_slice(processors);
    for value in values {
        state.extend_from_slice(&value.addr().to_ne_bytes());
    }
    state.extend_from_slice(
        &[at_exit.len(), handlers.len(), robust.len()].map(|length| length as u8),
    );
}

/// Returns the state of the random numbers of the running thread.
pub(crate) fn own_random() -> &'static mut u64 {
    &mut own().random
}

/// Sets the result of the running thread for the thread that joins it.
pub(crate) fn set_result(result: *mut c_void) {
    own().result = result;
}

/// Checks whether the running thread acts on requests to cancel it.
pub(crate) fn can_be_cancelled() -> bool {
    own().cancel_state == CANCEL_ENABLE
}

/// Sets the cancellation state. Returns the previous state.
pub(crate) fn set_cancel_state(state: c_int) -> c_int {
    std::mem::replace(&mut own().cancel_state, state)
}

/// Registers a handler for the end of the running thread.
pub(crate) fn add_handler(place: *mut c_void) {
    let lists = lists_of(own_index());
    native::privately(|| lists.handlers.push(place));
}

/// Removes and returns the youngest handler of the running thread.
pub(crate) fn take_handler() -> Option<*mut c_void> {
    lists_of(own_index()).handlers.pop()
}

/// Ends the running thread by unwinding.
pub(crate) fn unwind() -> ! {
    own().is_ending = true;
    native::return_from_thread()
}

/// Checks whether the thread with this number is being ended by unwinding.
pub(crate) fn is_ending(index: usize) -> bool {
    at(index).is_ending
}

/// Registers a destructor for the end of the running thread.
pub(crate) fn at_exit(destructor: Destructor, object: *mut c_void) {
    let lists = lists_of(own_index());
    native::privately(|| lists.at_exit.push((destructor, object)));
}

/// Records that the running thread has taken a robust mutex.
pub(crate) fn hold_robust(mutex: usize) {
    let lists = lists_of(own_index());
    native::privately(|| lists.robust.push(mutex));
}

/// Records that the running thread has released a robust mutex.
pub(crate) fn release_robust(mutex: usize) {
    lists_of(own_index()).robust.retain(|&held| held != mutex);
}

/// Removes and returns the robust mutex that the running thread has taken last.
pub(crate) fn youngest_robust() -> Option<usize> {
    lists_of(own_index()).robust.pop()
}

/// Returns the thread pointer of the running thread.
pub(crate) fn own_pointer() -> usize {
    pointer_of(own_index())
}

/// Checks whether this is thread-local memory of a thread that has ended.
#[cold]
pub(crate) fn is_local_of_ended(address: usize) -> bool {
    own_memory::thread_of_stack(address).is_some_and(|index| index < count() && at(index).has_ended)
}

/// Returns the thread pointer of the thread with this number.
pub(crate) fn pointer_of(index: usize) -> usize {
    POINTERS.get()[index]
}

/// Prepares the entry of a thread that is about to start.
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
        last_read: 0,
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
