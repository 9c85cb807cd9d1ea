//! What the compiler calls before accesses to memory (`-fsanitize=thread`). Atomic accesses are performed
//! here; plain ones by the program, when the hook has returned.

use crate::gate::{self, close, code, frame, is_inside};
use crate::{copies, enforced, heap};
use explore::OpKind;
use libc::{c_int, c_void, size_t};
use runtime::native;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

/// The orders of C11 as compilers pass them; the upper bits are hints.
fn order(order: c_int) -> Ordering {
    match order & 0xff {
        0 => Relaxed,
        // Consume is as acquire in every compiler.
        1 | 2 => Acquire,
        3 => Release,
        4 => AcqRel,
        _ => SeqCst,
    }
}

/// A plain read.
///
/// # Safety
///
/// Called by an exported function that noted the frame.
#[inline(always)]
unsafe fn read(pointer: *const c_void, length: usize) {
    if is_inside() && !gate::is_errno(pointer.addr()) {
        if !heap::contains(pointer.addr()) && native::reads_own(pointer.addr(), length, code()) {
            return gate::pass();
        }
        let (frame, _closed) = (frame(), close());
        heap::check(pointer.addr(), length, frame);
        // SAFETY: the program is about to read, and the frame is that of its call.
        unsafe {
            match copies::end(length) {
                Some(to) => native::copy_at_once(to, pointer.addr(), length, frame),
                None => native::read(pointer.expose_provenance(), length, frame),
            }
        }
    } else if !is_inside() {
        enforce::plain_read(pointer.addr());
    }
}

/// A plain write.
///
/// # Safety
///
/// As for [`read`].
#[inline(always)]
unsafe fn write(pointer: *const c_void, length: usize) {
    if is_inside() && !gate::is_errno(pointer.addr()) {
        if !heap::contains(pointer.addr()) && native::writes_own(pointer.addr(), length, code()) {
            return gate::pass();
        }
        let (frame, _closed) = (frame(), close());
        heap::check(pointer.addr(), length, frame);
        // SAFETY: the program is about to write here; the frame is that of its call.
        let code = unsafe { (*frame).code() };
        if copies::begin(pointer.expose_provenance(), length, code) {
            return;
        }
        // SAFETY: as above.
        unsafe { native::write(pointer.expose_provenance(), length, code) };
    } else if !is_inside() {
        enforce::plain_write(pointer.addr());
    }
}

macro_rules! plain {
    ($($length:literal: $read:ident $write:ident;)*) => {
        export! {
            $(
                reading fn $read(pointer: *const c_void) {
                    // SAFETY: the frame was noted.
                    unsafe { read(pointer, $length) }
                }

                writing fn $write(pointer: *const c_void) {
                    // SAFETY: the frame was noted.
                    unsafe { write(pointer, $length) }
                }
            )*
        }
    };
}

plain! {
    1: __tsan_read1 __tsan_write1;
    2: __tsan_read2 __tsan_write2;
    4: __tsan_read4 __tsan_write4;
    8: __tsan_read8 __tsan_write8;
    16: __tsan_read16 __tsan_write16;
    2: __tsan_unaligned_read2 __tsan_unaligned_write2;
    4: __tsan_unaligned_read4 __tsan_unaligned_write4;
    8: __tsan_unaligned_read8 __tsan_unaligned_write8;
    16: __tsan_unaligned_read16 __tsan_unaligned_write16;
}

/// Both hooks of an access that reads and then writes one place.
macro_rules! plain_both {
    ($($length:literal: $name:ident;)*) => {
        export! {
            $(
                compared fn $name(pointer: *const c_void) {
                    if is_inside() {
                        let (frame, _closed) = (frame(), close());
                        heap::check(pointer.addr(), $length, frame);
                        // SAFETY: the program is about to access this; the frame is that of its call.
                        unsafe {
                            native::read(pointer.expose_provenance(), $length, frame);
                            native::write(pointer.expose_provenance(), $length, (*frame).code());
                        }
                    } else {
                        enforce::plain_read(pointer.addr());
                        enforce::plain_write(pointer.addr());
                    }
                }
            )*
        }
    };
}

plain_both! {
    1: __tsan_read_write1;
    2: __tsan_read_write2;
    4: __tsan_read_write4;
    8: __tsan_read_write8;
    16: __tsan_read_write16;
    2: __tsan_unaligned_read_write2;
    4: __tsan_unaligned_read_write4;
    8: __tsan_unaligned_read_write8;
    16: __tsan_unaligned_read_write16;
}

