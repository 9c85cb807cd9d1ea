//! Ids of values that are addresses.

use crate::memory::arena;
use explore::ValueId;

/// Returns the id of a value that is an address. In a model's arena, the id is a name that does not
/// depend on the schedule. Elsewhere, the id is the address. Stacks are at the same addresses in
/// every execution.
#[inline]
pub(crate) fn of_address(address: usize) -> ValueId {
    ValueId(arena::name_of(address).unwrap_or(address as u64))
}
