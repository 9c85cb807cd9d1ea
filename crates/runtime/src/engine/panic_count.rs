//! The count of panics in progress. The standard library keeps it per thread of the operating
//! system, which is shared by all threads of a model.
//!
//! A thread of a model may be suspended while a panic unwinds it, for example when a destructor
//! takes a lock. Then `std::thread::panicking` would be true in the other threads, too, and would
//! stay true if the thread is abandoned. So each thread of a model keeps a separate count while it
//! is suspended. The standard library has no function that sets the count. So this module finds the
//! word that holds the count, by its values before, during and after a panic.

use std::ptr::NonNull;

/// The location of the count of this thread of the operating system.
pub(crate) struct PanicCount {
    /// The word of the count, or `None` if it cannot be found.
    word: Option<NonNull<usize>>,
    /// The number of panics in progress outside of the model.
    outer: usize,
}

impl PanicCount {
    /// Finds the count of a thread that may already be panicking outside of the model.
    pub(crate) fn find(is_panicking_outside: bool) -> PanicCount {
        PanicCount {
            word: find(),
            // There is at most one, because a second panic during the unwinding ends the process.
            outer: usize::from(is_panicking_outside),
        }
    }

    /// Removes the panics of the suspended thread of the model from the count. Returns their
    /// number, or 0 if the word of the count is not known.
    pub(crate) fn take(&self) -> usize {
        let Some(word) = self.word else { return 0 };
        // SAFETY: the word is the count of this thread, which nothing else uses at the same time.
        unsafe {
            let count = word.read_volatile();
            word.write_volatile(self.outer);
            count - self.outer
        }
    }

    /// Adds to the count the panics of a thread of the model, which is about to continue.
    pub(crate) fn put(&self, panics: usize) {
        if let Some(word) = self.word {
            // SAFETY: as in `take`.
            unsafe { word.write_volatile(self.outer + panics) };
        }
    }
}

/// Whether each thread of a model has a separate count of panics.
pub(crate) const IS_OWN: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn find() -> Option<NonNull<usize>> {
    None
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use linux::find;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux {
    use std::ffi::c_void;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::ptr::{self, NonNull};

    /// Returns the only thread-local word that is greater by one during a panic than before and
    /// after it.
    pub(super) fn find() -> Option<NonNull<usize>> {
        let words = thread_local_words();
        // SAFETY: the words are thread-local memory of this thread.
        let read = |into: &mut Vec<usize>| unsafe {
            into.clear();
            into.extend(words.iter().map(|word| word.read_volatile()));
        };
        let mut values = [(); 3].map(|()| Vec::with_capacity(words.len()));
        let [before, during, after] = &mut values;
        read(before);
        // The payload has no size, so nothing is allocated for it.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _reads = OnDrop(|| read(during));
            resume_unwind(Box::new(()));
        }));
        read(after);
        let is_count =
            |&at: &usize| before[at].checked_add(1) == Some(during[at]) && before[at] == after[at];
        let mut found = (0..words.len()).filter(is_count);
        let only = found.next()?;
        match found.next() {
            None => NonNull::new(words[only]),
            Some(_) => None,
        }
    }

    struct OnDrop<F: FnMut()>(F);

    impl<F: FnMut()> Drop for OnDrop<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }

    /// Returns the words of this thread's thread-local variables.
    fn thread_local_words() -> Vec<*mut usize> {
        let mut words = Vec::new();
        // SAFETY: the function adds to the list that it gets, which outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(add_words), (&raw mut words).cast()) };
        words
    }

    unsafe extern "C" fn add_words(
        info: *mut libc::dl_phdr_info,
        _: usize,
        words: *mut c_void,
    ) -> i32 {
        // SAFETY: the linker passes a valid structure and the list.
        let (info, words) = unsafe { (&*info, &mut *words.cast::<Vec<*mut usize>>()) };
        if info.dlpi_tls_data.is_null() {
            return 0;
        }
        // SAFETY: the linker states the number of headers.
        let headers =
            unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        let size = headers.iter().find(|header| header.p_type == libc::PT_TLS);
        let size = size.map_or(0, |header| header.p_memsz as usize);
        let begin = info.dlpi_tls_data.addr();
        let aligned = begin.next_multiple_of(size_of::<usize>())..begin + size;
        let starts = aligned.clone().step_by(size_of::<usize>());
        let whole = starts.filter(|start| start + size_of::<usize>() <= aligned.end);
        words.extend(whole.map(ptr::with_exposed_provenance_mut));
        0
    }
}