/// An access of `volatile` memory: as programs use it, an access that others may see at once.
///
/// # Safety
///
/// As for [`read`].
#[inline(always)]
unsafe fn read_volatile(pointer: *const c_void, length: usize) {
    if is_inside() {
        let (frame, _closed) = (frame(), close());
        heap::check(pointer.addr(), length, frame);
        // SAFETY: the program is about to read, and the frame is that of its call.
        unsafe {
            match length {
                1 => drop(native::load(pointer.cast::<u8>(), Relaxed, frame)),
                2 => drop(native::load(pointer.cast::<u16>(), Relaxed, frame)),
                4 => drop(native::load(pointer.cast::<u32>(), Relaxed, frame)),
                8 => drop(native::load(pointer.cast::<u64>(), Relaxed, frame)),
                _ => drop(native::load(pointer.cast::<u128>(), Relaxed, frame)),
            }
        }
    } else {
        // The program performs it: its end is told at the next hook.
        enforce::begin(OpKind::Load);
    }
}

/// # Safety
///
/// As for [`read`].
#[inline(always)]
unsafe fn write_volatile(pointer: *const c_void, length: usize) {
    if is_inside() {
        let (frame, _closed) = (frame(), close());
        heap::check(pointer.addr(), length, frame);
        // SAFETY: the program is about to write here.
        unsafe { native::write_volatile(pointer.expose_provenance(), length, (*frame).code()) };
    } else {
        enforce::begin(OpKind::Store);
    }
}

