//! Deferred cancellation. Each thread has a word. A request to cancel the thread is an event that
//! sets a flag in this word. The thread reads its word at cancellation points.
//!
//! A thread that waits at a cancellation point ends its wait when the request comes. The model
//! makes this a choice before the wait: the thread waits either for its object or for the request.
//! If the request comes to a thread that has chosen the object, the thread's wait does not count as
//! a deadlock, because the thread has chosen the request in another execution. A thread that waits
//! for the request is not in the queue of the object: a cancelled thread consumes no signal and no
//! permit.
//!
//! A handler of `pthread_cleanup_push` is a jump buffer (`__pthread_register_cancel`) in C, and a
//! destructor in C++. `PTHREAD_CANCEL_ASYNCHRONOUS` and the cancellation points of input and output
//! are not covered. In programs that do not call `pthread_cancel`, cancellation points do nothing.

use crate::gate::{self, Own, close, code, frame, is_inside};
use crate::tries::code_of;
use crate::{clock, image, threads};
use libc::{c_int, c_void, pthread_t};
use runtime::native::{self, Frame};
use runtime::{ThreadId, choose};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

/// A word for each thread.
static WORDS: Own<[u32; MOST]> = Own::new([0; MOST]);

/// Greatest number of threads that can be cancelled.
const MOST: usize = 1024;

/// Flag in a word: the thread is requested to end.
const REQUESTED: u32 = 1;
/// Flag in a word: the thread is in a wait that ignores requests.
const WAITS: u32 = 2;

/// Result of a cancelled thread.
const CANCELED: *mut c_void = std::ptr::without_provenance_mut(usize::MAX);

/// `PTHREAD_CANCEL_DEFERRED`.
const DEFERRED: c_int = 0;
/// `PTHREAD_CANCEL_ASYNCHRONOUS`.
const ASYNCHRONOUS: c_int = 1;

unsafe extern "C-unwind" {
    fn siglongjmp(place: *mut c_void, value: c_int) -> !;
}

/// Resets the word of a thread that begins: the thread is not cancelled.
pub(crate) fn begin(index: usize) {
    if let Some(word) = WORDS.get().get_mut(index) {
        *word = 0;
    }
}

/// Copies the words of the first `threads` threads.
pub(crate) fn save_to(copy: &mut Vec<u32>, threads: usize) {
    copy.clear();
    copy.extend_from_slice(&WORDS.get()[..threads.min(MOST)]);
}

/// Restores the words from a copy.
pub(crate) fn restore_from(copy: &[u32]) {
    WORDS.get()[..copy.len()].copy_from_slice(copy);
}

/// Returns the name of this memory in reports, if the memory is one of the words.
pub(crate) fn name_of(address: usize) -> Option<String> {
    let first = WORDS.get().as_ptr().addr();
    let index = address.checked_sub(first)? / size_of::<u32>();
    (index < MOST).then(|| format!("cancel request of thread {index}"))
}

/// Ends the running thread. If the thread has handlers, jumps to the youngest handler, which calls
/// this function again (`__pthread_unwind_next`).
pub(crate) fn end_thread() -> ! {
    match threads::take_handler() {
        Some(place) => {
            gate::reopen(threads::own_pointer());
            // SAFETY: the program registered a place in a frame that has not returned.
            unsafe { siglongjmp(place, 1) }
        }
        None => threads::unwind(),
    }
}

/// Performs a cancellation point at which the thread does not wait.
pub(crate) fn point(frame: *const Frame) {
    if let Some(word) = own_word()
        && is_requested(word, frame)
    {
        act();
    }
}

/// Performs a cancellation point at which the thread waits.
#[inline(always)]
pub(crate) fn wait<R>(frame: *const Frame, waits: impl FnOnce() -> R) -> R {
    match program_cancels() {
        true => wait_or_end(frame, waits),
        false => waits(),
    }
}

#[inline(never)]
fn wait_or_end<R>(frame: *const Frame, waits: impl FnOnce() -> R) -> R {
    if is_chosen(frame) {
        await_request(frame);
        act();
    }
    waiting(frame, waits)
}

/// Chooses what the running thread, which is about to wait, waits for. Returns true for a request
/// to cancel the thread, and false for the object. A thread that cannot be cancelled always waits
/// for the object.
pub(crate) fn is_chosen(frame: *const Frame) -> bool {
    own_word().is_some() && native::at(code_of(frame), || choose(2)) == 1
}

/// Waits for a request to cancel the running thread, after [`is_chosen`] has returned true.
pub(crate) fn await_request(frame: *const Frame) {
    let is_requested = own_word().is_some_and(|word| is_requested(word, frame));
    native::at(code_of(frame), || runtime::assume(is_requested));
}

