//! Memory with two addresses: a file that is mapped twice, or a mapping doubled by `mremap`.
//! Accesses are distinguished by address, so not all conflicts in such programs are detected.

use crate::gate::Own;
use libc::{c_int, c_long};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Part of a file in memory.
#[derive(Clone)]
struct Mapped {
    /// Device and inode number.
    file: (u64, u64),
    part: Range<usize>,
    /// Whether writes to this memory are visible at the other addresses.
    is_shared: bool,
    /// Its addresses, which begin at 0 until the system has placed the mapping.
    memory: Range<usize>,
}

/// Files that the current execution has mapped and not unmapped.
static MAPPED: Own<Vec<Mapped>> = Own::new(Vec::new());

/// Begins an execution.
pub(crate) fn begin() {
    MAPPED.get().clear();
}

/// Checks whether a system call for mappings that is about to be made creates an alias.
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

/// Sets the address of the newest mapping, if it is the mapping of a file.
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
