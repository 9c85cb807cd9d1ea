//! Families of functions that allocate and free memory.

/// The family of functions that has allocated a block and must free it.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Allocator {
    /// `malloc` and its family, and `free`.
    Malloc,
    /// `new` and `delete`.
    New,
    /// `new[]` and `delete[]`.
    NewArray,
}

impl Allocator {
    /// Returns the name of the allocating function.
    pub(crate) fn gives(self) -> &'static str {
        match self {
            Allocator::Malloc => "malloc",
            Allocator::New => "new",
            Allocator::NewArray => "new[]",
        }
    }

    /// Returns the name of the freeing function.
    pub(crate) fn takes(self) -> &'static str {
        match self {
            Allocator::Malloc => "free",
            Allocator::New => "delete",
            Allocator::NewArray => "delete[]",
        }
    }
}
