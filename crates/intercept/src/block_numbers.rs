//! Numbers of the heap blocks allocated at one place, in the order in which a report names the
//! blocks.

use crate::gate::Own;

/// Named blocks of this execution, with the code that allocated them.
static NAMED: Own<Vec<(usize, usize)>> = Own::new(Vec::new());

/// Begins an execution.
pub(crate) fn begin() {
    NAMED.get().clear();
}

/// A copy of the named blocks.
pub(crate) type Saved = Vec<(usize, usize)>;

/// Copies the named blocks.
pub(crate) fn save_to(copy: &mut Saved) {
    copy.clone_from(NAMED.get());
}

/// Restores the named blocks from a copy.
pub(crate) fn restore_from(copy: &Saved) {
    NAMED.get().clone_from(copy);
}

/// Names a block. Returns its number, from 1, among the named blocks that the code at `site` has
/// allocated.
pub(crate) fn number_of(block: usize, site: usize) -> usize {
    let named = NAMED.get();
    if !named.contains(&(block, site)) {
        named.push((block, site));
    }
    let mut blocks = named.iter().filter(|(_, other)| *other == site);
    let before = blocks.position(|(other, _)| *other == block);
    before.expect("a block has been named") + 1
}
