//! State that lives for one execution. Each owner keeps all its state of this kind in one value,
//! which is reset, copied and restored as a whole, so that no field can be forgotten.

use crate::engine::place::Place;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, VecDeque};
use std::panic::Location;

/// A value that lives for one execution.
pub(crate) trait Life {
    /// Returns the value at the beginning of an execution.
    fn new() -> Self;

    /// Resets the value to the beginning of an execution, and keeps its memory for reuse.
    fn begin(&mut self);

    /// Makes the value a copy of `other`, and reuses the memory that it has.
    fn copy(&mut self, other: &Self);
}

/// Declares a struct whose fields all implement [`Life`], and implements it for the struct.
macro_rules! life {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $Name:ident {
            $($(#[$field_attribute:meta])* $field_visible:vis $field:ident: $Type:ty,)*
        }
    ) => {
        $(#[$attribute])*
        $visible struct $Name {
            $($(#[$field_attribute])* $field_visible $field: $Type,)*
        }

        impl Default for $Name {
            fn default() -> $Name {
                $crate::engine::life::Life::new()
            }
        }

        impl $crate::engine::life::Life for $Name {
            fn new() -> $Name {
                $Name { $($field: $crate::engine::life::Life::new(),)* }
            }

            #[inline]
            fn begin(&mut self) {
                $(self.$field.begin();)*
            }

            #[inline]
            fn copy(&mut self, other: &$Name) {
                $(self.$field.copy(&other.$field);)*
            }
        }
    };
}
pub(crate) use life;

macro_rules! plain {
    ($($Type:ty = $first:expr),*) => {
        $(impl Life for $Type {
            #[inline(always)]
            fn new() -> $Type {
                $first
            }

            #[inline(always)]
            fn begin(&mut self) {
                *self = $first;
            }

            #[inline(always)]
            fn copy(&mut self, other: &$Type) {
                *self = *other;
            }
        })*
    };
}

plain!(
    bool = false,
    u32 = 0,
    u64 = 0,
    usize = 0,
    Place = Location::caller()
);

impl<T> Life for *const T {
    fn new() -> *const T {
        std::ptr::null()
    }

    #[inline(always)]
    fn begin(&mut self) {
        *self = std::ptr::null();
    }

    #[inline(always)]
    fn copy(&mut self, other: &*const T) {
        *self = *other;
    }
}

impl<T: Clone> Life for Option<T> {
    fn new() -> Option<T> {
        None
    }

    #[inline(always)]
    fn begin(&mut self) {
        *self = None;
    }

    #[inline(always)]
    fn copy(&mut self, other: &Option<T>) {
        self.clone_from(other);
    }
}

/// Implements `Life` for collections. Most of them are empty, so a test is cheaper than a call.
macro_rules! collections {
    ($($Collection:ident<$($T:ident),*>),*) => {
        $(impl<$($T: Clone),*> Life for $Collection<$($T),*> {
            fn new() -> Self {
                $Collection::default()
            }

            #[inline(always)]
            fn begin(&mut self) {
                if !self.is_empty() {
                    self.clear();
                }
            }

            #[inline(always)]
            fn copy(&mut self, other: &Self) {
                if !self.is_empty() || !other.is_empty() {
                    self.clone_from(other);
                }
            }
        })*
    };
}

collections!(
    Vec<T>,
    VecDeque<T>,
    BTreeMap<K, V>,
    FxHashMap<K, V>,
    FxHashSet<K>
);
