//! Accesses by the compiled part of the C++ library to strings, lists, trees and streams of the
//! program.
//!
//! Before C++20, the functions for strings of `char` and `wchar_t` are in libstdc++ and libc++,
//! which are compiled without hooks. The standard defines which calls may race: a function that is
//! not `const` modifies its object, unless the function only returns a part ([res.on.data.races],
//! [container.requirements.dataraces]). The layouts are those of the ABIs since gcc 5 and clang 7.

mod conversions;
mod counted;
mod paths;
mod streams;

use super::Reporter;
use super::entry::Arguments;
use crate::heap;
use streams::StreamCall;

#[derive(Clone, Copy)]
pub(super) enum Effects {
    String(StringCall),
    Stream(StreamCall),
    /// The effects on a number and its text, a path, or an object that shares data.
    Other(fn(&Arguments, &mut Reporter)),
    /// The effects on the nodes of a list or a tree.
    Nodes(fn(&Arguments, &mut Reporter)),
}

/// A member function of a string.
#[derive(Clone, Copy)]
pub(super) struct StringCall {
    layout: Layout,
    /// Number of the argument that is the string.
    this: usize,
    object: Effect,
    /// The argument that is another string, and the effect on that string.
    other: Option<(usize, Effect)>,
    /// Number of arguments of the function, including the string.
    arguments: usize,
}

#[derive(Clone, Copy)]
struct Layout {
    is_gnu: bool,
    /// Size of a character in bytes.
    width: usize,
}

/// The effect of a function on a string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Nothing,
    /// Reads the pointer and the length.
    ReadsHeader,
    /// Reads the pointer, the length and the characters.
    Reads,
    /// Writes the pointer and the length.
    Sets,
    /// Writes the pointer, the length and the characters.
    Writes,
}

/// Mangled classes and their layouts.
const STRINGS: [(&str, Layout); 4] = [
    (
        "St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE",
        Layout {
            is_gnu: true,
            width: 1,
        },
    ),
    (
        "St7__cxx1112basic_stringIwSt11char_traitsIwESaIwEE",
        Layout {
            is_gnu: true,
            width: 4,
        },
    ),
    (
        "St3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEE",
        Layout {
            is_gnu: false,
            width: 1,
        },
    ),
    (
        "St3__112basic_stringIwNS_11char_traitsIwEENS_9allocatorIwEEE",
        Layout {
            is_gnu: false,
            width: 4,
        },
    ),
];

/// Functions that only read the pointer and the length, `const` or not.
const READING_HEADER: &str = " at back begin c_str capacity cbegin cend crbegin crend data empty end front length max_size rbegin rend size \
    _M_check _M_check_length _M_data _M_dispose _M_is_local _M_limit ";

/// Internal functions of the library that change the characters of an existing string.
const CHANGING: &str = " _M_append _M_assign _M_erase _M_mutate _M_replace _M_replace_aux ";

/// Returns the effects of the function with this mangled name, if they are known.
pub(super) fn effects(name: &str) -> Option<Effects> {
    // Iterators of the debug mode are attached to their containers under locks of the library.
    let is_of_debug_mode =
        || name.starts_with("_ZN11__gnu_debug") || name.starts_with("_ZNK11__gnu_debug");
    nodes(name)
        .map(Effects::Nodes)
        .or_else(|| is_of_debug_mode().then_some(Effects::Other(|_, _| {})))
        .or_else(|| string_call(name).map(Effects::String))
        .or_else(|| streams::call(name).map(Effects::Stream))
        .or_else(|| conversions::call(name).map(Effects::Other))
        .or_else(|| paths::call(name).map(Effects::Other))
        .or_else(|| counted::call(name).map(Effects::Other))
}

/// Returns the mangled name of a member without the prefix `_ZN`, `const` and reference qualifiers,
/// and whether the member is `const`. Returns `None` for names without this prefix.
fn member(name: &str) -> Option<(&str, bool)> {
    let member = name.strip_prefix("_ZN")?;
    let unqualified = member.trim_start_matches(['K', 'R', 'O']);
    Some((unqualified, member.starts_with('K')))
}

