//! The accesses that hooks have announced, and whether they cover a given access.

use super::values::Value;
use super::{Effect, Hook};

/// An announced access that is still to come.
#[derive(Clone, PartialEq)]
pub(super) struct Announced {
    pub(super) address: Value,
    pub(super) length: usize,
    pub(super) hook: Hook,
    /// The return address of the hook's call.
    pub(super) code: u64,
    /// The bytes that have been written, among the first 64.
    pub(super) written: u64,
    /// Whether an access has been found that this announcement covers.
    pub(super) is_used: bool,
    /// Whether the program reads the place before it writes it.
    pub(super) is_late: bool,
}

/// Whether an access was announced.
pub(super) enum Coverage {
    Full,
    /// The hook of a later write announces the access. This is the return address of that hook.
    Late(u64),
    None,
}

/// Checks whether hooks have announced an access of this kind that begins at this address.
pub(super) fn covers_start(announced: &mut [Announced], address: Value, effect: Effect) -> bool {
    let found = announced.iter_mut().find(|announced| {
        announced.address == address
            && (!effect.reads() || announced.hook.effect.reads())
            && (!effect.writes() || announced.hook.effect.writes())
    });
    found.map(|announced| announced.is_used = true).is_some()
}

pub(super) fn covers(
    all: &mut [Announced],
    address: Value,
    length: usize,
    effect: Effect,
) -> Coverage {
    let mut late = None;
    for announced in all {
        let Some(distance) = announced.distance(address) else {
            continue;
        };
        let (reads, writes) = (
            announced.hook.effect.reads(),
            announced.hook.effect.writes(),
        );
        let is_volatile = announced.hook.is_volatile;
        match effect {
            // A read may be longer than the announcement: compilers may load more than they need,
            // if that memory exists.
            Effect::Read if reads || is_volatile => {
                announced.is_used = true;
                return Coverage::Full;
            }
            Effect::Write | Effect::Both
                if writes && (reads || is_volatile || effect == Effect::Write) =>
            {
                if distance + length > announced.length {
                    continue;
                }
                let bytes = bits(distance, length);
                if bytes != 0 && announced.written & bytes == bytes {
                    continue;
                }
                announced.written |= bytes;
                announced.is_used = true;
                return match announced.is_late {
                    true => Coverage::Late(announced.code),
                    false => Coverage::Full,
                };
            }
            Effect::Read | Effect::Both if writes && announced.written == 0 => {
                late = Some(announced);
            }
            Effect::Read | Effect::Write | Effect::Both => {}
        }
    }
    let Some(announced) = late else {
        return Coverage::None;
    };
    announced.is_used = true;
    announced.is_late = true;
    if effect == Effect::Both {
        announced.written = u64::MAX;
    }
    Coverage::Late(announced.code)
}

impl Announced {
    /// Returns the distance from the beginning to the address, if the address is inside.
    fn distance(&self, address: Value) -> Option<usize> {
        let distance = address.offset.wrapping_sub(self.address.offset);
        let is_inside =
            address.base == self.address.base && (0..self.length as i64).contains(&distance);
        is_inside.then_some(distance as usize)
    }
}

/// Returns a bit set of these bytes, among the first 64.
fn bits(start: usize, length: usize) -> u64 {
    (start..start + length)
        .filter(|&byte| byte < 64)
        .fold(0, |bits, byte| bits | 1 << byte)
}
