//! Functions by which programs annotate their synchronization for ThreadSanitizer and its
//! predecessors, as declared in `sanitizer/tsan_interface.h` and `dynamic_annotations.h`.

use crate::gate::{close, code, is_inside};
use libc::{c_char, c_int, c_uint, c_void, size_t};
use runtime::native;

/// In a check, calls `what` with the return address of the program's call.
fn report(what: impl FnOnce(usize)) {
    if is_inside() {
        let (code, _closed) = (code(), close());
        what(code);
    }
}

/// Makes the thread's operations so far happen before the next operations of threads that later
/// acquire the same address.
fn release(address: *const c_void) {
    report(|code| native::release_at(address.addr(), code));
}

/// Makes earlier releases of this address happen before the thread's next operations.
fn acquire(address: *const c_void) {
    report(|code| native::acquire_at(address.addr(), code));
}

/// Starts or stops ignoring the thread's reads or writes.
fn ignore(is_write: bool, begins: bool) {
    report(|_| native::ignore(is_write, begins));
}

fn ignore_all(begins: bool) {
    ignore(false, begins);
    ignore(true, begins);
}

fn expect_races(address: *const c_void, length: size_t) {
    report(|_| native::expect_races(address.addr(), length));
}

fn refuse(function: &str) {
    report(|code| native::refuse(code, format!("the program uses fibers ({function})")));
}

/// Returns the address that readers release when they release a lock. Only writers acquire it, so
/// readers are not ordered among themselves.
fn readers(lock: *const c_void) -> usize {
    lock.addr() + 1
}

/// Reports that a lock was taken.
fn locked(lock: *const c_void, is_writer: bool) {
    report(|code| {
        native::acquire_at(lock.addr(), code);
        if is_writer {
            native::acquire_at(readers(lock), code);
        }
    });
}

/// Reports that a lock is about to be released.
fn unlocks(lock: *const c_void, is_writer: bool) {
    report(|code| {
        let address = if is_writer {
            lock.addr()
        } else {
            readers(lock)
        };
        native::release_at(address, code);
    });
}

/// Flags of `__tsan_mutex_…`: a reader takes the lock; the lock could not be taken.
const READ_LOCK: c_uint = 1 << 3;
const TRY_LOCK_FAILED: c_uint = 1 << 5;

export! {
    placed fn __tsan_acquire(address: *mut c_void) { acquire(address) }
    placed fn __tsan_release(address: *mut c_void) { release(address) }

    placed fn __tsan_mutex_create(_lock: *mut c_void, _flags: c_uint) {}
    placed fn __tsan_mutex_destroy(_lock: *mut c_void, _flags: c_uint) {}
    placed fn __tsan_mutex_pre_lock(_lock: *mut c_void, _flags: c_uint) { ignore_all(true) }

    placed fn __tsan_mutex_post_lock(lock: *mut c_void, flags: c_uint, _recursion: c_int) {
        ignore_all(false);
        if flags & TRY_LOCK_FAILED == 0 {
            locked(lock, flags & READ_LOCK == 0);
        }
    }

    placed fn __tsan_mutex_pre_unlock(lock: *mut c_void, flags: c_uint) -> c_int {
        unlocks(lock, flags & READ_LOCK == 0);
        ignore_all(true);
        1
    }

    placed fn __tsan_mutex_post_unlock(_lock: *mut c_void, _flags: c_uint) { ignore_all(false) }
    placed fn __tsan_mutex_pre_signal(_lock: *mut c_void, _flags: c_uint) { ignore_all(true) }
    placed fn __tsan_mutex_post_signal(_lock: *mut c_void, _flags: c_uint) { ignore_all(false) }
    placed fn __tsan_mutex_pre_divert(_lock: *mut c_void, _flags: c_uint) { ignore_all(false) }
    placed fn __tsan_mutex_post_divert(_lock: *mut c_void, _flags: c_uint) { ignore_all(true) }

    placed fn __tsan_ignore_thread_begin() { ignore_all(true) }
    placed fn __tsan_ignore_thread_end() { ignore_all(false) }

    placed fn __tsan_external_register_tag(_kind: *const c_char) -> *mut c_void { std::ptr::null_mut() }
    placed fn __tsan_external_register_header(_tag: *mut c_void, _header: *const c_char) {}
    placed fn __tsan_external_assign_tag(_object: *mut c_void, _tag: *mut c_void) {}
    placed fn __tsan_external_read(_object: *mut c_void, _caller: *mut c_void, _tag: *mut c_void) {}
    placed fn __tsan_external_write(_object: *mut c_void, _caller: *mut c_void, _tag: *mut c_void) {}

    placed fn __tsan_flush_memory() {}
    placed fn __sanitizer_print_stack_trace() {}
    placed fn __sanitizer_set_report_path(_path: *const c_char) {}
    placed fn __sanitizer_set_death_callback(_callback: *mut c_void) {}

    placed fn __tsan_get_current_fiber() -> *mut c_void { refuse("__tsan_get_current_fiber"); std::ptr::null_mut() }
    placed fn __tsan_create_fiber(_flags: c_uint) -> *mut c_void { refuse("__tsan_create_fiber"); std::ptr::null_mut() }
    placed fn __tsan_destroy_fiber(_fiber: *mut c_void) { refuse("__tsan_destroy_fiber") }
    placed fn __tsan_switch_to_fiber(_fiber: *mut c_void, _flags: c_uint) { refuse("__tsan_switch_to_fiber") }
    placed fn __tsan_set_fiber_name(_fiber: *mut c_void, _name: *const c_char) { refuse("__tsan_set_fiber_name") }

    placed fn RunningOnValgrind() -> c_int { 0 }
    placed fn ThreadSanitizerQuery(_query: *const c_char) -> *const c_char { c"0".as_ptr() }
}

