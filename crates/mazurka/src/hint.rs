//! Like `std::hint`.

pub use runtime::unreachable_unchecked;
pub use std::hint::{assert_unchecked, black_box, cold_path, select_unpredictable};

/// Marks a spin loop, which waits for another thread. Call this function in each iteration. A
/// thread stops at this call if its last iteration had no effect, because the next iteration would
/// be the same until another thread writes. If no other thread can end the loop, Mazurka reports a
/// bug (`stuck`).
///
/// ```
/// use mazurka::sync::Arc;
/// use mazurka::sync::atomic::{AtomicBool, Ordering::{Acquire, Release}};
/// use mazurka::{hint, thread};
///
/// mazurka::model(|| {
///     let is_ready = Arc::new(AtomicBool::new(false));
///     let other = thread::spawn({
///         let is_ready = Arc::clone(&is_ready);
///         move || is_ready.store(true, Release)
///     });
///     while !is_ready.load(Acquire) {
///         hint::spin_loop();
///     }
///     other.join().unwrap();
/// });
/// ```
#[inline(always)]
#[track_caller]
pub fn spin_loop() {
    runtime::hint();
}
