//! Hooks of `-fsanitize=thread`: for plain accesses, for copies of memory, and for beginnings and
//! ends of functions. The program performs a plain access after the hook has returned. The other
//! hooks are in `volatile` and `atomics`.

use crate::gate::{self, close, code, frame, is_inside};
use crate::{copies, enforced, heap, standard_streams, unhooked};
use libc::{c_int, c_void, size_t};
use runtime::native::{self, Frame};
use std::sync::atomic::Ordering::Relaxed;

/// Reports a plain read.
///
/// # Safety
///
/// The caller must be an exported function that has recorded the frame.
#[inline(always)]
unsafe fn read(pointer: *const c_void, length: usize) {
    match is_inside() {
        // SAFETY: as promised by the caller.
        true => unsafe { read_inside(pointer, length) },
        false => enforce::plain_read(pointer.addr()),
    }
}

/// Reports a plain read by the program under check.
///
/// # Safety
///
/// The conditions are those of [`read`].
#[inline(always)]
unsafe fn read_inside(pointer: *const c_void, length: usize) {
    if gate::is_errno(pointer.addr()) {
        return;
    }
    if heap::is_simple(pointer.addr(), length)
        && !copies::has_begun()
        && native::reads_own(pointer.addr(), length, code())
    {
        gate::pass();
    } else {
        // SAFETY: as promised by the caller.
        unsafe { read_shared(pointer, length) };
    }
}

/// Reports a plain read that the fast path does not handle.
///
/// # Safety
///
/// The conditions are those of [`read`].
#[inline(never)]
unsafe fn read_shared(pointer: *const c_void, length: usize) {
    let (frame, _closed) = (frame(), close());
    // A pending copy ends before the checks below, because a failure must not leave it to the next
    // execution.
    let target = copies::end(length);
    if standard_streams::contains(pointer.addr()) {
        return;
    }
    heap::check(pointer.addr(), length, frame);
    // SAFETY: the program is about to read, and the frame is that of its call.
    unsafe {
        match target {
            Some(to) => native::copy_at_once(to, pointer.addr(), length, frame),
            None => native::read(pointer.expose_provenance(), length, frame),
        }
        if length == size_of::<u64>() {
            heap::record_read(pointer.cast::<u64>().read_unaligned(), false);
        }
    }
}

/// Reports a plain write.
///
/// # Safety
///
/// The conditions are those of [`read`].
#[inline(always)]
unsafe fn write(pointer: *const c_void, length: usize) {
    match is_inside() {
        // SAFETY: as promised by the caller.
        true => unsafe { write_inside(pointer, length) },
        false => enforce::plain_write(pointer.addr()),
    }
}

/// Reports a plain write by the program under check.
///
/// # Safety
///
/// The conditions are those of [`read`].
#[inline(always)]
unsafe fn write_inside(pointer: *const c_void, length: usize) {
    if gate::is_errno(pointer.addr()) {
        return;
    }
    if heap::is_simple(pointer.addr(), length) && native::writes_own(pointer.addr(), length, code())
    {
        gate::pass();
    } else {
        // SAFETY: as promised by the caller.
        unsafe { write_shared(pointer, length) };
    }
}

/// Reports a plain write that the fast path does not handle.
///
/// # Safety
///
/// The conditions are those of [`read`].
#[inline(never)]
unsafe fn write_shared(pointer: *const c_void, length: usize) {
    let (frame, _closed) = (frame(), close());
    if standard_streams::contains(pointer.addr()) {
        return;
    }
    heap::check(pointer.addr(), length, frame);
    // SAFETY: the program is about to write here; the frame is that of its call.
    let code = unsafe { (*frame).code() };
    if unhooked::is_read_first(code) {
        // SAFETY: as above.
        return unsafe { native::read_on(pointer.expose_provenance(), length, code) };
    }
    if copies::begin(pointer.expose_provenance(), length, code) {
        return;
    }
    // SAFETY: as above.
    unsafe { native::write(pointer.expose_provenance(), length, code) };
}

/// A call of the program to a function that makes plain accesses. Reports show the accesses at the
/// place of the call.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    frame: *const Frame,
    is_inside: bool,
}

impl Call {
    /// Returns the current call. The caller must be an exported function that has recorded the
    /// frame.
    pub(crate) fn here() -> Call {
        Call {
            frame: frame(),
            is_inside: is_inside(),
        }
    }

    /// Returns the call with this frame.
    pub(crate) fn of(frame: *const Frame) -> Call {
        Call {
            frame,
            is_inside: is_inside(),
        }
    }

    /// Checks whether the caller is the program under check.
    pub(crate) fn is_inside(self) -> bool {
        self.is_inside
    }

    /// Reports a plain read of `length` bytes, which happens after this function returns.
    ///
    /// # Safety
    ///
    /// The program must have passed the memory to the call, which must not have returned yet. The
    /// gate must be in the same state as at the beginning of the call.
    #[inline]
    pub(crate) unsafe fn reads(self, pointer: *const c_void, length: usize) {
        let address = pointer.addr();
        let is_own = |_| native::reads_on_own(address, length);
        // SAFETY: as promised by the caller.
        let report = |code| unsafe { native::read_on(pointer.expose_provenance(), length, code) };
        self.accesses((address, length), enforce::plain_read, is_own, report);
    }

