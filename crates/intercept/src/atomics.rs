//! Functions that compilers call for atomic accesses (`-fsanitize=thread`). They perform the
//! accesses.

mod outside;

use crate::clock;
use crate::gate::{close, code, frame, is_inside};
use crate::heap;
use crate::hooks::Call;
use explore::OpKind;
use libc::c_int;
use runtime::native;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

macro_rules! atomics {
    ($($type:ty, $atomic:ident: $load:ident $store:ident $exchange:ident $strong:ident $weak:ident $value:ident
        [$($fetch:ident $text:literal $change:expr;)*];)*) => {
        export! {
            $(
                compared fn $load(pointer: *const $type, how: c_int) -> $type {
                    // SAFETY: the program loads from here, and the frame is that of its call.
                    unsafe {
                        if is_inside() {
                            let (frame, _closed) = (frame(), close());
                            heap::check(pointer.addr(), size_of::<$type>(), frame);
                            return recorded(pointer, native::load(pointer, order(how), frame));
                        }
                        event(OpKind::Load, || outside::$atomic::load(pointer))
                    }
                }

                placed fn $store(pointer: *mut $type, value: $type, how: c_int) {
                    // SAFETY: the program stores here.
                    unsafe {
                        if is_inside() {
                            let (frame, _closed) = (frame(), close());
                            heap::check(pointer.addr(), size_of::<$type>(), frame);
                            native::store(pointer, value, order(how), (*frame).code());
                            return clock::release_write(pointer.addr());
                        }
                        event(OpKind::Store, || outside::$atomic::store(pointer, value));
                    }
                }

                compared fn $exchange(pointer: *mut $type, value: $type, how: c_int) -> $type {
                    // SAFETY: the program changes this variable.
                    unsafe {
                        if is_inside() {
                            let (frame, _closed) = (frame(), close());
                            heap::check(pointer.addr(), size_of::<$type>(), frame);
                            let named = ("exchange", order(how));
                            return changed(pointer, native::modify(pointer, named, frame, value, |_, value| value));
                        }
                        event(OpKind::ReadModifyWrite, || outside::$atomic::modify(pointer, |_| value))
                    }
                }

                compared fn $strong(
                    pointer: *mut $type, expected: *mut $type, new: $type, success: c_int, failure: c_int,
                ) -> bool {
                    // SAFETY: the program passed the pointers, and the frame is that of its call.
                    unsafe { exchange_in_memory(pointer, expected, new, [success, failure], outside::$atomic::compare_exchange) }
                }

                compared fn $weak(
                    pointer: *mut $type, expected: *mut $type, new: $type, success: c_int, failure: c_int,
                ) -> bool {
                    // SAFETY: the program passed the pointers, and the frame is that of its call.
                    unsafe { exchange_in_memory(pointer, expected, new, [success, failure], outside::$atomic::compare_exchange) }
                }

                compared fn $value(
                    pointer: *mut $type, expected: $type, new: $type, success: c_int, failure: c_int,
                ) -> $type {
                    // SAFETY: the program passed the pointer, and the frame is that of its call.
                    unsafe {
                        let result = exchange::<$type>(pointer, (expected, new), [success, failure], outside::$atomic::compare_exchange);
                        result.unwrap_or_else(|found| found)
                    }
                }

                $(
                    compared fn $fetch(pointer: *mut $type, operand: $type, how: c_int) -> $type {
                        let change: fn($type, $type) -> $type = $change;
                        // SAFETY: the program changes this variable.
                        unsafe {
                            if is_inside() {
                                let (frame, _closed) = (frame(), close());
                                heap::check(pointer.addr(), size_of::<$type>(), frame);
                                let named = ($text, order(how));
                                return changed(pointer, native::modify(pointer, named, frame, operand, change));
                            }
                            event(OpKind::ReadModifyWrite, || {
                                outside::$atomic::modify(pointer, |old| change(old, operand))
                            })
                        }
                    }
                )*
            )*
        }
    };
}

/// Records and returns a value that the program has read.
#[inline(always)]
fn recorded<V: Copy>(pointer: *const V, value: V) -> V {
    clock::acquire_read(pointer.addr());
    if size_of::<V>() == size_of::<u64>() {
        // SAFETY: each type of value here is a number, and `transmute_copy` gets a number of the
        // same size.
        heap::record_read(unsafe { std::mem::transmute_copy(&value) }, true);
    }
    value
}

/// Records and returns the value read from an atomic variable that the program has changed.
#[inline(always)]
fn changed<V: Copy>(pointer: *mut V, value: V) -> V {
    let value = recorded(pointer, value);
    clock::release_write(pointer.addr());
    value
}

/// Performs an atomic access in a program that runs as usual or is enforced.
#[inline(always)]
fn event<R>(kind: OpKind, does: impl FnOnce() -> R) -> R {
    enforce::begin(kind);
    let result = does();
    enforce::end();
    result
}

/// Stores a byte atomically, in a program that is not checked.
///
/// # Safety
///
/// The program accesses the byte only atomically.
pub(crate) unsafe fn store_byte(pointer: *mut u8, value: u8) {
    // SAFETY: as promised by the caller.
    event(OpKind::Store, || unsafe {
        outside::eight::store(pointer, value);
    });
}

/// Converts a memory order of C11 as compilers pass it; the upper bits are hints.
fn order(order: c_int) -> Ordering {
    match order & 0xff {
        0 => Relaxed,
        // Every compiler treats consume as acquire.
        1 | 2 => Acquire,
        3 => Release,
        4 => AcqRel,
        _ => SeqCst,
    }
}

