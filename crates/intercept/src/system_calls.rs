//! System calls without the C library, for moments in which none of its functions may run.

/// Makes a system call. Returns its result, which is negative for errors.
///
/// # Safety
///
/// The conditions are those of the system call.
pub(crate) unsafe fn call(number: i64, arguments: [usize; 6]) -> isize {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    let result: isize;
    // SAFETY: as promised by the caller.
    unsafe {
        std::arch::asm!(
            "syscall",
            inout("rax") number as isize => result,
            in("rdi") first,
            in("rsi") second,
            in("rdx") third,
            in("r10") fourth,
            in("r8") fifth,
            in("r9") sixth,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    result
}

/// Reserves writable memory at this free address. Returns whether this was possible.
pub(crate) fn map_at(start: usize, size: usize) -> bool {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let arguments = [start, size, access as usize, flags as usize, usize::MAX, 0];
    // SAFETY: a fresh private mapping where none exists.
    unsafe { call(libc::SYS_mmap, arguments) == start as isize }
}

/// Returns the memory of the pages in this range to the system. The pages then read as zero.
///
/// # Safety
///
/// The pages must be in a private anonymous mapping, and their content must not be needed.
pub(crate) unsafe fn give_back(start: usize, end: usize) {
    if start < end {
        let advice = libc::MADV_DONTNEED as usize;
        // SAFETY: as promised by the caller.
        unsafe { call(libc::SYS_madvise, [start, end - start, advice, 0, 0, 0]) };
    }
}

/// Sets the protection of the pages in this range.
///
/// # Safety
///
/// The conditions are those of `mprotect`.
pub(crate) unsafe fn protect(start: usize, end: usize, access: libc::c_int) {
    // SAFETY: as promised by the caller.
    unsafe {
        call(
            libc::SYS_mprotect,
            [start, end - start, access as usize, 0, 0, 0],
        )
    };
}
