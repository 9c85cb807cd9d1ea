//! Streams of libstdc++ and their buffers, and the operands that are read from them and written to
//! them.

use super::super::Reporter;
use super::super::entry::Arguments;
use super::{Effect, Layout, STRINGS, member, word};
use crate::standard_streams;

/// A function of a stream.
#[derive(Clone, Copy)]
pub(in super::super) struct StreamCall {
    /// Number of the argument that is the stream.
    argument: usize,
    is_const: bool,
    class: Class,
    /// Whether the function uses the stream's buffer, or only its address.
    uses_buffer: bool,
    operand: Operand,
}

/// The class of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Stream,
    /// The base of all streams (`basic_ios`).
    Base,
    /// The buffer of a stream.
    Buffer,
}

/// The offset in the base of a stream of the pointer to the stream's buffer.
const BUFFER: usize = 232;

/// The pointers in a buffer to its characters, by offset and size. They stand for all data of the
/// buffer.
const POINTERS: (usize, usize) = (8, 48);

/// The effect on the memory to which the second argument points.
#[derive(Clone, Copy)]
enum Operand {
    Nothing,
    /// A value of this size in bytes is written.
    Value(usize),
    /// Characters are read or written. The third argument is their number.
    Characters {
        width: usize,
        is_written: bool,
    },
    /// A string is written.
    String(Layout),
}

/// Mangled names of the stream classes of libstdc++.
const STREAMS: [&str; 11] = [
    "So",
    "Si",
    "Sd",
    "St13basic_ostreamI",
    "St13basic_istreamI",
    "St14basic_iostreamI",
    "St14basic_ofstreamI",
    "St14basic_ifstreamI",
    "St7__cxx1119basic_ostringstreamI",
    "St7__cxx1119basic_istringstreamI",
    "St7__cxx1118basic_stringstreamI",
];

/// Mangled names of the classes of stream buffers.
const BUFFERS: [&str; 3] = [
    "St15basic_streambufI",
    "St13basic_filebufI",
    "St7__cxx1115basic_stringbufI",
];

/// Beginnings of the mangled names of functions whose first argument is a stream.
const OF_STREAMS: [&str; 7] = [
    "_ZStlsI",
    "_ZStrsI",
    "_ZSt16__ostream_insertI",
    "_ZSt4endlI",
    "_ZSt5flushI",
    "_ZSt2wsI",
    "_ZSt7getlineI",
];

/// Returns the effects of the function with this mangled name, if it belongs to a stream. Returns
/// `None` for constructors and destructors.
pub(super) fn call(name: &str) -> Option<StreamCall> {
    if OF_STREAMS.iter().any(|prefix| name.starts_with(prefix)) {
        let has_stream = name.contains("basic_ostream") || name.contains("basic_istream");
        return has_stream.then(|| StreamCall {
            argument: 0,
            is_const: false,
            class: Class::Stream,
            uses_buffer: true,
            operand: operand_of_function(name),
        });
    }
    let (rest, is_const) = member(name)?;
    let of = |classes: &[&str]| {
        let mut classes = classes.iter();
        let (class, rest) = classes.find_map(|class| Some((class, rest.strip_prefix(class)?)))?;
        match class.ends_with('I') {
            true => rest.split_once("EE").map(|(_, member)| member),
            false => Some(rest),
        }
    };
    let (class, rest) = None
        .or_else(|| Some((Class::Stream, of(&STREAMS)?)))
        .or_else(|| Some((Class::Base, of(&["St9basic_iosI"])?)))
        .or_else(|| Some((Class::Buffer, of(&BUFFERS)?)))?;
    let begins_or_ends = ["C1", "C2", "D0", "D1", "D2", "6sentry"];
    if begins_or_ends.iter().any(|begin| rest.starts_with(begin)) {
        return None;
    }
    // The first argument is the address for the result, a string.
    let argument = usize::from(rest.starts_with("3strEv"));
    Some(StreamCall {
        argument,
        is_const,
        class,
        uses_buffer: !rest.starts_with("5rdbuf"),
        operand: operand_of_member(name),
    })
}

