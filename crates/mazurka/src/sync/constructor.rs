//! Constructors that are `const` where objects are identified by their address.

/// Defines a constructor of an object. With the feature `statics`, the constructor is `const`, and
/// the object *settles* (gets its state in the model) at its first use. Otherwise the object
/// settles at once.
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

/// Defines `settled` (without the feature `statics`) and `named`.
macro_rules! named {
    (|$inner:ident| $object:expr) => {
        #[cfg(not(feature = "statics"))]
        #[track_caller]
        fn settled(self) -> Self {
            Self(self.0.settled())
        }

        /// Sets the name of the object in traces, which otherwise show where it is created. Naming
        /// costs nothing in executions that the report does not show.
        #[track_caller]
        pub fn named(self, name: &str) -> Self {
            let $inner = self.0.get();
            $object.call(name);
            self
        }
    };
}

pub(crate) use {constructor, named};
