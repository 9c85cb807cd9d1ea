//! `lazy_static!`.

/// Like `lazy_static::lazy_static!`: each execution initializes the statics at their first use.
///
/// ```
/// use mazurka::sync::Mutex;
/// use mazurka::thread;
///
/// mazurka::lazy_static! {
///     static ref COUNT: Mutex<u32> = Mutex::new(0);
/// }
///
/// mazurka::model(|| {
///     let other = thread::spawn(|| *COUNT.lock().unwrap() += 1);
///     *COUNT.lock().unwrap() += 1;
///     other.join().unwrap();
///     assert_eq!(*COUNT.lock().unwrap(), 2); // in every execution
/// });
/// ```
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attribute:meta])* $visibility:vis static ref $NAME:ident: $Type:ty = $value:expr; $($rest:tt)*) => {
        #[allow(missing_copy_implementations, non_camel_case_types, dead_code)]
        $(#[$attribute])*
        $visibility struct $NAME {
            __private: (),
        }
        $(#[$attribute])*
        $visibility static $NAME: $NAME = $NAME { __private: () };
        impl ::core::ops::Deref for $NAME {
            type Target = $Type;

            #[track_caller]
            fn deref(&self) -> &$Type {
                fn make() -> $Type {
                    $value
                }
                static LAZY: $crate::sync::Lazy<$Type> = $crate::sync::Lazy::new(make);
                LAZY.get()
            }
        }
        $crate::lazy_static!($($rest)*);
    };
}
