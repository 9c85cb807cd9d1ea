//! Cancellation: a request is an event at the thread's word, and looking for one is another. Threads act at
//! `pthread_testcancel`; calls that wait are no cancellation points here.
//!
//! Handlers of `pthread_cleanup_push` in C are places to jump back to (`__pthread_register_cancel`), in C++ they are
//! destructors.

use crate::gate::{self, Own, close, code, frame, is_inside};
use crate::threads;
use libc::{c_int, c_void, pthread_t};
use runtime::native;
use std::sync::atomic::Ordering::{Acquire, Release};

/// A request for each thread; 0 if there is none.
static REQUESTS: Own<[u32; MOST]> = Own::new([0; MOST]);

/// Threads that can be cancelled.
const MOST: usize = 1024;

/// What a cancelled thread returns.
const CANCELED: *mut c_void = std::ptr::without_provenance_mut(usize::MAX);

unsafe extern "C-unwind" {
    fn siglongjmp(place: *mut c_void, value: c_int) -> !;
}

/// A thread begins: nobody has cancelled it.
pub(crate) fn begin(index: usize) {
    if let Some(request) = REQUESTS.get().get_mut(index) {
        *request = 0;
    }
}

/// What a person calls this memory, if it is ours.
pub(crate) fn name_of(address: usize) -> Option<String> {
    let first = REQUESTS.get().as_ptr().addr();
    let index = address.checked_sub(first)? / size_of::<u32>();
    (index < MOST).then(|| "cancel request".to_owned())
}

/// The thread that runs ends here: its handlers first, the youngest first.
pub(crate) fn end_thread() -> ! {
    match threads::take_handler() {
        Some(place) => {
            gate::reopen(threads::own_pointer());
            // SAFETY: the program registered a place in a frame that has not returned.
            unsafe { siglongjmp(place, 1) }
        }
        None => native::return_from_thread(),
    }
}

export! {
    placed fn pthread_cancel(thread: pthread_t) -> c_int {
        if !is_inside() {
            return real!(pthread_cancel(thread): fn(pthread_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        native::warn("a cancelled thread ends at pthread_testcancel only: calls that wait are no cancellation points here");
        match threads::index_of(thread).and_then(|index| REQUESTS.get().get_mut(index)) {
            Some(request) => {
                // SAFETY: the word is ours, and accessed like this only.
                unsafe { native::store(request, 1, Release, code) };
                0
            }
            None => libc::ESRCH,
        }
    }

    compared fn pthread_testcancel() {
        if !is_inside() {
            return real!(pthread_testcancel(): fn());
        }
        let (frame, _closed) = (frame(), close());
        let index = runtime::current().index();
        // SAFETY: the word is ours, and accessed like this only.
        let is_cancelled = REQUESTS
            .get()
            .get(index)
            .is_some_and(|request| unsafe { native::load(request, Acquire, frame) } != 0);
        if is_cancelled && threads::can_be_cancelled() {
            threads::set_result(CANCELED);
            end_thread();
        }
    }

    placed fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int {
        if !is_inside() {
            return real!(pthread_setcancelstate(state, before): fn(c_int, *mut c_int) -> c_int);
        }
        let _closed = close();
        let old = threads::set_cancel_state(state);
        if !before.is_null() {
            // SAFETY: the program gave the pointer.
            unsafe { *before = old };
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
