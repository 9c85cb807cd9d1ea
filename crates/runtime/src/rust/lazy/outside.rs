//! Statics outside of models, which are initialized only once and never dropped.

use enforce::blocking::{Entry, Once};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

/// A static.
#[derive(Default)]
struct Static {
    once: Once,
    /// The address of the value, once it is created.
    value: AtomicUsize,
}

static ALL: Mutex<BTreeMap<usize, &'static Static>> = Mutex::new(BTreeMap::new());

/// Returns the value of the static at this address.
pub(super) fn at<T: 'static>(address: usize, make: fn() -> T) -> &'static T {
    let cell = *ALL
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .entry(address)
        .or_insert_with(|| Box::leak(Box::default()));
    if !cell.once.is_done() && cell.once.enter() == Entry::Initialize {
        let fails = Fails(&cell.once);
        let value = Box::leak(Box::new(make()));
        cell.value
            .store((&raw const *value).expose_provenance(), SeqCst);
        std::mem::forget(fails);
        cell.once.done();
    }
    let value = std::ptr::with_exposed_provenance::<T>(cell.value.load(SeqCst));
    // SAFETY: the first thread created the value, which has this type each time and is never freed.
    unsafe { &*value }
}

/// Reports to the other threads that the initializer panicked.
struct Fails(&'static Once);

impl Drop for Fails {
    fn drop(&mut self) {
        self.0.fail();
    }
}
