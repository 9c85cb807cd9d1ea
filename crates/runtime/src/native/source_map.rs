//! The names in the source of a program in machine code.

/// Resolves addresses to names, to show executions and for the few decisions that depend on the
/// source.
pub trait SourceMap: Sync {
    /// Returns `file:line` of an address of code, or `None` if it is unknown.
    fn place(&self, code: usize) -> Option<String>;

    /// Returns the functions with the code at an address, innermost inlined function first.
    fn functions(&self, code: usize) -> Vec<String>;

    /// Returns the functions of the calls on the stack that ends at `stack_top`, innermost first.
    /// `code` is an address in the innermost function. The list is empty if they cannot be
    /// determined.
    fn callers(&self, code: usize, stack_top: usize) -> Vec<String>;

    /// Returns the address to show for an address in a library or its headers: the address of the
    /// program's own call, on the stack that ends at `stack_top`.
    fn caller(&self, code: usize, stack_top: usize) -> usize {
        let _ = stack_top;
        code
    }

    /// Returns whether the code is C, or C++ before C++20, where a store continues the release
    /// sequence of its thread.
    fn continues_release_sequences(&self, code: usize) -> bool;

    /// Returns the name of the variable, or part of one, in these bytes, such as
    /// `queue.nodes[2].next`.
    fn variable(&self, address: usize, length: usize) -> String;

    /// Returns the value that these bytes represent at this address.
    fn value(&self, address: usize, bytes: &[u8]) -> String;
}
