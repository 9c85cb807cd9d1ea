//! Functions by which programs communicate with a checker: those of SV-COMP, and Mazurka's own.

use crate::enforced;
use crate::gate::{close, code, is_inside};
use libc::{c_char, c_int, c_long, c_uint, c_ulong, c_void, size_t};
use report::{FailureKind, Omission};
use runtime::native;
use std::ffi::CStr;

/// Address that stands for the lock of SV-COMP's atomic sections. No object of a program has this
/// address.
const ATOMIC: usize = 8;

export! {
    placed fn reach_error() {
        if is_inside() {
            let (code, _closed) = (code(), close());
            native::fail(code, FailureKind::Assertion, "reach_error() is called".to_owned());
        }
        real!(abort(): fn())
    }

    placed fn __VERIFIER_error() {
        if is_inside() {
            let (code, _closed) = (code(), close());
            native::fail(code, FailureKind::Assertion, "__VERIFIER_error() is called".to_owned());
        }
        real!(abort(): fn())
    }

    placed fn __VERIFIER_assume(condition: c_int) {
        if is_inside() && condition == 0 {
            let (code, _closed) = (code(), close());
            native::at(code, || runtime::assume(false));
        }
    }

    placed fn mazurka_assume(condition: c_int) {
        if is_inside() && condition == 0 {
            let (code, _closed) = (code(), close());
            native::at(code, || runtime::assume(false));
        }
    }

    placed fn mazurka_choose(alternatives: c_int) -> c_int {
        if alternatives < 1 {
            return 0;
        }
        if !is_inside() {
            return enforced::choice(alternatives as u32) as c_int;
        }
        let (code, _closed) = (code(), close());
        native::at(code, || runtime::choose(alternatives as u32)) as c_int
    }

    placed fn mazurka_goal(name: *const c_char, is_reached: c_int) {
        if is_inside() && !name.is_null() {
            let (code, _closed) = (code(), close());
            // SAFETY: the program passes a string.
            let name = unsafe { CStr::from_ptr(name) };
            native::goal(code, &name.to_string_lossy(), is_reached != 0);
        }
    }

    placed fn mazurka_again() {
        if !is_inside() && enforced::is_on() {
            enforce::again();
        }
    }

    placed fn __VERIFIER_atomic_begin() {
        if is_inside() {
            let (code, _closed) = (code(), close());
            let lock = native::inner_mutex_at(ATOMIC);
            native::at(code, || lock.lock());
        } else if enforced::is_on() {
            enforce::blocking::Side::lock(ATOMIC);
        }
    }

    placed fn __VERIFIER_atomic_end() {
        if is_inside() {
            let (code, _closed) = (code(), close());
            let lock = native::inner_mutex_at(ATOMIC);
            native::at(code, || lock.unlock());
        } else if enforced::is_on() {
            enforce::blocking::Side::unlock(ATOMIC);
        }
    }
}

macro_rules! unknown {
    ($($name:ident: $type:ty;)*) => {
        export! {
            $(
                placed fn $name() -> $type {
                    unknown() as $type
                }
            )*
        }
    };
}

unknown! {
    __VERIFIER_nondet_int: c_int;
    __VERIFIER_nondet_uint: c_uint;
    __VERIFIER_nondet_unsigned: c_uint;
    __VERIFIER_nondet_u32: u32;
    __VERIFIER_nondet_u16: u16;
    __VERIFIER_nondet_u8: u8;
    __VERIFIER_nondet_char: i8;
    __VERIFIER_nondet_uchar: u8;
    __VERIFIER_nondet_unsigned_char: u8;
    __VERIFIER_nondet_short: i16;
    __VERIFIER_nondet_ushort: u16;
    __VERIFIER_nondet_long: c_long;
    __VERIFIER_nondet_ulong: c_ulong;
    __VERIFIER_nondet_longlong: i64;
    __VERIFIER_nondet_ulonglong: u64;
    __VERIFIER_nondet_size_t: size_t;
    __VERIFIER_nondet_loff_t: i64;
    __VERIFIER_nondet_sector_t: c_ulong;
    __VERIFIER_nondet_int128: i128;
    __VERIFIER_nondet_uint128: u128;
    __VERIFIER_nondet_float: f32;
    __VERIFIER_nondet_double: f64;
}

export! {
    placed fn __VERIFIER_nondet_bool() -> bool {
        if !is_inside() {
            return enforced::choice(2) == 1;
        }
        let (code, _closed) = (code(), close());
        native::at(code, || runtime::choose(2)) == 1
    }
}

export! {
    // The only known address is null.
    placed fn __VERIFIER_nondet_pointer() -> *mut c_void {
        std::ptr::null_mut()
    }

    placed fn __VERIFIER_nondet_pchar() -> *mut c_void {
        std::ptr::null_mut()
    }
}

/// Chooses an unknown input, from a few informative values.
fn unknown() -> c_int {
    const TRIED: [c_int; 3] = [0, 1, -1];
    if !is_inside() {
        return TRIED[enforced::choice(TRIED.len() as u32) as usize];
    }
    let (code, _closed) = (code(), close());
    native::leave_out(
        Omission::Inputs,
        "only the values 0, 1 and -1 of __VERIFIER_nondet_int and similar functions are tried",
    );
    TRIED[native::at(code, || runtime::choose(TRIED.len() as u32)) as usize]
}
