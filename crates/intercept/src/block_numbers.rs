//! Numbers that tell the heap blocks of one place apart, in the order in which a report of an execution names them.

use crate::gate::Own;

/// The blocks that have been named in this execution, with the code that asked for them.
static NAMED: Own<Vec<(usize, usize)>> = Own::new(Vec::new());

/// An execution begins.
pub(crate) fn begin() {
    NAMED.get().clear();
}

/// The number of a block among those that this code asked for, from 1.
pub(crate) fn number_of(block: usize, site: usize) -> usize {
    let named = NAMED.get();
    if !named.contains(&(block, site)) {
        named.push((block, site));
    }
    let mut blocks = named.iter().filter(|(_, other)| *other == site);
    let before = blocks.position(|(other, _)| *other == block);
    before.expect("a block has been named") + 1
}
