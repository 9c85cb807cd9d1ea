//! `thread_local!`.

/// Like `std::thread_local!`: each thread has its own value, which is dropped when the thread ends.
///
/// ```
/// use mazurka::thread;
/// use std::cell::Cell;
///
/// mazurka::thread_local! {
///     static COUNT: Cell<u32> = const { Cell::new(0) };
/// }
///
/// mazurka::model(|| {
///     COUNT.set(1);
///     assert_eq!(thread::spawn(|| COUNT.get()).join().unwrap(), 0);
///     assert_eq!(COUNT.get(), 1);
/// });
/// ```
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $visibility:vis static $NAME:ident: $Type:ty = const $value:block $(; $($rest:tt)*)?) => {
        $crate::thread_local!($(#[$attribute])* $visibility static $NAME: $Type = $value $(; $($rest)*)?);
    };
    ($(#[$attribute:meta])* $visibility:vis static $NAME:ident: $Type:ty = $value:expr $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $visibility static $NAME: $crate::thread::LocalKey<$Type> = {
            fn make() -> $Type {
                $value
            }
            $crate::thread::LocalKey::new(make)
        };
        $($crate::thread_local!($($rest)*);)?
    };
}
