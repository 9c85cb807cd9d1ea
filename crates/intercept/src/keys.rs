//! Thread-specific values with keys, of POSIX and of C11.

use crate::ending;
use crate::gate::{Own, close, is_inside};
use crate::start::is_before_main;
use crate::threads::{self, Destructor};
use libc::{c_int, c_uint, c_void};
use report::Omission;
use runtime::native;
use std::ptr;

/// The keys of the execution. The outer option is `None` for a deleted key, the inner option for a
/// key without a destructor.
static KEYS: Own<Vec<Option<Option<Destructor>>>> = Own::new(Vec::new());

/// `PTHREAD_KEYS_MAX`.
const MOST: usize = 1024;

/// Greatest number of rounds of destructors, which may set values again.
const ROUNDS: usize = 4;

/// Greatest number of keys that constructors may create.
const MOST_AT_START: usize = 128;

/// Keys that constructors have created, and their values for the main thread. The arrays need no
/// allocation, because the first constructors run before those of this library.
struct Start {
    count: usize,
    keys: [Option<Option<Destructor>>; MOST_AT_START],
    values: [*mut c_void; MOST_AT_START],
}

static START: Own<Start> = Own::new(Start {
    count: 0,
    keys: [None; MOST_AT_START],
    values: [ptr::null_mut(); MOST_AT_START],
});

/// Begins an execution and its main thread, with the keys that constructors have created.
pub(crate) fn begin() {
    let start = START.get();
    KEYS.get().clear();
    KEYS.get().extend_from_slice(&start.keys[..start.count]);
    if start.count > 0 {
        let values = &mut threads::lists_of(0).values;
        values.clear();
        values.extend_from_slice(&start.values[..start.count]);
    }
}

/// A copy of the keys.
pub(crate) type Saved = Vec<Option<Option<Destructor>>>;

/// Copies the keys.
pub(crate) fn save_to(copy: &mut Saved) {
    copy.clone_from(KEYS.get());
}

/// Restores the keys from a copy.
pub(crate) fn restore_from(copy: &Saved) {
    KEYS.get().clone_from(copy);
}

/// Runs the destructors for the values of the running thread, at its end.
pub(crate) fn destroy_values() {
    let index = runtime::current().index();
    for _ in 0..ROUNDS {
        let mut is_done = true;
        let mut key = 0;
        // As in the C library, a destructor may set a value of a later key, which is still destroyed
        // in this round.
        while key < threads::lists_at(index).values.len() {
            let values = &mut threads::lists_of(index).values;
            let value = std::mem::replace(&mut values[key], ptr::null_mut());
            let destructor = KEYS.get().get(key).copied().flatten().flatten();
            if let (false, Some(destructor)) = (value.is_null(), destructor) {
                is_done = false;
                // SAFETY: the program registered the destructor for values of this key.
                unsafe { threads::call(destructor, value) };
            }
            key += 1;
        }
        if is_done {
            return;
        }
    }
}

/// Returns the address of the main thread's values, and their size in bytes.
pub(crate) fn values_of_main() -> (usize, usize) {
    let values = &threads::lists_at(0).values;
    (values.as_ptr().addr(), size_of_val(&values[..]))
}

/// Returns the number of a new key, or `None` if there are too many keys.
fn create(destructor: Option<Destructor>) -> Option<c_uint> {
    if is_before_main() {
        let start = START.get();
        *start.keys.get_mut(start.count)? = Some(destructor);
        start.count += 1;
        return Some(start.count as c_uint - 1);
    }
    native::take_effect();
    let keys = KEYS.get();
    let is_full = keys.iter().flatten().count() == MOST;
    (!is_full).then(|| {
        native::privately(|| keys.push(Some(destructor)));
        keys.len() as c_uint - 1
    })
}

/// Creates a key for the program. Returns whether this was possible.
fn give(key: *mut c_uint, destructor: Option<Destructor>) -> bool {
    let _closed = is_inside().then(close);
    let created = create(destructor);
    if let Some(created) = created {
        // SAFETY: the program passed the pointer.
        unsafe { *key = created };
    }
    created.is_some()
}

