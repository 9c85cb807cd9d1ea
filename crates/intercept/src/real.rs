//! The functions that would have been called without this library.

/// Calls the function of this name in the libraries after this library. In enforced programs, which
/// run under a safe trace, calls the function of `enforced` instead, if there is one.
macro_rules! real {
    ($name:ident($($argument:expr),* $(,)?): fn($($type:ty),*) $(-> $result:ty)?) => {{
        static ADDRESS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let address = $crate::real::address(&ADDRESS, concat!(stringify!($name), "\0"));
        // SAFETY: the C library's function has this signature.
        #[allow(clippy::macro_metavars_in_unsafe, reason = "the arguments are those that the program gave")]
        unsafe {
            let function: unsafe extern "C-unwind" fn($($type),*) $(-> $result)? = std::mem::transmute(address);
            function($($argument),*)
        }
    }};
}

/// Calls the function of this name in the libraries after this library, even in enforced programs.
macro_rules! original {
    ($name:ident($($argument:expr),* $(,)?): fn($($type:ty),*) $(-> $result:ty)?) => {{
        static ADDRESS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let address = $crate::real::original(&ADDRESS, concat!(stringify!($name), "\0"));
        // SAFETY: the C library's function has this signature.
        #[allow(clippy::macro_metavars_in_unsafe, reason = "the arguments are those that the program gave")]
        unsafe {
            let function: unsafe extern "C-unwind" fn($($type),*) $(-> $result)? = std::mem::transmute(address);
            function($($argument),*)
        }
    }};
}

use crate::{enforced, static_cpp};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Returns the address of a function for `real`, looked up once. `name` ends with a zero byte.
#[inline]
pub(crate) fn address(known: &AtomicUsize, name: &'static str) -> usize {
    match known.load(Relaxed) {
        0 => look_up(known, name),
        address => address,
    }
}

/// Returns the address of a function for `original`.
pub(crate) fn original(known: &AtomicUsize, name: &'static str) -> usize {
    match known.load(Relaxed) {
        0 => look_up_next(known, name),
        address => address,
    }
}

#[cold]
fn look_up(known: &AtomicUsize, name: &'static str) -> usize {
    match enforced::function(name.trim_end_matches('\0')) {
        Some(address) => {
            known.store(address, Relaxed);
            address
        }
        None => look_up_next(known, name),
    }
}

#[cold]
fn look_up_next(known: &AtomicUsize, name: &'static str) -> usize {
    // SAFETY: the name ends with a zero byte.
    let mut address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast()) } as usize;
    if address == 0 {
        let name = name.trim_end_matches('\0');
        let function = static_cpp::function(name);
        address = function.unwrap_or_else(|| panic!("the C library has no {name}"));
    }
    known.store(address, Relaxed);
    address
}
