//! Families of functions that give memory out and take it back.

/// What gave a block out, and is to take it back.
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
    /// The function that gave it out.
    pub(crate) fn gives(self) -> &'static str {
        match self {
            Allocator::Malloc => "malloc",
            Allocator::New => "new",
            Allocator::NewArray => "new[]",
        }
    }

    /// The function that takes it back.
    pub(crate) fn takes(self) -> &'static str {
        match self {
            Allocator::Malloc => "free",
            Allocator::New => "delete",
            Allocator::NewArray => "delete[]",
        }
    }
}