    /// Reports the first read of a call. The await rule, which stops a thread whose spin loop makes
    /// no progress, compares the thread's registers and the values `given` with those of earlier
    /// calls at this place. The call depends on the values `given`.
    ///
    /// # Safety
    ///
    /// The conditions are those of [`Call::reads`].
    pub(crate) unsafe fn reads_first(
        self,
        pointer: *const c_void,
        length: usize,
        given: [u128; 3],
    ) {
        let address = pointer.addr();
        let is_own = |code| native::reads_own(address, length, code);
        // SAFETY: as promised by the caller; the frame of the call exists until it returns.
        let report = |_| unsafe {
            native::read_within(pointer.expose_provenance(), length, self.frame, given);
        };
        self.accesses((address, length), enforce::plain_read, is_own, report);
    }

    /// Reports a plain write of `length` bytes, which happens after this function returns.
    ///
    /// # Safety
    ///
    /// The conditions are those of [`Call::reads`].
    #[inline]
    pub(crate) unsafe fn writes(self, pointer: *const c_void, length: usize) {
        let address = pointer.addr();
        let is_own = |code| native::writes_own(address, length, code);
        // SAFETY: as promised by the caller.
        let report = |code| unsafe { native::write(pointer.expose_provenance(), length, code) };
        self.accesses((address, length), enforce::plain_write, is_own, report);
    }

    /// Reports an access with `report`. An access outside the heap needs no report if `is_own`
    /// returns true. Outside a check, calls `outside` instead.
    #[inline(always)]
    fn accesses(
        self,
        (address, length): (usize, usize),
        outside: extern "C-unwind" fn(usize),
        is_own: impl FnOnce(usize) -> bool,
        report: impl FnOnce(usize),
    ) {
        if length == 0 {
            return;
        }
        if !self.is_inside {
            return outside(address);
        }
        // SAFETY: the frame of the call exists until it returns.
        let code = unsafe { (*self.frame).code() };
        if !heap::contains(address) && is_own(code) {
            return gate::pass();
        }
        let _closed = close();
        heap::check(address, length, self.frame);
        report(code);
        self.restore_frame();
    }

    /// Sets `FRAME` to the frame of this call again, because other threads may have run meanwhile.
    pub(crate) fn restore_frame(self) {
        // SAFETY: only the thread that runs the program writes `FRAME`.
        unsafe { gate::FRAME = self.frame };
    }
}

macro_rules! plain {
    ($($length:literal: $read:ident $write:ident;)*) => {
        export! {
            $(
                reading fn $read(pointer: *const c_void) {
                    // SAFETY: the frame was recorded.
                    unsafe { read_inside(pointer, $length) }
                }

                writing fn $write(pointer: *const c_void) {
                    // SAFETY: the frame was recorded.
                    unsafe { write_inside(pointer, $length) }
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

/// Defines hooks for accesses that read a place and then write it.
macro_rules! plain_both {
    ($($length:literal: $name:ident;)*) => {
        export! {
            $(
                compared fn $name(pointer: *const c_void) {
                    if is_inside() && gate::is_errno(pointer.addr()) {
                        return;
                    }
                    if is_inside() {
                        let (frame, _closed) = (frame(), close());
                        heap::check(pointer.addr(), $length, frame);
                        // SAFETY: the program is about to access this; the frame is that of its
                        // call.
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

export! {
    compared fn __tsan_read_range(pointer: *const c_void, length: size_t) {
        if length > 0 {
            // SAFETY: the frame was recorded.
            unsafe { read(pointer, length) }
        }
    }

    placed fn __tsan_write_range(pointer: *const c_void, length: size_t) {
        if length > 0 {
            // SAFETY: the frame was recorded.
            unsafe { write(pointer, length) }
        }
    }

    compared fn __tsan_vptr_read(pointer: *const c_void) {
        // SAFETY: the frame was recorded.
        unsafe { read(pointer, 8) }
    }

    placed fn __tsan_vptr_update(pointer: *const c_void, new: *const c_void) {
        // SAFETY: the program is about to write a pointer here. A constructor that writes the value
        // that is already there changes nothing.
        unsafe {
            if pointer.cast::<*const c_void>().read() != new {
                write(pointer, 8);
            }
        }
    }

    placed fn __tsan_func_entry(_caller: *const c_void) {
        if native::IS_BOUNDED.load(Relaxed) && is_inside() {
            let (frame, _closed) = (frame(), close());
            native::enter_function(frame);
        }
    }

    placed fn __tsan_init() {}
}

/// Called at the end of a function of the program. If the program is enforced, publishes the
/// thread's last operation.
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

/// Reports and performs a copy by the program under check.
///
/// # Safety
///
/// The arguments must be those of the program's call, and the frame must be that of this call.
unsafe fn copy_inside(to: *mut c_void, from: *const c_void, length: usize) -> *mut c_void {
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

/// Performs a copy by the program, like `memmove`.
///
/// # Safety
///
/// The arguments must be those of the program's call, and the caller must have recorded the frame.
pub(crate) unsafe fn copy(to: *mut c_void, from: *const c_void, length: usize) -> *mut c_void {
    // SAFETY: as promised by the caller.
    unsafe {
        match is_inside() && length > 0 {
            true => copy_inside(to, from, length),
            false if enforce::counts_plain() => enforced::copy(to, from, length),
            false => libc::memmove(to, from, length),
        }
    }
}

macro_rules! copies {
    ($($name:ident)*) => {
        export! {
            $(
                compared fn $name(to: *mut c_void, from: *const c_void, length: size_t) -> *mut c_void {
                    // SAFETY: the arguments are those of the program's call.
                    unsafe { copy(to, from, length) }
                }
            )*
        }
    };
}

copies! { __tsan_memcpy __tsan_memmove __wrap_memcpy __wrap_memmove }

macro_rules! fills {
    ($($name:ident)*) => {
        export! {
            $(
                placed fn $name(to: *mut c_void, byte: c_int, length: size_t) -> *mut c_void {
                    // SAFETY: the arguments are those of the program's call.
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