/// Returns the effect of a member with this mangled name on its operand.
fn operand_of_member(name: &str) -> Operand {
    let has_any = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let width = if has_any(&["streamIw", "bufIw"]) {
        4
    } else {
        1
    };
    let written = |end: &str| name.split_once(end).and_then(|(_, kind)| size(kind));
    if let Some(size) = written("rsER").or_else(|| written("10_M_extractI")) {
        return Operand::Value(size);
    }
    let is_written = has_any(&["4readEP", "sgetnEP"]);
    if is_written || has_any(&["5writeEPK", "sputnEPK"]) {
        return Operand::Characters { width, is_written };
    }
    // How many characters these calls write is unknown beforehand. They count as writing one
    // character, although some calls write none, for example at the end of the stream.
    match has_any(&["3getER", "3getEP", "7getlineEP", "8readsomeEP"]) {
        true => Operand::Value(width),
        false => Operand::Nothing,
    }
}

/// Returns the effect of a non-member function on its operand.
fn operand_of_function(name: &str) -> Operand {
    let reads = name.starts_with("_ZStrsI") || name.starts_with("_ZSt7getlineI");
    let is_wide = name.starts_with("_ZStrsIw") || name.starts_with("_ZSt7getlineIw");
    match reads {
        true if name.contains("basic_string") => Operand::String(STRINGS[usize::from(is_wide)].1),
        true => Operand::Value(if is_wide { 4 } else { 1 }),
        false => Operand::Nothing,
    }
}

/// Returns the size of a type by its mangled name.
fn size(kind: &str) -> Option<usize> {
    Some(match kind.as_bytes().first()? {
        b'b' | b'c' | b'a' | b'h' => 1,
        b's' | b't' => 2,
        b'i' | b'j' | b'f' | b'w' => 4,
        b'l' | b'm' | b'x' | b'y' | b'd' | b'P' => 8,
        b'e' => 10,
        _ => return None,
    })
}

impl StreamCall {
    /// Returns the number of arguments on which the result depends.
    pub(super) fn arguments(self) -> usize {
        match self.operand {
            Operand::Nothing => self.argument + 1,
            Operand::Value(_) | Operand::String(_) => 2,
            Operand::Characters { .. } => 3,
        }
    }

    /// Reports the accesses of the call.
    pub(super) fn report(self, arguments: &Arguments, reporter: &mut Reporter) {
        let object = arguments.word(self.argument);
        let base = match self.class {
            // The offset of the virtual base precedes the table of virtual functions.
            Class::Stream => Some(object.wrapping_add(word(word(object) - 24))),
            Class::Base => Some(object),
            Class::Buffer => None,
        };
        if let Some(base) = base.filter(|base| !standard_streams::contains(*base)) {
            match self.is_const {
                true => reporter.reads((base, 8)),
                false => reporter.writes((base, 8)),
            }
        }
        let buffer = match self.class {
            Class::Stream if self.uses_buffer => base.map(|base| word(base + BUFFER)),
            Class::Stream | Class::Base => None,
            Class::Buffer => Some(object),
        };
        // Standard streams usually have buffers of the library.
        let is_of_program =
            |buffer: &usize| *buffer != 0 && !standard_streams::is_of_library(*buffer);
        if let Some(buffer) = buffer.filter(is_of_program) {
            let pointers = buffer + POINTERS.0;
            // A buffer of a class of the program may have no memory, so that no pointers change.
            let is_of_class_of_program = !standard_streams::is_of_library(word(buffer));
            let mut offsets = (0..POINTERS.1).step_by(8);
            let has_no_memory =
                is_of_class_of_program && offsets.all(|at| word(pointers + at) == 0);
            match self.is_const || has_no_memory {
                true => reporter.reads((pointers, POINTERS.1)),
                false => reporter.writes((pointers, POINTERS.1)),
            }
        }
        let place = || arguments.word(1);
        match self.operand {
            Operand::Nothing => {}
            Operand::Value(size) => reporter.writes((place(), size)),
            Operand::Characters { width, is_written } => {
                let span = (place(), arguments.word(2).saturating_mul(width));
                match is_written {
                    true => reporter.writes(span),
                    false => reporter.reads(span),
                }
            }
            Operand::String(layout) => layout.report(place(), Effect::Writes, reporter),
        }
    }
}