fn string_call(name: &str) -> Option<StringCall> {
    let (rest, is_const) = member(name)?;
    let mut classes = STRINGS.iter();
    let (rest, layout) =
        classes.find_map(|(class, layout)| rest.strip_prefix(class).map(|rest| (rest, *layout)))?;
    let (name, parameters) = named(rest)?;
    let is = |list: &str| list.contains(&format!(" {name} "));
    let object = match name {
        "C1" | "C2" => Effect::Sets,
        "D1" | "D2" | "ix" | "cv" => Effect::ReadsHeader,
        "substr" => Effect::Reads,
        // Functions of a part, or of a nested class.
        "_Alloc_hider" | "get_allocator" | "_M_get_allocator" | "_M_local_data" | "_M_create" => {
            Effect::Nothing
        }
        _ if name.starts_with("_S_") => Effect::Nothing,
        "_M_data" if !is_const && parameters != "v" => Effect::Sets,
        _ if is(READING_HEADER) => Effect::ReadsHeader,
        _ if is_const => Effect::Reads,
        _ if (name.starts_with("_M_") || name.starts_with("__")) && !is(CHANGING) => Effect::Sets,
        _ => Effect::Writes,
    };
    Some(StringCall {
        layout,
        // `substr` constructs its result at the address in the first argument.
        this: usize::from(name == "substr"),
        object,
        other: other_string(parameters),
        arguments: 1 + usize::from(name == "substr") + count(parameters),
    })
}

/// Returns the name of a member and its parameters, both mangled.
fn named(rest: &str) -> Option<(&str, &str)> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        let name = rest.get(..2)?;
        return Some((name, rest[2..].trim_start_matches('E')));
    }
    let length: usize = rest[..digits].parse().ok()?;
    let name = rest.get(digits..digits + length)?;
    let parameters = &rest[digits + length..];
    Some((name, parameters.strip_prefix('E').unwrap_or(parameters)))
}

/// Returns the number of the parameter that is another string, and the effect on this string. Only
/// numbers may precede the parameter.
fn other_string(parameters: &str) -> Option<(usize, Effect)> {
    let other = parameters.trim_start_matches('m');
    let number = 1 + parameters.len() - other.len();
    let is_string = |text: &str| text.starts_with("S4_") || text.starts_with("S5_");
    let effect = match other.split_at_checked(1)? {
        ("R", rest) if rest.strip_prefix('K').is_some_and(is_string) => Effect::Reads,
        ("R" | "O", rest) if is_string(rest) => Effect::Writes,
        _ => return None,
    };
    Some((number, effect))
}

fn word(address: usize) -> usize {
    let pointer = std::ptr::with_exposed_provenance::<usize>(address);
    // SAFETY: the function that the program calls reads this word of an object.
    unsafe { pointer.read_unaligned() }
}

/// Counts the parameters, up to and including the first one whose mangled type is neither a letter
/// nor a substitution (`S…_`).
fn count(parameters: &str) -> usize {
    let mut rest = parameters;
    let mut count = 0;
    while let Some(kind) = rest.trim_start_matches(['P', 'R', 'O', 'K']).chars().next() {
        rest = rest.trim_start_matches(['P', 'R', 'O', 'K']);
        count += usize::from(kind != 'v');
        rest = match kind {
            'S' => rest.split_once('_').map_or("", |(_, rest)| rest),
            kind if kind.is_ascii_lowercase() => &rest[1..],
            _ => "",
        };
    }
    count
}

impl Effects {
    /// Returns the number of arguments that determine the result, together with the program's
    /// memory.
    pub(super) fn arguments(self) -> usize {
        match self {
            Effects::String(call) => call.arguments,
            Effects::Stream(call) => call.arguments(),
            Effects::Other(_) => 3,
            Effects::Nodes(_) => 1,
        }
    }

    /// Reports the accesses of the call.
    pub(super) fn report(self, arguments: &Arguments, reporter: &mut Reporter) {
        match self {
            Effects::String(call) => {
                call.layout
                    .report(arguments.word(call.this), call.object, reporter);
                if let Some((number, effect)) = call.other {
                    call.layout.report(arguments.word(number), effect, reporter);
                }
            }
            Effects::Stream(call) => call.report(arguments, reporter),
            Effects::Other(report) => report(arguments, reporter),
            Effects::Nodes(report) => report(arguments, reporter),
        }
    }
}

impl Layout {
    fn report(self, string: usize, effect: Effect, reporter: &mut Reporter) {
        let size = if self.is_gnu { 32 } else { 24 };
        // In libstdc++, the characters of a short string follow the pointer and the length.
        let header = if self.is_gnu { 16 } else { 24 };
        match effect {
            Effect::Nothing => {}
            Effect::ReadsHeader => reporter.reads((string, header)),
            Effect::Reads => {
                reporter.reads((string, header));
                reporter.reads(self.characters(string));
            }
            Effect::Sets => reporter.writes((string, header)),
            Effect::Writes => {
                reporter.writes((string, size));
                let (start, length) = self.characters(string);
                if !(string..string + size).contains(&start) {
                    reporter.writes((start, length));
                }
            }
        }
    }

