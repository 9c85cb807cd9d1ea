//! Atomic accesses that compilers leave to `libatomic`: clang's accesses of 16 bytes, which are
//! forwarded to the hooks that gcc calls, and larger accesses, which take a lock.

use crate::clock;
use crate::enforced;
use crate::gate::{self, close, code, is_inside};
use crate::hooks::Call;
use enforce::blocking::Side;
use libc::{c_int, c_void, size_t};
use runtime::native::{self, Frame, at};
use std::mem::MaybeUninit;
use std::sync::Mutex;

macro_rules! sixteen {
    ($($name:ident = $hook:literal;)*) => {
        $(
            /// An alias of the hook.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name() {
                std::arch::naked_asm!(concat!("jmp ", $hook, "@plt"))
            }
        )*
    };
}

sixteen! {
    __atomic_load_16 = "__tsan_atomic128_load";
    __atomic_store_16 = "__tsan_atomic128_store";
    __atomic_exchange_16 = "__tsan_atomic128_exchange";
    __atomic_compare_exchange_16 = "__tsan_atomic128_compare_exchange_strong";
    __atomic_fetch_add_16 = "__tsan_atomic128_fetch_add";
    __atomic_fetch_sub_16 = "__tsan_atomic128_fetch_sub";
    __atomic_fetch_and_16 = "__tsan_atomic128_fetch_and";
    __atomic_fetch_or_16 = "__tsan_atomic128_fetch_or";
    __atomic_fetch_xor_16 = "__tsan_atomic128_fetch_xor";
    __atomic_fetch_nand_16 = "__tsan_atomic128_fetch_nand";
}

/// The number of `memory_order_seq_cst`.
const SEQ_CST: c_int = 5;

/// The lock for programs that run as usual.
static OUTSIDE: Mutex<()> = Mutex::new(());

/// Accesses an atomic variable under a lock. In a check and under a safe trace, each variable has
/// its own lock. So the accesses to a variable are in one order, as if they were seq_cst. `does`
/// gets the frame of the call in a check, and `None` otherwise. It accesses the bytes by plain
/// accesses, so that accesses without the lock race with them.
fn locked<R>(variable: usize, order: c_int, does: impl FnOnce(Option<*const Frame>) -> R) -> R {
    if !is_inside() && enforced::is_on() {
        Side::lock(variable);
        let result = does(None);
        Side::unlock(variable);
        return result;
    }
    if !is_inside() {
        let _guard = OUTSIDE
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        return does(None);
    }
    let (code, frame, _closed) = (code(), gate::frame(), close());
    if order != SEQ_CST {
        native::leaves_out_old_values(
            "atomic accesses of more than 16 bytes are explored as if they were seq_cst",
        );
    }
    let lock = native::inner_mutex_at(variable);
    at(code, || lock.lock());
    clock::acquire(variable);
    let result = does(Some(frame));
    clock::release(variable);
    at(code, || lock.unlock());
    result
}

/// Reads the variable into the memory at `to`. There is a frame only in a check.
///
/// # Safety
///
/// The memory must be the program's, and the frame must be that of its call.
unsafe fn read(
    variable: *const c_void,
    to: *mut c_void,
    size: size_t,
    frame: Option<*const Frame>,
) {
    // SAFETY: as promised by the caller.
    unsafe {
        if let Some(frame) = frame {
            let given = [variable.addr() as u128, size as u128, 0];
            native::read_within(variable.expose_provenance(), size, frame, given);
        } else {
            enforce::plain_read(variable.addr());
        }
        to.cast::<u8>().copy_from(variable.cast(), size);
    }
}

/// Writes the memory at `from` to the variable.
///
/// # Safety
///
/// The conditions are those of [`read`].
unsafe fn write(
    variable: *mut c_void,
    from: *const c_void,
    size: size_t,
    frame: Option<*const Frame>,
) {
    // SAFETY: as promised by the caller.
    unsafe {
        if let Some(frame) = frame {
            native::write(variable.expose_provenance(), size, (*frame).code());
        } else {
            enforce::plain_write(variable.addr());
        }
        variable.cast::<u8>().copy_from(from.cast(), size);
    }
}

