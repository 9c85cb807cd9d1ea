//! Streams of libstdc++, and the operands that are read from them and written to them.

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
    /// Whether the class of the function is the base of all streams (`basic_ios`).
    is_base: bool,
    operand: Operand,
}

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

/// Mangled classes of streams of libstdc++.
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
            is_base: false,
            operand: operand_of_function(name),
        });
    }
    let (rest, is_const) = member(name)?;
    let is_base = rest.starts_with("St9basic_iosI");
    let mut classes = STREAMS.iter();
    let rest = classes.find_map(|class| rest.strip_prefix(class));
    let begins_or_ends = ["C1", "C2", "D0", "D1", "D2", "6sentry"];
    let rest = match (rest, is_base) {
        (Some(rest), _) => rest.split_once("EE").map_or(rest, |(_, member)| member),
        (None, true) => name.split_once("EE").map_or("", |(_, member)| member),
        (None, false) => return None,
    };
    if begins_or_ends.iter().any(|begin| rest.starts_with(begin)) {
        return None;
    }
    // The first argument is the address for the result, a string.
    let argument = usize::from(is_const && rest.starts_with("3strEv"));
    Some(StreamCall {
        argument,
        is_const,
        is_base,
        operand: operand_of_member(name),
    })
}

/// Returns the effect of a member with this mangled name on its operand.
fn operand_of_member(name: &str) -> Operand {
    let width = if name.contains("streamIw") { 4 } else { 1 };
    let written = |end: &str| name.split_once(end).and_then(|(_, kind)| size(kind));
    if let Some(size) = written("rsER").or_else(|| written("10_M_extractI")) {
        return Operand::Value(size);
    }
    match () {
        () if name.contains("4readEP") => Operand::Characters {
            width,
            is_written: true,
        },
        () if name.contains("5writeEPK") => Operand::Characters {
            width,
            is_written: false,
        },
        // How many characters the call writes is unknown beforehand. It counts as writing one
        // character, although some calls write none, for example at the end of the stream.
        () if ["3getER", "3getEP", "7getlineEP", "8readsomeEP"]
            .iter()
            .any(|part| name.contains(part)) =>
        {
            Operand::Value(width)
        }
        () => Operand::Nothing,
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
        // The offset of the virtual base precedes the table of virtual functions.
        let offset = if self.is_base {
            0
        } else {
            word(word(object) - 24)
        };
        let base = object.wrapping_add(offset);
        if standard_streams::contains(base) {
        } else if self.is_const {
            reporter.reads((base, 8));
        } else {
            reporter.writes((base, 8));
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
