//! Formats of `printf` and `scanf`, as far as they determine which memory is read and written.

use super::entry::{Arguments, List};
use super::spans::{text, wide_text, wide_text_of_bytes};
use super::{ARE_EVENTS, Reporter, Span};
use libc::{c_char, c_int};
use std::sync::atomic::Ordering::Relaxed;

/// A function that prints according to a format, which is the argument `format`.
#[derive(Clone, Copy)]
pub(crate) struct Printing {
    pub(super) format: usize,
    /// Whether the arguments are a `va_list` after the format.
    pub(super) is_list: bool,
    /// The size in characters of the memory at the first argument, if the function prints there.
    pub(super) room: Option<fn(&Arguments) -> usize>,
    /// Whether the format and the output have wide characters.
    pub(super) is_wide: bool,
}

/// A function that reads its first argument, a text or a file, according to a format in the second
/// argument.
#[derive(Clone, Copy)]
pub(crate) struct Scanning {
    /// Whether the first argument is a text.
    pub(super) is_text: bool,
    pub(super) is_list: bool,
}

unsafe extern "C" {
    fn vsnprintf(to: *mut c_char, size: usize, format: *const c_char, list: *mut List) -> c_int;
    fn __isoc99_vsscanf(text: usize, format: usize, list: *mut List) -> c_int;
    fn __isoc99_vfscanf(file: usize, format: usize, list: *mut List) -> c_int;
}

fn list(arguments: &Arguments, format: usize, is_list: bool) -> List {
    match is_list {
        // SAFETY: the program passes a list.
        true => unsafe {
            std::ptr::with_exposed_provenance::<List>(arguments.word(format + 1)).read()
        },
        false => arguments.list(format + 1),
    }
}

impl Printing {
    pub(super) fn report(&self, arguments: &Arguments, reporter: &mut Reporter) {
        let format = arguments.word(self.format);
        // Functions for warnings accept a null format.
        if format == 0 {
            return;
        }
        let list = list(arguments, self.format, self.is_list);
        let (span, width) = match self.is_wide {
            true => (wide_text(format), 4),
            false => (text(format), 1),
        };
        reporter.reads(span);
        let conversions = Conversions {
            at: format,
            scans: false,
            width,
        };
        let mut rest = list;
        for mut conversion in conversions.by_arguments() {
            if let Some(number) = conversion.precision_argument {
                // SAFETY: the program's arguments match the format.
                let precision = unsafe { integer(conversions, list, number) };
                conversion.precision = usize::try_from(precision).ok();
            }
            // SAFETY: the program's arguments match the format.
            match unsafe { conversion.printed(&mut rest) } {
                Printed::Nothing => {}
                Printed::Reads(span) => reporter.reads(span),
                Printed::Writes(span) => reporter.writes(span),
            }
        }
        let Some(room) = self.room else {
            return;
        };
        let room = room(arguments);
        // SAFETY: the program's arguments match the format.
        let length = unsafe { length_of_text(format, list, self.is_wide) };
        reporter.call.restore_frame();
        if let Ok(length) = usize::try_from(length) {
            reporter.writes((
                arguments.word(0),
                room.min(length + 1).saturating_mul(width),
            ));
        }
    }
}

impl Scanning {
    /// Calls the function, and reports its reads and writes. Returns its result.
    pub(super) fn perform(&self, arguments: &Arguments, reporter: &mut Reporter) -> c_int {
        let (source, format) = (arguments.word(0), arguments.word(1));
        reporter.reads(text(format));
        if self.is_text {
            reporter.reads(text(source));
        }
        let list = list(arguments, 1, self.is_list);
        // If plain accesses are events, writes of a fixed size are reported before the call. Writes
        // of strings are reported after the call, because their size is not known earlier.
        if ARE_EVENTS.load(Relaxed) {
            scanned(format, list, usize::MAX, |span, is_fixed| {
                if is_fixed {
                    reporter.writes(span);
                }
            });
        }
        let mut taken = list;
        // SAFETY: the arguments are those of the program.
        let count = unsafe {
            match self.is_text {
                true => __isoc99_vsscanf(source, format, &raw mut taken),
                false => __isoc99_vfscanf(source, format, &raw mut taken),
            }
        };
        // SAFETY: the errno of the running thread.
        let error = unsafe { *libc::__errno_location() };
        reporter.call.restore_frame();
        let are_events = ARE_EVENTS.load(Relaxed);
        scanned(
            format,
            list,
            usize::try_from(count).unwrap_or(0),
            |span, is_fixed| {
                if !(are_events && is_fixed) {
                    reporter.writes(span);
                }
            },
        );
        // SAFETY: the errno of the running thread.
        unsafe { *libc::__errno_location() = error };
        count
    }
}