/// Greatest size of an atomic variable in bytes. The size is limited because a thread keeps a value
/// on its stack while other threads run.
const MOST: usize = 1024;

/// Room for a value on the stack of a thread.
type Kept = [MaybeUninit<u8>; MOST];

/// Returns room for a value of this size. Refuses a program under check whose value is too large.
fn room(size: size_t, call: Call) -> Kept {
    if size > MOST && call.is_inside() {
        let (code, _closed) = (code(), close());
        let reason =
            format!("the program accesses {size} bytes atomically; at most {MOST} can be checked");
        native::refuse(code, reason);
    }
    assert!(size <= MOST, "an atomic access has at most {MOST} bytes");
    [MaybeUninit::uninit(); MOST]
}

/// Takes a value from the program by a plain read.
///
/// # Safety
///
/// The program must have passed the pointer.
unsafe fn take(value: *const c_void, size: size_t, call: Call) -> Kept {
    let mut kept = room(size, call);
    // SAFETY: as promised by the caller, and there is room.
    unsafe {
        call.reads(value, size);
        kept.as_mut_ptr().cast::<u8>().copy_from(value.cast(), size);
    }
    kept
}

/// Returns a value to the program by a plain write.
///
/// # Safety
///
/// The program must have passed the pointer, and the value must have `size` bytes.
unsafe fn give(result: *mut c_void, value: &Kept, size: size_t, call: Call) {
    // SAFETY: as promised by the caller.
    unsafe {
        call.writes(result, size);
        result.cast::<u8>().copy_from(value.as_ptr().cast(), size);
    }
}

export! {
    compared fn __atomic_load(size: size_t, variable: *const c_void, result: *mut c_void, order: c_int) {
        let call = Call::here();
        let mut found = room(size, call);
        // SAFETY: the program passed the pointers.
        unsafe {
            locked(variable.addr(), order, |frame| read(variable, found.as_mut_ptr().cast(), size, frame));
            give(result, &found, size, call);
        }
    }

    compared fn __atomic_store(size: size_t, variable: *mut c_void, value: *const c_void, order: c_int) {
        // SAFETY: the program passed the pointers.
        unsafe {
            let new = take(value, size, Call::here());
            locked(variable.addr(), order, |frame| write(variable, new.as_ptr().cast(), size, frame));
        }
    }

    compared fn __atomic_exchange(
        size: size_t, variable: *mut c_void, value: *const c_void, result: *mut c_void, order: c_int,
    ) {
        let call = Call::here();
        // SAFETY: the program passed the pointers.
        unsafe {
            let new = take(value, size, call);
            let mut found = room(size, call);
            locked(variable.addr(), order, |frame| {
                read(variable, found.as_mut_ptr().cast(), size, frame);
                write(variable, new.as_ptr().cast(), size, frame);
            });
            give(result, &found, size, call);
        }
    }

    compared fn __atomic_compare_exchange(
        size: size_t, variable: *mut c_void, expected: *mut c_void, new: *const c_void, order: c_int, failure: c_int,
    ) -> bool {
        let call = Call::here();
        // SAFETY: the program passed the pointers.
        unsafe {
            let (wanted, new) = (take(expected, size, call), take(new, size, call));
            let mut found = room(size, call);
            let weaker = if failure == SEQ_CST { order } else { failure };
            let is_equal = locked(variable.addr(), weaker, |frame| {
                read(variable, found.as_mut_ptr().cast(), size, frame);
                let is_equal = libc::memcmp(found.as_ptr().cast(), wanted.as_ptr().cast(), size) == 0;
                if is_equal {
                    write(variable, new.as_ptr().cast(), size, frame);
                }
                is_equal
            });
            if !is_equal {
                give(expected, &found, size, call);
            }
            is_equal
        }
    }
}