/// Defines functions whose first two arguments are the file and the line of their call.
macro_rules! annotations {
    ($($name:ident($($argument:ident: $type:ty),*) $body:block)*) => {
        export! {
            $(
                #[allow(non_snake_case, reason = "other tools have defined the names")]
                placed fn $name(_file: *const c_char, _line: c_int, $($argument: $type),*) $body
            )*
        }
    };
}

annotations! {
    AnnotateHappensBefore(address: *const c_void) { release(address) }
    AnnotateHappensAfter(address: *const c_void) { acquire(address) }
    WTFAnnotateHappensBefore(address: *const c_void) { release(address) }
    WTFAnnotateHappensAfter(address: *const c_void) { acquire(address) }
    AnnotateRWLockCreate(_lock: *const c_void) {}
    AnnotateRWLockCreateStatic(_lock: *const c_void) {}
    AnnotateRWLockDestroy(_lock: *const c_void) {}
    AnnotateRWLockAcquired(lock: *const c_void, is_writer: usize) { locked(lock, is_writer != 0) }
    AnnotateRWLockReleased(lock: *const c_void, is_writer: usize) { unlocks(lock, is_writer != 0) }
    AnnotateIgnoreReadsBegin() { ignore(false, true) }
    AnnotateIgnoreReadsEnd() { ignore(false, false) }
    AnnotateIgnoreWritesBegin() { ignore(true, true) }
    AnnotateIgnoreWritesEnd() { ignore(true, false) }
    AnnotateBenignRace(address: *const c_void, _why: *const c_char) { expect_races(address, 1) }
    AnnotateBenignRaceSized(address: *const c_void, length: size_t, _why: *const c_char) { expect_races(address, length) }
    WTFAnnotateBenignRaceSized(address: *const c_void, length: size_t, _why: *const c_char) { expect_races(address, length) }
    AnnotateExpectRace(_address: *const c_void, _why: *const c_char) {}
    AnnotateFlushExpectedRaces() {}
    AnnotateIgnoreSyncBegin() {}
    AnnotateIgnoreSyncEnd() {}
    AnnotateCondVarSignal(_condition: *const c_void) {}
    AnnotateCondVarSignalAll(_condition: *const c_void) {}
    AnnotateCondVarWait(_condition: *const c_void, _lock: *const c_void) {}
    AnnotateMutexIsNotPHB(_lock: *const c_void) {}
    AnnotateMutexIsUsedAsCondVar(_lock: *const c_void) {}
    AnnotatePCQCreate(_queue: *const c_void) {}
    AnnotatePCQDestroy(_queue: *const c_void) {}
    AnnotatePCQPut(_queue: *const c_void) {}
    AnnotatePCQGet(_queue: *const c_void) {}
    AnnotateNewMemory(_memory: *const c_void, _length: size_t) {}
    AnnotatePublishMemoryRange(_memory: *const c_void, _length: size_t) {}
    AnnotateUnpublishMemoryRange(_memory: *const c_void, _length: size_t) {}
    AnnotateMemoryIsInitialized(_memory: *const c_void, _length: size_t) {}
    AnnotateMemoryIsUninitialized(_memory: *const c_void, _length: size_t) {}
    AnnotateTraceMemory(_memory: *const c_void) {}
    AnnotateThreadName(_name: *const c_char) {}
    AnnotateEnableRaceDetection(_is_enabled: c_int) {}
    AnnotateFlushState() {}
    AnnotateNoOp(_memory: *const c_void) {}
}
