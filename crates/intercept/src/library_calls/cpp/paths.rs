//! File names (`std::filesystem::path`). A member that is not `const` modifies its object.

use super::super::Reporter;
use super::super::entry::Arguments;
use super::member;

/// The mangled classes of libstdc++ and of libc++, and the sizes of their objects.
const CLASSES: [(&str, usize); 2] = [
    ("St10filesystem7__cxx114path", 40),
    ("St3__14__fs10filesystem4path", 24),
];

/// Members that return a path, at the address in the first argument.
const RETURN_PATHS: [&str; 11] = [
    "8filename",
    "4stem",
    "9extension",
    "11parent_path",
    "9root_path",
    "9root_name",
    "14root_directory",
    "13relative_path",
    "16lexically_normal",
    "18lexically_relative",
    "19lexically_proximate",
];

/// Returns the effects of the function with this mangled name, if it is a member of a path.
pub(super) fn call(name: &str) -> Option<fn(&Arguments, &mut Reporter)> {
    let (rest, is_const) = member(name)?;
    let mut classes = CLASSES.iter();
    let (rest, size) =
        classes.find_map(|&(class, size)| Some((rest.strip_prefix(class)?, size)))?;
    // Members of nested classes.
    if rest.starts_with("5_List") || rest.starts_with("5_Cmpt") || rest.starts_with("8iterator") {
        return None;
    }
    let is_gnu = size == CLASSES[0].1;
    let returns_path = is_const && RETURN_PATHS.iter().any(|prefix| rest.starts_with(prefix));
    Some(match (is_const, returns_path, is_gnu) {
        (true, true, true) => |a, to| to.reads(a.bytes(1, CLASSES[0].1)),
        (true, true, false) => |a, to| to.reads(a.bytes(1, CLASSES[1].1)),
        (true, false, true) => |a, to| to.reads(a.bytes(0, CLASSES[0].1)),
        (true, false, false) => |a, to| to.reads(a.bytes(0, CLASSES[1].1)),
        (false, _, true) => |a, to| to.writes(a.bytes(0, CLASSES[0].1)),
        (false, _, false) => |a, to| to.writes(a.bytes(0, CLASSES[1].1)),
    })
}
