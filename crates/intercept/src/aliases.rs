//! Memory with two addresses: a file that is mapped twice, or a mapping doubled by `mremap`. The
//! checker identifies memory by its address. So it misses conflicts between accesses through
//! different addresses. This module detects such memory.

use crate::gate::Own;
use libc::{c_int, c_long};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Part of a file in memory.
#[derive(Clone)]
struct Mapped {
    /// Device and inode number.
    file: (u64, u64),
    /// The mapped bytes of the file.
    part: Range<usize>,
    /// Whether writes to this memory are visible at the other addresses.
    is_shared: bool,
    /// The addresses of the mapping. They begin at 0 until the system has chosen the place.
    memory: Range<usize>,
}

/// Parts of files that the current execution has mapped and not unmapped.
static MAPPED: Own<Vec<Mapped>> = Own::new(Vec::new());

/// Begins an execution: forgets the mappings of the previous one.
pub(crate) fn begin() {
    MAPPED.get().clear();
}

/// Records a system call that is about to change mappings. Returns whether the call gives some
/// memory a second address.
pub(crate) fn arise(number: c_long, arguments: [c_long; 6]) -> bool {
    let [first, second, third, fourth, fifth, sixth] = arguments.map(|argument| argument as usize);
    match number {
        libc::SYS_mmap if fourth as c_int & libc::MAP_ANONYMOUS == 0 => {
            let can_write = third as c_int & libc::PROT_WRITE != 0;
            number_of(fifth as c_int).is_some_and(|file| {
                is_alias(Mapped {
                    file,
                    part: sixth..sixth.saturating_add(second),
                    is_shared: can_write && fourth as c_int & libc::MAP_TYPE != libc::MAP_PRIVATE,
                    memory: 0..second,
                })
            })
        }
        libc::SYS_mremap => second == 0,
        libc::SYS_munmap => {
            let given_back = first
                ..first
                    .saturating_add(second)
                    .div_ceil(4096)
                    .saturating_mul(4096);
            MAPPED.get().retain(|mapped| {
                mapped.memory.start < given_back.start || mapped.memory.end > given_back.end
            });
            false
        }
        _ => false,
    }
}

/// Checks whether the file of a descriptor is mapped.
pub(crate) fn has_file_of(descriptor: c_int) -> bool {
    let mapped = MAPPED.get();
    !mapped.is_empty()
        && number_of(descriptor).is_some_and(|file| mapped.iter().any(|known| known.file == file))
}

/// Sets the address of the file mapping that was recorded last, unless its address is already set.
pub(crate) fn place(address: usize) {
    if let Some(newest) = MAPPED.get().last_mut()
        && newest.memory.start == 0
    {
        newest.memory = address..address + newest.memory.end;
    }
}

fn is_alias(new: Mapped) -> bool {
    let is_same = |known: &Mapped| {
        let overlap = known.part.start < new.part.end && new.part.start < known.part.end;
        known.file == new.file && overlap && (known.is_shared || new.is_shared)
    };
    let is_alias = MAPPED.get().iter().any(is_same);
    MAPPED.get().push(new);
    is_alias
}

fn number_of(descriptor: c_int) -> Option<(u64, u64)> {
    let mut status = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the call gets memory for its result, and fills this memory if it returns 0.
    unsafe {
        let is_known = libc::fstat(descriptor, status.as_mut_ptr()) == 0;
        let status = status.assume_init();
        is_known.then_some((status.st_dev, status.st_ino))
    }
}
