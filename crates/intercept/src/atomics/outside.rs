//! Atomic accesses of a program that is not checked, with the strongest memory order.

macro_rules! widths {
    ($($module:ident: $type:ty, $atomic:ident;)*) => {
        $(
            pub(super) mod $module {
                use std::sync::atomic::{$atomic, Ordering::SeqCst};

                /// # Safety
                ///
                /// The program accesses the variable only atomically.
                pub(crate) unsafe fn load(pointer: *const $type) -> $type {
                    // SAFETY: as promised by the caller.
                    unsafe { $atomic::from_ptr(pointer.cast_mut()) }.load(SeqCst)
                }

                /// # Safety
                ///
                /// The conditions are those of [`load`].
                pub(crate) unsafe fn store(pointer: *mut $type, value: $type) {
                    // SAFETY: as promised by the caller.
                    unsafe { $atomic::from_ptr(pointer) }.store(value, SeqCst);
                }

                /// # Safety
                ///
                /// The conditions are those of [`load`].
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
                /// The conditions are those of [`load`].
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

/// Accesses to sixteen bytes, by an instruction that every supported processor has.
pub(super) mod wide {
    /// # Safety
    ///
    /// The program accesses the variable only atomically.
    pub(crate) unsafe fn compare_exchange(
        pointer: *mut u128,
        expected: u128,
        new: u128,
    ) -> Result<u128, u128> {
        let (mut low, mut high) = (expected as u64, (expected >> 64) as u64);
        let is_equal: u8;
        // SAFETY: as promised by the caller; rbx, which is reserved by the compiler, is restored.
        unsafe {
            std::arch::asm!(
                "xchg rbx, rsi",
                "lock cmpxchg16b [rdi]",
                "sete r8b",
                "mov rbx, rsi",
                // No operand may be in rbx, which holds a part of the new value here.
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
    /// The conditions are those of [`compare_exchange`].
    pub(crate) unsafe fn load(pointer: *const u128) -> u128 {
        // SAFETY: as promised by the caller; the value does not change.
        unsafe { compare_exchange(pointer.cast_mut(), 0, 0) }.unwrap_or_else(|found| found)
    }

    /// # Safety
    ///
    /// The conditions are those of [`compare_exchange`].
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
    /// The conditions are those of [`compare_exchange`].
    pub(crate) unsafe fn store(pointer: *mut u128, value: u128) {
        // SAFETY: as promised by the caller.
        unsafe { modify(pointer, |_| value) };
    }
}
