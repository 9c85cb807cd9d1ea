//! Pointers to plain memory that report an access when they are created, and each time that the
//! value is accessed through them. The drop of a pointer is not an access: a guard of a lock with
//! such a pointer in a field drops the pointer only after it has released the lock.

use crate::{Lasting, Plain};
use std::fmt;

/// A pointer to memory that counts as being read while the pointer lives, like
/// `loom::cell::ConstPtr`.
pub struct ConstPtr<T: ?Sized> {
    pointer: *const T,
    read: Lasting,
}

/// A pointer to memory that counts as being written while the pointer lives, like
/// `loom::cell::MutPtr`.
pub struct MutPtr<T: ?Sized> {
    pointer: *mut T,
    write: Lasting,
}

impl<T: ?Sized> ConstPtr<T> {
    /// Begins a read that lasts until the pointer is dropped.
    #[track_caller]
    #[inline]
    pub fn new(plain: &Plain, pointer: *const T) -> ConstPtr<T> {
        ConstPtr {
            pointer,
            read: plain.begin_read().without_access_at_end(),
        }
    }

    /// Returns the value.
    ///
    /// # Safety
    ///
    /// As for a reference made from the raw pointer, the memory must still exist and contain a `T`.
    #[allow(clippy::should_implement_trait, reason = "the signature is loom's")]
    #[track_caller]
    pub unsafe fn deref(&self) -> &T {
        self.read.access();
        // SAFETY: as promised by the caller. The model checks that no thread writes.
        unsafe { &*self.pointer }
    }

    /// Passes the raw pointer to `read`.
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        self.read.access();
        read(self.pointer)
    }
}

impl<T: ?Sized> MutPtr<T> {
    /// Begins a write that lasts until the pointer is dropped.
    #[track_caller]
    #[inline]
    pub fn new(plain: &Plain, pointer: *mut T) -> MutPtr<T> {
        MutPtr {
            pointer,
            write: plain.begin_write().without_access_at_end(),
        }
    }

    /// Returns the value.
    ///
    /// # Safety
    ///
    /// As for a reference made from the raw pointer, the memory must still exist and contain a `T`,
    /// and there must be no other reference to it.
    #[allow(
        clippy::mut_from_ref,
        clippy::should_implement_trait,
        reason = "the signature is loom's"
    )]
    #[track_caller]
    pub unsafe fn deref(&self) -> &mut T {
        self.write.access();
        // SAFETY: as promised by the caller. The model checks that no other thread has access.
        unsafe { &mut *self.pointer }
    }

    /// Passes the raw pointer to `write`.
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
