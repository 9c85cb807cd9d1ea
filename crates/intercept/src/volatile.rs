//! Hooks for accesses to `volatile` memory, which the compiler distinguishes from other plain
//! accesses.

use crate::gate::{close, frame, is_inside};
use crate::heap;
use explore::OpKind;
use libc::c_void;
use runtime::native;

/// Reports a read of `volatile` memory as an atomic access, because programs use this memory like
/// atomic variables.
///
/// # Safety
///
/// The caller must be an exported function that has recorded the frame.
#[inline(always)]
unsafe fn read_volatile(pointer: *const c_void, length: usize) {
    if is_inside() {
        let (frame, _closed) = (frame(), close());
        heap::check(pointer.addr(), length, frame);
        // SAFETY: the program is about to read, and the frame is that of its call.
        unsafe {
            native::warn_of_volatile(pointer.addr(), (*frame).code());
            match length {
                1 => native::read_volatile(pointer.cast::<u8>(), frame),
                2 => native::read_volatile(pointer.cast::<u16>(), frame),
                4 => native::read_volatile(pointer.cast::<u32>(), frame),
                8 => native::read_volatile(pointer.cast::<u64>(), frame),
                _ => native::read_volatile(pointer.cast::<u128>(), frame),
            }
        }
    } else {
        // The program performs the access. The next hook reports the end of the access.
        enforce::begin(OpKind::Load);
    }
}

/// Reports a write of `volatile` memory as an atomic access.
///
/// # Safety
///
/// The caller must be an exported function that has recorded the frame.
#[inline(always)]
unsafe fn write_volatile(pointer: *const c_void, length: usize) {
    if is_inside() {
        let (frame, _closed) = (frame(), close());
        heap::check(pointer.addr(), length, frame);
        // SAFETY: the program is about to write here.
        unsafe {
            native::warn_of_volatile(pointer.addr(), (*frame).code());
            native::write_volatile(pointer.expose_provenance(), length, (*frame).code());
        }
    } else {
        enforce::begin(OpKind::Store);
    }
}

macro_rules! volatile {
    ($($length:literal: $read:ident $write:ident;)*) => {
        export! {
            $(
                compared fn $read(pointer: *const c_void) {
                    // SAFETY: the frame was recorded.
                    unsafe { read_volatile(pointer, $length) }
                }

                placed fn $write(pointer: *const c_void) {
                    // SAFETY: the frame was recorded.
                    unsafe { write_volatile(pointer, $length) }
                }
            )*
        }
    };
}

volatile! {
    1: __tsan_volatile_read1 __tsan_volatile_write1;
    2: __tsan_volatile_read2 __tsan_volatile_write2;
    4: __tsan_volatile_read4 __tsan_volatile_write4;
    8: __tsan_volatile_read8 __tsan_volatile_write8;
    16: __tsan_volatile_read16 __tsan_volatile_write16;
    2: __tsan_unaligned_volatile_read2 __tsan_unaligned_volatile_write2;
    4: __tsan_unaligned_volatile_read4 __tsan_unaligned_volatile_write4;
    8: __tsan_unaligned_volatile_read8 __tsan_unaligned_volatile_write8;
    16: __tsan_unaligned_volatile_read16 __tsan_unaligned_volatile_write16;
}
