//! Results that a C++ thread makes ready when it ends (`set_value_at_thread_exit`,
//! `make_ready_at_thread_exit`).
//!
//! The C++ library does this in code without hooks: no event would make the result ready, and
//! nothing would order the result before its uses. This module replaces that code, and calls the
//! hooks that a compiler would insert. The layouts are those of libstdc++'s ABI since gcc 5.

use libc::{c_int, c_uint, c_void, size_t};

/// `_State_baseV2::_Make_ready`: the callback for the thread's end, and a `weak_ptr` to the state.
#[repr(C)]
struct MakeReady {
    next: *mut c_void,
    callback: unsafe extern "C-unwind" fn(*mut MakeReady),
    state: *mut State,
    counts: *mut Counts,
}

/// `_State_baseV2`: the state that a future shares with its promise.
#[repr(C)]
struct State {
    functions: *const c_void,
    result: *mut c_void,
    status: c_uint,
}

/// `_Sp_counted_base`: the number of owners of the state.
#[repr(C)]
struct Counts {
    functions: *const Functions,
    owners: c_uint,
    observers: c_uint,
}

/// The virtual functions of `_Sp_counted_base`.
#[repr(C)]
struct Functions {
    destructors: [*const c_void; 2],
    dispose: unsafe extern "C-unwind" fn(*mut Counts),
    destroy: unsafe extern "C-unwind" fn(*mut Counts),
}

const READY: c_uint = 1;
const HAS_WAITER: c_uint = 0x8000_0000;

const RELAXED: c_int = 0;
const RELEASE: c_int = 3;
const ACQUIRE_RELEASE: c_int = 4;

unsafe extern "C-unwind" {
    fn __tsan_atomic32_load(pointer: *const c_uint, order: c_int) -> c_uint;
    fn __tsan_atomic32_exchange(pointer: *mut c_uint, value: c_uint, order: c_int) -> c_uint;
    fn __tsan_atomic32_fetch_sub(pointer: *mut c_uint, operand: c_uint, order: c_int) -> c_uint;
    fn __tsan_atomic32_compare_exchange_val(
        pointer: *mut c_uint,
        expected: c_uint,
        new: c_uint,
        success: c_int,
        failure: c_int,
    ) -> c_uint;
    fn _ZdlPvm(block: *mut c_void, size: size_t);
}

/// Replaces `_Make_ready::_S_run`.
///
/// # Safety
///
/// Only the library may call this function: once, at the end of the thread that registered it.
unsafe extern "C-unwind" fn make_ready(element: *mut MakeReady) {
    // SAFETY: the library made the element. The element keeps the counts alive, and an owner keeps
    // the state alive.
    unsafe {
        let MakeReady { state, counts, .. } = element.read();
        if is_taken(counts) {
            let status = &raw mut (*state).status;
            if __tsan_atomic32_exchange(status, READY, RELEASE) & HAS_WAITER != 0 {
                notify_all(status);
            }
            let owners = &raw mut (*counts).owners;
            if __tsan_atomic32_fetch_sub(owners, 1, ACQUIRE_RELEASE) == 1 {
                ((*(*counts).functions).dispose)(counts);
                observe_no_more(counts);
            }
        }
        observe_no_more(counts);
        _ZdlPvm(element.cast(), size_of::<MakeReady>());
    }
}

/// Wakes the threads that wait for the status, which may already be freed.
fn notify_all(status: *mut c_uint) {
    real!(_ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj(status): fn(*mut c_uint));
}

/// Adds an owner, if there is already an owner (`weak_ptr::lock`). Returns whether there is one.
///
/// # Safety
///
/// The counts must be alive.
unsafe fn is_taken(counts: *mut Counts) -> bool {
    // SAFETY: as promised by the caller.
    unsafe {
        let owners = &raw mut (*counts).owners;
        let mut count = __tsan_atomic32_load(owners, RELAXED);
        while count != 0 {
            let (new, order) = (count + 1, ACQUIRE_RELEASE);
            let found = __tsan_atomic32_compare_exchange_val(owners, count, new, order, RELAXED);
            if found == count {
                return true;
            }
            count = found;
        }
        false
    }
}

/// Removes an observer. The last observer frees the counts.
///
/// # Safety
///
/// The caller must be a counted observer.
unsafe fn observe_no_more(counts: *mut Counts) {
    // SAFETY: as promised by the caller.
    unsafe {
        let observers = &raw mut (*counts).observers;
        if __tsan_atomic32_fetch_sub(observers, 1, ACQUIRE_RELEASE) == 1 {
            ((*(*counts).functions).destroy)(counts);
        }
    }
}

/// `_Make_ready::_M_set`: registers the state, so that it is made ready when the thread ends.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(
    element: *mut MakeReady,
) {
    real!(_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(element): fn(*mut MakeReady));
    // SAFETY: the library has just filled the element.
    unsafe { (*element).callback = make_ready };
}