/// Calls `shows` with the memory that each of the first `count` conversions of a format writes, and
/// with a flag: whether the size of this memory is independent of the input. The count `usize::MAX`
/// means that nothing was read yet. In this case strings are left out.
fn scanned(format: usize, list: List, count: usize, mut shows: impl FnMut(Span, bool)) {
    let (mut list, mut left) = (list, count);
    let conversions = Conversions {
        at: format,
        scans: true,
        width: 1,
    };
    for conversion in conversions.by_arguments() {
        if conversion.kind == b'%' || conversion.is_suppressed {
            continue;
        }
        if left == 0 {
            return;
        }
        left -= usize::from(conversion.kind != b'n');
        // SAFETY: the program passes a pointer for each conversion.
        let to = unsafe { list.word() };
        let is_wide = conversion.length >= 8;
        let is_text = matches!(conversion.kind, b's' | b'S' | b'[') && !conversion.allocates;
        if is_text && count == usize::MAX {
            // The string does not exist yet.
            continue;
        }
        let span = match conversion.kind {
            _ if conversion.allocates => (to, 8),
            b's' | b'[' if !is_wide => text(to),
            b's' | b'S' | b'[' => wide_text(to),
            b'c' if !is_wide => (to, conversion.width.unwrap_or(1)),
            b'c' | b'C' => (to, 4 * conversion.width.unwrap_or(1)),
            b'p' => (to, 8),
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => (to, conversion.length.max(4)),
            _ => (to, conversion.length.min(8)),
        };
        shows(span, !is_text);
    }
}

/// Returns the number of characters that a function prints, or a negative number if it fails.
///
/// # Safety
///
/// The program's arguments must match the format.
unsafe fn length_of_text(format: usize, mut list: List, is_wide: bool) -> c_int {
    let narrow = if is_wide {
        narrowed(format)
    } else {
        Vec::new()
    };
    let format = if is_wide {
        narrow.as_ptr().addr()
    } else {
        format
    };
    // SAFETY: the arguments are those of the program, except that no text is written.
    unsafe {
        vsnprintf(
            std::ptr::null_mut(),
            0,
            std::ptr::with_exposed_provenance(format),
            &raw mut list,
        )
    }
}

/// Converts a format of wide characters to bytes.
fn narrowed(format: usize) -> Vec<u8> {
    let (start, length) = wide_text(format);
    let characters = std::ptr::with_exposed_provenance::<u32>(start);
    // SAFETY: the function that the program calls reads the format.
    let characters = (0..length / 4).map(|index| unsafe { characters.add(index).read() });
    characters.map(ascii).collect()
}

/// Returns the character, or `?` if it is not in ASCII.
fn ascii(wide: u32) -> u8 {
    u8::try_from(wide).ok().filter(u8::is_ascii).unwrap_or(b'?')
}

/// Returns the integer that is the argument with this number.
///
/// # Safety
///
/// The program's arguments must match the format.
unsafe fn integer(conversions: Conversions, mut list: List, number: usize) -> c_int {
    for conversion in conversions.by_arguments() {
        // SAFETY: as promised by the caller.
        let word = unsafe { conversion.take(&mut list) };
        if conversion.argument == Some(number) {
            return word.unwrap_or(0) as c_int;
        }
    }
    0
}

/// The effect of a conversion of `printf` on memory.
enum Printed {
    Nothing,
    Reads(Span),
    Writes(Span),
}

/// A conversion of a format.
#[derive(Clone, Copy)]
struct Conversion {
    kind: u8,
    /// Size in bytes of a number of this kind.
    length: usize,
    width: Option<usize>,
    precision: Option<usize>,
    /// Number of widths and precisions that are arguments. The precision is the last of them.
    stars: usize,
    has_precision_argument: bool,
    is_suppressed: bool,
    allocates: bool,
    /// The number of its argument; `None` for the next one.
    argument: Option<usize>,
    /// The numbers of the arguments that are its width and its precision.
    width_argument: Option<usize>,
    precision_argument: Option<usize>,
}

impl Conversion {
    const INTEGER: Conversion = Conversion {
        kind: b'd',
        length: 4,
        width: None,
        precision: None,
        stars: 0,
        has_precision_argument: false,
        is_suppressed: false,
        allocates: false,
        argument: None,
        width_argument: None,
        precision_argument: None,
    };

    /// Takes the argument from the list. Returns it, unless it is a floating-point number or there
    /// is none.
    ///
    /// # Safety
    ///
    /// The program's arguments must match the format.
    unsafe fn take(&self, list: &mut List) -> Option<usize> {
        match self.kind {
            b'%' | b'm' => None,
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => {
                match self.length == 16 {
                    true => list.skip_long_double(),
                    false => list.skip_double(),
                }
                None
            }
            // SAFETY: as promised by the caller.
            _ => Some(unsafe { list.word() }),
        }
    }

    /// Checks whether the conversion of `printf` accesses memory that its argument points to.
    fn follows_pointer(&self) -> bool {
        matches!(self.kind, b's' | b'S' | b'n')
    }

