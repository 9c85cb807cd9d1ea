//! Buffers of calls that have several buffers (`readv`).

use super::Span;
use super::entry::Arguments;
use super::spans::NONE;
use libc::iovec;

/// Returns the buffers of a call: the address of an array of `iovec`, and its length.
pub(crate) type Vectors = fn(&Arguments) -> (usize, usize);

/// Greatest number of buffers of a call. The system refuses more buffers, and more bytes than a
/// signed number can count.
const MOST: usize = 1024;

/// Returns the array itself.
pub(super) fn array((start, count): (usize, usize)) -> Span {
    match start {
        0 => NONE,
        _ if count > MOST => NONE,
        _ => (start, count * size_of::<iovec>()),
    }
}

/// Returns the buffers, as far as `bytes` bytes fill them. Returns nothing if the system refuses
/// the call.
pub(super) fn spans(
    (start, count): (usize, usize),
    mut bytes: usize,
) -> impl Iterator<Item = Span> {
    let vectors = std::ptr::with_exposed_provenance::<iovec>(start);
    let count = if start == 0 || count > MOST { 0 } else { count };
    // SAFETY: the function that the program calls reads the array.
    let vector = move |index| unsafe { vectors.add(index).read() };
    let all = (0..count).map(move |index| vector(index).iov_len);
    let total = all.fold(0_usize, usize::saturating_add);
    let count = if isize::try_from(total).is_ok() {
        count
    } else {
        0
    };
    (0..count).map(move |index| {
        let vector = vector(index);
        let length = vector.iov_len.min(bytes);
        bytes -= length;
        (vector.iov_base.addr(), length)
    })
}

/// Returns the buffers in the second and the third argument.
pub(super) fn listed(arguments: &Arguments) -> (usize, usize) {
    (arguments.word(1), arguments.word(2))
}
