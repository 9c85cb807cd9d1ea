//! The locks of streams: `flockfile`, `ftrylockfile`, `funlockfile`.
//!
//! Every function of a stream acquires and releases the stream's lock. A program that never takes
//! the lock directly cannot observe this, so a call is one event. In other programs a call locks
//! and unlocks a mutex.

use crate::clock;
use crate::gate::{self, Own, close, code, is_inside};
use crate::heap;
use crate::tries::{code_of, tries_to_lock};
use libc::{FILE, c_int};
use report::FailureKind;
use runtime::Mutex;
use runtime::native::{self, Frame, at};
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether the program takes locks of streams directly.
static ARE_TAKEN: AtomicBool = AtomicBool::new(false);

/// Offset of the lock's address in a stream of the C library.
const LOCK: usize = 136;

/// Returns the lock of a stream, which must not be closed.
fn lock_of(stream: usize, code: usize) -> Mutex {
    heap::check_object(stream, code);
    native::mutex_at(stream + LOCK, code)
}

/// A lock that a thread holds, and how often it holds the lock.
struct Held {
    stream: usize,
    thread: usize,
    count: usize,
}

static HELD: Own<Vec<Held>> = Own::new(Vec::new());

/// Notes a function that the program may call.
pub(crate) fn record_function(function: &CStr) {
    if function == c"flockfile" || function == c"ftrylockfile" {
        ARE_TAKEN.store(true, Relaxed);
    }
}

pub(crate) fn are_taken() -> bool {
    ARE_TAKEN.load(Relaxed)
}

/// Begins an execution, in which no lock is held. Programs that take locks of streams have no
/// savepoints, so the locks are never copied.
pub(crate) fn begin() {
    HELD.get().clear();
}

/// Returns the entry for the lock of this stream, if the running thread holds the lock.
fn own(stream: usize) -> Option<&'static mut Held> {
    let thread = runtime::current().index();
    let mut all = HELD.get().iter_mut();
    all.find(|held| held.stream == stream && held.thread == thread)
}

fn hold(stream: usize) {
    let held = Held {
        stream,
        thread: runtime::current().index(),
        count: 1,
    };
    native::privately(|| HELD.get().push(held));
}

/// Acquires and releases the lock of a stream for one of its functions.
pub(crate) fn pass(stream: usize, frame: *const Frame) {
    let _closed = close();
    if own(stream).is_none() {
        let lock = lock_of(stream, code_of(frame));
        native::waits_for_lock();
        at(code_of(frame), || lock.lock());
        clock::acquire(stream);
        clock::release(stream);
        at(code_of(frame), || lock.unlock());
    }
}

export! {
    placed fn flockfile(stream: *mut FILE) {
        if !is_inside() {
            return real!(flockfile(stream): fn(*mut FILE));
        }
        let (frame, _closed) = (gate::frame(), close());
        if let Some(held) = own(stream.addr()) {
            held.count += 1;
            return;
        }
        let lock = lock_of(stream.addr(), code_of(frame));
        native::waits_for_lock();
        at(code_of(frame), || lock.lock());
        clock::acquire(stream.addr());
        hold(stream.addr());
    }

    compared fn ftrylockfile(stream: *mut FILE) -> c_int {
        if !is_inside() {
            return real!(ftrylockfile(stream): fn(*mut FILE) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        if let Some(held) = own(stream.addr()) {
            held.count += 1;
            return 0;
        }
        let lock = lock_of(stream.addr(), code_of(frame));
        let is_granted = tries_to_lock(frame, || lock.try_lock().then_some(())).is_some();
        if is_granted {
            clock::acquire(stream.addr());
            hold(stream.addr());
        }
        c_int::from(!is_granted)
    }

    placed fn funlockfile(stream: *mut FILE) {
        if !is_inside() {
            return real!(funlockfile(stream): fn(*mut FILE));
        }
        let (code, _closed) = (code(), close());
        let Some(held) = own(stream.addr()) else {
            let message = "a stream is unlocked by a thread that does not hold its lock".to_owned();
            native::fail(code, FailureKind::Misuse, message);
        };
        held.count -= 1;
        if held.count == 0 {
            let thread = held.thread;
            HELD.get().retain(|held| held.stream != stream.addr() || held.thread != thread);
            clock::release(stream.addr());
            let lock = lock_of(stream.addr(), code);
            at(code, || lock.unlock());
        }
    }
}
