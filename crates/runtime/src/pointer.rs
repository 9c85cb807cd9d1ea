//! Pointers to plain memory that say when they are used: when they are made, and each time that somebody takes the value from them. A
//! guard that gives back its lock and has such a pointer in a field drops the pointer afterwards, so its end is no access.

use crate::{Lasting, Plain};
use std::fmt;

/// As `loom::cell::ConstPtr`: a pointer to memory that is read as long as this lives.
pub struct ConstPtr<T: ?Sized> {
    pointer: *const T,
    read: Lasting,
}

/// As `loom::cell::MutPtr`: a pointer to memory that is written as long as this lives.
pub struct MutPtr<T: ?Sized> {
    pointer: *mut T,
    write: Lasting,
}

impl<T: ?Sized> ConstPtr<T> {
    /// Reads begin.
    #[track_caller]
    #[inline]
    pub fn new(plain: &Plain, pointer: *const T) -> ConstPtr<T> {
        ConstPtr {
            pointer,
            read: plain.begin_read().told(),
        }
    }

    /// The value.
    ///
    /// # Safety
    ///
    /// As for a reference made of the raw pointer: the memory must still be there, and be a `T`.
    #[allow(clippy::should_implement_trait, reason = "the signature is loom's")]
    #[track_caller]
    pub unsafe fn deref(&self) -> &T {
        self.read.access();
        // SAFETY: as promised by the caller; that nobody writes is checked.
        unsafe { &*self.pointer }
    }

    /// The raw pointer for as long as the closure runs.
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        self.read.access();
        read(self.pointer)
    }
}

impl<T: ?Sized> MutPtr<T> {
    /// Writes begin.
    #[track_caller]
    #[inline]
    pub fn new(plain: &Plain, pointer: *mut T) -> MutPtr<T> {
        MutPtr {
            pointer,
            write: plain.begin_write().told(),
        }
    }

    /// The value.
    ///
    /// # Safety
    ///
    /// As for a reference made of the raw pointer: the memory must still be there, and be a `T`, and this is its only reference.
    #[allow(
        clippy::mut_from_ref,
        clippy::should_implement_trait,
        reason = "the signature is loom's"
    )]
    #[track_caller]
    pub unsafe fn deref(&self) -> &mut T {
        self.write.access();
        // SAFETY: as promised by the caller; that no other thread has access is checked.
        unsafe { &mut *self.pointer }
    }

    /// The raw pointer for as long as the closure runs.
    #[track_caller]
    pub fn with<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        self.write.access();
        write(self.pointer)
    }
}

impl<T: ?Sized> fmt::Debug for ConstPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConstPtr").finish_non_exhaustive()
    }
}

impl<T: ?Sized> fmt::Debug for MutPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MutPtr").finish_non_exhaustive()
    }
}
