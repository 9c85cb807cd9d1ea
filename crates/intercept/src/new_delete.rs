//! `operator new` and `operator delete` of C++. They behave like those of the C++ library, but the
//! recorded place of the allocation is in the caller, not in that library.

use crate::allocator::Allocator;
use crate::gate::{close, code, is_inside};
use crate::heap::{self, Asked};
use libc::{c_void, size_t};

/// Largest alignment of a fundamental type.
const ALIGN: usize = 16;

/// Allocates a block for the program, or returns `None` if the C++ library must allocate it.
fn allocated(size: size_t, align: usize, allocator: Allocator) -> Option<*mut c_void> {
    let block = heap::allocate_here(Asked {
        size: size.max(1),
        align,
        allocator,
        fill: heap::FILL,
    })?;
    (!block.is_null()).then_some(block)
}

/// Frees a block of the program. Returns false for other blocks.
fn is_freed(block: *mut c_void, by: Allocator) -> bool {
    let is_of_program = is_inside() && heap::contains(block.addr());
    if is_of_program {
        let (code, _closed) = (code(), close());
        heap::give_back(block, by, code);
    }
    is_of_program
}

/// Forms of `new`: a size and any further arguments. `nothrow` is an unused address.
macro_rules! news {
    ($($name:ident($size:ident $(, $more:ident: $type:ty)*), $allocator:ident, $align:expr;)*) => {
        export! {
            $(
                placed fn $name($size: size_t $(, $more: $type)*) -> *mut c_void {
                    allocated($size, $align, Allocator::$allocator)
                        .unwrap_or_else(|| real!($name($size $(, $more)*): fn(size_t $(, $type)*) -> *mut c_void))
                }
            )*
        }
    };
}

news! {
    _Znwm(size), New, ALIGN;
    _Znam(size), NewArray, ALIGN;
    _ZnwmRKSt9nothrow_t(size, nothrow: *const c_void), New, ALIGN;
    _ZnamRKSt9nothrow_t(size, nothrow: *const c_void), NewArray, ALIGN;
    _ZnwmSt11align_val_t(size, align: size_t), New, align;
    _ZnamSt11align_val_t(size, align: size_t), NewArray, align;
    _ZnwmSt11align_val_tRKSt9nothrow_t(size, align: size_t, nothrow: *const c_void), New, align;
    _ZnamSt11align_val_tRKSt9nothrow_t(size, align: size_t, nothrow: *const c_void), NewArray, align;
}

/// Forms of `delete`: a block and any further arguments.
macro_rules! deletes {
    ($($name:ident($block:ident $(, $more:ident: $type:ty)*), $allocator:ident;)*) => {
        export! {
            $(
                placed fn $name($block: *mut c_void $(, $more: $type)*) {
                    if !is_freed($block, Allocator::$allocator) {
                        real!($name($block $(, $more)*): fn(*mut c_void $(, $type)*))
                    }
                }
            )*
        }
    };
}

deletes! {
    _ZdlPv(block), New;
    _ZdaPv(block), NewArray;
    _ZdlPvm(block, size: size_t), New;
    _ZdaPvm(block, size: size_t), NewArray;
    _ZdlPvRKSt9nothrow_t(block, nothrow: *const c_void), New;
    _ZdaPvRKSt9nothrow_t(block, nothrow: *const c_void), NewArray;
    _ZdlPvSt11align_val_t(block, align: size_t), New;
    _ZdaPvSt11align_val_t(block, align: size_t), NewArray;
    _ZdlPvmSt11align_val_t(block, size: size_t, align: size_t), New;
    _ZdaPvmSt11align_val_t(block, size: size_t, align: size_t), NewArray;
    _ZdlPvSt11align_val_tRKSt9nothrow_t(block, align: size_t, nothrow: *const c_void), New;
    _ZdaPvSt11align_val_tRKSt9nothrow_t(block, align: size_t, nothrow: *const c_void), NewArray;
}
