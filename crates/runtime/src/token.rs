//! Tokens of pointers.

use crate::arena;
use explore::Token;

/// The token of an address: in a model's arena what does not depend on the schedule, elsewhere the
/// address. Stacks are where they were in every execution.
#[inline]
pub(crate) fn of_address(address: usize) -> Token {
    Token(arena::name_of(address).unwrap_or(address as u64))
}
