//! The operations that all atomic types share.
//!
//! The frequent ones are always inlined. An operation may switch to another stack and back.
//! Afterwards, the processor mispredicts the returns of the functions that were called before the
//! switch. Inlining leaves fewer such functions.

/// Implements the operations that do not depend on the type of the value.
macro_rules! shared_operations {
    ([$($generics:tt)*] $Atomic:ty, $Value:ty) => {
        impl<$($generics)*> $Atomic {
            constructor! {
                /// Creates a variable. A static starts with its initial value in each execution.
                pub fn new(value: $Value) -> Self {
                    Self(runtime::Atomic::new(value))
                }
            }

            #[cfg(not(feature = "statics"))]
            #[track_caller]
            fn settled(self) -> Self {
                Self(self.0.settled())
            }

            /// Sets the name of the variable in traces, which otherwise show where it is created.
            /// Naming costs nothing in executions that the report does not show.
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

            /// Replaces the value with `new` if it is `current`. Returns the old value.
            ///
            /// # Errors
            ///
            /// Returns the value found, if it is not `current`.
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

            /// Replaces the value with `new` if it is `current`, like the deprecated function of
            /// `std`. Returns the value found in either case.
            #[track_caller]
            pub fn compare_and_swap(&self, current: $Value, new: $Value, order: Ordering) -> $Value {
                let failure = order::of_failure(order);
                let (Ok(found) | Err(found)) = self.0.compare_exchange(current, new, order, failure);
                found
            }

            /// Like `compare_exchange`. It fails spuriously only with
            /// [`Checker::spurious`](crate::Checker::spurious).
            ///
            /// # Errors
            ///
            /// Returns the value found, if it is not `current` or the operation fails spuriously.
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

            /// Replaces the value with the closure's result, and retries until no other thread has
            /// interfered or the closure returns `None`. Returns the old value.
            ///
            /// # Errors
            ///
            /// Returns the value for which the closure returned `None`.
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

            /// Like `fetch_update`, with a closure that always returns a value.
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

            /// Like `fetch_update`.
            ///
            /// # Errors
            ///
            /// Returns the value for which the closure returned `None`.
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                update: impl FnMut($Value) -> Option<$Value>,
            ) -> Result<$Value, $Value> {
                self.fetch_update(set_order, fetch_order, update)
            }

            /// Returns a pointer to the value. Accesses through it are not observed.
            pub fn as_ptr(&self) -> *mut $Value {
                self.0.as_ptr()
            }

            /// Returns a reference to the value. The exclusive borrow shows that no other thread
            /// has access.
            pub fn get_mut(&mut self) -> &mut $Value {
                self.0.get_mut()
            }

            /// Passes a reference to the value to the closure, as in loom. The exclusive borrow
            /// shows that no other thread has access.
            pub fn with_mut<R>(&mut self, change: impl FnOnce(&mut $Value) -> R) -> R {
                change(self.0.get_mut())
            }

            /// Returns the value without an event. No other thread may write the value
            /// concurrently. (In loom, this function is unsafe.)
            pub fn unsync_load(&self) -> $Value {
                self.0.peek()
            }

            /// Returns the value.
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