fn delete(key: c_uint) -> c_int {
    let keys = match is_before_main() {
        true => &mut START.get().keys[..],
        false => {
            native::take_effect();
            &mut KEYS.get()[..]
        }
    };
    let Some(known) = keys.get_mut(key as usize) else {
        return libc::EINVAL;
    };
    match std::mem::take(known) {
        None => return libc::EINVAL,
        Some(Some(_)) if !is_before_main() => report_other_values(key as usize),
        Some(_) => {}
    }
    0
}

/// Reports an omission (something that the search leaves out) if another thread may have a value of
/// a deleted key. If that thread ends before the deletion, the destructor runs. Otherwise it does
/// not. But neither the end nor the deletion is an event, so the other order is not explored.
fn report_other_values(key: usize) {
    let running = threads::own_index();
    let may_have_value = |&index: &usize| {
        index != running
            && !threads::at(index).is_joined
            && threads::lists_at(index).values.len() > key
    };
    if (0..threads::count()).any(|index| may_have_value(&index)) {
        leave_out_deletion();
    }
}

/// Reports that other orders of a deletion are omitted. Deletions by exit handlers, such as those
/// of the C++ library, are not reported, because they no longer affect any thread.
fn leave_out_deletion() {
    if ending::has_begun() {
        return;
    }
    let what = "other orders of pthread_key_delete and of uses of the key by a thread, before or at its end";
    native::leave_out(Omission::Unseen, what);
}

fn set(key: c_uint, value: *mut c_void) -> c_int {
    if is_before_main() {
        let place = START.get().values.get_mut(key as usize);
        return place.map_or(libc::EINVAL, |place| {
            *place = value;
            0
        });
    }
    match KEYS.get().get(key as usize) {
        Some(Some(_)) => {}
        Some(None) => {
            if threads::count() > 1 {
                leave_out_deletion();
            }
            return libc::EINVAL;
        }
        None => return libc::EINVAL,
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
    let values = match is_before_main() {
        true => &START.get().values[..],
        false => &threads::lists_at(threads::own_index()).values,
    };
    values.get(key as usize).copied().unwrap_or(ptr::null_mut())
}

/// Checks whether the caller is neither the program nor a constructor.
fn is_outside() -> bool {
    !is_inside() && !is_before_main()
}

export! {
    placed fn pthread_key_create(key: *mut c_uint, destructor: Option<Destructor>) -> c_int {
        if is_outside() {
            return real!(pthread_key_create(key, destructor): fn(*mut c_uint, Option<Destructor>) -> c_int);
        }
        match give(key, destructor) {
            true => 0,
            false => libc::EAGAIN,
        }
    }

    placed fn pthread_key_delete(key: c_uint) -> c_int {
        if is_outside() {
            return real!(pthread_key_delete(key): fn(c_uint) -> c_int);
        }
        let _closed = is_inside().then(close);
        delete(key)
    }

    placed fn pthread_setspecific(key: c_uint, value: *mut c_void) -> c_int {
        if is_outside() {
            return real!(pthread_setspecific(key, value): fn(c_uint, *mut c_void) -> c_int);
        }
        let _closed = is_inside().then(close);
        set(key, value)
    }

    placed fn pthread_getspecific(key: c_uint) -> *mut c_void {
        if is_outside() {
            return real!(pthread_getspecific(key): fn(c_uint) -> *mut c_void);
        }
        let _closed = is_inside().then(close);
        value(key)
    }

    placed fn tss_create(key: *mut c_uint, destructor: Option<Destructor>) -> c_int {
        if is_outside() {
            return real!(tss_create(key, destructor): fn(*mut c_uint, Option<Destructor>) -> c_int);
        }
        match give(key, destructor) {
            true => 0,
            false => crate::ending::THRD_ERROR,
        }
    }

    placed fn tss_delete(key: c_uint) {
        if is_outside() {
            return real!(tss_delete(key): fn(c_uint));
        }
        let _closed = is_inside().then(close);
        delete(key);
    }

    placed fn tss_set(key: c_uint, value: *mut c_void) -> c_int {
        if is_outside() {
            return real!(tss_set(key, value): fn(c_uint, *mut c_void) -> c_int);
        }
        let _closed = is_inside().then(close);
        match set(key, value) {
            0 => 0,
            _ => crate::ending::THRD_ERROR,
        }
    }

    placed fn tss_get(key: c_uint) -> *mut c_void {
        if is_outside() {
            return real!(tss_get(key): fn(c_uint) -> *mut c_void);
        }
        let _closed = is_inside().then(close);
        value(key)
    }
}
