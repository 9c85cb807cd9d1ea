//! Data that objects of the C++ library share: the messages of exceptions, and locales. The library
//! counts the owners in code without hooks. So the checker learns here when an owner gives up its
//! share, and orders the free by the last owner after it. These calls are no events: only one order
//! of the owners is explored. The layouts are those of libstdc++.

use super::super::Reporter;
use super::super::entry::Arguments;
use super::word;
use crate::{gate, heap};
use runtime::native;

/// The offset in an exception of the address of its message.
const MESSAGE: usize = 8;
/// The size of the parts of an exception that its base classes initialize: the address of the table
/// of virtual functions, and the address of the message.
const EXCEPTION: usize = 16;

/// Returns the effects of the function with this mangled name, if it deals with shared data.
pub(super) fn call(name: &str) -> Option<fn(&Arguments, &mut Reporter)> {
    match name {
        "_ZNSt6localeD1Ev" | "_ZNSt6localeD2Ev" | "_ZNSt6localeaSERKS_" => {
            Some(|a, _| leave(word(a.word(0))))
        }
        _ => match member_of_exception(name)? {
            "C1" | "C2" => Some(|a, to| to.writes((a.word(0), EXCEPTION))),
            _ => Some(|a, to| {
                to.writes((a.word(0), EXCEPTION));
                leave(word(a.word(0) + MESSAGE));
            }),
        },
    }
}

/// Returns the beginning of the mangled name of a constructor, destructor or assignment of an
/// exception whose copies share its message.
fn member_of_exception(name: &str) -> Option<&str> {
    const CLASSES: [&str; 4] = ["error", "invalid_argument", "out_of_range", "failure"];
    const MEMBERS: [&str; 6] = ["C1", "C2", "D0", "D1", "D2", "aS"];
    let name = name.strip_prefix("_ZNSt")?;
    let mut members = CLASSES.iter().filter_map(|class| {
        let (_, member) = name.split_once(class)?;
        let member = member.strip_prefix("B5cxx11").unwrap_or(member).get(..2)?;
        MEMBERS.contains(&member).then_some(member)
    });
    members.next()
}

/// Reports that an object gives up its share of the data at the address.
fn leave(data: usize) {
    if !gate::is_inside() || !heap::contains(data) {
        return;
    }
    if let Some((block, _, _)) = heap::block(data) {
        let _closed = gate::close();
        native::leave_share(block);
    }
}
