//! The memory to which the arguments of a call refer.

use super::entry::Arguments;
use super::{Copy, Span};
use libc::c_char;

/// The empty span.
pub(super) const NONE: Span = (0, 0);

fn pointer<T>(address: usize) -> *const T {
    std::ptr::with_exposed_provenance(address)
}

/// Calls a function that returns a word about memory of the program.
macro_rules! word_of {
    ($call:expr) => {
        // SAFETY: the program calls a function that reads the same memory.
        unsafe { $call }
    };
}

/// Returns a string with its terminating zero, or an empty span for a null pointer.
pub(super) fn text(start: usize) -> Span {
    match start {
        0 => NONE,
        _ => (start, word_of!(libc::strlen(pointer(start))) + 1),
    }
}

/// Returns a string of wide characters with its terminator.
pub(super) fn wide_text(start: usize) -> Span {
    match start {
        0 => NONE,
        _ => (start, 4 * (word_of!(libc::wcslen(pointer(start))) + 1)),
    }
}

/// Returns the number of bytes up to and including the terminator of a string, or `most` if the
/// string is longer.
pub(super) fn length_up_to(start: usize, most: usize) -> usize {
    // SAFETY: the program calls a function that reads the same memory.
    let ends = |&index: &usize| unsafe { *pointer::<c_char>(start + index) == 0 };
    (0..most).find(ends).map_or(most, |last| last + 1)
}

/// Returns a wide string up to and including its terminator, or its first `most` characters if it
/// is longer.
pub(super) fn wide_text_within(start: usize, most: usize) -> Span {
    let characters = pointer::<libc::wchar_t>(start);
    let mut count = 0;
    // SAFETY: the program calls a function that reads the same memory.
    while count < most && unsafe { characters.add(count).read() } != 0 {
        count += 1;
    }
    (start, 4 * most.min(count + 1))
}

/// Returns the part of a wide string that a function reads if it converts the string to multibyte
/// characters and stores at most this number of bytes.
pub(super) fn wide_text_of_bytes(start: usize, most: usize) -> Span {
    unsafe extern "C" {
        fn wcrtomb(to: *mut c_char, character: libc::wchar_t, state: *mut [u64; 1]) -> usize;
    }
    let characters = pointer::<libc::wchar_t>(start);
    let (mut count, mut bytes, mut state) = (0, 0, [0]);
    while bytes < most {
        // SAFETY: the program calls a function that reads the same memory. A multibyte character
        // has at most 16 bytes.
        let (character, length) = unsafe {
            let character = characters.add(count).read();
            let mut room = [0; 16];
            (
                character,
                wcrtomb(room.as_mut_ptr(), character, &raw mut state),
            )
        };
        count += 1;
        if character == 0 || length > 16 {
            break;
        }
        bytes += length;
    }
    (start, 4 * count)
}

/// Returns the number of bytes that a comparison reads: up to and including the first difference,
/// or up to the common end or the limit `most`.
fn compared<T: PartialEq + Default + std::marker::Copy>(
    [one, other]: [usize; 2],
    most: usize,
    normal: fn(T) -> T,
    ends: bool,
) -> usize {
    let (one, other) = (pointer::<T>(one), pointer::<T>(other));
    let mut count = 0;
    while count < most {
        // SAFETY: the program calls a function that reads the same memory.
        let [one, other] = unsafe { [one.add(count).read(), other.add(count).read()] };
        count += 1;
        if normal(one) != normal(other) || ends && one == T::default() {
            break;
        }
    }
    count * size_of::<T>()
}

impl Arguments {
    /// Returns a fixed number of bytes at the address in an argument.
    pub(super) fn bytes(&self, start: usize, length: usize) -> Span {
        (self.word(start), length)
    }

    /// Returns the bytes at the address in the argument `start`. The argument `length` is their
    /// number.
    pub(super) fn sized(&self, start: usize, length: usize) -> Span {
        self.bytes(start, self.word(length))
    }

    /// Returns the wide characters at the address in the argument `start`. The argument `count` is
    /// their number.
    pub(super) fn wide(&self, start: usize, count: usize) -> Span {
        self.bytes(start, self.word(count).saturating_mul(4))
    }

    /// Returns the items at the address in the argument `start`. The arguments `count` and `size`
    /// are their number and their size.
    pub(super) fn items(&self, start: usize, count: usize, size: usize) -> Span {
        self.bytes(start, self.word(count).saturating_mul(self.word(size)))
    }

    pub(super) fn text(&self, start: usize) -> Span {
        text(self.word(start))
    }

    pub(super) fn wide_text(&self, start: usize) -> Span {
        wide_text(self.word(start))
    }

    /// Returns the part of a string that the function reads. The argument `most` limits its number
    /// of bytes.
    pub(super) fn text_up_to(&self, start: usize, most: usize) -> Span {
        let start = self.word(start);
        (start, length_up_to(start, self.word(most)))
    }

    /// Returns the first byte of the multibyte character that the function reads, or nothing if the
    /// pointer is null or the limit is 0. The argument `most` limits the number of bytes of the
    /// character.
    pub(super) fn multibyte(&self, start: usize, most: usize) -> Span {
        let is_read = self.word(start) != 0 && self.word(most) > 0;
        self.bytes(start, usize::from(is_read))
    }

    /// Returns the part of a wide string that the function reads. The argument `most` limits its
    /// number of characters.
    pub(super) fn wide_text_up_to(&self, start: usize, most: usize) -> Span {
        wide_text_within(self.word(start), self.word(most))
    }