/// Waits for the object, after [`is_chosen`] has returned false.
pub(crate) fn waiting<R>(frame: *const Frame, waits: impl FnOnce() -> R) -> R {
    let Some(word) = own_word() else {
        return waits();
    };
    let code = code_of(frame);
    let was_requested = change(word, "begins to wait", code, |old| old | WAITS) & REQUESTED != 0;
    native::at(code, || runtime::assume(!was_requested));
    let result = waits();
    change(word, "ends its wait", code, |old| old & !WAITS);
    native::excuse(runtime::current(), false);
    result
}

/// Cancels the running thread.
pub(crate) fn act() -> ! {
    threads::set_cancel_state(threads::CANCEL_DISABLE);
    threads::set_result(CANCELED);
    end_thread()
}

/// Returns the word of the running thread, or `None` if the thread cannot be cancelled.
fn own_word() -> Option<*mut u32> {
    let may_be = program_cancels() && threads::can_be_cancelled();
    let index = runtime::current().index();
    may_be.then(|| word_of(index)).flatten()
}

fn word_of(index: usize) -> Option<*mut u32> {
    WORDS.get().get_mut(index).map(|word| &raw mut *word)
}

fn is_requested(word: *const u32, frame: *const Frame) -> bool {
    // SAFETY: the word is ours, and only accessed in this way.
    let is_requested = unsafe { native::load_within(word, Acquire, frame) & REQUESTED != 0 };
    if is_requested {
        clock::acquire(word.addr());
    }
    is_requested
}

fn change(word: *mut u32, what: &'static str, code: usize, change: fn(u32) -> u32) -> u32 {
    // SAFETY: the word is ours, and only accessed in this way.
    let before = unsafe { native::modify_within(word, (what, AcqRel), code, change) };
    clock::release(word.addr());
    before
}

/// Checks whether the program or one of its libraries imports `pthread_cancel`.
fn program_cancels() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let mut files = native::privately(image::files).iter();
        native::privately(|| files.any(|file| ::native::imports(file, "pthread_cancel")))
    })
}

export! {
    placed fn pthread_cancel(thread: pthread_t) -> c_int {
        if !is_inside() {
            return real!(pthread_cancel(thread): fn(pthread_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let Some(index) = threads::identified(thread) else {
            return libc::ESRCH;
        };
        let Some(word) = word_of(index) else {
            native::refuse(code, format!("the program cancels a thread beyond the first {MOST}"));
        };
        if change(word, "cancel", code, |old| old | REQUESTED) & WAITS != 0 {
            native::excuse(ThreadId::from_index(index), true);
        }
        0
    }

    compared fn pthread_testcancel() {
        if !is_inside() {
            return real!(pthread_testcancel(): fn());
        }
        let (frame, _closed) = (frame(), close());
        point(frame);
    }

    placed fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int {
        if !is_inside() {
            return real!(pthread_setcancelstate(state, before): fn(c_int, *mut c_int) -> c_int);
        }
        let _closed = close();
        if state != threads::CANCEL_ENABLE && state != threads::CANCEL_DISABLE {
            return libc::EINVAL;
        }
        let old = threads::set_cancel_state(state);
        if !before.is_null() {
            // SAFETY: the program passed the pointer.
            unsafe { *before = old };
        }
        0
    }

    placed fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int {
        if !is_inside() {
            return real!(pthread_setcanceltype(kind, before): fn(c_int, *mut c_int) -> c_int);
        }
        let (code, _closed) = (code(), close());
        if !matches!(kind, DEFERRED | ASYNCHRONOUS) {
            return libc::EINVAL;
        }
        if kind == ASYNCHRONOUS {
            native::refuse(code, "a thread allows cancellation at any instruction (PTHREAD_CANCEL_ASYNCHRONOUS)".to_owned());
        }
        if !before.is_null() {
            // SAFETY: the program passed the pointer.
            unsafe { *before = DEFERRED };
        }
        0
    }

    placed fn __pthread_register_cancel(place: *mut c_void) {
        if !is_inside() {
            return real!(__pthread_register_cancel(place): fn(*mut c_void));
        }
        let _closed = close();
        threads::add_handler(place);
    }

    placed fn __pthread_unregister_cancel(place: *mut c_void) {
        if !is_inside() {
            return real!(__pthread_unregister_cancel(place): fn(*mut c_void));
        }
        let _closed = close();
        threads::take_handler();
    }

    placed fn __pthread_unwind_next(place: *mut c_void) {
        if !is_inside() {
            return real!(__pthread_unwind_next(place): fn(*mut c_void));
        }
        let _closed = close();
        end_thread();
    }
}
