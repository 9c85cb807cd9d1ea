//! Buffers of calls that have several (`readv`).

use super::Span;
use super::entry::Arguments;
use super::spans::NONE;
use libc::iovec;

/// The buffers of a call: an array of `iovec`, and how many there are.
pub(crate) type Vectors = fn(&Arguments) -> (usize, usize);

/// More buffers than this are refused by the system.
const MOST: usize = 1024;

/// The array itself.
pub(super) fn array((start, count): (usize, usize)) -> Span {
    match start {
        0 => NONE,
        _ => (start, count.min(MOST) * size_of::<iovec>()),
    }
}

/// The buffers, as far as so many bytes fill them.
pub(super) fn spans(
    (start, count): (usize, usize),
    mut bytes: usize,
) -> impl Iterator<Item = Span> {
    let count = if start == 0 { 0 } else { count.min(MOST) };
    let vectors = std::ptr::with_exposed_provenance::<iovec>(start);
    (0..count).map(move |index| {
        // SAFETY: the function that the program calls reads the array.
        let vector = unsafe { vectors.add(index).read() };
        let length = vector.iov_len.min(bytes);
        bytes -= length;
        (vector.iov_base.addr(), length)
    })
}

/// Those of the second and the third argument.
pub(super) fn listed(arguments: &Arguments) -> (usize, usize) {
    (arguments.word(1), arguments.word(2))
}
