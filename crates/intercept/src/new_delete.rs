//! `operator new` and `operator delete` of C++: as the library of C++ has them, but a block belongs to the place that asked
//! for it, not to that library.

use crate::gate::{close, code, is_inside};
use crate::heap;
use libc::{c_void, size_t};

/// What a fundamental type needs at most.
const ALIGN: usize = 16;

/// A block for the program, or nothing if the library of C++ is to decide: outside, and where there is no memory.
fn allocated(size: size_t, align: usize) -> Option<*mut c_void> {
    let block = heap::allocate_here(size.max(1), align)?;
    (!block.is_null()).then_some(block)
}

/// Frees a block of the program; false for those of others.
fn is_freed(block: *mut c_void) -> bool {
    let is_of_program = is_inside() && heap::contains(block.addr());
    if is_of_program {
        let (code, _closed) = (code(), close());
        heap::give_back(block, code);
    }
    is_of_program
}

export! {
    placed fn _Znwm(size: size_t) -> *mut c_void {
        allocated(size, ALIGN).unwrap_or_else(|| real!(_Znwm(size): fn(size_t) -> *mut c_void))
    }

    placed fn _Znam(size: size_t) -> *mut c_void {
        allocated(size, ALIGN).unwrap_or_else(|| real!(_Znam(size): fn(size_t) -> *mut c_void))
    }

    placed fn _ZnwmSt11align_val_t(size: size_t, align: size_t) -> *mut c_void {
        allocated(size, align)
            .unwrap_or_else(|| real!(_ZnwmSt11align_val_t(size, align): fn(size_t, size_t) -> *mut c_void))
    }

    placed fn _ZdlPv(block: *mut c_void) {
        if !is_freed(block) {
            real!(_ZdlPv(block): fn(*mut c_void))
        }
    }

    placed fn _ZdlPvm(block: *mut c_void, size: size_t) {
        if !is_freed(block) {
            real!(_ZdlPvm(block, size): fn(*mut c_void, size_t))
        }
    }

    placed fn _ZdaPv(block: *mut c_void) {
        if !is_freed(block) {
            real!(_ZdaPv(block): fn(*mut c_void))
        }
    }

    placed fn _ZdaPvm(block: *mut c_void, size: size_t) {
        if !is_freed(block) {
            real!(_ZdaPvm(block, size): fn(*mut c_void, size_t))
        }
    }
}