    /// # Safety
    ///
    /// The program's arguments must match the format.
    unsafe fn printed(&self, list: &mut List) -> Printed {
        let mut precision = self.precision;
        for star in 0..self.stars {
            // SAFETY: as promised by the caller.
            let argument = unsafe { list.word() } as c_int;
            if self.has_precision_argument && star + 1 == self.stars {
                precision = usize::try_from(argument).ok();
            }
        }
        // SAFETY: as promised by the caller.
        let Some(word) = (unsafe { self.take(list) }) else {
            return Printed::Nothing;
        };
        let is_wide = self.kind == b'S' || self.length >= 8;
        match (self.kind, precision) {
            (b'n', _) => Printed::Writes((word, self.length.min(8))),
            (b's' | b'S', _) if word == 0 => Printed::Nothing,
            (b's' | b'S', None) if is_wide => Printed::Reads(wide_text(word)),
            // The precision is a number of bytes of the multibyte characters.
            (b's' | b'S', Some(most)) if is_wide => Printed::Reads(wide_text_of_bytes(word, most)),
            (b's', None) => Printed::Reads(text(word)),
            (b's', Some(most)) => Printed::Reads((word, super::spans::length_up_to(word, most))),
            _ => Printed::Nothing,
        }
    }
}

/// The conversions of a format. Each use parses the format again: a thread must not own heap memory
/// while it reports the accesses, because savepoints restore its stack, but not this memory.
#[derive(Clone, Copy)]
struct Conversions {
    /// Address of the rest of the format.
    at: usize,
    /// Whether this is a format of `scanf`.
    scans: bool,
    /// Size of a character in bytes.
    width: usize,
}

/// Greatest number of an argument (`NL_ARGMAX`).
const MOST_ARGUMENTS: usize = 4096;

impl Conversions {
    /// Returns the conversions in the order of their arguments, with one conversion for each
    /// argument.
    fn by_arguments(self) -> impl Iterator<Item = Conversion> {
        let numbers = |of: Conversion| [of.argument, of.width_argument, of.precision_argument];
        let last = self.flat_map(numbers).flatten().max();
        let in_order = self.take_while(move |_| last.is_none());
        let numbered = 1..=last.unwrap_or(0).min(MOST_ARGUMENTS);
        in_order.chain(numbered.map(move |number| self.of_argument(number)))
    }

    /// Returns the conversion of the argument with this number. If several conversions use the
    /// argument, returns one that accesses the most memory. If none does, the argument is a width
    /// or a precision.
    fn of_argument(self, number: usize) -> Conversion {
        let is_of_it = |conversion: &Conversion| conversion.argument == Some(number);
        let size = |of: &Conversion| (of.follows_pointer(), of.precision.is_none());
        let largest = self.filter(is_of_it).max_by_key(size);
        largest.unwrap_or(Conversion {
            argument: Some(number),
            ..Conversion::INTEGER
        })
    }

    /// Parses the number of an argument, which ends with `$`.
    fn argument(&mut self) -> Option<usize> {
        let start = self.at;
        let number = self.number();
        if number.is_some() && self.takes(b'$') {
            return number;
        }
        self.at = start;
        None
    }

    /// Returns the next character, or `?` if it is not in ASCII.
    fn byte(&self) -> u8 {
        // SAFETY: nothing beyond the end of the format is read.
        unsafe {
            match self.width {
                1 => std::ptr::with_exposed_provenance::<u8>(self.at).read(),
                _ => ascii(std::ptr::with_exposed_provenance::<u32>(self.at).read()),
            }
        }
    }

    fn pass(&mut self) {
        self.at += self.width;
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while self.byte().is_ascii_digit() {
            let digit = usize::from(self.byte() - b'0');
            number = Some(number.unwrap_or(0_usize).saturating_mul(10) + digit);
            self.pass();
        }
        number
    }

    fn takes(&mut self, byte: u8) -> bool {
        if self.byte() != byte {
            return false;
        }
        self.pass();
        true
    }
}

impl Iterator for Conversions {
    type Item = Conversion;

    fn next(&mut self) -> Option<Conversion> {
        while self.byte() != b'%' {
            if self.byte() == 0 {
                return None;
            }
            self.pass();
        }
        self.pass();
        let mut found = Conversion {
            argument: self.argument(),
            ..Conversion::INTEGER
        };
        while b"-+ #0'I".contains(&self.byte()) {
            self.pass();
        }
        if self.takes(b'*') {
            found.width_argument = self.argument();
            found.stars += usize::from(found.width_argument.is_none());
            found.is_suppressed = true;
        }
        found.width = self.number();
        if self.takes(b'.') {
            if self.takes(b'*') {
                found.precision_argument = self.argument();
                found.has_precision_argument = found.precision_argument.is_none();
            }
            found.stars += usize::from(found.has_precision_argument);
            found.precision = Some(self.number().unwrap_or(0));
        }
        loop {
            found.length = match (self.byte(), found.length) {
                (b'h', 4) => 2,
                (b'h', _) => 1,
                (b'l' | b'q' | b'j' | b'z' | b't' | b'Z', _) => 8,
                (b'L', _) => 16,
                (b'm', _) if self.scans => {
                    found.allocates = true;
                    found.length
                }
                _ => break,
            };
            self.pass();
        }
        found.kind = self.byte();
        if found.kind == 0 {
            return None;
        }
        self.pass();
        if found.kind == b'[' {
            self.takes(b'^');
            self.takes(b']');
            while !matches!(self.byte(), 0 | b']') {
                self.pass();
            }
        }
        Some(found)
    }
}
