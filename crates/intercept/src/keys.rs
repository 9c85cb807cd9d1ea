//! Values that each thread has for itself, by keys: POSIX's and C11's.

use crate::gate::{Own, close, is_inside};
use crate::threads::{self, Destructor};
use libc::{c_int, c_uint, c_void};
use runtime::native;
use std::ptr;

/// The keys of the execution, with their destructors; none for those that were deleted.
static KEYS: Own<Vec<Option<Option<Destructor>>>> = Own::new(Vec::new());

/// How often destructors are run that set values again.
const ROUNDS: usize = 4;

/// An execution begins: there are no keys.
pub(crate) fn begin() {
    KEYS.get().clear();
}

/// A copy of the keys.
pub(crate) type Saved = Vec<Option<Option<Destructor>>>;

/// Copies the keys.
pub(crate) fn save_to(copy: &mut Saved) {
    copy.clone_from(KEYS.get());
}

/// Puts back what was copied.
pub(crate) fn restore_from(copy: &Saved) {
    KEYS.get().clone_from(copy);
}

/// Runs the destructors of the values of the thread that runs, which ends.
pub(crate) fn destroy_values() {
    let index = runtime::current().index();
    for _ in 0..ROUNDS {
        let mut is_done = true;
        for key in 0..threads::lists_at(index).values.len() {
            let values = &mut threads::lists_of(index).values;
            let value = std::mem::replace(&mut values[key], ptr::null_mut());
            let destructor = KEYS.get().get(key).copied().flatten().flatten();
            if let (false, Some(destructor)) = (value.is_null(), destructor) {
                is_done = false;
                // SAFETY: the program registered the destructor for values of this key.
                unsafe { threads::call(destructor, value) };
            }
        }
        if is_done {
            return;
        }
    }
}

fn create(destructor: Option<Destructor>) -> c_uint {
    native::take_effect();
    native::privately(|| {
        KEYS.get().push(Some(destructor));
        KEYS.get().len() as c_uint - 1
    })
}

fn delete(key: c_uint) -> c_int {
    native::take_effect();
    match KEYS.get().get_mut(key as usize) {
        Some(known) => {
            *known = None;
            0
        }
        None => libc::EINVAL,
    }
}

fn set(key: c_uint, value: *mut c_void) -> c_int {
    if KEYS.get().get(key as usize).copied().flatten().is_none() {
        return libc::EINVAL;
    }
    let values = &mut threads::lists_of(threads::own_index()).values;
    native::privately(|| {
        if values.len() <= key as usize {
            values.resize(key as usize + 1, ptr::null_mut());
        }
        values[key as usize] = value;
    });
    0
}

fn value(key: c_uint) -> *mut c_void {
    let values = &threads::lists_at(threads::own_index()).values;
    values.get(key as usize).copied().unwrap_or(ptr::null_mut())
}

export! {
    placed fn pthread_key_create(key: *mut c_uint, destructor: Option<Destructor>) -> c_int {
        if !is_inside() {
            return real!(pthread_key_create(key, destructor): fn(*mut c_uint, Option<Destructor>) -> c_int);
        }
        let _closed = close();
        // SAFETY: the program gave the pointer.
        unsafe { *key = create(destructor) };
        0
    }

    placed fn pthread_key_delete(key: c_uint) -> c_int {
        if !is_inside() {
            return real!(pthread_key_delete(key): fn(c_uint) -> c_int);
        }
        let _closed = close();
        delete(key)
    }

    placed fn pthread_setspecific(key: c_uint, value: *mut c_void) -> c_int {
        if !is_inside() {
            return real!(pthread_setspecific(key, value): fn(c_uint, *mut c_void) -> c_int);
        }
        let _closed = close();
        set(key, value)
    }

    placed fn pthread_getspecific(key: c_uint) -> *mut c_void {
        if !is_inside() {
            return real!(pthread_getspecific(key): fn(c_uint) -> *mut c_void);
        }
        let _closed = close();
        value(key)
    }

    placed fn tss_create(key: *mut c_uint, destructor: Option<Destructor>) -> c_int {
        if !is_inside() {
            return real!(tss_create(key, destructor): fn(*mut c_uint, Option<Destructor>) -> c_int);
        }
        let _closed = close();
        // SAFETY: the program gave the pointer.
        unsafe { *key = create(destructor) };
        0
    }

    placed fn tss_delete(key: c_uint) {
        if !is_inside() {
            return real!(tss_delete(key): fn(c_uint));
        }
        let _closed = close();
        delete(key);
    }

    placed fn tss_set(key: c_uint, value: *mut c_void) -> c_int {
        if !is_inside() {
            return real!(tss_set(key, value): fn(c_uint, *mut c_void) -> c_int);
        }
        let _closed = close();
        match set(key, value) {
            0 => 0,
            _ => crate::ending::THRD_ERROR,
        }
    }

    placed fn tss_get(key: c_uint) -> *mut c_void {
        if !is_inside() {
            return real!(tss_get(key): fn(c_uint) -> *mut c_void);
        }
        let _closed = close();
        value(key)
    }
}
