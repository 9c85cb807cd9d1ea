//! The operations that all atomic types have.
//!
//! They are always inlined: an operation switches to another stack and back, and after that the
//! processor mispredicts each return from a function that was called before.

/// Implements what does not depend on the kind of value.
macro_rules! shared_operations {
    ([$($generics:tt)*] $Atomic:ty, $Value:ty) => {
        impl<$($generics)*> $Atomic {
            constructor! {
                /// A new variable of the execution; in a static a fresh one in each execution.
                pub fn new(value: $Value) -> Self {
                    Self(runtime::Atomic::new(value))
                }
            }

            #[cfg(not(feature = "statics"))]
            #[track_caller]
            fn settled(self) -> Self {
                Self(self.0.settled())
            }

            /// The same with a name for traces, in the place of where it was made. Costs nothing in executions that are
            /// not shown.
            #[track_caller]
            pub fn named(self, name: &str) -> Self {
                self.0.call(name);
                self
            }

            /// Reads the value.
            #[track_caller]
            #[inline(always)]
            pub fn load(&self, order: Ordering) -> $Value {
                order::check_load(order);
                self.0.load(order)
            }

            /// Writes a value.
            #[track_caller]
            #[inline(always)]
            pub fn store(&self, value: $Value, order: Ordering) {
                order::check_store(order);
                self.0.store(value, order);
            }

            /// Replaces the value and returns the old one.
            #[track_caller]
            #[inline(always)]
            pub fn swap(&self, value: $Value, order: Ordering) -> $Value {
                self.0.modify("swap", order, |_| value)
            }

            /// Replaces the value by `new` if it is `current`; returns the old one, as `Err` if it was another.
            ///
            /// # Errors
            ///
            /// With the value found, if it is not `current`.
            #[track_caller]
            #[inline(always)]
            pub fn compare_exchange(
                &self,
                current: $Value,
                new: $Value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$Value, $Value> {
                order::check_failure(failure);
                self.0.compare_exchange(current, new, success, failure)
            }

            /// As the deprecated one of `std`: the value that was found.
            #[track_caller]
            pub fn compare_and_swap(&self, current: $Value, new: $Value, order: Ordering) -> $Value {
                let failure = order::of_failure(order);
                let (Ok(found) | Err(found)) = self.0.compare_exchange(current, new, order, failure);
                found
            }

            /// As `compare_exchange`; it fails for no reason only if [`Checker::spurious`](crate::Checker::spurious) is asked for.
            ///
            /// # Errors
            ///
            /// With the value found, if it is not `current` or for no reason.
            #[track_caller]
            #[inline(always)]
            pub fn compare_exchange_weak(
                &self,
                current: $Value,
                new: $Value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$Value, $Value> {
                if runtime::spurious() {
                    return Err(self.load(failure));
                }
                self.compare_exchange(current, new, success, failure)
            }

            /// Loads, and tries to replace the value by what the closure makes of it, until nobody came in between or
            /// the closure returns none.
            ///
            /// # Errors
            ///
            /// With the value for which the closure returned none.
            #[track_caller]
            pub fn fetch_update<F>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut update: F,
            ) -> Result<$Value, $Value>
            where
                F: FnMut($Value) -> Option<$Value>,
            {
                let mut value = self.load(fetch_order);
                while let Some(new) = update(value) {
                    match self.compare_exchange_weak(value, new, set_order, fetch_order) {
                        Ok(old) => return Ok(old),
                        Err(found) => value = found,
                    }
                }
                Err(value)
            }

            /// As `fetch_update` with a closure that always gives a value.
            #[track_caller]
            pub fn update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut update: impl FnMut($Value) -> $Value,
            ) -> $Value {
                match self.fetch_update(set_order, fetch_order, |value| Some(update(value))) {
                    Ok(old) | Err(old) => old,
                }
            }

            /// As `fetch_update`.
            ///
            /// # Errors
            ///
            /// With the value for which the closure returned none.
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                update: impl FnMut($Value) -> Option<$Value>,
            ) -> Result<$Value, $Value> {
                self.fetch_update(set_order, fetch_order, update)
            }

            /// Where the value is. Accesses by the pointer are neither events nor looked at for races.
            pub fn as_ptr(&self) -> *mut $Value {
                self.0.as_ptr()
            }

            /// The value, which nobody else can touch.
            pub fn get_mut(&mut self) -> &mut $Value {
                self.0.get_mut()
            }

            /// The value, which nobody else can touch, for as long as the closure runs; as loom's.
            pub fn with_mut<R>(&mut self, change: impl FnOnce(&mut $Value) -> R) -> R {
                change(self.0.get_mut())
            }

            /// The value without an event, as loom's, which is unsafe: for who knows that no other thread writes it.
            pub fn unsync_load(&self) -> $Value {
                self.0.peek()
            }

            /// The value.
            pub fn into_inner(self) -> $Value {
                self.0.own()
            }
        }

        impl<$($generics)*> From<$Value> for $Atomic {
            #[track_caller]
            fn from(value: $Value) -> Self {
                Self::new(value)
            }
        }

        impl<$($generics)*> fmt::Debug for $Atomic {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0.peek(), f)
            }
        }
    };
}

pub(super) use shared_operations;