    /// Returns the part of a string that a comparison with the other string reads.
    pub(super) fn compared_text(&self, start: usize, most: usize) -> Span {
        let length = compared::<u8>([self.word(0), self.word(1)], most, |byte| byte, true);
        self.bytes(start, length)
    }

    /// Returns the part of a string that a comparison without regard to case reads.
    pub(super) fn caseless_text(&self, start: usize, most: usize) -> Span {
        let normal = |byte: u8| byte.to_ascii_lowercase();
        let length = compared([self.word(0), self.word(1)], most, normal, true);
        self.bytes(start, length)
    }

    /// Returns the part of a wide string that a comparison reads.
    pub(super) fn compared_wide_text(&self, start: usize, most: usize) -> Span {
        let length = compared::<u32>([self.word(0), self.word(1)], most, |word| word, true);
        self.bytes(start, length)
    }

    /// Returns the part of `all` that a search reads: up to and including a match of this number of
    /// bytes, or everything.
    pub(super) fn searched(&self, all: Span, bytes: usize) -> Span {
        // SAFETY: the arguments are those of the program; a function like this changes nothing.
        let found = unsafe { self.call() };
        match found {
            0 => all,
            _ => (all.0, found - all.0 + bytes),
        }
    }

    /// Returns the bytes of a string that the function counts, and the byte after them.
    pub(super) fn counted(&self) -> Span {
        // SAFETY: the arguments are those of the program; a function like this changes nothing.
        self.bytes(0, unsafe { self.call() } + 1)
    }

    /// Returns the number at the start of a string and the byte after it, as `strtol` etc. read
    /// them.
    pub(super) fn number(&self) -> Span {
        let mut end = 0_usize;
        let to_end = (&raw mut end).expose_provenance();
        // SAFETY: the arguments are those of the program, except for the place of the end.
        unsafe { self.function()(self.word(0), to_end, self.word(2), 0, 0, 0) };
        self.bytes(0, end - self.word(0) + 1)
    }

    /// Returns an integer and the byte after it, for functions that do not return its end.
    pub(super) fn integer(&self) -> Span {
        let mut end = std::ptr::null_mut();
        let start = self.word(0);
        word_of!(libc::strtol(pointer(start), &raw mut end, 10));
        self.bytes(0, end.addr() - start + 1)
    }

    pub(super) fn decimal(&self) -> Span {
        let mut end = std::ptr::null_mut();
        let start = self.word(0);
        word_of!(libc::strtod(pointer(start), &raw mut end));
        self.bytes(0, end.addr() - start + 1)
    }

    /// Returns a copy of this number of bytes, or `None` if the number is zero or exceeds the
    /// argument `room`.
    pub(super) fn copy(&self, length: usize, room: Option<usize>) -> Option<Copy> {
        let fits = room.is_none_or(|room| length <= self.word(room));
        let [to, from] = [self.word(0), self.word(1)];
        (fits && length > 0).then_some(Copy {
            to,
            from,
            length,
            result: to,
        })
    }

    /// Returns the copy that appends a string to another string.
    pub(super) fn joined(&self, room: Option<usize>) -> Option<Copy> {
        let (before, length) = (self.text(0).1.checked_sub(1)?, self.text(1).1);
        self.copy(length, None)?;
        let copy = self.copy(before + length, room)?;
        Some(Copy {
            to: copy.to + before,
            length,
            ..copy
        })
    }

    /// Returns the memory that is written by a function that appends characters of `unit` bytes and
    /// a terminator to a string. `added` may end with a terminator of its own.
    pub(super) fn appended(&self, string: Span, added: Span, unit: usize) -> Span {
        let (start, length) = added;
        // SAFETY: the program calls a function that reads the same memory.
        let is_zero = |index: usize| unsafe { *pointer::<u8>(start + index) == 0 };
        let is_terminated = length > 0 && (length - unit..length).all(is_zero);
        let terminator = if is_terminated { 0 } else { unit };
        (string.0 + string.1 - unit, length + terminator)
    }

    /// Returns the memory that `strtok_r` etc. read next: delimiters (if `skips` is true), the
    /// token, and the byte after the token.
    pub(super) fn token(&self, start: usize, skips: bool) -> Span {
        if start == 0 {
            return NONE;
        }
        let delimiters = pointer::<c_char>(self.word(1));
        let skipped = match skips {
            true => word_of!(libc::strspn(pointer(start), delimiters)),
            false => 0,
        };
        let length = word_of!(libc::strcspn(pointer(start + skipped), delimiters));
        (start, skipped + length + 1)
    }

    /// Returns the delimiter after the token, which is overwritten. Returns nothing at the end of
    /// the string.
    pub(super) fn end_of_token(&self, start: usize, skips: bool) -> Span {
        let (start, length) = self.token(start, skips);
        let end = (start + length).saturating_sub(1);
        match start {
            0 => NONE,
            // SAFETY: the function that the program calls reads this memory.
            _ if unsafe { pointer::<u8>(end).read() } == 0 => NONE,
            _ => (end, 1),
        }
    }

    /// Returns the address at which `strtok_r` continues.
    pub(super) fn token_start(&self) -> usize {
        match self.word(0) {
            0 => self.word_at(2),
            start => start,
        }
    }

    /// Returns the word at the address in an argument.
    pub(super) fn word_at(&self, number: usize) -> usize {
        // SAFETY: the function that the program calls reads this memory.
        unsafe { pointer::<usize>(self.word(number)).read() }
    }
}

/// Returns the number of bytes that a function reports to have read, or 0 if the function has
/// failed.
pub(super) fn count(result: usize) -> usize {
    (result as isize).max(0) as usize
}