/// Performs a compare-exchange inside or outside a check.
///
/// # Safety
///
/// The caller must be an exported function that has recorded the frame, and the program accesses
/// the variable.
#[inline(always)]
unsafe fn exchange<V: runtime::Value>(
    pointer: *mut V,
    (expected, new): (V, V),
    [success, failure]: [c_int; 2],
    outside: unsafe fn(*mut V, V, V) -> Result<V, V>,
) -> Result<V, V> {
    // SAFETY: as promised by the caller.
    unsafe {
        if !is_inside() {
            return event(OpKind::CompareExchange, || outside(pointer, expected, new));
        }
        let (frame, _closed) = (frame(), close());
        heap::check(pointer.addr(), size_of::<V>(), frame);
        native::compare_exchange(
            pointer,
            (expected, new),
            [order(success), order(failure)],
            frame,
        )
        .map(|found| changed(pointer, found))
        .map_err(|found| recorded(pointer, found))
    }
}

/// Performs a compare-exchange whose expected value is in memory. The program reads this value
/// plainly, and writes it if the exchange fails.
///
/// # Safety
///
/// The conditions are those of [`exchange`].
unsafe fn exchange_in_memory<V: runtime::Value>(
    pointer: *mut V,
    expected: *mut V,
    new: V,
    orders: [c_int; 2],
    outside: unsafe fn(*mut V, V, V) -> Result<V, V>,
) -> bool {
    let (call, memory) = (Call::here(), expected.cast());
    // SAFETY: as promised by the caller.
    unsafe {
        call.reads(memory, size_of::<V>());
        let values = (expected.read_unaligned(), new);
        let result = exchange::<V>(pointer, values, orders, outside);
        if let Err(found) = result {
            call.writes(memory, size_of::<V>());
            expected.write_unaligned(found);
        }
        result.is_ok()
    }
}

atomics! {
    u8, eight: __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange
        __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak
        __tsan_atomic8_compare_exchange_val [
            __tsan_atomic8_fetch_add "fetch_add" |old, operand| old.wrapping_add(operand);
            __tsan_atomic8_fetch_sub "fetch_sub" |old, operand| old.wrapping_sub(operand);
            __tsan_atomic8_fetch_and "fetch_and" |old, operand| old & operand;
            __tsan_atomic8_fetch_or "fetch_or" |old, operand| old | operand;
            __tsan_atomic8_fetch_xor "fetch_xor" |old, operand| old ^ operand;
            __tsan_atomic8_fetch_nand "fetch_nand" |old, operand| !(old & operand);
        ];
    u16, sixteen: __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange
        __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak
        __tsan_atomic16_compare_exchange_val [
            __tsan_atomic16_fetch_add "fetch_add" |old, operand| old.wrapping_add(operand);
            __tsan_atomic16_fetch_sub "fetch_sub" |old, operand| old.wrapping_sub(operand);
            __tsan_atomic16_fetch_and "fetch_and" |old, operand| old & operand;
            __tsan_atomic16_fetch_or "fetch_or" |old, operand| old | operand;
            __tsan_atomic16_fetch_xor "fetch_xor" |old, operand| old ^ operand;
            __tsan_atomic16_fetch_nand "fetch_nand" |old, operand| !(old & operand);
        ];
    u32, thirty_two: __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange
        __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak
        __tsan_atomic32_compare_exchange_val [
            __tsan_atomic32_fetch_add "fetch_add" |old, operand| old.wrapping_add(operand);
            __tsan_atomic32_fetch_sub "fetch_sub" |old, operand| old.wrapping_sub(operand);
            __tsan_atomic32_fetch_and "fetch_and" |old, operand| old & operand;
            __tsan_atomic32_fetch_or "fetch_or" |old, operand| old | operand;
            __tsan_atomic32_fetch_xor "fetch_xor" |old, operand| old ^ operand;
            __tsan_atomic32_fetch_nand "fetch_nand" |old, operand| !(old & operand);
        ];
    u64, sixty_four: __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange
        __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak
        __tsan_atomic64_compare_exchange_val [
            __tsan_atomic64_fetch_add "fetch_add" |old, operand| old.wrapping_add(operand);
            __tsan_atomic64_fetch_sub "fetch_sub" |old, operand| old.wrapping_sub(operand);
            __tsan_atomic64_fetch_and "fetch_and" |old, operand| old & operand;
            __tsan_atomic64_fetch_or "fetch_or" |old, operand| old | operand;
            __tsan_atomic64_fetch_xor "fetch_xor" |old, operand| old ^ operand;
            __tsan_atomic64_fetch_nand "fetch_nand" |old, operand| !(old & operand);
        ];
    u128, wide: __tsan_atomic128_load __tsan_atomic128_store __tsan_atomic128_exchange
        __tsan_atomic128_compare_exchange_strong __tsan_atomic128_compare_exchange_weak
        __tsan_atomic128_compare_exchange_val [
            __tsan_atomic128_fetch_add "fetch_add" |old, operand| old.wrapping_add(operand);
            __tsan_atomic128_fetch_sub "fetch_sub" |old, operand| old.wrapping_sub(operand);
            __tsan_atomic128_fetch_and "fetch_and" |old, operand| old & operand;
            __tsan_atomic128_fetch_or "fetch_or" |old, operand| old | operand;
            __tsan_atomic128_fetch_xor "fetch_xor" |old, operand| old ^ operand;
            __tsan_atomic128_fetch_nand "fetch_nand" |old, operand| !(old & operand);
        ];
}

export! {
    placed fn __tsan_atomic_thread_fence(how: c_int) {
        if is_inside() {
            let (code, _closed) = (code(), close());
            native::fence(order(how), code);
        } else {
            enforce::fence();
        }
    }

    placed fn __tsan_atomic_signal_fence(_how: c_int) {}
}
