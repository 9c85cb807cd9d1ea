//! Constructors that are `const` where objects can be named after their memory.

/// A constructor of an object that settles at its first use. Without the feature `statics` it settles at once.
macro_rules! constructor {
    (
        $(#[$attribute:meta])*
        pub fn $name:ident($($argument:ident: $Type:ty),*) -> $Result:ty {
            $unsettled:expr
        }
    ) => {
        $(#[$attribute])*
        #[cfg(feature = "statics")]
        #[track_caller]
        #[inline]
        pub const fn $name($($argument: $Type),*) -> $Result {
            $unsettled
        }

        $(#[$attribute])*
        #[cfg(not(feature = "statics"))]
        #[track_caller]
        #[inline]
        pub fn $name($($argument: $Type),*) -> $Result {
            ($unsettled).settled()
        }
    };
}

pub(crate) use constructor;
