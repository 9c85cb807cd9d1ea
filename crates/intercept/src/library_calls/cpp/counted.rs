//! Data that objects of the C++ library share: the messages of exceptions, and locales. The library
//! counts the owners in code without hooks, so the checker would see no order between an owner's
//! reads and the free by the last owner. The layouts are those of libstdc++.

use super::super::Reporter;
use super::super::entry::Arguments;
use super::word;
use crate::{heap, shared_exceptions};

/// The size of the parts of an exception that its base classes initialize: the address of the table
/// of virtual functions, and the message.
const EXCEPTION: usize = 16;

/// Checks whether the function with this mangled name constructs, destroys, assigns or throws an
/// exception whose copies share its message.
pub(in super::super) fn shares_blocks(name: &str) -> bool {
    const CLASSES: [&str; 4] = ["error", "invalid_argument", "out_of_range", "failure"];
    const MEMBERS: [&str; 6] = ["C1", "C2", "D0", "D1", "D2", "aS"];
    let is_member = |class: &str| {
        name.split_once(class).is_some_and(|(_, member)| {
            let member = member.strip_prefix("B5cxx11").unwrap_or(member);
            MEMBERS.iter().any(|begin| member.starts_with(begin))
        })
    };
    let is_of_class = name.starts_with("_ZNSt") && CLASSES.into_iter().any(is_member);
    is_of_class || name.starts_with("_ZSt") && name.contains("__throw_")
}

/// Returns the effects of the function with this mangled name, if it deals with shared data.
pub(super) fn call(name: &str) -> Option<fn(&Arguments, &mut Reporter)> {
    match name {
        "_ZNSt6localeD1Ev" | "_ZNSt6localeD2Ev" | "_ZNSt6localeaSERKS_" => Some(leave_locale),
        _ if !shares_blocks(name) => None,
        _ if name.contains("__throw_") => Some(|_, _| {}),
        _ => Some(|a, to| to.writes((a.word(0), EXCEPTION))),
    }
}

/// Reports that a locale gives up its share of its data. Only locales whose data is
/// in the program's heap are events: threads rarely make such locales.
fn leave_locale(arguments: &Arguments, _reporter: &mut Reporter) {
    let data = word(arguments.word(0));
    if heap::contains(data) {
        let count = std::ptr::with_exposed_provenance_mut(data);
        // SAFETY: the count of owners comes first in the data, and lives until the caller has given
        // up its share.
        unsafe { shared_exceptions::leave_count(count) };
    }
}
