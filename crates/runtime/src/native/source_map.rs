//! What a person calls the things of a program in machine code.

/// Names for addresses. Asked only where an execution is shown.
pub trait SourceMap {
    /// `file:line` of an address of code.
    fn place(&self, code: usize) -> Option<String>;

    /// The variable, or the part of one, that this many bytes at the address are: `queue.nodes[2].next`.
    fn variable(&self, address: usize, length: usize) -> String;

    /// The value that these bytes are at this address.
    fn value(&self, address: usize, bytes: &[u8]) -> String;
}
