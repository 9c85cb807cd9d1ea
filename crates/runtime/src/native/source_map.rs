//! What a person calls the things of a program in machine code.

/// Names for addresses. Asked only where an execution is shown.
pub trait SourceMap: Sync {
    /// `file:line` of an address of code.
    fn place(&self, code: usize) -> Option<String>;

    /// The functions that have the code at an address: the innermost inlined one first.
    fn functions(&self, code: usize) -> Vec<String>;

    /// The functions of the stack that ends at `stack_top` and returns to an address: the innermost first, none if that cannot
    /// be told.
    fn callers(&self, code: usize, stack_top: usize) -> Vec<String>;

    /// The address that is shown for one that a library or its headers have: that of the program's own call, on the
    /// stack that ends at `stack_top`.
    fn caller(&self, code: usize, stack_top: usize) -> usize {
        let _ = stack_top;
        code
    }

    /// Whether the code is C, or C++ before C++20, where a store continues the release sequence of its thread.
    fn continues_release_sequences(&self, code: usize) -> bool;

    /// The variable, or the part of one, that this many bytes at the address are: `queue.nodes[2].next`.
    fn variable(&self, address: usize, length: usize) -> String;

    /// The value that these bytes are at this address.
    fn value(&self, address: usize, bytes: &[u8]) -> String;
}
