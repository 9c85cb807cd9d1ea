//! Exceptions that threads of C++ share (`exception_ptr`, `future::get`).
//!
//! The C++ library counts the owners of an exception in code without hooks. So the checker would
//! see no order between a thread's reads and the free by the last owner. Therefore, in programs
//! that can share exceptions, each release of a share is reported as an atomic access to the count.
//! The layouts are those of libstdc++.

use crate::clock;
use crate::gate::{close, code, frame, is_inside};
use crate::heap;
use crate::image;
use explore::OpKind;
use libc::{c_int, c_uint, c_void};
use runtime::native::{self as engine, on_own_stack};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::AcqRel;

/// `__cxa_exception`, or `__cxa_dependent_exception`, which refers to another exception.
#[repr(C)]
struct Header {
    /// The exception to which a dependent exception refers.
    primary: *mut c_void,
    unused: [usize; 4],
    handlers: c_int,
    rest: [c_int; 9],
    class: u64,
    unwinder: [usize; 3],
}

/// `__cxa_eh_globals` of a thread.
#[repr(C)]
struct Globals {
    caught: *mut Header,
}

const PRIMARY: u64 = u64::from_be_bytes(*b"GNUCC++\0");
const DEPENDENT: u64 = u64::from_be_bytes(*b"GNUCC++\x01");

/// The offset from the count of owners to the thrown object.
const COUNT: usize = 128;

/// Functions that programs need to share an exception.
const SHARING: [&str; 2] = [
    "_ZSt17current_exceptionv",
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
];

unsafe extern "C-unwind" {
    fn mazurka_leaves_exception(count: *mut c_uint);
}

export! {
    /// Reports that an owner gives up its share. The C++ library changes the count itself, without
    /// a hook. So this event is a read-modify-write that changes nothing. All these events of one
    /// count are in one order, under weak memory models, too.
    placed fn mazurka_leaves_exception(count: *mut c_uint) {
        if !is_inside() {
            // The library has changed the count when the thread next calls a hook.
            return enforce::begin(OpKind::ReadModifyWrite);
        }
        let (frame, code, _closed) = (frame(), code(), close());
        heap::check(count.addr(), size_of::<c_uint>(), frame);
        // SAFETY: the count lives until the caller has given up its share.
        unsafe { engine::modify_within(count, ("release", AcqRel), code, |owners| owners) };
        clock::acquire(count.addr());
        clock::release(count.addr());
    }
}

/// Checks whether the program or one of its libraries imports a function for sharing exceptions.
pub(crate) fn shares_exceptions() -> bool {
    static SHARES: OnceLock<bool> = OnceLock::new();
    *SHARES.get_or_init(|| {
        let _closed = is_inside().then(close);
        on_own_stack(|| {
            let files = image::files();
            let mut names = SHARING.iter();
            names.any(|name| files.iter().any(|file| native::imports(file, name)))
        })
    })
}

/// Reports that an owner gives up its share of the exception.
///
/// # Safety
///
/// The object must have been thrown, and the caller must be one of its owners.
unsafe fn leave(object: *mut c_void) {
    if shares_exceptions() {
        // SAFETY: the count precedes the object, and lives until this owner has gone.
        unsafe {
            mazurka_leaves_exception(object.byte_sub(COUNT).cast());
        }
    }
}

/// Ends a handler of an exception. The last handler of an exception gives up its share.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __cxa_end_catch() {
    let globals = real!(__cxa_get_globals(): fn() -> *mut Globals);
    // SAFETY: the library has filled the structures, and the last handler of an exception owns the
    // exception. Only exceptions of C++ are read.
    unsafe {
        if let Some(header) = (*globals).caught.as_ref() {
            match header.class {
                PRIMARY if header.handlers == 1 => leave((*globals).caught.add(1).cast()),
                DEPENDENT if header.handlers == 1 => leave(header.primary),
                _ => {}
            }
        }
    }
    real!(__cxa_end_catch(): fn());
}

/// Destroys an `exception_ptr`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(
    pointer: *mut *mut c_void,
) {
    // SAFETY: the program passed its pointer, which owns its target.
    unsafe {
        if !(*pointer).is_null() {
            leave(*pointer);
        }
    }
    real!(_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(pointer): fn(*mut *mut c_void));
}
