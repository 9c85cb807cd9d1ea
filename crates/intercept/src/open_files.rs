//! Finds descriptors of the program that refer to the same file, because data that is written to
//! one of them is read from the others.
//!
//! The inode numbers of files may differ between executions. So the name of a file is the first
//! descriptor that the execution has for it. Names change only at calls that open or close
//! descriptors, and these calls are events whose order is explored. So equivalent executions have
//! the same names.

use crate::gate::Own;
use crate::system_calls;
use libc::{c_char, c_int, stat};
use runtime::native::CHANGES_SYSTEM;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// An open descriptor of the program, its file, and the name of this file.
struct Open {
    descriptor: c_int,
    /// Device and inode number.
    file: (u64, u64),
    name: c_int,
}

static OPEN: Own<Vec<Open>> = Own::new(Vec::new());

/// Whether descriptors may have been opened or closed since the last query.
static ARE_CHANGED: AtomicBool = AtomicBool::new(true);

/// Begins an execution. Programs with files have no savepoints (copies of their state in the middle
/// of an execution), so the names are never copied.
pub(crate) fn begin() {
    OPEN.get().clear();
    CHANGES_SYSTEM.store(false, Relaxed);
    change();
}

/// Records that the program may open or close descriptors before its next event.
pub(crate) fn change() {
    ARE_CHANGED.store(true, Relaxed);
}

/// Returns the name of the file of a descriptor, or the descriptor itself if it has no file that
/// keeps data.
pub(crate) fn name_of(descriptor: c_int) -> c_int {
    refresh();
    let mut open = OPEN.get().iter();
    let found = open.find(|open| open.descriptor == descriptor);
    found.map_or(descriptor, |open| open.name)
}

/// Returns the names of all open files that keep data.
pub(crate) fn names() -> Vec<c_int> {
    refresh();
    OPEN.get().iter().map(|open| open.name).collect()
}

/// Returns the name of the file with this path, if the file has a descriptor.
pub(crate) fn name_of_path(folder: c_int, path: *const c_char) -> Option<c_int> {
    refresh();
    let mut status = MaybeUninit::<stat>::uninit();
    let place = [
        folder as usize,
        path.addr(),
        status.as_mut_ptr().addr(),
        0,
        0,
        0,
    ];
    // SAFETY: the system checks the pointer of the program.
    let is_there = unsafe { system_calls::call(libc::SYS_newfstatat, place) } == 0;
    // SAFETY: the call has filled the structure.
    let file = is_there.then(|| unsafe { kept(&status.assume_init()) })??;
    let mut open = OPEN.get().iter();
    open.find(|open| open.file == file).map(|open| open.name)
}

fn refresh() {
    if !ARE_CHANGED.swap(false, Relaxed) {
        return;
    }
    let now = descriptors();
    let known = std::mem::take(OPEN.get());
    let file_of = |descriptor: c_int| now.iter().find(|(other, _)| *other == descriptor);
    let open = OPEN.get();
    open.extend(
        known
            .into_iter()
            .filter(|known| file_of(known.descriptor).is_some_and(|(_, file)| *file == known.file)),
    );
    for (descriptor, file) in now {
        if open.iter().any(|open| open.descriptor == descriptor) {
            continue;
        }
        let same = open.iter().find(|open| open.file == file);
        let name = same.map_or(descriptor, |same| same.name);
        open.push(Open {
            descriptor,
            file,
            name,
        });
    }
}

/// Returns the descriptors of files that keep data (all but devices), in ascending order, each with
/// the device and inode number of its file.
fn descriptors() -> Vec<(c_int, (u64, u64))> {
    const FOLDER: &[u8] = b"/proc/self/fd\0";
    /// Offsets of the length and the name of an entry.
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    let mut found = Vec::new();
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
    let path = FOLDER.as_ptr().addr();
    // SAFETY: system calls with valid arguments.
    let folder = unsafe {
        system_calls::call(
            libc::SYS_openat,
            [libc::AT_FDCWD as usize, path, flags as usize, 0, 0, 0],
        )
    };
    if folder < 0 {
        return found;
    }
    let mut entries = [0_u64; 512];
    loop {
        let room = [
            folder as usize,
            entries.as_mut_ptr().addr(),
            size_of_val(&entries),
            0,
            0,
            0,
        ];
        // SAFETY: as above.
        let length = unsafe { system_calls::call(libc::SYS_getdents64, room) };
        if length <= 0 {
            break;
        }
        // SAFETY: every word consists of bytes.
        let bytes =
            unsafe { std::slice::from_raw_parts(entries.as_ptr().cast::<u8>(), length as usize) };
        let mut rest = bytes;
        while rest.len() > NAME {
            let size = usize::from(u16::from_ne_bytes([rest[LENGTH], rest[LENGTH + 1]]));
            let name = rest[NAME..size]
                .iter()
                .take_while(|byte| byte.is_ascii_digit());
            let number = name.fold(0, |number, byte| number * 10 + c_int::from(byte - b'0'));
            let is_number = rest[NAME].is_ascii_digit() && number != folder as c_int;
            found.extend(
                is_number
                    .then(|| Some((number, file_of(number)?)))
                    .flatten(),
            );
            rest = &rest[size..];
        }
    }
    // SAFETY: as above.
    unsafe { system_calls::call(libc::SYS_close, [folder as usize, 0, 0, 0, 0, 0]) };
    found.sort_unstable();
    found
}

/// Returns the device and inode number of an open file, unless it is a device.
fn file_of(descriptor: c_int) -> Option<(u64, u64)> {
    let mut status = MaybeUninit::<stat>::uninit();
    // SAFETY: the call only queries a number.
    let is_there = unsafe { libc::fstat(descriptor, status.as_mut_ptr()) } == 0;
    // SAFETY: the call has filled the structure.
    is_there.then(|| unsafe { kept(&status.assume_init()) })?
}

/// Returns the device and inode number of a file, unless the file is a device.
fn kept(status: &stat) -> Option<(u64, u64)> {
    let is_device = matches!(status.st_mode & libc::S_IFMT, libc::S_IFCHR | libc::S_IFBLK);
    (!is_device).then_some((status.st_dev, status.st_ino))
}