macro_rules! volatile {
    ($($length:literal: $read:ident $write:ident;)*) => {
        export! {
            $(
                compared fn $read(pointer: *const c_void) {
                    // SAFETY: the frame was noted.
                    unsafe { read_volatile(pointer, $length) }
                }

                placed fn $write(pointer: *const c_void) {
                    // SAFETY: the frame was noted.
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

export! {
    compared fn __tsan_read_range(pointer: *const c_void, length: size_t) {
        if length > 0 {
            // SAFETY: the frame was noted.
            unsafe { read(pointer, length) }
        }
    }

    placed fn __tsan_write_range(pointer: *const c_void, length: size_t) {
        if length > 0 {
            // SAFETY: the frame was noted.
            unsafe { write(pointer, length) }
        }
    }

    compared fn __tsan_vptr_read(pointer: *const c_void) {
        // SAFETY: the frame was noted.
        unsafe { read(pointer, 8) }
    }

    placed fn __tsan_vptr_update(pointer: *const c_void, new: *const c_void) {
        // SAFETY: the program is about to write a pointer here. A constructor that writes what is there
        // already changes nothing.
        unsafe {
            if pointer.cast::<*const c_void>().read() != new {
                write(pointer, 8);
            }
        }
    }

    placed fn __tsan_func_entry(_caller: *const c_void) {}

    placed fn __tsan_init() {}
}

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
                            return native::load(pointer, order(how), frame);
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
                            return native::store(pointer, value, order(how), (*frame).code());
                        }
                        event(OpKind::Store, || outside::$atomic::store(pointer, value));
                    }
                }

                placed fn $exchange(pointer: *mut $type, value: $type, how: c_int) -> $type {
                    // SAFETY: the program changes this.
                    unsafe {
                        if is_inside() {
                            let (frame, _closed) = (frame(), close());
                            heap::check(pointer.addr(), size_of::<$type>(), frame);
                            return native::modify(pointer, ("exchange", order(how)), (*frame).code(), |_| value);
                        }
                        event(OpKind::ReadModifyWrite, || outside::$atomic::modify(pointer, |_| value))
                    }
                }

                compared fn $strong(
                    pointer: *mut $type, expected: *mut $type, new: $type, success: c_int, failure: c_int,
                ) -> bool {
                    // SAFETY: the program gave the pointers, and the frame is that of its call.
                    unsafe {
                        let result = exchange::<$type>(pointer, (*expected, new), [success, failure], outside::$atomic::compare_exchange);
                        if let Err(found) = result {
                            *expected = found;
                        }
                        result.is_ok()
                    }
                }

                compared fn $weak(
                    pointer: *mut $type, expected: *mut $type, new: $type, success: c_int, failure: c_int,
                ) -> bool {
                    // SAFETY: the program gave the pointers, and the frame is that of its call.
                    unsafe {
                        let result = exchange::<$type>(pointer, (*expected, new), [success, failure], outside::$atomic::compare_exchange);
                        if let Err(found) = result {
                            *expected = found;
                        }
                        result.is_ok()
                    }
                }

                compared fn $value(
                    pointer: *mut $type, expected: $type, new: $type, success: c_int, failure: c_int,
                ) -> $type {
                    // SAFETY: the program gave the pointer, and the frame is that of its call.
                    unsafe {
                        let result = exchange::<$type>(pointer, (expected, new), [success, failure], outside::$atomic::compare_exchange);
                        result.unwrap_or_else(|found| found)
                    }
                }

                $(
                    placed fn $fetch(pointer: *mut $type, operand: $type, how: c_int) -> $type {
                        let change: fn($type, $type) -> $type = $change;
                        // SAFETY: the program changes this.
                        unsafe {
                            if is_inside() {
                                let (frame, _closed) = (frame(), close());
                                heap::check(pointer.addr(), size_of::<$type>(), frame);
                                return native::modify(pointer, ($text, order(how)), (*frame).code(), |old| change(old, operand));
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

/// An atomic access of a program that runs as usual, which may be enforced.
#[inline(always)]
fn event<R>(kind: OpKind, does: impl FnOnce() -> R) -> R {
    enforce::begin(kind);
    let result = does();
    enforce::end();
    result
}

/// Stores a byte atomically, where the program runs as usual.
///
/// # Safety
///
/// The program accesses the byte like this.
pub(crate) unsafe fn store_byte(pointer: *mut u8, value: u8) {
    // SAFETY: as promised by the caller.
    event(OpKind::Store, || unsafe {
        outside::eight::store(pointer, value);
    });
}

/// Called at the end of each function of the program. Only what is performed and not told yet matters.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C-unwind" fn __tsan_func_exit() {
    std::arch::naked_asm!(
        "mov rax, qword ptr [rip + mazurka_enforce_own@GOTTPOFF]",
        "cmp qword ptr fs:[rax + {next}], 0",
        "je {slow}",
        "ret",
        next = const enforce::OWN_NEXT,
        slow = sym enforce::slow_exit,
    )
}

/// A compare-exchange inside or outside.
///
/// # Safety
///
/// Called by an exported function that noted the frame; the program accesses the variable like this.
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

/// Atomic accesses of a program that is not checked, with the strongest order.
mod outside {
    macro_rules! widths {
        ($($module:ident: $type:ty, $atomic:ident;)*) => {
            $(
                pub(super) mod $module {
                    use std::sync::atomic::{$atomic, Ordering::SeqCst};

                    /// # Safety
                    ///
                    /// The program accesses the variable like this.
                    pub(crate) unsafe fn load(pointer: *const $type) -> $type {
                        // SAFETY: as promised by the caller.
                        unsafe { $atomic::from_ptr(pointer.cast_mut()) }.load(SeqCst)
                    }

                    /// # Safety
                    ///
                    /// As for [`load`].
                    pub(crate) unsafe fn store(pointer: *mut $type, value: $type) {
                        // SAFETY: as promised by the caller.
                        unsafe { $atomic::from_ptr(pointer) }.store(value, SeqCst);
                    }

                    /// # Safety
                    ///
                    /// As for [`load`].
                    pub(crate) unsafe fn modify(pointer: *mut $type, change: impl Fn($type) -> $type) -> $type {
                        // SAFETY: as promised by the caller.
                        let atomic = unsafe { $atomic::from_ptr(pointer) };
                        let mut old = atomic.load(SeqCst);
                        while let Err(found) = atomic.compare_exchange(old, change(old), SeqCst, SeqCst) {
                            old = found;
                        }
                        old
                    }

                    /// # Safety
                    ///
                    /// As for [`load`].
                    pub(crate) unsafe fn compare_exchange(
                        pointer: *mut $type, expected: $type, new: $type,
                    ) -> Result<$type, $type> {
                        // SAFETY: as promised by the caller.
                        unsafe { $atomic::from_ptr(pointer) }.compare_exchange(expected, new, SeqCst, SeqCst)
                    }
                }
            )*
        };
    }

    widths! {
        eight: u8, AtomicU8;
        sixteen: u16, AtomicU16;
        thirty_two: u32, AtomicU32;
        sixty_four: u64, AtomicU64;
    }

    /// Sixteen bytes, by the instruction that every processor has that runs this.
    pub(super) mod wide {
        /// # Safety
        ///
        /// The program accesses the variable like this.
        pub(crate) unsafe fn compare_exchange(
            pointer: *mut u128,
            expected: u128,
            new: u128,
        ) -> Result<u128, u128> {
            let (mut low, mut high) = (expected as u64, (expected >> 64) as u64);
            let is_equal: u8;
            // SAFETY: as promised by the caller; rbx, which the compiler keeps for itself, is put back.
            unsafe {
                std::arch::asm!(
                    "xchg rbx, rsi",
                    "lock cmpxchg16b [rdi]",
                    "sete r8b",
                    "mov rbx, rsi",
                    // Nothing in rbx, which has another value meanwhile.
                    inout("rsi") new as u64 => _,
                    in("rdi") pointer,
                    out("r8b") is_equal,
                    inout("rax") low,
                    inout("rdx") high,
                    in("rcx") (new >> 64) as u64,
                    options(nostack),
                );
            }
            let found = u128::from(high) << 64 | u128::from(low);
            if is_equal != 0 { Ok(found) } else { Err(found) }
        }

        /// # Safety
        ///
        /// As for [`compare_exchange`].
        pub(crate) unsafe fn load(pointer: *const u128) -> u128 {
            // SAFETY: as promised by the caller; what is there is written again.
            unsafe { compare_exchange(pointer.cast_mut(), 0, 0) }.unwrap_or_else(|found| found)
        }

        /// # Safety
        ///
        /// As for [`compare_exchange`].
        pub(crate) unsafe fn modify(pointer: *mut u128, change: impl Fn(u128) -> u128) -> u128 {
            // SAFETY: as promised by the caller.
            unsafe {
                let mut old = load(pointer);
                while let Err(found) = compare_exchange(pointer, old, change(old)) {
                    old = found;
                }
                old
            }
        }

        /// # Safety
        ///
        /// As for [`compare_exchange`].
        pub(crate) unsafe fn store(pointer: *mut u128, value: u128) {
            // SAFETY: as promised by the caller.
            unsafe { modify(pointer, |_| value) };
        }
    }
}

/// Copies that the compiler knows.
///
/// # Safety
///
/// The program calls it like this, and the frame is that of its call.
unsafe fn copy(to: *mut c_void, from: *const c_void, length: usize) -> *mut c_void {
    let (frame, _closed) = (frame(), close());
    heap::check(to.addr(), length, frame);
    heap::check(from.addr(), length, frame);
    // SAFETY: as promised by the caller.
    unsafe {
        native::copy(
            to.expose_provenance(),
            from.expose_provenance(),
            length,
            frame,
        )
    };
    to
}

macro_rules! copies {
    ($($name:ident, $library:ident;)*) => {
        export! {
            $(
                compared fn $name(to: *mut c_void, from: *const c_void, length: size_t) -> *mut c_void {
                    // SAFETY: as the program called it.
                    unsafe {
                        match is_inside() && length > 0 {
                            true => copy(to, from, length),
                            false if enforce::counts_plain() => enforced::copy(to, from, length),
                            false => libc::$library(to, from, length),
                        }
                    }
                }
            )*
        }
    };
}

copies! {
    __tsan_memcpy, memcpy;
    __tsan_memmove, memmove;
    __wrap_memcpy, memcpy;
    __wrap_memmove, memmove;
}

macro_rules! fills {
    ($($name:ident)*) => {
        export! {
            $(
                placed fn $name(to: *mut c_void, byte: c_int, length: size_t) -> *mut c_void {
                    // SAFETY: as the program called it.
                    unsafe {
                        if !is_inside() && enforce::counts_plain() {
                            return enforced::fill(to, byte, length);
                        }
                        if !is_inside() || length == 0 {
                            return libc::memset(to, byte, length);
                        }
                        let (frame, _closed) = (frame(), close());
                        heap::check(to.addr(), length, frame);
                        native::fill(to.expose_provenance(), byte as u8, length, (*frame).code());
                    }
                    to
                }
            )*
        }
    };
}

fills! { __tsan_memset __wrap_memset }
