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

/// What all of them have: they settle at once where they are not named after their memory, and can be called by a name.
macro_rules! named {
    (|$own:ident| $object:expr) => {
        #[cfg(not(feature = "statics"))]
        #[track_caller]
        fn settled(self) -> Self {
            Self(self.0.settled())
        }

        /// The same with a name for traces, in the place of where it was made. Costs nothing in executions that are not
        /// shown.
        #[track_caller]
        pub fn named(self, name: &str) -> Self {
            let $own = self.0.get();
            $object.call(name);
            self
        }
    };
}

pub(crate) use {constructor, named};