    /// Returns the characters of a string. Returns no characters if the string does not exist yet,
    /// and for short strings of libc++, whose characters are in the object.
    fn characters(self, string: usize) -> (usize, usize) {
        let [first, second, third] = [0, 8, 16].map(|offset| word(string + offset));
        let (start, count) = match (self.is_gnu, first & 1) {
            (true, _) => (first, second),
            (false, 0) => return (string, 0),
            (false, _) => (third, second),
        };
        let length = count.saturating_mul(self.width);
        let is_short = start == string + 16 && length < 16;
        let is_long = || {
            heap::block(start).is_some_and(|(block, size, _)| {
                start
                    .checked_add(length)
                    .is_some_and(|end| end <= block + size)
            })
        };
        match is_short || is_long() {
            true => (start, length),
            false => (string, 0),
        }
    }
}

/// Returns the effects of functions for the nodes of lists, maps and sets.
fn nodes(name: &str) -> Option<fn(&Arguments, &mut Reporter)> {
    Some(match name {
        "_ZNSt8__detail15_List_node_base7_M_hookEPS0_" => |a, to| hook(a.word(0), a.word(1), to),
        "_ZNSt8__detail15_List_node_base9_M_unhookEv" => |a, to| unhook(a.word(0), to),
        "_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_" => |a, to| {
            for node in [0, 1, 2].map(|number| a.word(number)) {
                to.writes((word(node + BEFORE), 8));
                to.writes((node + BEFORE, 8));
            }
        },
        "_ZNSt8__detail15_List_node_base10_M_reverseEv" => |a, to| relink(a.word(0), to),
        "_ZNSt8__detail15_List_node_base4swapERS0_S1_" => |a, to| {
            for node in [0, 1].map(|number| a.word(number)) {
                unhook(node, to);
                to.writes((node, 16));
            }
        },
        "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_" => |a, to| {
            to.writes((a.word(1), NODE));
            rebalance(a.word(2), a.word(3), to);
        },
        "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_" => |a, to| {
            let mut next = word(a.word(0) + RIGHT);
            while next != 0 {
                to.writes((next, NODE));
                next = word(next + LEFT);
            }
            rebalance(a.word(0), a.word(1), to);
        },
        "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base"
        | "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base" => {
            |a, to| step(a.word(0), [RIGHT, LEFT], to)
        }
        "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base"
        | "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base" => {
            |a, to| step(a.word(0), [LEFT, RIGHT], to)
        }
        _ => return None,
    })
}

/// Offset of the pointer to the previous node in a list node.
const BEFORE: usize = 8;

fn hook(node: usize, next: usize, reporter: &mut Reporter) {
    reporter.writes((node, 16));
    reporter.writes((word(next + BEFORE), 8));
    reporter.writes((next + BEFORE, 8));
}

fn unhook(node: usize, reporter: &mut Reporter) {
    reporter.reads((node, 16));
    reporter.writes((word(node + BEFORE), 8));
    reporter.writes((word(node) + BEFORE, 8));
}

/// Reports writes of all nodes of a list.
fn relink(first: usize, reporter: &mut Reporter) {
    let mut node = first;
    loop {
        reporter.writes((node, 16));
        node = word(node);
        if node == first || node == 0 {
            return;
        }
    }
}

/// Size of a tree node without its value: colour, parent, left and right.
const NODE: usize = 32;
const PARENT: usize = 8;
const LEFT: usize = 16;
const RIGHT: usize = 24;

/// Reports that all nodes from the given node up to the header of the tree may change.
fn rebalance(mut node: usize, header: usize, reporter: &mut Reporter) {
    while node != header && node != 0 {
        reporter.writes((node, NODE));
        node = word(node + PARENT);
    }
    reporter.writes((header, NODE));
}

/// Reports the reads on the path to the next node: down on one side and then on the other side, or
/// up.
fn step(mut node: usize, [side, other]: [usize; 2], reporter: &mut Reporter) {
    reporter.reads((node + PARENT, NODE - PARENT));
    let mut next = word(node + side);
    if next == 0 {
        next = word(node + PARENT);
        while next != 0 && node == word(next + side) {
            reporter.reads((next + PARENT, NODE - PARENT));
            (node, next) = (next, word(next + PARENT));
        }
        return;
    }
    while next != 0 {
        reporter.reads((next + other, 8));
        next = word(next + other);
    }
}
